//===- RowBlocks.h - Loops over the row blocks of a chunk -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CPU_ROWBLOCKS_H
#define QUERN_SCHEDULE_CONTRACTION_CPU_ROWBLOCKS_H

#include "Schedule/Contraction/Builder.h"
#include "Schedule/Contraction/Cpu/Plan.h"

namespace quern::schedule::contractions {

/// Accumulators whose sums a block has.
struct AccumulatorGroup {
  unsigned first = 0, end = 0;
  bool contains(unsigned accumulator) const { return accumulator >= first && accumulator < end; }
};

struct RowBlock {
  mlir::Value row; ///< its first row
  int64_t rows;
  mlir::Value scratchRow; ///< row at which the sums in scratch begin
  AccumulatorGroup group;
};

class RowBlocks {
public:
  using Value = mlir::Value;
  using Body = llvm::function_ref<void(RowBlock)>;

  /// Emits the number of chunks at the builder's entry, if the number of rows is open.
  RowBlocks(ContractionBuilder &ir, const Chain &chain, const BlockPlan &plan);
  /// Returns the number of chunks.
  Value chunks() const { return openChunks ? openChunks : ir.index(plan.chunks); }
  AccumulatorGroup allAccumulators() const { return all; }
  bool hasChunks() const { return openChunks || plan.chunks > 1; }
  /// Returns the rows of a chunk. Requires a known number of rows.
  IndexRange rowsOf(Value chunk) const;
  /// Calls `body` for the blocks of a chunk, with all accumulators. Returns the chunk's rows.
  IndexRange forBlocks(Value chunk, Body body) const;

private:
  Value firstRowOf(Value block) const;
  IndexRange forAllBlocks(Body body) const;
  IndexRange forBlocksOf(Value chunk, Body body) const;

  ContractionBuilder &ir;
  const BlockPlan &plan;
  const Size count;           ///< rows of the problem
  const AccumulatorGroup all; ///< all accumulators
  Value openChunks;           ///< null if the number of rows is known
};

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_CPU_ROWBLOCKS_H
