//===- Library.h - Loading libquern-compiler on the first miss ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The runtime's side of Bridge.h. The path of the library is QUERN_COMPILER_LIBRARY, else it is next to libquern; it
// must be of the same build. It is never unloaded, because LLVM does not support that.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_COMPILATION_LIBRARY_H
#define QUERN_RUNTIME_COMPILATION_LIBRARY_H

#include "quern-compiler/Bridge.h"

#include "Compilation/Messages.h"
#include "Support/Error.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

/// Returns the absolute path of libquern's folder at load time, with a final slash; nullopt if it is unknown.
std::optional<std::string> folderOfLibrary();
/// Returns the path in an environment variable, or else the path of a file in the folder of libquern. Fails with
/// `invalid_arguments` if the variable has a relative path, whose meaning would change with the working directory, and
/// with `runtime_error` if the folder is unknown.
Result<std::string> fileBesideLibrary(const char *variable, const char *name);

class CompilerLibrary {
public:
  static Result<std::string> path();
  /// Returns true if the compiler of this build verifies the output of each stage.
  static bool verifiesIr();
  /// Loads the library on the first call. Fails with `runtime_error` if it is missing or of another build; the next
  /// call tries again. This function and those below are thread-safe.
  static Result<const CompilerLibrary *> get();

  /// See Compiler::answer().
  Result<std::string> answer(const CompilerRequest &request, std::string *stageTimes) const;

  struct Linked {
    std::vector<void *> entries;
    std::shared_ptr<void> owner;
  };
  /// Links a serialized artifact with ORC.
  Result<Linked> link(std::string_view artifact, size_t entryCount) const;

private:
  explicit CompilerLibrary(const quern_compiler_api *api) : api(api) {}

  const quern_compiler_api *api;
};

} // namespace quern

#endif // QUERN_RUNTIME_COMPILATION_LIBRARY_H
