//===- Vectors.cpp - How vectors cover the rows on the CPU ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Cpu/Vectors.h"

using namespace mlir;
using namespace quern::schedule;
using namespace quern::schedule::rows;

LaneKind RowVectors::lanesOf(const Access &access) const {
  if (wholeRows) {
    Size between = wholeRows > 1 ? access.strides[vectorDim] : Size(0);
    if (access.row.isStill() && between == 0)
      return LaneKind::Same;
    bool follows = wholeRows == 1 || between == chain.rowExtent;
    return follows && access.row.isLinear() && access.row.step() == 1 ? LaneKind::Unit : LaneKind::Strided;
  }
  Size stride = alongRow() ? access.row.step() : access.strides[vectorDim];
  int64_t run = alongRow() ? access.row.run() : 0;
  if (depth > 1 && !alongRow() && stride == depth && access.row.step() == 1)
    return LaneKind::Neighbors;
  if (run % lanes) // a vector crosses the end of a block
    return stride == 1 && run > 1 && lanes % run == 0 ? LaneKind::Pieces : LaneKind::Strided;
  return stride == 0 ? LaneKind::Same : stride == 1 ? LaneKind::Unit : LaneKind::Strided;
}

bool RowVectors::hasPartialVector() const {
  return wholeRows > 1 && !chain.dims[vectorDim].extent.isMultipleOf(wholeRows);
}

bool RowVectors::isSameForRows(const Access &access) const {
  return wholeRows > 1 && access.row.isLinear() && access.row.step() == 1 && access.strides[vectorDim] == 0;
}

bool RowVectors::isOnePerRow(const Access &access) const {
  return wholeRows > 1 && access.row.isStill() && access.strides[vectorDim] == 1;
}

bool RowVectors::isSameForGroups(const Access &access) const {
  return !movesLanes(access) && access.nonlinear.empty() &&
         llvm::all_of(access.strides, [](Size stride) { return stride == 0; });
}

bool RowVectors::movesLanes(const Access &access) const {
  return lanesOf(access) == LaneKind::Strided && !isSameForRows(access) && !isOnePerRow(access);
}

bool RowVectors::takesMask(Type element) const {
  return strategy.narrowestMask && element.getIntOrFloatBitWidth() >= strategy.narrowestMask;
}

int64_t RowVectors::opsToMove(const Access &access) const {
  constexpr int64_t laneLoopOps = 12; // if lanes are moved one by one
  LaneKind kind = lanesOf(access);
  return kind == LaneKind::Strided ? laneLoopOps : kind == LaneKind::Pieces ? 3 * (lanes / access.row.run()) : 0;
}

bool RowVectors::mayCarryVectors(int dim) const {
  bool nonlinear = false;
  chain.forEachPlace([&](Stage &, Access &access) { nonlinear |= access.isNonlinear(dim); });
  return !nonlinear && (chain.dims[dim].limit < 0 || chain.dims[dim].weight == 1);
}

Size RowVectors::lanesEnd() const {
  if (alongRow())
    return chain.rowExtent;
  const Dim &dim = chain.dims[vectorDim];
  return dim.limit < 0 ? dim.extent : Size(chain.limits[dim.limit]);
}

bool RowVectors::hasPartialVectors() const {
  bool limited = !alongRow() && chain.dims[vectorDim].limit >= 0;
  return limited || !vectorExtent().isMultipleOf(columns * lanes);
}

int64_t RowVectors::vectorsFor(int64_t positions) const {
  return alongRow() ? llvm::divideCeil(positions, lanes * depth) : llvm::divideCeil(positions, depth) * columns;
}
