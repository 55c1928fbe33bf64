//===- Vectors.h - How vectors cover the rows on the CPU ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Vectors run along the row, or across rows along a parallel dim, or hold whole rows. The part of a plan that decides
// this, and the consequences for operands.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_CPU_VECTORS_H
#define QUERN_SCHEDULE_ROWS_CPU_VECTORS_H

#include "Schedule/Rows/Chain.h"
#include "Schedule/Rows/Rows.h"

namespace quern::schedule::rows {

/// The addresses of a vector's lanes in an operand. `Same`: one address; `Unit`: contiguous; `Pieces`: contiguous
/// within blocks that are shorter than a vector; `Neighbors`: several contiguous row positions per lane; `Strided`:
/// anything else.
enum class LaneKind { Same, Unit, Pieces, Neighbors, Strided };

struct RowVectors {
  RowChain &chain;
  const RowsStrategy &strategy;
  int64_t lanes = 0;         ///< lanes of a vector
  int64_t registerLanes = 0; ///< lanes of a register; a vector that holds whole rows may be several registers
  /// Rows that a vector holds, one after another; 0: a vector holds part of a row, or one position of several rows.
  int64_t wholeRows = 0;
  bool compactsRows = false; ///< true if per-row stages use one register and are then spread over the rows' lanes
  int64_t depth = 1;         ///< row positions per lane of a step; more than 1 if bytes are summed (ByteSums.cpp)
  int64_t runs = 1;          ///< groups of `depth` positions that a step across rows adds up first
  bool inHalves = false;     ///< true if bytes are summed in 16 bits within a block
  int vectorDim = -1;        ///< parallel dim that vectors run along; -1: the row
  int64_t columns = 1;       ///< adjacent vectors in a step, if vectors run across rows

  bool alongRow() const { return vectorDim < 0; }
  LaneKind lanesOf(const Access &access) const;
  /// Returns the number of indices of the vector dim that one iteration covers.
  int64_t perGroup() const { return wholeRows ? wholeRows : columns * lanes; }
  /// Returns the number of elements of an operand that an iteration accesses at one row position.
  int64_t lanesAtPosition() const { return alongRow() ? 1 : columns * lanes; }
  /// Returns true if the last vector of whole rows may hold fewer rows.
  bool hasPartialVector() const;
  /// Returns true if all rows of a vector of whole rows read the same contiguous elements of this operand.
  bool isSameForRows(const Access &access) const;
  /// Returns true if each row of a vector of whole rows reads one element of this operand, and these are contiguous.
  bool isOnePerRow(const Access &access) const;
  /// Returns true if every iteration reads the same elements of this operand, and lanes are not moved one by one.
  bool isSameForGroups(const Access &access) const;
  /// Returns true if whole rows move the lanes of this operand one by one.
  bool movesLanes(const Access &access) const;
  /// Returns true if the target can mask accesses to elements of every type.
  bool masksFreely() const { return strategy.narrowestMask && strategy.narrowestMask <= 8; }
  bool takesMask(mlir::Type element) const;
  /// Returns the number of operations that moving an operand's lanes needs in addition to one load or store.
  int64_t opsToMove(const Access &access) const;
  /// Returns true if vectors may run along the dim: every operand is linear along it and, if it is padded, it is the
  /// lowest digit of its loop.
  bool mayCarryVectors(int dim) const;
  /// Returns the end of the lanes: the extent of the vector dim, or its limit.
  Size lanesEnd() const;
  /// Returns the extent of the dim that vectors run along.
  Size vectorExtent() const { return alongRow() ? chain.rowExtent : chain.dims[vectorDim].extent; }
  /// Returns true if an iteration may have partial or missing vectors.
  bool hasPartialVectors() const;
  /// Returns the number of steps after which sums are added to wider accumulators.
  int64_t blockSteps() const { return inHalves ? 256 : strategy.blockSteps; }
  /// Returns the number of vectors of an iteration that cover `positions` row positions.
  int64_t vectorsFor(int64_t positions) const;
};

} // namespace quern::schedule::rows

#endif // QUERN_SCHEDULE_ROWS_CPU_VECTORS_H
