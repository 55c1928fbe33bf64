//===- Errors.h - Statuses as exceptions ------------------------*- C++ -*-===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Converts statuses of the C interface to quern.Error, with the interface's message.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PYTHON_ERRORS_H
#define QUERN_PYTHON_ERRORS_H

#include "quern/quern.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

namespace quern::python {

/// A failure that becomes the Python exception quern.Error(message, status).
class Failure : public std::exception {
public:
  Failure(quern_status_t status, std::string message) : status(status), message(std::move(message)) {}
  const char *what() const noexcept override { return message.c_str(); }

  quern_status_t status;
  std::string message;
};

[[noreturn]] void fail(quern_status_t status, const std::string &message);

/// Throws a Failure with the message of the last failure on this thread.
[[noreturn]] void failAsInterface(quern_status_t status);

inline void check(quern_status_t status) {
  if (status != quern_success)
    failAsInterface(status);
}

/// Destroys a handle of the C interface.
template <typename Handle, quern_status_t (*Destroy)(Handle) noexcept> struct Destroyer {
  using pointer = Handle;
  void operator()(Handle handle) const noexcept { Destroy(handle); }
};
template <typename Handle, quern_status_t (*Destroy)(Handle) noexcept>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroyer<Handle, Destroy>>;

void bindErrors(nanobind::module_ &module);

} // namespace quern::python

#endif // QUERN_PYTHON_ERRORS_H
