//===- Interleave.cpp - Tiles of few rows or few columns -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// For example the color channels of pixels, or pairs and quads of weights. n rows of one vector each become n vectors
// of the destination in which the rows alternate, or n vectors of the source are deinterleaved into n columns. All
// vectors are whole, and the body runs on them before or after the permutation.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Build/Transpose.h"
#include "Schedule/Map/Cpu/Emitter.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

MapEmitter::MapPlace MapEmitter::placeOf(const MapPlace &place, const LaneGroup &group, int64_t lane) {
  MapPlace there = place;
  for (auto [operand, base] : llvm::zip_equal(problem.operands, there.bases))
    base = add(base, group.sum(lane, knownOf(operand.strides)));
  return there;
}

void MapEmitter::emitInterleaving(const MapPlace &place) {
  const TilePlan &tile = plan.tile;
  bool interleaves = tile.network == TileNetwork::Interleave, isLate = tile.bodyInColumns;
  LaneGroup few = interleaves ? plan.rows : plan.columns, along = interleaves ? plan.columns : plan.rows, all = few;
  all.parts.append(along.parts);
  int64_t count = few.lanes(), lanes = tile.lanes;
  Value aligned = plan.streams && tile.writesWholeLines ? isDestinationAligned() : Value();

  // On the packed side, the vectors are consecutive. On the other side, each of the few lanes has one vector.
  auto placeIn = [&](bool packed, int64_t i) {
    return packed ? placeOf(place, all, i * lanes) : placeOf(place, few, i);
  };
  auto body = [&](bool packed, int64_t i, Value known) {
    if (packed)
      return compute(place, all, i * lanes, lanes, Value(), known, problem.source);
    return compute(placeOf(place, few, i), along, 0, lanes, Value(), known, problem.source);
  };
  Values in;
  for (int64_t i = 0; i < count; ++i)
    in.push_back(problem.isCopy || isLate
                     ? load(problem.source, placeIn(!interleaves, i).bases[problem.source], lanes, Value())
                     : body(!interleaves, i, Value()));
  Values out = interleaves ? interleaveVectors(b, loc, in) : deinterleaveVectors(b, loc, in);
  for (int64_t i = 0; i < count; ++i) {
    Value v = problem.isCopy || !isLate ? out[i] : body(interleaves, i, out[i]);
    storeLine(v, placeIn(interleaves, i).bases.back(), aligned);
  }
}
