//===- RowSplit.h - Splitting the rows of a tile --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CPU_ROWSPLIT_H
#define QUERN_SCHEDULE_CONTRACTION_CPU_ROWSPLIT_H

#include "Schedule/Contraction/Cpu/Plan.h"

namespace quern::schedule::contractions {

/// Splits the rows of a plan whose tile columns are fixed: chooses block heights, accumulator groups, the slice of K
/// and the chunks.
class RowSplit {
public:
  explicit RowSplit(ContractionPlan &plan)
      : plan(plan), chain(plan.chain), strategy(plan.strategy), tile(plan.tile), split(plan.rows), k(plan.k),
        scratch(plan.scratch) {}
  void run();
  /// Returns the maximum number of rows of a block whose sums fit the registers.
  int64_t maxRows() const;
  /// Returns true if vectors of rhs should be prefetched. Requires a plan that has been split.
  bool shouldPrefetch() const;

private:
  int64_t minRows(int64_t nearBytes, int64_t least) const;
  int64_t unitOfRows() const;
  int64_t fewestBlocks() const;
  int64_t rowsOfChunk() const;
  bool isContiguous(const Product &product) const;
  bool isBeyondL1() const;
  bool suitsGroups(int64_t groupSize) const;
  bool copies(KSlices &slices) const;
  void chooseSlices();
  int64_t placeLhs(int64_t rows);
  void sizeSlices();
  void chooseGroups();
  bool splitBeyondL1();
  bool splitKSlices();
  void splitOpen();
  void splitMatrices();

  ContractionPlan &plan;
  const Chain &chain;
  const ContractionStrategy &strategy;
  const ColumnPlan &tile;
  BlockPlan &split;
  KPlan &k;
  ScratchPlan &scratch;
};

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_CPU_ROWSPLIT_H
