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
#include "Cpu/Entry.h"
#include "Cpu/Program.h"
#include "Cpu/Scratch.h"
#include "Primitives/Registry.h"
#include "Support/CheckedMath.h"

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

  const Program &program() const { return launch; }
  /// As the C interface shows it, without a version.
  quern_entry_t entry() const;
  std::span<const quern_entry_step_t> steps() const { return view.steps(); }
  /// In the order of the kernel's buffers.
  std::span<const quern_entry_argument_t> arguments() const { return view.arguments(); }
  /// The scratch of an execution, without regions whose bytes depend on sizes.
  const ScratchNeeds &scratch() const { return scratchNeeds; }
  /// Bytes that an execution shares: the kernels' own, and behind them so many of regions.
  Result<int64_t> sharedBytes(int64_t regions) const;
  /// Of an execution whose sharedBytes() are not beyond int64.
  int64_t regionsStart() const { return roundUp(kernelShared, static_cast<int64_t>(scratchAlignment)).value(); }
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

  std::shared_ptr<void> owner; ///< keeps the code mapped
  Entry view;
  Program launch;
  ScratchNeeds scratchNeeds;
  int64_t kernelShared = 0;
  std::string serialized, planText, targetText;
  Linker linkedBy = Linker::Loader;
  size_t mappedBytes = 0;
};

} // namespace quern

#endif // QUERN_RUNTIME_CPU_EXECUTABLE_H
