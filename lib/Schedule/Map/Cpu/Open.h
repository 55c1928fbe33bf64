//===- Open.h - Maps whose sizes are given at execution -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Lines and tiles as of known sizes, with ends that are open: which axis an operand is contiguous along is known, how
// long anything is is not. So what a plan of known sizes decides by numbers (whether a line is shorter than a vector,
// whether a result passes the caches) the kernel asks when it is called, and each answer has code of its own.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_CPU_OPEN_H
#define QUERN_SCHEDULE_MAP_CPU_OPEN_H

#include "Schedule/Build/KernelBuilder.h"
#include "Schedule/Map/Cpu/Plan.h"

namespace quern::maps {

struct OpenMapPlan {
  OpenMapPlan(const MapProblem &problem, const MapStrategy &strategy) : problem(problem), strategy(strategy) {}

  /// Indices 0, step, 2·step, … of an axis.
  struct Loop {
    unsigned axis = 0;
    int64_t step = 1;
  };

  const MapProblem &problem;
  const MapStrategy &strategy;
  MapKind kind = MapKind::Line;
  unsigned along = 0;        ///< the axis along which the destination is contiguous
  unsigned across = 0;       ///< of a tile: the axis along which the source is
  int64_t lanes = 1;         ///< of a vector of the body
  int64_t unroll = 1;        ///< vectors in a step of a line
  int64_t streamedLanes = 1; ///< that one store of a line streams
  bool isMasked = false;     ///< vectors that are not whole are masked; else the last one is moved back, or single
  // Tiles: `rows` of the source, from `columns` elements of each to `rows` elements of the destination.
  int64_t rows = 1, columns = 1;
  int64_t tileLanes = 1;   ///< of a register in the transposition
  mlir::Type moved;        ///< what is transposed
  bool bodyIsLate = false; ///< after the transposition, on lanes along the destination
  /// Of a known few rows or columns, packed in destination or source: `tileLanes` of the other at a time.
  TileNetwork network = TileNetwork::Squares;
  llvm::SmallVector<Loop, 6> loops; ///< the iteration space, outermost first; the last one steps through a line or tile

  const Operand &source() const { return problem.operands[problem.source]; }
  const Operand &destination() const { return problem.operands.back(); }
  bool isRead(unsigned operand) const { return operand + 1 < problem.operands.size() || problem.readsOld; }
  std::string text() const;
};

/// Decides everything, or fails with a reason.
mlir::LogicalResult planOpen(OpenMapPlan &plan, std::string &whyNot);

/// Writes the kernel of a planned map of open sizes behind the problem.
mlir::func::FuncOp emitOpen(const OpenMapPlan &plan);

} // namespace quern::maps

#endif // QUERN_SCHEDULE_MAP_CPU_OPEN_H
