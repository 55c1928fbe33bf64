//===- RowChain.h - What the rows recipe reads from the IR ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A matched chain: its space (parallel dims and one row dim), its stages in order, and for every operand the address as a function of the
// space. Nothing here depends on a target. Parallel dims are free to be dropped, reordered and merged; the row keeps its identity.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RECIPES_ROWCHAIN_H
#define QUERN_RECIPES_ROWCHAIN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <string>

namespace quern::rows {

using Strides = llvm::SmallVector<int64_t, 6>;

/// The way of an operand along the row: position p lies at (p / block)·blockStep + (p mod block)·step, or at p·step if block is 0.
struct RowWalk {
  int64_t step = 0;
  int64_t block = 0;
  int64_t blockStep = 0;
  bool isStill() const { return step == 0 && (block == 0 || blockStep == 0); }
  auto operator<=>(const RowWalk &) const = default;
};

/// The address of an operand, in elements: offset + Σ strides[d]·index of parallel dim d + the walk along the row.
struct Access {
  mlir::Value base;
  int64_t offset = 0;
  Strides strides;
  RowWalk row;
  bool unread = false; ///< no body reads it: it only pins the extents of loops
  int producer = -1;   ///< the stage that this read is forwarded from; -1: memory as it was before the chain
  unsigned result = 0; ///< of the producer
  /// It reads an argument.
  bool isMemoryRead() const { return !unread && producer < 0; }
  bool sameAddress(const Access &other) const { return offset == other.offset && strides == other.strides && row == other.row; }
  /// Same type and layout: the two may be one buffer, if both belong to arguments.
  bool mayAlias(const Access &other) const;
  mlir::Type elementType() const { return llvm::cast<mlir::MemRefType>(base.getType()).getElementType(); }
  /// Every point of the space reads the same element.
  bool isInvariant() const;
};

/// One linalg op.
struct Stage {
  mlir::linalg::LinalgOp op;
  llvm::SmallVector<Access, 6> ins, outs;
  llvm::SmallVector<mlir::TypedAttr, 2> inits; ///< where accumulators start, for a reduction
  bool reduces = false;                        ///< along the row
  bool perRow = false;                         ///< iterates the parallel dims only
  bool writesArgument = false;
  bool isElementwise() const { return !reduces && !perRow; }
  /// The op that combines the accumulator of result `i` with a new term.
  mlir::Operation *combiner(unsigned i) { return op.getBlock()->getTerminator()->getOperand(i).getDefiningOp(); }
};

struct RowChain {
  mlir::func::FuncOp problem;
  llvm::SmallVector<Stage, 8> stages;
  llvm::SmallVector<mlir::Operation *, 8> prologue; ///< scalar code that the bodies capture
  Strides extents;                                  ///< of the parallel dims, outermost first
  int64_t rowExtent = 0;

  template <typename F> void forEachAccess(F f) {
    for (Stage &stage : stages) {
      for (Access &access : stage.ins)
        if (!access.unread)
          f(stage, access);
      for (Access &access : stage.outs)
        f(stage, access);
    }
  }
};

/// Reads `problem` into `chain`, or fails with a reason. The dims come out simplified: no extents of 1, in the order of the output's
/// strides, merged wherever every operand walks two of them as one.
mlir::LogicalResult matchRowChain(mlir::func::FuncOp problem, RowChain &chain, std::string &whyNot);

} // namespace quern::rows

#endif // QUERN_RECIPES_ROWCHAIN_H
