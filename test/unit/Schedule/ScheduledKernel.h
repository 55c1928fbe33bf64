//===- ScheduledKernel.h - Running what a recipe wrote --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compiles a problem's text, scheduled by a recipe or lowered naively, and runs it in memory that is flush against
// pages that nobody may touch: behind every buffer in one run, in front of it in another.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RECIPES_SCHEDULEDKERNEL_H
#define QUERN_TEST_RECIPES_SCHEDULEDKERNEL_H

#include "RandomChain.h"

#include "Targets/Cpu/Codegen.h"
#include "Targets/Cpu/Linker.h"
#include "Targets/Cpu/Pipeline.h"

#include "GuardedBuffer.h"

#include <functional>
#include <optional>
#include <span>

namespace quern::test {

/// Of a kernel that was made for a device, and of which a call is one work-item (Device/WorkItems.h).
struct GroupShape {
  struct Memory {
    int64_t bytes, elementBytes;
  };
  int64_t items = 0;    ///< of a group; 0: it is a kernel of the host
  int64_t subGroup = 0; ///< 0: any
  std::vector<Memory> memories;
  int64_t bytes() const; ///< of all, as a device lays them out
};

struct ScheduledKernel {
  std::unique_ptr<LinkedObject> code;
  std::vector<GroupShape> groups; ///< by entry
  uint64_t turns = 0;             ///< seed of the order in which work-items run; for the test to fill
  std::vector<int64_t> spaces;    ///< of each entry, before its factors
  std::vector<std::vector<int64_t>> factors;
  std::vector<int64_t> sizes; ///< of open dims; for the test to fill
  int64_t scratchBytes = 0, sharedBytes = 0;
  std::string plan;
};

/// Levels whose instructions differ for every recipe; the others differ from them where bytes and bf16 are.
inline constexpr CpuIsa wholeLevels[] = {CpuIsa::Sse42, CpuIsa::Avx2, CpuIsa::Avx512, CpuIsa::Neon, CpuIsa::Sve};
/// Those of `levels` that this machine has, SVE with the length of its vectors.
std::vector<Target> targetsOfMachine(std::span<const CpuIsa> levels);

/// What each argument holds, gaps included.
using Bytes = std::vector<char>;
using Buffers = std::vector<Bytes>;

class KernelCompiler {
public:
  KernelCompiler();
  /// Writes kernels for the problem and keeps it; fails with a reason.
  using Recipe = std::function<mlir::LogicalResult(mlir::func::FuncOp problem, std::string &whyNot)>;
  /// Fails the current test where something does. With `trapsEmpty` the kernel stops the process with SIGTRAP where a
  /// masked access without an active lane reaches outside of its buffer.
  ScheduledKernel compile(const std::string &text, const Target &target, const Recipe &recipe, bool trapsEmpty = false);
  /// Nothing if the recipe fails, with its reason.
  std::optional<ScheduledKernel> tryCompile(const std::string &text, const Target &target, const Recipe &recipe,
                                            std::string &whyNot, bool trapsEmpty = false);
  /// Scalar loops by upstream, with f32 widened to f64 on demand.
  ScheduledKernel compileNaively(const std::string &text, const Target &target, bool widen);

private:
  ScheduledKernel build(mlir::ModuleOp module, const Target &target);

  mlir::MLIRContext context;
  CpuLowering lowering;
  CpuCodegen codegen;
};

/// Filled with values in [-2, 2].
Buffers makeBuffers(const std::vector<ChainArgument> &arguments, uint64_t seed);

/// Runs [0, space) of each kernel in two parts, the later one first. `aliased` outputs share the buffer of their input.
/// All memory that the kernel gets is flush against an inaccessible page on that side; touching it fails the current
/// test. So does what a device leaves undefined; the memory of a group begins with garbage.
void run(const ScheduledKernel &kernel, const std::vector<ChainArgument> &arguments, Buffers &buffers, bool aliased,
         GuardedSide side = GuardedSide::End);

/// Runs the kernel from `start`, twice: guarded at the end and at the beginning. Expects what naive loops made of it
/// (`want`): elements that they left alone are the same bits or what the loops have anyway, the others within the
/// tolerance, or the same bits if it is 0; inputs stay as they are.
void checkKernel(const ScheduledKernel &kernel, const std::vector<ChainArgument> &arguments, double tolerance,
                 const Buffers &start, const Buffers &want, bool aliased);

uint64_t fromEnvironment(const char *name, uint64_t otherwise);

} // namespace quern::test

#endif // QUERN_TEST_RECIPES_SCHEDULEDKERNEL_H
