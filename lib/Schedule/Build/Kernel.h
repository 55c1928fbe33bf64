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
// A recipe that does not match fails without a diagnostic; `whyNot`, if given, then receives the reason in one line.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_BUILD_KERNEL_H
#define QUERN_SCHEDULE_BUILD_KERNEL_H

#include "Schedule/Problem/Size.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <string>

namespace quern {

/// Properties of a kernel, which its KernelAttr records.
struct KernelTraits {
  std::string name, plan;
  int64_t space = 1; ///< iterations, before factors
  llvm::SmallVector<int64_t, 4> factors;
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
  /// Return the range of iterations of a call. Kernels with groups do not have these arguments.
  mlir::Value begin() { return function.getArgument(function.getNumArguments() - 2); }
  mlir::Value end() { return function.getArgument(function.getNumArguments() - 1); }
};

/// Inserts the kernel of `problem` after `after`, with an empty entry block.
KernelFunction makeKernel(mlir::func::FuncOp problem, mlir::Operation *after, const KernelTraits &traits);

/// Clones scalar code of a problem (loads from arguments, arithmetic, the constants it needs) to the insertion point of
/// `builder`, and adds it to `kernel.arguments`. `index` converts a size to a value.
void clonePrologue(mlir::OpBuilder &builder, KernelFunction &kernel, mlir::func::FuncOp problem,
                   llvm::ArrayRef<mlir::Operation *> prologue, llvm::function_ref<mlir::Value(schedule::Size)> index);

/// Emits `then` under a condition, and `otherwise`, if given, under its opposite. A null condition always holds.
void choose(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value condition, llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise = nullptr);

} // namespace quern

#endif // QUERN_SCHEDULE_BUILD_KERNEL_H
