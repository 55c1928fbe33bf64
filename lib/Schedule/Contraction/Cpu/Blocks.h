//===- Blocks.h - The sums of a block, from start to epilogue -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CPU_BLOCKS_H
#define QUERN_SCHEDULE_CONTRACTION_CPU_BLOCKS_H

#include "Schedule/Contraction/Cpu/Sums.h"

namespace quern::schedule::contractions {

class BlockEmitter {
public:
  /// `scratch`: sums of a chunk, or null if the epilogue works in registers.
  BlockEmitter(ContractionBuilder &ir, const ContractionPlan &plan, Value scratch)
      : ir(ir), plan(plan), chain(plan.chain), scratch(scratch) {}
  /// Sums the correction of shifted dots, if it is the same for all blocks of the tile.
  void startTile(Tile &tile, const KSlice &slice) const;
  /// Computes a block of sums completely, and stores them to scratch or runs the epilogue on them.
  void emit(const Tile &tile, const KSlice &slice, const RowBlock &block) const;
  /// Adds a slice of K to the sums in scratch.
  void addSlice(const Tile &tile, const KSlice &slice, const RowBlock &block) const;
  /// Stores the initial sums of rows to scratch.
  void start(const Tile &tile, const RowBlock &block) const { store(tile, block, startSums(tile, block)); }

private:
  Values startSums(const Tile &tile, const RowBlock &block) const;
  void store(const Tile &tile, const RowBlock &block, llvm::ArrayRef<Value> sums) const;
  void subtractShift(llvm::ArrayRef<Value> shift, Values &sums) const;

  ContractionBuilder &ir;
  const ContractionPlan &plan;
  const Chain &chain;
  Value scratch;
};

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_CPU_BLOCKS_H
