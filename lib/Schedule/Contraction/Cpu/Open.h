//===- Open.h - A product whose sizes are given at execution --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One product into one accumulator, of which rows, columns, K and strides may all be open. What lies along lanes is
// known, how much of it is not: so a tile reads rhs from a copy, which has whole vectors wherever the factor ends and
// lies as the loops over K take it. What is left of the columns beyond whole vectors is written one by one, so that no
// instruction set needs masks.
//
// Where rhs lies in panels, so many columns of all K side by side, it is such a copy already, and is read in place. Its
// columns are then whole panels, and a block has all of K in registers.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CPU_OPEN_H
#define QUERN_SCHEDULE_CONTRACTION_CPU_OPEN_H

#include "Schedule/Contraction/Dots.h"

namespace quern::contractions {

struct OpenPlan {
  OpenPlan(const Chain &chain, const ContractionStrategy &strategy) : chain(chain), strategy(strategy) {}

  const Chain &chain;
  const ContractionStrategy &strategy;
  Product product;         ///< as dots take it: of a copy, which may be converted or in pairs, or of panels
  Dot dot = Dot::MulAdd;   ///< of elements one by one
  int64_t lanes = 1;       ///< of a vector of sums
  int64_t vectors = 1;     ///< of a tile
  int64_t steps = 1;       ///< along K that are copied at a time
  int64_t wholeSteps = 1;  ///< up to so many a full tile is copied at once, and summed in registers
  int64_t chunkRows = 1;   ///< rows of an iteration
  int64_t panel = 0;       ///< columns of a panel of rhs; 0: it is copied
  bool makesPairs = false; ///< the copy is of bf16, each two steps along K in pairs
  /// Of parts of K, if sums may be taken in any order: they are added in f64, so that a long K loses nothing.
  bool addsWide = false;
  bool transposes = false; ///< rhs lies along K, and is transposed in registers on its way into the copy
  /// Up to so many rows in all rhs is not copied: `hasDots`, sums along K of `dotColumns` columns at a time.
  int64_t fewRows = 8, dotColumns = 4;
  bool hasDots = false;
  /// Of blocks, which take what is left of a chunk in turn: for all vectors of a tile, for a single one, of few rows.
  llvm::SmallVector<int64_t, 6> heights, singleHeights, fewHeights;
  int64_t copyBytes = 0, scratchBytes = 0; ///< where the copy begins, behind the sums of a chunk; and of both

  int64_t width() const { return lanes * vectors; }
  /// Elements along K that a step takes of both factors.
  int64_t stepLength() const { return makesPairs || panel ? product.packed : 1; }
  mlir::Type copyType() const { return makesPairs ? product.rhs.element() : chain.sumType(); }
  mlir::Type waitingType() const { ///< of sums in scratch
    return addsWide ? mlir::Float64Type::get(chain.sumType().getContext()) : chain.sumType();
  }
  std::string text() const; ///< one line
};

/// Decides everything, or fails with a reason.
mlir::LogicalResult planOpen(OpenPlan &plan, std::string &whyNot);

/// Writes the kernel of a planned product behind the problem.
mlir::func::FuncOp emitOpen(const OpenPlan &plan);

} // namespace quern::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_CPU_OPEN_H
