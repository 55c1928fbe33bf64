//===- Chain.h - What the rows recipe reads from the IR ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A matched chain: its space (parallel dims and one row dim), its stages in order, and for every operand the address as
// a function of the space. Nothing here depends on a target. Parallel loops are free to be split, dropped, reordered
// and merged as dims; the row keeps its identity.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_CHAIN_H
#define QUERN_SCHEDULE_ROWS_CHAIN_H

#include "Schedule/Build/Bodies.h"
#include "Schedule/Problem/Problem.h"

#include <string>

namespace quern::rows {

/// The address of an operand, whose dims are the parallel ones, and the walk along the row.
struct Access : DimAccess {
  Walk row;
  bool unread = false; ///< no body reads it: it only pins the extents of loops
  int producer = -1;   ///< the stage that this read is forwarded from; -1: memory as it was before the chain
  unsigned result = 0; ///< of the producer
  /// Its value is where it is: an index of the loops.
  bool isIndex() const { return base.getType().isIndex(); }
  /// It reads an argument.
  bool isMemoryRead() const { return !unread && producer < 0 && !isScalar(); }
  /// Same type and layout, as far as is known: the two may be one buffer, if both belong to arguments.
  bool mayAlias(const Access &other) const;
  /// Every point of the space reads the same element.
  bool isInvariant() const;
};

/// One linalg op.
struct Stage {
  mlir::linalg::LinalgOp op;
  /// `ins` in the order of the body's arguments; an output that it reads is among them.
  llvm::SmallVector<Access, 6> ins, outs;
  llvm::SmallVector<Access, 1> indices;        ///< of the loops, that the body takes, as numbers of 32 bits
  llvm::SmallVector<mlir::TypedAttr, 2> inits; ///< where accumulators start, for a reduction
  bool reduces = false;                        ///< along the row
  bool perRow = false;                         ///< iterates the parallel dims only
  bool writesArgument = false;
  int sweep = 0; ///< the first over the row in which its inputs are complete
  bool isElementwise() const { return !reduces && !perRow; }
  /// The op that combines the accumulator of result `i` with a new term.
  mlir::Operation *combiner(unsigned i) { return op.getBlock()->getTerminator()->getOperand(i).getDefiningOp(); }
  /// What the body computes: for a reduction the terms that the combiners take, which may do so in any order.
  llvm::SmallVector<mlir::Value> results();
};

/// A parallel loop, or a digit of one.
struct Dim {
  Size extent = 1;
  int limit = -1;     ///< of the loop that it is a digit of, if the loop does not end with a full block
  int64_t weight = 1; ///< indices of that loop from one to the next
};

struct RowChain {
  mlir::func::FuncOp problem;
  llvm::SmallVector<Stage, 8> stages;
  llvm::SmallVector<mlir::Operation *, 8> prologue; ///< scalar code that the bodies capture
  Sizes loops;                                      ///< extents, as the ops iterate
  int rowLoop = -1;                                 ///< the reduced one; -1: none is
  llvm::SmallVector<Dim, 6> dims;                   ///< parallel, outermost first
  Numbers limits; ///< extents of loops with padded dims: only points with Σ weight·index < extent over its dims exist
  Size rowExtent = 1;
  int sweeps = 1; ///< over the row: the depth of dependent reductions

  template <typename F> void forEachAccess(F f) {
    for (Stage &stage : stages) {
      for (Access &access : stage.ins)
        if (!access.unread && !access.isScalar())
          f(stage, access);
      for (Access &access : stage.outs)
        f(stage, access);
    }
  }
  /// Indices of loops among them.
  template <typename F> void forEachPlace(F f) {
    forEachAccess(f);
    for (Stage &stage : stages)
      for (Access &access : stage.indices)
        f(stage, access);
  }
  bool hasIndices() const {
    return llvm::any_of(stages, [](const Stage &stage) { return !stage.indices.empty(); });
  }
};

/// The ops with these reduced loops as one, where there are several; fails with a reason.
mlir::LogicalResult mergeReducedLoops(llvm::ArrayRef<ProblemOp> ops, llvm::ArrayRef<unsigned> reduced,
                                      llvm::SmallVectorImpl<ProblemOp> &merged, std::string &whyNot);

/// Gives the chain its dims from its loops: every parallel loop split where its operands' blocks nest, no extents of 1,
/// in the order of the output's strides, merged wherever every operand walks two of them as one. Without a reduction
/// some dim becomes the row.
void layOutDims(RowChain &chain);

/// Reads `problem` into `chain`, or fails with a reason.
mlir::LogicalResult matchRowChain(const Problem &problem, RowChain &chain, std::string &whyNot);

} // namespace quern::rows

#endif // QUERN_SCHEDULE_ROWS_CHAIN_H
