//===- Array.h - An array of the caller during a call -----------*- C++ -*-===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Describes any object with the buffer protocol or DLPack without a copy: arrays of NumPy, PyTorch and JAX. Arrays of
// ml_dtypes support neither; their array interface is used.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PYTHON_ARRAY_H
#define QUERN_PYTHON_ARRAY_H

#include "Tensor.h"

#include <nanobind/ndarray.h>

namespace quern::python {

/// The framework of an array, which is also used for results.
enum class Framework : uint8_t { NumPy, Torch, Jax };

class Array {
public:
  enum class Access : uint8_t { Read, Write };

  Array() = default;
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  ~Array() { release(); }

  /// Takes `object`, converted by NumPy if it is not an array. An array that no descriptor fits (negative strides,
  /// strides that are not multiples of an element, a misaligned start, another byte order) is copied; finish() copies
  /// it back if it is written. None: absent.
  void take(nanobind::handle object, Access access);
  /// Copies the results back if take() made a copy of a written array.
  void finish();

  const Tensor &tensor() const { return shape; }
  void *data() const { return begin; }
  Framework framework() const { return owner; }

private:
  /// Result of an attempt to take an array by one of the interfaces.
  enum class Outcome : uint8_t { Described, Unsupported, NeedsCopy };
  Outcome takeBuffer(nanobind::handle object, Access access);
  Outcome takeInterface(nanobind::handle object, Access access);
  Outcome takeExchange(nanobind::handle object);
  Outcome takeDlpack(nanobind::handle object, Access access);
  Outcome takeAnyWay(nanobind::handle object, Access access);
  void takeCopy(nanobind::handle object, Access access);
  Outcome place(void *data, int32_t rank, const int64_t *dims, const int64_t *byteStrides, int64_t elementBytes);
  void release();

  Tensor shape;
  void *begin = nullptr;
  Framework owner = Framework::NumPy;
  bool hasBuffer = false;
  Py_buffer buffer{};
  nanobind::object memoryOwner; ///< kept alive while its memory is used
  nanobind::object target;      ///< destination of finish(), if there is a copy
};

/// Returns the framework whose module defines the object's type; NumPy if there is none.
Framework frameworkOf(nanobind::handle object);

} // namespace quern::python

#endif // QUERN_PYTHON_ARRAY_H
