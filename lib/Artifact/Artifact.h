//===- Artifact.h - A compiled kernel as data -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An artifact is the only data that passes from the compiler to the runtime, and the content of the disk cache. Its
// bytes are versioned, checksummed and never trusted: parse() accepts them only if every length, index and checksum is
// valid.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_ARTIFACT_ARTIFACT_H
#define QUERN_ARTIFACT_ARTIFACT_H

#include "Artifact/Program.h"
#include "Support/Error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

enum class CodeKind : uint32_t {
  ElfObject = 1,
  SpirV = 2,
  DeviceBinary = 3, ///< a driver's translation of SPIR-V, which the runtime stores; compilers never create it
  Function = 4,     ///< the descriptor of a caller's function as read by a compiler; has neither entries nor steps
};

/// How a device runs an entry. Groups are arranged along x only; each group is one iteration of a step, and both have
/// the same index.
struct EntryGroup {
  int32_t workItems = 1;    ///< work-items of a group, fixed in the code
  int32_t subGroupSize = 0; ///< size of sub-groups that the code requires; 0: any
  int64_t memoryBytes = 0;  ///< static memory in the code that the work-items of a group share
  bool operator==(const EntryGroup &) const = default;
};

/// A tensor argument of the kernel, in the order of `quern_kernel_args::buffers`.
struct ArtifactArgument {
  int32_t index = 0; ///< QUERN_ARG_*
  uint32_t isOutput = 0;
  int64_t bytes = 0; ///< minimum size of its buffer in bytes; also 0 if it is known only at execution
};

struct Artifact {
  CodeKind codeKind = CodeKind::ElfObject;
  std::string descriptor;           ///< text form, for listings
  std::string target;               ///< Target::text()
  std::string buildId;              ///< compilerBuildId() of the compiler that created it
  std::string keyBytes;             ///< KernelKey::bytes, which a cache hit compares
  std::string plan;                 ///< one line that describes the schedule, for `quern explain`
  std::vector<std::string> entries; ///< symbol of each entry in `code`
  std::vector<EntryGroup> groups;   ///< for a device, one for each entry; otherwise empty
  std::vector<LaunchStep> steps;
  std::vector<LaunchLoop> loops;         ///< in the order of their first steps
  std::vector<Polynomial> regions;       ///< size of each shared region in bytes; depends on sizes only
  std::vector<DerivedSize> derivedSizes; ///< sizes sizeCount, sizeCount + 1, …
  std::vector<SizeCheck> checks;
  std::vector<ArtifactArgument> arguments;
  int64_t scratchBytesPerThread = 0;
  int64_t sharedScratchBytes = 0; ///< memory that the threads and steps of one execution share, in addition to regions
  uint32_t sizeCount = 0;         ///< number of run-time sizes that an execution passes
  std::string code;

  /// Header of the serialized bytes: magic, version, checksum of the payload.
  static constexpr std::string_view magic = "QUERNART";
  static constexpr uint32_t formatVersion = 6;
  static constexpr size_t headerBytes = magic.size() + sizeof(formatVersion) + 2 * sizeof(uint64_t);

  std::string serialize() const;
  /// Inverse of serialize(). Fails with a reason if the bytes are damaged, or if a count, index or name is invalid.
  static Result<Artifact> parse(std::string_view bytes);

  /// Returns one line of steps and loops, such as "a_kernel, loop s0 - 1 { b_kernel | c_kernel }", with `|` between
  /// steps that are independent.
  std::string launchText() const;
};

} // namespace quern

#endif // QUERN_ARTIFACT_ARTIFACT_H
