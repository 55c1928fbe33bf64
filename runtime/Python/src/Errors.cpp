//===- Errors.cpp - Statuses as exceptions --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Errors.h"

namespace nb = nanobind;

namespace quern::python {
namespace {

/// Raises quern._errors.Error. The class is defined in Python, so it is looked up on use.
void raise(const std::exception_ptr &pointer, void *) {
  try {
    std::rethrow_exception(pointer);
  } catch (const Failure &failure) {
    try {
      const nb::object type = nb::module_::import_("quern._errors").attr("Error");
      const nb::object error = type(failure.what(), static_cast<int>(failure.status));
      PyErr_SetObject(type.ptr(), error.ptr());
    } catch (nb::python_error &other) {
      other.restore();
    }
  }
}

} // namespace

void fail(quern_status_t status, const std::string &message) { throw Failure(status, message); }

void failAsInterface(quern_status_t status) {
  const char *message = quern_get_last_error_message();
  throw Failure(status, *message ? message : quern_status_name(status));
}

void bindErrors(nb::module_ &module) {
  nb::register_exception_translator(raise);
  module.def("status_name", [](int status) { return quern_status_name(static_cast<quern_status_t>(status)); });
}

} // namespace quern::python
