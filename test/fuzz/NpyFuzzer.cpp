//===- NpyFuzzer.cpp - Arbitrary bytes as .npy files ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// If the input parses, all of its data must be readable: the program copies it into a tensor of its shape and writes it
// back.
//
//===----------------------------------------------------------------------===//
#include "Npy.h"

#include <cstdlib>

using namespace quern;

static DataType typeOf(const NpyArray &array) {
  for (DataType type :
       {DataType::F64, DataType::F32, DataType::F16, DataType::BF16, DataType::S32, DataType::S8, DataType::U8})
    if (npyTypeOf(type)[1] == array.kind && npyTypeOf(type)[2] - '0' == array.itemBytes)
      return type;
  return DataType::Undef;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Result<NpyArray> array = parseNpy({reinterpret_cast<const char *>(data), size});
  if (!array || array->shape.size() > maxDims || array->shape.empty())
    return 0;
  Result<TensorDesc> desc = TensorDesc::dense(array->shape, typeOf(*array));
  if (!desc)
    return 0;
  std::string buffer(static_cast<size_t>(desc->bytes()), '\0');
  if (!copyNpyTo(*array, *desc, buffer.data()))
    std::abort();
  Result<std::string> file = writeNpy(*desc, buffer.data());
  if (!file || !parseNpy(*file))
    std::abort();
  return 0;
}
