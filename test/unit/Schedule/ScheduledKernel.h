//===- ScheduledKernel.h - Running the kernels of a recipe ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compiles the text of a problem, scheduled by a recipe or lowered naively, and runs it in memory that starts or ends
// at inaccessible pages.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RECIPES_SCHEDULEDKERNEL_H
#define QUERN_TEST_RECIPES_SCHEDULEDKERNEL_H

#include "RandomChain.h"

#include "Schedule/Problem/Match.h"
#include "Targets/Cpu/Codegen.h"
#include "Targets/Cpu/Linker.h"
#include "Targets/Cpu/Pipeline.h"

#include "GuardedBuffer.h"

#include <functional>
#include <optional>
#include <span>

namespace quern::test {

/// Launch parameters of a device kernel, of which one call is one work-item (Device/WorkItems.h).
struct GroupShape {
  struct Memory {
    int64_t bytes, elementBytes;
  };
  int64_t items = 0;    ///< work-items of a group; 0: a host kernel
  int64_t subGroup = 0; ///< size of a sub-group; 0: any
  std::vector<Memory> memories;
  int64_t bytes() const; ///< total size of `memories`, each aligned as on a device
};

struct ScheduledKernel {
  std::unique_ptr<LinkedObject> code;
  std::vector<GroupShape> groups; ///< by entry
  uint64_t orderSeed = 0;         ///< seed of the order of work-items; set by the test
  std::vector<int64_t> spaces;    ///< space of each entry, before its factors
  std::vector<std::vector<int64_t>> factors;
  std::vector<int64_t> sizes; ///< values of open dims; set by the test
  int64_t scratchBytes = 0, sharedBytes = 0;
  std::string plan;
};

/// Levels whose instructions differ in every recipe; the other levels add instructions for bytes and bf16.
inline constexpr CpuIsa wholeLevels[] = {CpuIsa::Sse42, CpuIsa::Avx2, CpuIsa::Avx512, CpuIsa::Neon, CpuIsa::Sve};
/// Returns those of `levels` that this machine has; SVE with its vector length.
std::vector<Target> targetsOfMachine(std::span<const CpuIsa> levels);

/// Contents of an argument, including gaps.
using Bytes = std::vector<char>;
using Buffers = std::vector<Bytes>;

/// Emits the kernels of a match. Fails if there is none, or with its reason if it is a fallback.
mlir::LogicalResult emitPreferred(const MatchPtr &match, std::string &whyNot);

class KernelCompiler {
public:
  KernelCompiler();
  /// Adds kernels for the problem to its module and keeps the problem; fails with a reason.
  using Recipe = std::function<mlir::LogicalResult(mlir::func::FuncOp problem, std::string &whyNot)>;
  /// Compiles the kernels of a recipe; a failure fails the current test. With `trapsEmpty`, the kernel raises SIGTRAP
  /// if a masked access without active lanes is outside of its buffer.
  ScheduledKernel compile(const std::string &text, const Target &target, const Recipe &recipe, bool trapsEmpty = false);
  /// Returns nothing if the recipe fails, with its reason in `whyNot`.
  std::optional<ScheduledKernel> tryCompile(const std::string &text, const Target &target, const Recipe &recipe,
                                            std::string &whyNot, bool trapsEmpty = false);
  /// Compiles scalar loops of MLIR's lowering; f32 is extended to f64 if `widen` is set.
  ScheduledKernel compileNaively(const std::string &text, const Target &target, bool widen);

private:
  ScheduledKernel build(mlir::ModuleOp module, const Target &target);

  mlir::MLIRContext context;
  CpuLowering lowering;
  CpuCodegen codegen;
};

/// Returns buffers with values in [-2, 2].
Buffers makeBuffers(const std::vector<ChainArgument> &arguments, uint64_t seed);

/// Runs [0, space) of each kernel in two parts, the later one first. `aliased` outputs share the buffer of their input.
/// All memory of the kernel starts or ends at an inaccessible page; an access to that page fails the current test. So
/// does undefined behavior of a device kernel. The bytes of a group's memory are 0xFF when the group starts.
void run(const ScheduledKernel &kernel, const std::vector<ChainArgument> &arguments, Buffers &buffers, bool aliased,
         GuardedSide side = GuardedSide::End);

/// Runs the kernel from `start` twice, guarded at the end and at the start, and compares it with the results of naive
/// loops (`want`). Elements that the loops did not change must be unchanged or equal `want`; the others must be within
/// the tolerance, or the same bits if it is 0; inputs must not change.
void checkKernel(const ScheduledKernel &kernel, const std::vector<ChainArgument> &arguments, double tolerance,
                 const Buffers &start, const Buffers &want, bool aliased);

uint64_t fromEnvironment(const char *name, uint64_t otherwise);

} // namespace quern::test

#endif // QUERN_TEST_RECIPES_SCHEDULEDKERNEL_H
