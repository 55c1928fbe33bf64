//===- Lookup.h - The outcome of a search ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A search for a value has three outcomes: a hit, a miss, or an error. A miss has neither a status nor a message, and
// callers continue with the next source.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SUPPORT_LOOKUP_H
#define QUERN_SUPPORT_LOOKUP_H

#include "Support/Error.h"

namespace quern {

/// A value (a hit), nothing (a miss), or an Error.
template <typename T> class [[nodiscard]] Lookup {
public:
  /// A miss.
  Lookup() = default;
  Lookup(T hit) : found(std::move(hit)) {}
  Lookup(Error error) : failure(std::move(error)) {}
  /// A hit or an error.
  Lookup(Result<T> result) {
    if (result)
      found.emplace(*std::move(result));
    else
      failure = result.takeError();
  }

  /// Returns true for a hit.
  explicit operator bool() const { return found.has_value(); }
  bool isError() const { return failure.status != Status::Success; }
  T &operator*() & { return *found; }
  const T &operator*() const & { return *found; }
  T &&operator*() && { return *std::move(found); }
  T *operator->() { return &*found; }
  const T *operator->() const { return &*found; }
  /// Returns the error; for a miss its status is Success.
  const Error &error() const { return failure; }
  /// Returns the error; for a miss an error that makes another Lookup a miss.
  Error &&takeError() { return std::move(failure); }

private:
  std::optional<T> found;
  Error failure;
};

} // namespace quern

#endif // QUERN_SUPPORT_LOOKUP_H
