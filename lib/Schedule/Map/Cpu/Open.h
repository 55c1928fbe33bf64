//===- Open.h - Maps with open sizes --------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Plans and emission of lines and tiles with open sizes. The axis that each operand is contiguous along is known, but
// not its length. Decisions that depend on numbers (whether a line is shorter than a vector, whether results use
// non-temporal stores) are made once per call, and each outcome has separate code.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_CPU_OPEN_H
#define QUERN_SCHEDULE_MAP_CPU_OPEN_H

#include "Schedule/Build/KernelBuilder.h"
#include "Schedule/Map/Cpu/Plan.h"

namespace quern::schedule::maps {

struct OpenMapPlan {
  OpenMapPlan(const MapProblem &problem, const MapStrategy &strategy) : problem(problem), strategy(strategy) {}

  /// Indices 0, step, 2·step, … of an axis.
  struct MapLoop {
    unsigned axis = 0;
    int64_t step = 1;
  };

  const MapProblem &problem;
  const MapStrategy &strategy;
  MapKind kind = MapKind::Line;
  unsigned along = 0;        ///< axis along which the destination is contiguous
  unsigned across = 0;       ///< axis along which a tile's source is contiguous
  int64_t lanes = 1;         ///< lanes of the body's vectors
  int64_t unroll = 1;        ///< vectors in a step of a line
  int64_t streamedLanes = 1; ///< elements that one non-temporal store of a line writes
  bool isMasked = false;     ///< true if partial vectors are masked; otherwise they are moved back or split
  // Tiles: `rows` rows of the source, of `columns` elements each; they become `columns` columns of `rows` elements of
  // the destination.
  int64_t rows = 1, columns = 1;
  int64_t tileLanes = 1;   ///< lanes of a register in the transposition
  mlir::Type moved;        ///< element type that is transposed
  bool bodyIsLate = false; ///< true if the body runs after the transposition, on lanes along the destination
  /// Interleave and Deinterleave: a small known number of rows or columns, packed in the destination or in the source;
  /// the other dim is processed `tileLanes` elements at a time.
  TileNetwork network = TileNetwork::Squares;
  llvm::SmallVector<MapLoop, 6> loops; ///< iteration space, outermost first; the last loop steps through a line or tile

  const Operand &source() const { return problem.operands[problem.source]; }
  const Operand &destination() const { return problem.operands.back(); }
  bool isRead(unsigned operand) const { return operand + 1 < problem.operands.size() || problem.readsOld; }
  std::string text() const;
};

/// Decides all fields, or fails with a reason in `whyNot`.
mlir::LogicalResult planOpen(OpenMapPlan &plan, std::string &whyNot);

/// Inserts the kernel of a planned map with open sizes after the problem.
mlir::func::FuncOp emitOpen(const OpenMapPlan &plan);

} // namespace quern::schedule::maps

#endif // QUERN_SCHEDULE_MAP_CPU_OPEN_H
