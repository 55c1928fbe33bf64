//===- Executable.h - A loaded kernel -------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An artifact whose code is mapped: entry pointers, launch steps and argument order, checked once so that execution need not. Immutable and
// shared by every primitive of the same key.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CPU_EXECUTABLE_H
#define QUERN_RUNTIME_CPU_EXECUTABLE_H

#include "Artifact/Artifact.h"
#include "Cpu/Scratch.h"
#include "Primitives/Registry.h"

#include "quern/quern_ext.h"

#include <memory>
#include <span>

namespace quern {

class CompilerLibrary;

/// Who turns an object into running code.
enum class Linker { Orc, Loader };

class Executable {
public:
  /// Loads an artifact that came as `bytes`. With Linker::Orc `compiler` must be given. Fails if the artifact's arguments are not those of
  /// the problem, or if the linker refuses its code.
  static Result<std::shared_ptr<const Executable>> load(Artifact artifact, std::string bytes, const VerifiedProblem &problem, Linker linker,
                                                        const CompilerLibrary *compiler);

  struct Step {
    quern_entry_step_t call;
    /// How many threads it is worth, from the compiler's estimate, for as many iterations as it has without its factors; at least 1.
    int usefulThreads = 1;
    /// So many steps from this one on are independent of each other; 1 within such a group.
    size_t together = 1;
  };
  const std::vector<Step> &steps() const { return launch; }
  std::span<const quern_entry_step_t> entrySteps() const { return calls; }
  /// In the order of the kernel's buffers.
  std::span<const quern_entry_argument_t> arguments() const { return argumentList; }
  const ScratchNeeds &scratch() const { return scratchNeeds; }
  /// Of quern_kernel_args_t::sizes.
  int32_t sizeCount() const { return sizes; }
  double estimatedSeconds() const;

  const std::string &artifactBytes() const { return serialized; }
  const std::string &plan() const { return planText; }
  const std::string &target() const { return targetText; }
  Linker linker() const { return linkedBy; }
  size_t codeBytes() const { return mappedBytes; }
  /// What it occupies in a cache.
  size_t memoryBytes() const { return mappedBytes + serialized.size() + sizeof(*this); }

private:
  Executable() = default;
  Result<void> takeSteps(const Artifact &artifact, std::span<void *const> entries);

  std::shared_ptr<void> owner; ///< keeps the code mapped
  std::vector<Step> launch;
  std::vector<quern_entry_step_t> calls;
  std::vector<quern_entry_argument_t> argumentList;
  std::vector<std::vector<quern_entry_factor_t>> factors; ///< by step
  std::vector<std::vector<quern_entry_buffer_t>> buffers; ///< by step
  ScratchNeeds scratchNeeds;
  int32_t sizes = 0;
  std::string serialized, planText, targetText;
  Linker linkedBy = Linker::Loader;
  size_t mappedBytes = 0;
};

/// The threads that so much work is worth; at least 1.
int usefulThreads(int64_t iterations, int64_t nsPerIteration);

} // namespace quern

#endif // QUERN_RUNTIME_CPU_EXECUTABLE_H
