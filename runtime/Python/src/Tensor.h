//===- Tensor.h - Type, dims and strides of an array ------------*- C++ -*-===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The properties of an array that a kernel depends on.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PYTHON_TENSOR_H
#define QUERN_PYTHON_TENSOR_H

#include "Errors.h"

#include <array>
#include <cstring>
#include <string>
#include <string_view>

namespace quern::python {

/// A plain tensor. Entries past the rank are 0. An absent tensor has no type.
struct Tensor {
  quern_data_type_t type = quern_data_type_undef;
  int32_t rank = 0;
  std::array<int64_t, QUERN_MAX_NDIMS> dims{};
  std::array<int64_t, QUERN_MAX_NDIMS> strides{}; ///< in elements

  bool isAbsent() const { return type == quern_data_type_undef; }
  bool operator==(const Tensor &other) const {
    const size_t used = sizeof(int64_t) * static_cast<size_t>(rank);
    return type == other.type && rank == other.rank && std::memcmp(dims.data(), other.dims.data(), used) == 0 &&
           std::memcmp(strides.data(), other.strides.data(), used) == 0;
  }

  void setDense();
  /// Returns the text form, such as "f32:2x3:s3x1"; a tensor without dims has one element; "none" if absent.
  std::string text() const;
};

/// Returns a name such as "f32", or "undef".
const char *nameOf(quern_data_type_t type);
/// Returns quern_data_type_undef for an unknown name.
quern_data_type_t typeFromName(std::string_view name);

} // namespace quern::python

#endif // QUERN_PYTHON_TENSOR_H
