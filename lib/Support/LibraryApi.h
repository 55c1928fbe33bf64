//===- LibraryApi.h - A library that is opened for its table of functions ----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SUPPORT_LIBRARYAPI_H
#define QUERN_SUPPORT_LIBRARYAPI_H

#include "Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <dlfcn.h>

namespace quern {

/// A C callback that appends to a string. Exceptions must not propagate through the library that calls it.
template <typename Sink> struct StringSink {
  std::string text;
  bool failed = false;
  Sink sink{&StringSink::write, this};
  StringSink() = default;
  StringSink(const StringSink &) = delete;
  StringSink &operator=(const StringSink &) = delete;
  static void write(void *context, const void *bytes, size_t size) noexcept {
    auto *self = static_cast<StringSink *>(context);
    try {
      self->text.append(static_cast<const char *>(bytes), size);
    } catch (...) {
      self->failed = true;
    }
  }
};

/// Opens a library and returns the table that its function `symbol` returns for `version`. The library stays open
/// on success. `refuse` may return an error for the table. `wanted` and `is` are used in other errors: the purpose of
/// the library, and the expected kind.
template <typename Api, typename Refuse>
Result<const Api *> openApi(const std::string &path, const char *symbol, uint32_t version, const char *wanted,
                            const char *is, const Refuse &refuse) {
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = dlerror();
    return runtimeError(wanted, " cannot be loaded: ", reason ? reason : "unknown error");
  }
  const auto getApi = reinterpret_cast<const Api *(*)(uint32_t)>(dlsym(handle, symbol));
  const Api *api = getApi ? getApi(version) : nullptr;
  std::optional<Error> refusal =
      api ? refuse(*api) : runtimeError(path, " is not the ", is, " of interface version ", version);
  if (!refusal)
    return api;
  dlclose(handle); // only the lookup function has run
  return std::move(*refusal);
}

} // namespace quern

#endif // QUERN_SUPPORT_LIBRARYAPI_H
