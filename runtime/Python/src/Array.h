//===- Array.h - An array of the caller's, while it is used -----*- C++ -*-===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Any object with the buffer protocol or DLPack, without a copy: NumPy's arrays (those of ml_dtypes, which neither
// exports, by their array interface), PyTorch's and JAX's.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PYTHON_ARRAY_H
#define QUERN_PYTHON_ARRAY_H

#include "Tensor.h"

#include <nanobind/ndarray.h>

namespace quern::python {

/// Whose an array is, and whose a result that is made beside it will be.
enum class Framework : uint8_t { NumPy, Torch, Jax };

class Array {
public:
  enum class Access : uint8_t { Read, Write };

  Array() = default;
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  ~Array() { release(); }

  /// Takes `object`, or what NumPy makes of it if it is no array. What no descriptor has (negative strides, strides
  /// that are no multiple of an element, a misaligned start, another byte order) is copied: an array that is written
  /// goes back where it came from by finish(). None: absent.
  void take(nanobind::handle object, Access access);
  /// What was computed in a copy is written to the array it is for.
  void finish();

  const Tensor &tensor() const { return shape; }
  void *data() const { return begin; }
  Framework framework() const { return owner; }

private:
  /// What a way of taking an array made of it.
  enum class Taken : uint8_t { Yes, NotThisWay, OnlyACopy };
  Taken takeBuffer(nanobind::handle object, Access access);
  Taken takeInterface(nanobind::handle object, Access access);
  Taken takeExchange(nanobind::handle object);
  Taken takeDlpack(nanobind::handle object, Access access);
  Taken takeAnyWay(nanobind::handle object, Access access);
  void takeCopy(nanobind::handle object, Access access);
  Taken place(void *data, int32_t rank, const int64_t *dims, const int64_t *byteStrides, int64_t elementBytes);
  void release();

  Tensor shape;
  void *begin = nullptr;
  Framework owner = Framework::NumPy;
  bool hasBuffer = false;
  Py_buffer buffer{};
  nanobind::object held;   ///< what owns the memory
  nanobind::object target; ///< what a copy goes back to
};

/// The framework of a type, by the module that it is defined in.
Framework frameworkOf(nanobind::handle object);

} // namespace quern::python

#endif // QUERN_PYTHON_ARRAY_H
