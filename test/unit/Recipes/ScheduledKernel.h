//===- ScheduledKernel.h - Running what a recipe wrote --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compiles a problem's text, scheduled by a recipe or lowered naively, and runs it on buffers with guards on both sides.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RECIPES_SCHEDULEDKERNEL_H
#define QUERN_TEST_RECIPES_SCHEDULEDKERNEL_H

#include "RandomChain.h"

#include "Targets/Cpu/Codegen.h"
#include "Targets/Cpu/Linker.h"
#include "Targets/Cpu/Pipeline.h"

#include <sys/mman.h>

#include <cstdlib>
#include <functional>

namespace quern::test {

struct ScheduledKernel {
  std::unique_ptr<LinkedObject> code;
  std::vector<int64_t> spaces; ///< of each entry, before its factors
  std::vector<std::vector<int64_t>> factors;
  std::vector<int64_t> sizes; ///< of open dims; for the test to fill
  int64_t scratchBytes = 0, sharedBytes = 0;
  std::string plan;
};

/// Whole cache lines that end with the last page of a mapping, or start with the first: what a kernel reads far beyond faults.
template <typename T> struct LineAllocator {
  using value_type = T;
  static constexpr size_t line = 64, page = 4096;
  static size_t mapped(size_t count) { return (count * sizeof(T) + page - 1) / page * page + 2 * page; }
  T *allocate(size_t count) {
    size_t bytes = (count * sizeof(T) + line - 1) / line * line;
    void *start = mmap(nullptr, mapped(count), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *inside = static_cast<char *>(start) + page;
    if (start == MAP_FAILED || mprotect(inside, mapped(count) - 2 * page, PROT_READ | PROT_WRITE) != 0)
      std::abort();
    return reinterpret_cast<T *>(static_cast<char *>(start) + mapped(count) - page - bytes);
  }
  void deallocate(T *memory, size_t count) {
    size_t bytes = (count * sizeof(T) + line - 1) / line * line;
    munmap(reinterpret_cast<char *>(memory) + bytes + page - mapped(count), mapped(count));
  }
  bool operator==(const LineAllocator &) const = default;
};

/// Buffers with guards on both sides, one for each argument.
using Bytes = std::vector<char, LineAllocator<char>>;
using Buffers = std::vector<Bytes>;
inline constexpr int64_t guardBytes = 256;

class KernelCompiler {
public:
  KernelCompiler();
  /// Writes kernels for the problem and keeps it; fails with a reason.
  using Recipe = std::function<mlir::LogicalResult(mlir::func::FuncOp problem, std::string &whyNot)>;
  /// Fails the current test where something does.
  ScheduledKernel compile(const std::string &text, const Target &target, const Recipe &recipe);
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
void run(const ScheduledKernel &kernel, const std::vector<ChainArgument> &arguments, Buffers &buffers, bool aliased);

/// Runs the kernel from `start` and expects what naive loops made of it (`want`): elements that they left alone are the same bits or what
/// the loops have anyway, the others within the tolerance, or the same bits if it is 0; inputs and guards stay as they are.
void checkKernel(const ScheduledKernel &kernel, const std::vector<ChainArgument> &arguments, double tolerance, const Buffers &start,
                 const Buffers &want, bool aliased);

uint64_t fromEnvironment(const char *name, uint64_t otherwise);

} // namespace quern::test

#endif // QUERN_TEST_RECIPES_SCHEDULEDKERNEL_H
