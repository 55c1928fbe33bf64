//===- Plan.h - The plan of a map on the CPU -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A *line* runs along elements that are contiguous in the destination and usually in the source. A *tile* has lanes
// that are contiguous in the source and other lanes that are contiguous in the destination, and transposes them. All
// other maps move single points. The loops around them are ordered axes; the outermost ones are the kernel's iteration
// space.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_CPU_PLAN_H
#define QUERN_SCHEDULE_MAP_CPU_PLAN_H

#include "IR/Plan.h"
#include "Schedule/Map/Groups.h"
#include "Schedule/Map/Map.h"

namespace quern::schedule::maps {

enum class MapKind { Line, Tile, Scalar };

constexpr int64_t fewestLanes = 4; ///< minimum lanes of a vector

/// Indices 0, step, 2·step, … of an axis; `trip` of them if all sizes are known.
struct MapLoop {
  unsigned axis = 0;
  int64_t step = 1, trip = 1;
  /// Nonzero for the inner loop of a split loop: the trip count of the original loop. The loop before it iterates over
  /// blocks of `trip` indices; the last block has the remainder.
  int64_t partOf = 0;
};

/// The permutation of a tile: squares are transposed, the few rows that are packed in the destination are interleaved,
/// or the few columns that are packed in the source are deinterleaved.
enum class TileNetwork { Squares, Interleave, Deinterleave };

/// Decisions about the movement of a tile's elements.
struct TilePlan {
  TileNetwork network = TileNetwork::Squares;
  mlir::Type moved; ///< element type that is transposed: the narrower one of source and destination if possible
  /// True if the body runs on lanes of `rows` after the transposition; otherwise on lanes of `columns` before it.
  bool bodyInColumns = false;
  int64_t lanes = 0;             ///< lanes of a register in the transposition
  int64_t rows = 0, columns = 0; ///< extents of the tile; partial registers or squares may be rounded up
  /// `run`: lanes that one step of the row stage reads from the source: the columns, then axes that continue them
  /// there. Such an axis is either part of the rows or in `repeat`: the tile is transposed once for each index of
  /// `repeat`. `outside` is the rest of the rows.
  LaneGroup run, outside, repeat;
  Numbers inScratch;             ///< by axis: stride in the scratch of rows, in elements
  int64_t scratchRows = 0;       ///< size of that scratch in elements
  bool isLarge = false;          ///< true if tiles have many lines both ways, so that neighbors share no cache lines
  bool throughRows = false;      ///< true if rows are copied to scratch first; otherwise read from the source
  bool throughColumns = false;   ///< true if columns are copied to scratch first; otherwise stored from registers
  bool masksRows = false;        ///< true if some lanes of `rows` may not be written
  bool masksColumns = false;     ///< true if some lanes of `columns` may not be read
  bool writesWholeLines = false; ///< true if columns are whole cache lines of an aligned destination
  llvm::SmallVector<unsigned, 2> shifted; ///< axes whose last tile is moved back to end with them
  int64_t prefetch = 0;                   ///< distance of prefetches of source rows, in elements; 0: none
};

struct MapPlan {
  MapPlan(MapProblem &problem, const MapStrategy &strategy) : problem(problem), strategy(strategy) {}

  MapProblem &problem; ///< planning adds limits if groups do not divide axes
  const MapStrategy &strategy;
  MapKind kind = MapKind::Scalar;

  /// Lines: the lanes of a run, which are contiguous in the destination. All parts except the last form a pattern:
  /// operands that are not contiguous, and limits along these parts, repeat with its length, which divides `lanes`
  /// unless the run is shorter than a vector.
  LaneGroup run;
  int64_t lanes = 1;            ///< lanes of a vector
  int64_t unroll = 1;           ///< vectors in a step
  int64_t jamFactor = 1;        ///< runs that one iteration of the innermost loop processes
  int64_t prefetchDistance = 0; ///< iterations of the innermost loop by which the source is prefetched; 0: none

  /// Tiles: `rows` are contiguous in the destination, `columns` in the source. Each lane of `rows` is one row of the
  /// tile.
  LaneGroup rows, columns;
  TilePlan tile;

  llvm::SmallVector<MapLoop, 8> loops; ///< outermost first
  /// By limit: the sum of weights at the last point of all loops and groups, including points past the end of axes.
  Numbers highest;
  unsigned outer = 0; ///< number of outer loops that form the iteration space
  int64_t space = 1;  ///< product of the trip counts of these loops
  double ns = 1;      ///< estimate for the whole map on one core, in ns
  double nsPerIteration = 1;
  bool streams = false;      ///< true if the destination is written with non-temporal stores
  int64_t streamedLanes = 1; ///< elements that one non-temporal store of a line writes
  /// True if only a call that computes all of the map uses non-temporal stores: several threads together have more
  /// cache.
  bool streamsFullCallsOnly = false;
  bool peels = false; ///< true if a line starts with a separate store up to the first aligned vector

  const Operand &source() const { return problem.operands[problem.source]; }
  const Operand &destination() const { return problem.operands.back(); }
  /// Returns true if memory accesses to this type can be masked. Loop indices are not in memory, so they always can.
  bool takesMask(mlir::Type element) const {
    return element.isIndex() || (strategy.narrowestMask && element.getIntOrFloatBitWidth() >= strategy.narrowestMask);
  }
  /// Returns true if partial vectors are masked; otherwise the remaining elements are moved one by one, or by vectors
  /// that overlap others.
  bool masksEnds() const;
  /// Returns true if every operand that is read is contiguous or invariant along the lanes of the group, and no limit
  /// varies along them, so that vectors over them can form a loop. Limits of shifted axes do not count.
  bool isStraight(const LaneGroup &group) const;
  /// Returns the vector operations in one execution of the body.
  int64_t bodyOps() const;
  PlanAttr attribute() const;
};

/// Decides all fields. Cannot fail: single points are the fallback.
void planMap(MapPlan &plan);
/// Decides the fields of a line or a tile if sizes are open, or fails with a reason in `whyNot` (OpenPlan.cpp). The
/// iteration space is all loops; the last one steps through a line or tile.
mlir::LogicalResult planOpen(MapPlan &plan, std::string &whyNot);
PlanAttr attributeOfOpen(const MapPlan &plan);

/// Sets the run and the lanes of a line. Returns false if the destination is not contiguous along any axis
/// (LinePlan.cpp).
bool planLine(MapPlan &plan);
/// Chooses the lanes of a vector and the vectors of a step for the run.
void fitLine(MapPlan &plan);
/// Orders the loops around a line.
void orderLineLoops(MapPlan &plan);
/// Makes the decisions that depend on all loops: runs per iteration, prefetch distance, lanes of non-temporal stores.
void finishLine(MapPlan &plan);

/// Returns the number of elements of one non-temporal store: as many vectors of a step as fill a register.
int64_t lanesStreamed(const MapPlan &plan);

/// Sets the fields of tiles, or returns false if the map does not suit them (TilePlan.cpp). Loops are chosen
/// afterwards.
bool planTile(MapPlan &plan);
/// Orders the loops of a tile and decides what is prefetched.
void orderTileLoops(MapPlan &plan);

} // namespace quern::schedule::maps

#endif // QUERN_SCHEDULE_MAP_CPU_PLAN_H
