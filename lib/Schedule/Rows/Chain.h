//===- Chain.h - The analysis of the rows recipe --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A matched chain: its space (parallel dims and one row dim), its stages in order, and the address of every operand as
// a function of the space. Nothing here depends on a target. Parallel loops may be split, dropped, reordered and merged
// into dims; the row remains one dim.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_CHAIN_H
#define QUERN_SCHEDULE_ROWS_CHAIN_H

#include "Schedule/Build/Bodies.h"
#include "Schedule/Problem/Problem.h"

#include <string>

namespace quern::schedule::rows {

/// The address of an operand: strides along the parallel dims, and an access function along the row.
struct Access : DimAccess {
  AccessFunction row;
  bool unread = false; ///< true if no body reads it; it only determines extents of loops
  int producer = -1;   ///< stage whose result this read receives; -1: memory as it was before the chain
  unsigned result = 0; ///< result number of the producer
  /// Returns true if this is a loop index, whose address is its value.
  bool isIndex() const { return base.getType().isIndex(); }
  /// Returns true if this reads memory that no stage of the chain has written.
  bool isMemoryRead() const { return !unread && producer < 0 && !isScalar(); }
  /// Returns true if both have the same base, or possibly the same type and layout: if both are arguments, they may be
  /// one buffer.
  bool mayAlias(const Access &other) const;
  /// Returns true if every point of the space reads the same element.
  bool isInvariant() const;
};

/// One linalg op.
struct Stage {
  mlir::linalg::LinalgOp op;
  /// `ins` has the inputs in the order of the body's arguments, including an output that the body reads.
  llvm::SmallVector<Access, 6> ins, outs;
  llvm::SmallVector<Access, 1> indices;        ///< loop indices that the body reads, as 32-bit integers
  llvm::SmallVector<mlir::TypedAttr, 2> inits; ///< start values of the accumulators of a reduction
  bool reduces = false;                        ///< true if the op reduces along the row
  bool perRow = false;                         ///< true if the op iterates over the parallel dims only
  bool writesArgument = false;
  int sweep = 0; ///< first sweep over the row in which its inputs are complete
  bool isElementwise() const { return !reduces && !perRow; }
  /// Returns the op that combines the accumulator of result `i` with a new term.
  mlir::Operation *combiner(unsigned i) { return op.getBlock()->getTerminator()->getOperand(i).getDefiningOp(); }
  /// Returns the values that the body computes. For a reduction, these are the terms, which may be combined in any
  /// order.
  llvm::SmallVector<mlir::Value> results();
};

/// A parallel loop, a digit of one, or several of these that were merged.
struct Dim {
  Size extent = 1;
  int limit = -1;     ///< index in `limits` of the padded loop that this is a digit of; -1: the loop is not padded
  int64_t weight = 1; ///< distance of consecutive indices in that loop's index
};

struct RowChain {
  mlir::func::FuncOp problem;
  llvm::SmallVector<Stage, 8> stages;
  llvm::SmallVector<mlir::Operation *, 8> prologue; ///< scalar code that the bodies capture
  Sizes loops;                                      ///< extents of the ops' loops
  int rowLoop = -1;                                 ///< the reduced loop; -1: none
  llvm::SmallVector<Dim, 6> dims;                   ///< parallel dims, outermost first
  Numbers limits; ///< extents of loops with padded dims: a point exists only if Σ weight·index over the loop's dims is
                  ///< below the extent
  Size rowExtent = 1;
  int sweeps = 1; ///< sweeps over the row; each may read results of the reductions of earlier ones

  template <typename F> void forEachAccess(F f) {
    for (Stage &stage : stages) {
      for (Access &access : stage.ins)
        if (!access.unread && !access.isScalar())
          f(stage, access);
      for (Access &access : stage.outs)
        f(stage, access);
    }
  }
  /// Calls f for all accesses, including loop indices.
  template <typename F> void forEachPlace(F f) {
    forEachAccess(f);
    for (Stage &stage : stages)
      for (Access &access : stage.indices)
        f(stage, access);
  }
  /// Returns true if the row or a parallel dim has an open extent.
  bool hasOpenSpace() const {
    return rowExtent.isOpen() || llvm::any_of(dims, [](const Dim &dim) { return dim.extent.isOpen(); });
  }
  bool hasIndices() const {
    return llvm::any_of(stages, [](const Stage &stage) { return !stage.indices.empty(); });
  }
};

/// Combines several reduced loops of the ops into one, or fails with a reason in `whyNot`.
mlir::LogicalResult mergeReducedLoops(llvm::ArrayRef<ProblemOp> ops, llvm::ArrayRef<unsigned> reduced,
                                      llvm::SmallVectorImpl<ProblemOp> &merged, std::string &whyNot);

/// Creates the dims of the chain from its loops: parallel loops are split into digits where the blocks of their
/// operands nest, extents of 1 are dropped, and the dims are ordered by the output's strides and merged if every
/// operand has one stride along two of them. Without a reduction, one dim becomes the row.
void layOutDims(RowChain &chain);

/// Reads `problem` into `chain`, or fails with a reason in `whyNot`.
mlir::LogicalResult matchRowChain(const Problem &problem, RowChain &chain, std::string &whyNot);

} // namespace quern::schedule::rows

#endif // QUERN_SCHEDULE_ROWS_CHAIN_H
