//===- Line.h - Lines of a map on a CPU -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_CPU_LINE_H
#define QUERN_SCHEDULE_MAP_CPU_LINE_H

#include "Schedule/Map/Cpu/Emitter.h"

namespace quern::schedule::maps {

/// Writes one line of a known or an open length. Elements are counted from the line's start.
class LineEmitter {
public:
  using MapPlace = MapEmitter::MapPlace;
  using Value = mlir::Value;

  LineEmitter(MapEmitter &emitter, const MapPlace &place);
  /// Emits a line of the plan's length, up to the limits.
  void emit();
  /// Emits a line of `length` elements, at least one, without limits. Non-temporal stores are used if `streams` is true
  /// at run time, from the first element on their boundary or, without masks, only if the line starts on one.
  void emitOpen(Index length, Value streams);
  /// Emits a line of whole non-temporal stores that starts on a boundary.
  void emitStreamed(Index length);

private:
  Index elementsLeft(bool write);
  bool mayBeBeyond(bool write) const;
  bool isInvariant(unsigned operand) const;
  void readInvariants();
  Value boundary();
  Value isAligned();
  Index emitHead(Index reads);
  MapPlace placeAt(Index at);
  Value valueAt(const MapPlace &at, Value mask = {});
  void emitReads(Index reads, Index writes);
  Index emitSteps(Index reads);
  void emitStepsWhereAligned(Index reads, Value streams);
  void emitStep(Index at, int64_t vectors);
  void emitRest(Index from, Index reads, Index writes);
  Index emitVectors(Index from, Index reads);
  void emitMaskedEnd(Index reads);
  void emitPartial(const MapPlace &at, Value readMask, Value writeMask);
  void emitElements(Index from, Index reads);
  void emitPadding(Index reads, Index writes);
  void emitShort(Index reads, Index writes);
  void emitOverlapping(Index length, Value streams);
  void emitFew(Index length);

  MapEmitter &e;
  MapPlan &plan;
  MapProblem &problem;
  MapPlace place;          ///< the line's first element that is not yet written
  LaneGroup inner, vector; ///< the run without its last part; the lanes of a vector
  int64_t lanes;
  MapEmitter::Values invariants;       ///< by operand: the vector that all vectors of the line share, or null
  Value repeatedReads, repeatedWrites; ///< masks that all vectors share; null if all lanes exist
  Value aligned;                       ///< whether whole vectors may use non-temporal stores; null: they may not
};

} // namespace quern::schedule::maps

#endif // QUERN_SCHEDULE_MAP_CPU_LINE_H
