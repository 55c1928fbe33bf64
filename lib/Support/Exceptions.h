//===- Exceptions.h - Exceptions as errors --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SUPPORT_EXCEPTIONS_H
#define QUERN_SUPPORT_EXCEPTIONS_H

#include "Support/Error.h"

#include <exception>
#include <new>

namespace quern {

/// Converts the exception that is being handled to an error: `out_of_memory` for std::bad_alloc, else `internal`. For
/// boundaries that no exception may cross: C functions and threads. Without memory for the message, the result is
/// `out_of_memory`.
inline Error errorOfException() noexcept {
  try {
    try {
      throw;
    } catch (const std::bad_alloc &) {
      throw;
    } catch (const std::exception &exception) {
      return internalError(exception.what());
    } catch (...) {
      return internalError("an unknown exception");
    }
  } catch (...) { // the message fits the string without allocation
    return {Status::OutOfMemory, "out of memory"};
  }
}

} // namespace quern

#endif // QUERN_SUPPORT_EXCEPTIONS_H
