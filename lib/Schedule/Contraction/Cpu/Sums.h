//===- Sums.h - The loops over K of a block -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CPU_SUMS_H
#define QUERN_SCHEDULE_CONTRACTION_CPU_SUMS_H

#include "Schedule/Contraction/Cpu/RowBlocks.h"
#include "Schedule/Contraction/Cpu/Tile.h"

namespace quern::schedule::contractions {

/// The slice of K that is being summed; null values without slices.
struct KSlice {
  Value begin, end;
  Value lhs; ///< copy in scratch, by step and row of the chunk; null: not copied
  Value rhs; ///< copy in scratch, by step, sum and vector of columns; null: not copied

  /// Returns the address of a vector in the copy of rhs, `ahead` steps after `step`.
  Value rhsAt(ContractionBuilder &ir, const ContractionPlan &plan, Value step, size_t sum, int64_t vector,
              int64_t ahead = 0) const;
};

/// Emits merged loops over K, which add to the sums of a block. If `sums` has more than the block's rows, the others
/// are the corrections of shifted dots.
void addProducts(ContractionBuilder &ir, const ContractionPlan &plan, const Tile &tile, const KSlice &slice,
                 const RowBlock &block, llvm::ArrayRef<KPlan::Step> bufferSets, Values &sums);

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_CPU_SUMS_H
