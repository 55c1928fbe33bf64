//===- Runs.h - Runs of operations that Quern supports --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The operations of a run become one function. They are in one block, in order, and no operation between them uses
// their values, so one call at the end of the run can replace them. Scalars, empty tensors and constants with equal
// elements that the run uses are copied into the function and are not part of the run.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PLUGIN_RUNS_H
#define QUERN_PLUGIN_RUNS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

#include <string>

namespace quern::plugin {

struct Run {
  llvm::SetVector<mlir::Operation *> ops; ///< linalg on tensors, and views of results
  bool contains(mlir::Operation *op) const { return ops.contains(op); }
  /// Returns the number of operations other than fills and views.
  size_t computing() const;
};

/// Returns "" if an operation may be in a run, otherwise the reason why not.
std::string whyInNoRun(mlir::Operation *op);

/// Returns the longest runs of those operations of a block that `mayTake` accepts and Quern's functions may contain.
/// Each run has at least one operation other than fills and views.
llvm::SmallVector<Run> runsOf(mlir::Block &block, llvm::function_ref<bool(mlir::Operation *)> mayTake);

/// A run as a function that is not yet in a module. After the inputs, it has one argument for each result: the tensor
/// to write it to.
struct OutlinedRun {
  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::Value> inputs;  ///< values from outside that the run uses
  llvm::SmallVector<mlir::Value> results; ///< values of the run that others use
  llvm::SmallVector<mlir::Value> targets; ///< by result: the tensor outside that it overwrites; null: a new one
};
mlir::FailureOr<OutlinedRun> outline(const Run &run, llvm::StringRef name);

/// Replaces a run by a call of its function.
void replaceByCall(const Run &run, const OutlinedRun &outlined);

} // namespace quern::plugin

#endif // QUERN_PLUGIN_RUNS_H
