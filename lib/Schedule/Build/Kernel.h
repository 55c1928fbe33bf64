//===- Kernel.h - The function that a recipe writes ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The contract of all recipes. A recipe reads a problem, a function on strided memrefs whose arguments are named by
// `quern.arg`, and does not modify it. It inserts the kernels after the problem, in the order in which they run:
// `@<name>_kernel`, or `@<name>_kernel0`, … if there are several. A kernel takes
//   (each argument as a rank-1 or rank-0 memref over its whole buffer, [shared {quern.shared}],
//    [scratch {quern.scratch}], [sizes {quern.sizes}: the open sizes of the arguments, in the order of ArgumentSizes],
//    begin: index, end: index)
// and computes the iterations from begin to end of its space. On a device it has no begin and end: it runs in
// independent groups of work-items along x, and its space counts groups. Its KernelAttr has its other properties
// (KernelTraits). Arguments must not overlap, except for those that a recipe allows to share memory.
//
// A recipe that does not support a problem returns a null match (Problem/Match.h) and a one-line reason.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_BUILD_KERNEL_H
#define QUERN_SCHEDULE_BUILD_KERNEL_H

#include "IR/QuernDialect.h"
#include "Schedule/Problem/Size.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <string>

namespace quern {

/// The number of independent iterations of a kernel: a number times a factor for each open extent.
struct IterationSpace {
  IterationSpace(int64_t number = 1) : number(number) {} // NOLINT(google-explicit-constructor): a number is a space
  /// Multiplies the space by the iterations of a loop over `extent` indices, `step` of them per iteration.
  void addLoop(schedule::Size extent, int64_t step = 1);

  int64_t number;
  llvm::SmallVector<int64_t, 4> factors; ///< pairs: the index of an open size, and a step
};

/// Properties of a kernel, which its KernelAttr records.
struct KernelTraits {
  std::string name;
  PlanAttr plan;
  IterationSpace space;
  double nsPerIteration = 1;
  int64_t sharedBytes = 0, scratchBytes = 0; ///< 0: the kernel has no such argument
  /// Work-items of a group, and the required size of sub-groups, or 0. Kernels with groups run on a device: `space`
  /// counts groups, and the kernel reads the group index (gpu.block_id) instead of begin and end.
  int64_t groupSize = 0, subGroupSize = 0;
};

struct KernelFunction {
  mlir::func::FuncOp function;
  mlir::IRMapping arguments;          ///< maps the problem's values to the kernel's
  mlir::Value shared, scratch, sizes; ///< null if the kernel does not have them
  /// Return the bounds of the iterations of a call. Kernels with groups do not have these arguments.
  mlir::Value begin() { return function.getArgument(function.getNumArguments() - 2); }
  mlir::Value end() { return function.getArgument(function.getNumArguments() - 1); }
};

/// Inserts the kernel of `problem` after `after`, with an empty entry block.
KernelFunction makeKernel(mlir::func::FuncOp problem, mlir::Operation *after, const KernelTraits &traits);

} // namespace quern

#endif // QUERN_SCHEDULE_BUILD_KERNEL_H
