//===- CodeRegistration.h - Registering kernels with debuggers and profilers -===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// If QUERN_DEBUG is set (Wanted.h), each loaded kernel, whatever its origin, is compiled again with DWARF for its
// schedule. That object is mapped instead if its loaded sections equal those of the artifact, and its source is written
// to a file <key>.mlir. No cache stores any of this.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_DEBUG_CODEREGISTRATION_H
#define QUERN_RUNTIME_DEBUG_CODEREGISTRATION_H

#include "Artifact/Artifact.h"
#include "Primitives/Registry.h"

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace quern {

/// The code of an artifact for debuggers and profilers.
struct DebugObject {
  std::string key;    ///< hash of the artifact's key, as in the name of its cache file
  std::string object; ///< the artifact's object, or the same with DWARF
  std::string source; ///< path of the file with the schedule; "": none
};

/// Returns the data that debuggers need for an artifact, which must be for the host; nullopt if QUERN_DEBUG is not set.
/// If there is no line table, returns only the code, and prints a verbose line with the reason.
std::optional<DebugObject> debugObjectOf(const Artifact &artifact, const VerifiedProblem &problem);

/// Registers the code during its lifetime. It must be destroyed before the code is unmapped.
class CodeRegistration {
public:
  /// Registers code that the loader has mapped. `sections`: address of each section of the object; null: not mapped.
  static std::shared_ptr<CodeRegistration> ofLoaded(const DebugObject &code, std::span<const void *const> sections);
  /// Registers code that ORC has linked, but only the sections that contain an entry. `names` and `entries` are the
  /// names and addresses of the artifact's entries.
  static std::shared_ptr<CodeRegistration> ofLinked(const DebugObject &code, const std::vector<std::string> &names,
                                                    std::span<void *const> entries);
  ~CodeRegistration();
  CodeRegistration(const CodeRegistration &) = delete;
  CodeRegistration &operator=(const CodeRegistration &) = delete;

private:
  CodeRegistration() = default;
  class GdbObject *registered = nullptr;
};

} // namespace quern

#endif // QUERN_RUNTIME_DEBUG_CODEREGISTRATION_H
