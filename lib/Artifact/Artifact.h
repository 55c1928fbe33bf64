//===- Artifact.h - A compiled kernel as data -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The only thing that crosses from the compiler to the runtime, and what the disk cache holds. Versioned, checksummed and never trusted:
// parse() accepts a byte string only if every length, index and checksum holds.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_ARTIFACT_ARTIFACT_H
#define QUERN_ARTIFACT_ARTIFACT_H

#include "Support/Error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

enum class CodeKind : uint32_t { ElfObject = 1, SpirV = 2 };

/// One tensor argument of the kernel, in the order in which it appears in `quern_kernel_args::buffers`.
struct ArtifactArgument {
  int32_t index = 0; ///< QUERN_ARG_*
  uint32_t isOutput = 0;
  int64_t bytes = 0; ///< the least size of its buffer; 0 if only executions know it
};

/// Multiplies the iterations of a step by sizes[sizeIndex] / divisor, rounded up, where the sizes are known at execution only.
struct SizeFactor {
  uint32_t sizeIndex = 0; ///< into `quern_kernel_args::sizes`
  int64_t divisor = 1;
};

/// A buffer that a step passes: that of the problem's argument `argument`, from `byteOffset` on.
struct StepBuffer {
  uint32_t argument = 0; ///< index into `arguments`
  int64_t byteOffset = 0;
};

/// Runs `entry` over [0, iterations · factors): the iterations are independent. Steps run in order, each after all of the one before,
/// unless they are marked as independent of it.
struct LaunchStep {
  uint32_t entry = 0; ///< index into `entries`
  int64_t iterations = 0;
  int64_t nsPerIteration = 0; ///< estimate on one core; 0: unknown. The runtime uses no more threads than the work is worth.
  std::vector<SizeFactor> factors;
  std::vector<StepBuffer> buffers{}; ///< what the entry gets; empty: the buffers of all arguments
  bool besidePrevious = false;       ///< the two may run at once
};

/// Most buffers that a step names.
inline constexpr uint32_t maxStepBuffers = 64;

struct Artifact {
  CodeKind codeKind = CodeKind::ElfObject;
  std::string descriptor;           ///< text form, for listings
  std::string target;               ///< Target::text()
  std::string buildId;              ///< compilerBuildId() of the compiler that made it
  std::string keyBytes;             ///< KernelKey::bytes: a hit compares them
  std::string plan;                 ///< one line on how it was scheduled, for `quern explain`
  std::vector<std::string> entries; ///< symbol of each entry in `code`
  std::vector<LaunchStep> steps;
  std::vector<ArtifactArgument> arguments;
  int64_t scratchBytesPerThread = 0;
  int64_t sharedScratchBytes = 0; ///< common to the threads and steps of one execution
  uint32_t sizeCount = 0;         ///< runtime sizes that an execution passes
  std::string code;

  std::string serialize() const;
  /// Rejects anything else than what serialize() writes, with the reason.
  static Result<Artifact> parse(std::string_view bytes);
};

} // namespace quern

#endif // QUERN_ARTIFACT_ARTIFACT_H
