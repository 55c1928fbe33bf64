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

void MapEmitter::emitInterleaving(const MapPlace &place) {
  const TilePlan &tile = plan.tile;
  bool interleaves = tile.network == TileNetwork::Interleave, isLate = tile.bodyInColumns;
  LaneGroup few = interleaves ? plan.rows : plan.columns, along = interleaves ? plan.columns : plan.rows, all = few;
  all.parts.append(along.parts);
  int64_t count = few.lanes(), lanes = tile.lanes;
  Value aligned = plan.streams && tile.writesWholeLines ? isDestinationAligned() : Value();

  // On the packed side, the vectors are consecutive. On the other side, each of the few lanes has one vector.
  auto addressIn = [&](bool packed, int64_t i, unsigned operand) {
    Value base = place.bases[operand];
    if (packed)
      return add(base, all.sum(i * lanes, problem.operands[operand].strides));
    for (const Part &part : few.parts) {
      base = add(base, problem.operands[operand].strides[part.axis] * (i % part.count));
      i /= part.count;
    }
    return base;
  };
  auto body = [&](bool packed, int64_t i, Value known) {
    if (packed)
      return compute(place, all, i * lanes, lanes, Value(), known);
    MapPlace there = place;
    for (unsigned operand = 0; operand < problem.operands.size(); ++operand)
      there.bases[operand] = addressIn(packed, i, operand);
    return compute(there, along, 0, lanes, Value(), known);
  };
  Values in;
  for (int64_t i = 0; i < count; ++i)
    in.push_back(problem.isCopy || isLate
                     ? load(flat[problem.source], addressIn(!interleaves, i, problem.source), lanes)
                     : body(!interleaves, i, Value()));
  Values out = interleaves ? interleaveVectors(b, loc, in) : deinterleaveVectors(b, loc, in);
  for (int64_t i = 0; i < count; ++i) {
    Value v = problem.isCopy || !isLate ? out[i] : body(interleaves, i, out[i]);
    writeWhereAligned(v, addressIn(interleaves, i, problem.operands.size() - 1), aligned);
  }
}
