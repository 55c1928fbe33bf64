//===- RowSplit.h - How the rows of a tile are shared out ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CPU_ROWSPLIT_H
#define QUERN_SCHEDULE_CONTRACTION_CPU_ROWSPLIT_H

#include "Schedule/Contraction/Cpu/Plan.h"

namespace quern::contractions {

/// Of a plan whose tile has its columns, what those of rows say: blocks, the groups of accumulators that a block has,
/// the part of K that it takes at a time, chunks.
class RowSplit {
public:
  explicit RowSplit(Plan &plan) : plan(plan), chain(plan.chain), strategy(plan.strategy) {}
  void run();
  /// Rows of a block that registers have room for.
  int64_t mostRows() const;
  /// Of a plan that has been split.
  bool shouldPrefetch() const;

private:
  int64_t leastRows() const;
  int64_t unitOfRows() const;
  int64_t fewestBlocks() const;
  int64_t rowsOfChunk() const;
  bool isTogether(const Product &product) const;
  bool isFar() const;
  bool suitsGroups(int64_t groupSize) const;
  bool copies(Cuts &cuts) const;
  void chooseCuts();
  int64_t placeLhs(int64_t rows);
  void splitCuts();
  void chooseGroups();
  bool splitFar();
  bool splitLong();
  void splitOpen();
  void splitMatrices();

  Plan &plan;
  const Chain &chain;
  const ContractionStrategy &strategy;
};

} // namespace quern::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_CPU_ROWSPLIT_H
