//===- Error.h - Status codes, one-line reasons and Result<T> -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every fallible function of the LLVM-free half returns Result<T>: a value, or an Error with a status and one line that
// names the offending value and the limit. Nothing here throws on its own (std::bad_alloc may pass through and is
// mapped at the C boundary).
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SUPPORT_ERROR_H
#define QUERN_SUPPORT_ERROR_H

#include <locale>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace quern {

/// Same values as the public C API (`quern_status_t`); 0–6 are oneDNN's.
enum class Status : int {
  Success = 0,
  OutOfMemory = 1,
  InvalidArguments = 2, ///< the caller's bug
  Unimplemented = 3,    ///< valid, but not supported here: the caller uses a fallback
  LastImplReached = 4,  ///< no further implementation
  RuntimeError = 5,     ///< failure of the device, the driver or the disk
  NotRequired = 6,      ///< the queried entity is not needed
  Internal = 100,       ///< a bug in Quern
};

const char *toString(Status status);

struct Error {
  Status status = Status::Success;
  std::string message; ///< one line, no trailing newline
};

/// Joins its arguments with operator<<, independently of the program's global locale.
template <typename... Parts> std::string concat(const Parts &...parts) {
  std::ostringstream os;
  os.imbue(std::locale::classic());
  (os << ... << parts);
  return os.str();
}

template <typename... Parts> Error invalidArguments(const Parts &...parts) {
  return {Status::InvalidArguments, concat(parts...)};
}
template <typename... Parts> Error unimplemented(const Parts &...parts) {
  return {Status::Unimplemented, concat(parts...)};
}
template <typename... Parts> Error runtimeError(const Parts &...parts) {
  return {Status::RuntimeError, concat(parts...)};
}
template <typename... Parts> Error internalError(const Parts &...parts) { return {Status::Internal, concat(parts...)}; }

/// A value or an Error. `Result<void>` is success or an Error.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T &&value) : stored(std::move(value)) {}
  Result(const T &value) : stored(value) {}
  Result(Error error) : failure(std::move(error)) {}
  explicit operator bool() const { return stored.has_value(); }
  T &operator*() & { return *stored; }
  const T &operator*() const & { return *stored; }
  T &&operator*() && { return std::move(*stored); }
  T *operator->() { return &*stored; }
  const T *operator->() const { return &*stored; }
  /// Returns the error; valid only if there is no value.
  const Error &error() const { return failure; }
  Error &&takeError() { return std::move(failure); }

private:
  std::optional<T> stored;
  Error failure;
};

template <> class [[nodiscard]] Result<void> {
public:
  Result() = default;
  Result(Error error) : failure(std::move(error)) {}
  explicit operator bool() const { return failure.status == Status::Success; }
  const Error &error() const { return failure; }
  Error &&takeError() { return std::move(failure); }

private:
  Error failure;
};

} // namespace quern

/// If an expression of type Result<T> has failed, returns its error from the enclosing function.
#define QUERN_RETURN_IF_ERROR(...)                                                                                     \
  do {                                                                                                                 \
    if (auto quernResult = (__VA_ARGS__); !quernResult)                                                                \
      return quernResult.takeError();                                                                                  \
  } while (false)

/// Initializes a variable with the value of an expression of type Result<T>, or returns its error from the enclosing
/// function:
///
///   QUERN_ASSIGN_OR_RETURN(Target target, Target::parse(text));
#define QUERN_ASSIGN_OR_RETURN(declaration, ...)                                                                       \
  QUERN_ASSIGN_OR_RETURN_FROM(QUERN_JOIN(quernResult, __LINE__), declaration, __VA_ARGS__)
#define QUERN_ASSIGN_OR_RETURN_FROM(result, declaration, ...)                                                          \
  auto result = (__VA_ARGS__);                                                                                         \
  if (!result)                                                                                                         \
    return result.takeError();                                                                                         \
  declaration = *std::move(result)
#define QUERN_JOIN(x, y) QUERN_JOIN_EXPANDED(x, y)
#define QUERN_JOIN_EXPANDED(x, y) x##y

#endif // QUERN_SUPPORT_ERROR_H
