//===- Artifact.h - A compiled kernel as data -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The only thing that crosses from the compiler to the runtime, and what the disk cache holds. Versioned, checksummed
// and never trusted: parse() accepts a byte string only if every length, index and checksum holds.
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
  DeviceBinary = 3, ///< what a driver has made of SPIR-V, kept for it by the runtime: compilers give none
  Function = 4,     ///< a caller's function as a compiler has read it, a descriptor: neither entries nor steps
};

/// How a device runs an entry. Groups lie along x alone; a group is one iteration of a step, so that its
/// number is the iteration's.
struct EntryGroup {
  int32_t workItems = 1;    ///< in a group, fixed in the code
  int32_t subGroupSize = 0; ///< that the code requires; 0: any
  int64_t memoryBytes = 0;  ///< that the work-items of a group share, static in the code
  bool operator==(const EntryGroup &) const = default;
};

/// One tensor argument of the kernel, in the order in which it appears in `quern_kernel_args::buffers`.
struct ArtifactArgument {
  int32_t index = 0; ///< QUERN_ARG_*
  uint32_t isOutput = 0;
  int64_t bytes = 0; ///< the least size of its buffer; 0 if only executions know it
};

struct Artifact {
  CodeKind codeKind = CodeKind::ElfObject;
  std::string descriptor;           ///< text form, for listings
  std::string target;               ///< Target::text()
  std::string buildId;              ///< compilerBuildId() of the compiler that made it
  std::string keyBytes;             ///< KernelKey::bytes: a hit compares them
  std::string plan;                 ///< one line on how it was scheduled, for `quern explain`
  std::vector<std::string> entries; ///< symbol of each entry in `code`
  std::vector<EntryGroup> groups;   ///< of a device one for each entry, otherwise none
  std::vector<LaunchStep> steps;
  std::vector<LaunchLoop> loops;         ///< in the order in which they begin
  std::vector<Polynomial> regions;       ///< bytes of memory that steps share by name, of sizes
  std::vector<DerivedSize> derivedSizes; ///< sizes sizeCount, sizeCount + 1, …
  std::vector<SizeCheck> checks;
  std::vector<ArtifactArgument> arguments;
  int64_t scratchBytesPerThread = 0;
  int64_t sharedScratchBytes = 0; ///< common to the threads and steps of one execution, besides regions
  uint32_t sizeCount = 0;         ///< runtime sizes that an execution passes
  std::string code;

  /// Of the bytes: the version follows the magic, the checksum of the payload the version.
  static constexpr std::string_view magic = "QUERNART";
  static constexpr uint32_t formatVersion = 6;
  static constexpr size_t headerBytes = magic.size() + sizeof(formatVersion) + 2 * sizeof(uint64_t);

  std::string serialize() const;
  /// Rejects anything else than what serialize() writes, with the reason.
  static Result<Artifact> parse(std::string_view bytes);

  /// One line of steps and loops: "a_kernel, loop s0 - 1 { b_kernel | c_kernel }", `|` between
  /// steps that are independent.
  std::string launchText() const;
};

} // namespace quern

#endif // QUERN_ARTIFACT_ARTIFACT_H
