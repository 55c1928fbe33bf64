//===- Open.h - Products with open sizes ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Plans one product into one accumulator. Rows, columns, K and strides may all be open (known only at execution); only
// the dim along the lanes is known. A tile therefore reads rhs from a copy, which has whole vectors even if the columns
// end within one, and the order of the loops over K. Columns beyond the last whole vector are written one by one, so no
// instruction set needs masks.
//
// If rhs is stored in panels (a fixed number of adjacent columns over all of K), it has the form of such a copy and is
// read in place. The columns are then whole panels, and a block keeps the sums over all of K in registers.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CPU_OPEN_H
#define QUERN_SCHEDULE_CONTRACTION_CPU_OPEN_H

#include "IR/Plan.h"
#include "Schedule/Contraction/Cpu/Plan.h"

namespace quern::schedule::contractions {

struct OpenPlan {
  OpenPlan(const Chain &chain, const ContractionStrategy &strategy) : chain(chain), strategy(strategy) {}

  const Chain &chain;
  const ContractionStrategy &strategy;
  Product product; ///< operands of the dots: the copy, which may be converted or in pairs, or panels
  Dot dot = Dot::MulAdd;
  int64_t lanes = 1;       ///< lanes of a vector of sums
  int64_t vectors = 1;     ///< vectors of a tile
  int64_t steps = 1;       ///< steps along K that are copied at a time
  int64_t wholeSteps = 1;  ///< up to this number of steps, a full tile is copied at once and summed in registers
  int64_t chunkRows = 1;   ///< rows of an iteration
  int64_t panel = 0;       ///< columns of a panel of rhs; 0: rhs is copied
  bool makesPairs = false; ///< true if the copy has bf16 pairs, each of two steps along K
  /// If sums may be reordered, those of each slice of K are added in f64, so that a long K keeps its precision.
  bool addsWide = false;
  bool transposes = false; ///< true if rhs is contiguous along K, and is transposed in registers while it is copied
  /// Up to this number of rows, rhs is not copied if its columns are contiguous or `hasDots` is true. `hasDots`:
  /// vectors along K are multiplied and then reduced, for `dotColumns` columns at a time.
  int64_t fewRows = 8, dotColumns = 4;
  bool hasDots = false;
  /// Block heights, tallest first. Each height takes as many rows of a chunk as it can. For all vectors of a tile, for
  /// a single one, and for few rows.
  llvm::SmallVector<int64_t, 6> heights, singleHeights, fewHeights;
  /// Bytes: offset of the copy, which follows the sums of a chunk; size of both.
  int64_t copyBytes = 0, scratchBytes = 0;

  int64_t width() const { return lanes * vectors; }
  /// Returns the number of elements along K that a step takes from each factor.
  int64_t stepLength() const { return makesPairs || panel ? product.packed : 1; }
  mlir::Type copyType() const { return makesPairs ? product.rhs.element() : chain.sumType(); }
  mlir::Type waitingType() const { ///< element type of sums in scratch
    return addsWide ? mlir::Float64Type::get(chain.sumType().getContext()) : chain.sumType();
  }
  PlanAttr attribute() const;
};

/// Decides everything, or fails with a reason.
mlir::LogicalResult planOpen(OpenPlan &plan, std::string &whyNot);

/// Writes the kernel of a planned product after the problem.
mlir::func::FuncOp emitOpen(const OpenPlan &plan);

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_CPU_OPEN_H
