//===- OpenEmitter.h - Products with open sizes ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// OpenEmitter.cpp writes the kernel, its iterations and blocks; OpenRhs.cpp reads the tile's vectors of rhs, in place
// or from panels, and copies them.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CPU_OPENEMITTER_H
#define QUERN_SCHEDULE_CONTRACTION_CPU_OPENEMITTER_H

#include "Schedule/Contraction/Builder.h"
#include "Schedule/Contraction/Cpu/Open.h"

namespace quern::schedule::contractions {

/// The tile and the rows of an iteration.
struct OpenTile {
  mlir::Value column;         ///< first column
  mlir::Value count;          ///< columns
  mlir::Value whole, started; ///< whole vectors, and all vectors
  IndexRange rows;
};

/// The vectors of rhs of a tile.
class OpenRhs {
public:
  using Value = mlir::Value;

  OpenRhs(ContractionBuilder &ir, const OpenPlan &plan, const OpenTile &tile, Value copy)
      : ir(ir), plan(plan), own(plan.chain.products[0]), tile(tile), copy(copy) {}
  /// Copies the steps of `k`.
  void copySteps(IndexRange k);
  /// Returns the address of an element of the factor.
  Value at(Value k, Value column);
  /// Loads a vector in place; if the plan makes pairs, of two steps.
  Value load(Value step, Value column, bool hasSecond = true);
  /// Loads vector `first` + v from the copy of the steps from `begin` on.
  Value loadCopied(Value step, Value begin, Value first, int64_t v);
  /// Returns the address of a vector in panels at the first step.
  Value placeInPanels(Value first, int64_t vector);
  Value loadFromPanel(Value place, Value step);
  /// Prefetches the tile some steps ahead, because its rows are too far from each other for a hardware prefetcher.
  /// Addresses past the end are harmless.
  void prefetch(Value step);

private:
  void copyRuns(IndexRange k);
  void copyTransposed(IndexRange k);
  void copySquare(Value vector, Value k, Value begin);
  void copyElements(Value vector, IndexRange k, Value begin);
  Value copyAt(Value k, Value begin, Value vector);
  void forSteps(IndexRange k, llvm::function_ref<void(Value step, bool isWhole)> body);

  ContractionBuilder &ir;
  const OpenPlan &plan;
  const Product &own; ///< the product as read from memory, not from copies
  const OpenTile &tile;
  Value copy;
};

/// Emits a step of `elements` elements along K; takes and returns the values that a loop over steps carries.
using StepBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::Value step, llvm::SmallVector<mlir::Value> carried, int64_t elements)>;

/// Emits whole steps of `length` elements, then one step with the remaining elements along K.
void forOpenSteps(ContractionBuilder &ir, int64_t length, IndexRange k, llvm::SmallVector<mlir::Value> &carried,
                  StepBody body);

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_CPU_OPENEMITTER_H
