//===- Memory.cpp - Memory descriptors and memory -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Converts format tags to the names that libquern uses, and sizes of types.
//
//===----------------------------------------------------------------------===//
#include "Dnnl/Dropin.h"

using namespace quern::dropin;

namespace {

constexpr int formatTagUndef = 0;

} // namespace

extern "C" {

QUERN_API quern_status_t dnnl_memory_desc_create_with_tag(quern_memory_desc_t *desc, int ndims, const quern_dims_t dims,
                                                          quern_data_type_t type, int tag) noexcept {
  if (!desc)
    return quern_invalid_arguments;
  *desc = nullptr;
  const char *name = formatTagName(tag);
  if (!name)
    return quern_invalid_arguments;
  // oneDNN creates the zero descriptor for an undefined tag, with any dims.
  return quern_memory_desc_create_with_string_tag(desc, tag == formatTagUndef ? 0 : ndims, dims, type, name);
}

/// Returns the size of an element in bytes; -1 for an unknown type, as in oneDNN. libquern returns 0.
QUERN_API size_t dnnl_data_type_size(quern_data_type_t type) noexcept {
  const size_t bytes = quern_data_type_size(type);
  return bytes ? bytes : static_cast<size_t>(-1);
}

} // extern "C"
