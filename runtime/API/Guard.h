//===- Guard.h - The boundary between C and C++ ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Functions of the C API that can fail run inside guarded() or guardedExecution(), which turn a failing Result or an
// exception into a status and the thread's last message; no exception escapes. In guarded() the thread cannot be
// canceled, and the floating-point environment is the default one.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_API_GUARD_H
#define QUERN_RUNTIME_API_GUARD_H

#include "Support/Cancellation.h"
#include "Support/Exceptions.h"
#include "Support/FloatEnvironment.h"

#include "quern/quern_types.h"

#include <string_view>
#include <utility>

namespace quern::api {

/// Stores the message for quern_get_last_error_message(), notifies listeners and returns the status.
quern_status_t fail(const Error &error, const char *function) noexcept;
quern_status_t fail(Status status, const char *message, const char *function) noexcept;

/// The variant of guarded() for executions, because guarded() would make the shortest ones a third slower. The body
/// must defer cancellation itself where it may reach a cancellation point, and set the floating-point environment where
/// it computes.
template <typename Body>
quern_status_t guardedExecution(Body &&body, const char *function = __builtin_FUNCTION()) noexcept {
  try {
    Result<void> result = std::forward<Body>(body)();
    return result ? quern_success : fail(result.error(), function);
  } catch (...) {
    return fail(errorOfException(), function);
  }
}

/// Runs `body` and returns its status. `function` is the name of the caller, for listeners.
template <typename Body> quern_status_t guarded(Body &&body, const char *function = __builtin_FUNCTION()) noexcept {
  const WithoutCancellation whole;
  const DefaultLibraryEnvironment environment;
  return guardedExecution(std::forward<Body>(body), function);
}

/// Deletes the object of a handle, which may be null.
template <typename Object> quern_status_t destroy(const Object *object) noexcept {
  const WithoutCancellation whole;
  delete object;
  return quern_success;
}

/// Returns an error that names the first null pointer of name-pointer pairs.
template <typename... Rest> Result<void> requireNonNull() { return {}; }
template <typename Pointer, typename... Rest>
Result<void> requireNonNull(const char *name, Pointer pointer, Rest... rest) {
  if (!pointer)
    return invalidArguments(name, " is null");
  return requireNonNull(rest...);
}

/// Converts an enumerator of the C API, which may hold any int.
template <typename Internal, typename Public> Internal fromC(Public value) {
  return static_cast<Internal>(static_cast<int32_t>(value));
}
template <typename Public, typename Internal> Public toC(Internal value) {
  return static_cast<Public>(static_cast<int32_t>(value));
}

/// Converts a value of the C API. Fails if the table of names of the enumeration, which lists every member, lacks it.
template <typename Internal, typename Public> Result<Internal> checkedEnum(const char *what, Public value) {
  const Internal internal = fromC<Internal>(value);
  if (static_cast<int32_t>(value) != 0 && nameOf(internal) == "undef")
    return invalidArguments(what, " has the unknown value ", static_cast<int32_t>(value));
  return internal;
}

} // namespace quern::api

#define QUERN_REQUIRE(...)                                                                                             \
  if (::quern::Result<void> quernChecked = ::quern::api::requireNonNull(__VA_ARGS__); !quernChecked)                   \
  return quernChecked

#endif // QUERN_RUNTIME_API_GUARD_H
