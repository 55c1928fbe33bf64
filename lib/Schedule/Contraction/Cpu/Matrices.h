//===- Matrices.h - Sums in matrix registers ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CPU_MATRICES_H
#define QUERN_SCHEDULE_CONTRACTION_CPU_MATRICES_H

#include "Schedule/Contraction/Cpu/Tile.h"

namespace quern::schedule::contractions {

class MatrixEmitter {
public:
  /// Emits, before the builder's entry: the height of matrices, their configuration, and zeros in the padding of the
  /// copies.
  MatrixEmitter(ContractionBuilder &ir, const ContractionPlan &plan, Value scratch);
  /// Computes a chunk of a tile.
  void emitChunk(const Tile &tile, Value chunk);

private:
  struct MatrixBlock {
    Values rows;           ///< first row of each matrix, from top to bottom
    int64_t first, across; ///< first sum of a row, and number of sums
  };
  void computeHeight();
  void configure();
  void placeCopies();
  void forMatrices(Value count, llvm::function_ref<void(Value from, int64_t down)> body);
  void copyLeftSteps(const Tile &tile, const KPlan::Step &step, Value end);
  void emitBlock(const Tile &tile, const MatrixBlock &block);
  void emitStep(const Tile &tile, const KPlan::Step &step, const MatrixBlock &block, Value k);
  void loadLhs(unsigned number, const MatrixBlock &block, Value k);

  ContractionBuilder &ir;
  const ContractionPlan &plan;
  const Chain &chain;
  const Matrices &own;
  Value scratch;               ///< sums of a chunk
  Value height;                ///< rows of a matrix
  Value chunkRow;              ///< row at which scratch begins
  Values lhsCopies, rhsCopies; ///< by product: partial steps, padded with zeros
};

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_CPU_MATRICES_H
