//===- OpenInterleave.cpp - Packed lanes and open sizes -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The number of vectors is the number of packed lanes. On the packed side, the vectors are consecutive.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Build/Transpose.h"
#include "Schedule/Map/Cpu/OpenEmitter.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::maps;

void OpenEmitter::emitInterleaved() {
  const bool packs = plan.network == TileNetwork::Interleave;
  const unsigned few = packs ? plan.along : plan.across, many = packs ? plan.across : plan.along;
  forSpace(plan.loops, [&](ArrayRef<MapPlace> places, ArrayRef<Value> at) {
    Value left = leftOf(plan.loops.back(), at.back()), whole = wholeSteps(left, plan.tileLanes);
    forRange(index(0), whole, [&](Value first) { interleave(places[0], first); }, plan.tileLanes);
    forRange(whole, left, [&](Value element) {
      const MapPlace there = advance(places[0], many, element);
      forRange(index(0), index(plan.problem.axes[few].extent),
               [&](Value lane) { moveElement(advance(there, few, lane)); });
    });
  });
}

void OpenEmitter::interleave(const MapPlace &place, Value at) {
  const bool packs = plan.network == TileNetwork::Interleave;
  const unsigned few = packs ? plan.along : plan.across, many = packs ? plan.across : plan.along;
  const int64_t count = plan.problem.axes[few].extent.known(), lanes = plan.tileLanes;
  const MapPlace first = advance(place, many, at);
  auto placeOf = [&](bool isPacked, int64_t i) { return advance(first, few, index(isPacked ? i * lanes : i)); };
  auto valueOf = [&](bool isPacked, int64_t i, Value known) {
    return valueAt(placeOf(isPacked, i), isPacked ? few : many, lanes, Value(), known);
  };
  const bool isEarly = !plan.problem.isCopy && !plan.bodyIsLate;
  Values in;
  for (int64_t i = 0; i < count; ++i)
    in.push_back(isEarly ? valueOf(!packs, i, Value())
                         : load(flat[plan.problem.source], placeOf(!packs, i)[plan.problem.source], lanes));
  const Values out = packs ? interleaveVectors(b, loc, in) : deinterleaveVectors(b, loc, in);
  for (int64_t i = 0; i < count; ++i)
    store(plan.bodyIsLate ? valueOf(packs, i, out[i]) : out[i], placeOf(packs, i).back());
}
