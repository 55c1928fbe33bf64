//===- Elements.h - Element types of ONNX and Quern -------------*- C++ -*-===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_ONNXRUNTIME_ELEMENTS_H
#define QUERN_ONNXRUNTIME_ELEMENTS_H

#include "Ort.h"

#include "quern/quern.hpp"

#include <algorithm>
#include <iterator>

namespace quern::onnxruntime {

/// A type of Quern.
struct Element {
  memory::data_type type = memory::data_type::undef; ///< undef: Quern lacks the type
  const char *name = "";                             ///< name in the text form of a problem
  bool isFloat = false;
};

inline Element elementOf(ONNXTensorElementDataType type) {
  switch (type) {
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
    return {memory::data_type::f32, "f32", true};
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16:
    return {memory::data_type::f16, "f16", true};
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16:
    return {memory::data_type::bf16, "bf16", true};
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
    return {memory::data_type::f64, "f64", true};
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32:
    return {memory::data_type::s32, "s32"};
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8:
    return {memory::data_type::s8, "s8"};
  case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8:
    return {memory::data_type::u8, "u8"};
  default:
    return {};
  }
}

/// Returns ONNX's name of a type.
inline std::string onnxName(ONNXTensorElementDataType type) {
  static const char *const names[] = {"undefined", "float",  "uint8",     "int8",       "uint16",  "int16",
                                      "int32",     "int64",  "string",    "bool",       "float16", "double",
                                      "uint32",    "uint64", "complex64", "complex128", "bfloat16"};
  const auto number = static_cast<size_t>(type);
  return number < std::size(names) ? names[number] : "number " + std::to_string(number);
}

/// Returns the tag of a dense row-major tensor. Quern rejects ranks that have more dims than there are letters.
inline std::string rowMajor(size_t rank) {
  std::string tag;
  for (size_t dim = 0; dim < rank; ++dim)
    tag += static_cast<char>('a' + std::min<size_t>(dim, 25));
  return tag;
}

/// Returns the dims that Quern uses for a shape: a tensor of rank 0 becomes one of a single element.
inline memory::dims dimsOf(const std::vector<int64_t> &shape) { return shape.empty() ? memory::dims{1} : shape; }

/// Returns the dense row-major descriptor that all tensors of ONNX Runtime have.
inline memory::desc denseDesc(memory::data_type type, const std::vector<int64_t> &shape) {
  const memory::dims dims = dimsOf(shape);
  return {dims, type, rowMajor(dims.size())};
}

} // namespace quern::onnxruntime

#endif // QUERN_ONNXRUNTIME_ELEMENTS_H
