//===- Announce.h - Kernels that debuggers and profilers know -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Where QUERN_DEBUG asks for it (Wanted.h), a kernel that is loaded, wherever it came from, is compiled once more with
// DWARF of its schedule. What is mapped is then that object, if everything that is loaded of it is as in the artifact;
// its source is written to a file <key>.mlir. No cache has any of it.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_DEBUG_ANNOUNCE_H
#define QUERN_RUNTIME_DEBUG_ANNOUNCE_H

#include "Artifact/Artifact.h"
#include "Primitives/Registry.h"

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace quern {

/// The code of an artifact for those who look at it.
struct DebugObject {
  std::string key;    ///< the hash of the artifact's, as in the name of its cache file
  std::string object; ///< the artifact's, or the same with DWARF
  std::string source; ///< the path of the file with the schedule; "": there is none
};

/// Nothing where nobody wants to know. Of an artifact for the host. Where a line table cannot be had, its code alone,
/// and a verbose line says why.
std::optional<DebugObject> debugObjectOf(const Artifact &artifact, const VerifiedProblem &problem);

/// While it lives, debuggers know the code: it goes before the code is unmapped.
class Announcement {
public:
  /// Code that the loader has mapped. `sections`: of each section of the object where it is; null: it is not mapped.
  static std::shared_ptr<Announcement> ofLoaded(const DebugObject &code, std::span<const void *const> sections);
  /// Code that ORC has linked: functions alone, by `entries` of the artifact.
  static std::shared_ptr<Announcement> ofLinked(const DebugObject &code, const std::vector<std::string> &names,
                                                std::span<void *const> entries);
  ~Announcement();
  Announcement(const Announcement &) = delete;
  Announcement &operator=(const Announcement &) = delete;

private:
  Announcement() = default;
  class GdbObject *registered = nullptr;
};

} // namespace quern

#endif // QUERN_RUNTIME_DEBUG_ANNOUNCE_H
