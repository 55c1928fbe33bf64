//===- Runs.h - Runs of operations that Quern takes ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A run is what becomes one function: operations of one block, in order, of which nothing between them uses a value, so
// that one call at the end of the run stands for all of them. Constants of one value, scalars and empty tensors that it
// uses are copied into the function and are not in the run.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PLUGIN_RUNS_H
#define QUERN_PLUGIN_RUNS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

#include <string>

namespace quern::plugin {

struct Run {
  llvm::SetVector<mlir::Operation *> ops; ///< linalg on tensors, and views of what they give
  bool contains(mlir::Operation *op) const { return ops.contains(op); }
  /// How many of them compute something.
  size_t computing() const;
};

/// "" if an operation may be in a run; else why not.
std::string whyInNoRun(mlir::Operation *op);

/// The longest runs of a block of operations that `mayTake` lets through and that could stand in Quern's functions.
llvm::SmallVector<Run> runsOf(mlir::Block &block, llvm::function_ref<bool(mlir::Operation *)> mayTake);

/// A run as a function of its own in no module yet, each result with a tensor to put it into behind the other
/// arguments; and what the call in the run's place gives it.
struct OutlinedRun {
  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::Value> inputs;  ///< what the run takes from outside
  llvm::SmallVector<mlir::Value> results; ///< what others use of the run
  llvm::SmallVector<mlir::Value> targets; ///< for each result the tensor outside that it overwrites; null: a new one
};
mlir::FailureOr<OutlinedRun> outline(const Run &run, llvm::StringRef name);

/// Replaces a run by a call of its function.
void replaceByCall(const Run &run, const OutlinedRun &outlined);

} // namespace quern::plugin

#endif // QUERN_PLUGIN_RUNS_H
