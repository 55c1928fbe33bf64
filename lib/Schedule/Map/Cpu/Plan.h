//===- Plan.h - How a map is carried out ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A *line* runs along elements that are contiguous in the destination and, mostly, in the source. A *tile* takes a
// group of lanes that is contiguous in the source and another that is contiguous in the destination and transposes
// between them. Everything else goes point by point. The loops around are an order of axes; the outermost of them are
// the kernel's iteration space.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_CPU_PLAN_H
#define QUERN_SCHEDULE_MAP_CPU_PLAN_H

#include "Schedule/Map/Groups.h"
#include "Schedule/Map/Map.h"

namespace quern::maps {

enum class MapKind { Line, Tile, Scalar };

/// Indices 0, step, 2·step, … of an axis, `trip` of them.
struct Loop {
  unsigned axis = 0;
  int64_t step = 1, trip = 1;
  /// If not 0, the loop is the inner one of two that a loop of so many indices was cut into: the loop before it counts
  /// blocks of `trip` indices, and the last block has what is left.
  int64_t partOf = 0;
};

/// How rows become columns: squares of them; or as few rows as lie between neighbouring columns in the destination are
/// interleaved; or as few columns as lie between neighbouring rows in the source are deinterleaved.
enum class TileNetwork { Squares, Interleave, Deinterleave };

/// How the elements of a tile move.
struct TilePlan {
  TileNetwork network = TileNetwork::Squares;
  mlir::Type moved; ///< what is transposed: the narrower of source and destination where possible
  /// The body runs on lanes of `rows` after the transposition, else on lanes of `columns` before it.
  bool bodyInColumns = false;
  int64_t lanes = 0;             ///< of a register in the transposition
  int64_t rows = 0, columns = 0; ///< of the tile, filled up to whole registers and whole squares
  /// What a step of the row stage takes from the source at one go: the columns, and axes that follow there. Of
  /// those, some are rows, and some are neither: the tile is transposed once for each index of `repeat`. `outside`
  /// are the rows that are left.
  Group run, outside, repeat;
  Numbers inScratch;       ///< by axis: from one index to the next in the scratch of rows
  int64_t scratchRows = 0; ///< elements of that scratch
  bool isLarge = false;    ///< many lines each way: tiles side by side in either direction gain nothing from each other
  bool throughRows = false;      ///< rows go to scratch first, else their pieces are gathered from the source
  bool throughColumns = false;   ///< columns go to scratch first, else they are stored from registers
  bool masksRows = false;        ///< some lanes of `rows` may not be written
  bool masksColumns = false;     ///< some lanes of `columns` may not be read
  bool writesWholeLines = false; ///< every column is whole cache lines if the destination's buffer begins on one
  llvm::SmallVector<unsigned, 2> shifted; ///< axes whose last tile is moved back to end with them
  int64_t prefetch = 0;                   ///< elements of the source ahead that each row asks for
};

struct MapPlan {
  MapPlan(MapProblem &problem, const MapStrategy &strategy) : problem(problem), strategy(strategy) {}

  MapProblem &problem; ///< planning adds limits where groups do not divide axes
  const MapStrategy &strategy;
  MapKind kind = MapKind::Scalar;

  /// Lines: contiguous in the destination. After `period` lanes the pattern of all operands that are not contiguous,
  /// and of all limits but those along the last part, repeats; it divides `lanes` or the run is shorter than a vector.
  Group run;
  int64_t lanes = 1;            ///< of a vector
  int64_t unroll = 1;           ///< vectors in a step
  int64_t jam = 1;              ///< runs in an iteration of the innermost loop (unroll and jam)
  int64_t prefetchDistance = 0; ///< iterations of the innermost loop ahead whose source is prefetched; 0: none is

  /// Tiles: `rows` are contiguous in the destination (one row of the tile for each), `columns` in the source.
  Group rows, columns;
  TilePlan tile;

  llvm::SmallVector<Loop, 8> loops; ///< outermost first
  /// By limit: the sum of weights at the last point of all loops and groups, those beyond axes included.
  Numbers highest;
  unsigned outer = 0; ///< so many of them are the iteration space
  int64_t space = 1;  ///< product of their trips
  double ns = 1;      ///< estimate for the whole map, on one core
  double nsPerIteration = 1;
  bool streams = false;      ///< so much is moved that it is written past the caches
  int64_t streamedLanes = 1; ///< that one store of a line streams
  /// Only by a call that computes all of the map: the caches serve several threads better than memory does.
  bool streamsAlone = false;
  bool peels = false; ///< lines are long enough for a store of their own up to the first whole vector of memory

  const Operand &source() const { return problem.operands[problem.source]; }
  const Operand &destination() const { return problem.operands.back(); }
  /// Of elements in memory, which indices are not.
  bool takesMask(mlir::Type element) const {
    return element.isIndex() || (strategy.narrowestMask && element.getIntOrFloatBitWidth() >= strategy.narrowestMask);
  }
  /// Along the lanes of the group, every input is contiguous or stays where it is, and no limit cuts lanes off: vectors
  /// over them can be a loop. A limit of a shifted axis cuts none.
  bool isStraight(const Group &group) const;
  /// Of one iteration of the body, in vector operations.
  int64_t bodyOps() const;
  /// For explain.
  std::string text() const;
};

/// Decides everything. Cannot fail: points are the fallback.
void planMap(MapPlan &plan);

/// Sets the run and the lanes of a line: contiguous in the destination. False if there is none (MapLinePlan.cpp).
bool planLine(MapPlan &plan);
/// Fits vectors and steps to the run.
void fitLine(MapPlan &plan);
/// Puts the loops around a line in order.
void orderLineLoops(MapPlan &plan);
/// Decides what depends on all loops: runs to jam, how far ahead to prefetch, where streaming begins.
void finishLine(MapPlan &plan);

/// Sets the fields of tiles, or returns false if the map suits none. Loops are chosen afterwards (MapTilePlan.cpp).
bool planTile(MapPlan &plan);
/// Puts the loops of a tile in order and decides what is asked for ahead.
void orderTileLoops(MapPlan &plan);

} // namespace quern::maps

#endif // QUERN_SCHEDULE_MAP_CPU_PLAN_H
