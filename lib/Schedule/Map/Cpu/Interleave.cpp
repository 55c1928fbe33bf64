//===- Interleave.cpp - Tiles of few rows or few columns -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Colours of pixels, pairs and quads of weights. n rows of a vector each become n vectors of the destination in which
// they alternate, or n vectors of the source are deinterleaved into n columns: no vector is cut, and the body runs on
// whole ones, before or after.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Map/Cpu/Emitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;
using namespace quern::maps;

namespace {

/// Vectors as one run of elements, which permutations of that run make anew.
class Run {
public:
  Run(OpBuilder &b, Location loc, SmallVector<Value> vectors)
      : b(b), loc(loc), vectors(std::move(vectors)), count(this->vectors.size()),
        lanes(cast<VectorType>(this->vectors[0].getType()).getNumElements()) {}

  /// Element e of the result is element source(e).
  SmallVector<Value> permuted(function_ref<int64_t(int64_t)> source) {
    SmallVector<Value> result;
    for (int64_t v = 0; v < count; ++v) {
      SmallVector<int64_t> from;
      for (int64_t lane = 0; lane < lanes; ++lane)
        from.push_back(source(v * lanes + lane));
      result.push_back(collected(from));
    }
    return result;
  }

  /// All elements of the first half of the run alternate with those of the second, log2(count) times.
  SmallVector<Value> interleaved() {
    return repeated([&](ArrayRef<Value> x, SmallVector<Value> &y) {
      for (int64_t i = 0; i < count / 2; ++i)
        for (int64_t half : {0, 1})
          y[2 * i + half] =
              pair(x[i], x[i + count / 2], [&](int64_t lane) { return (half * lanes + lane) / 2 + lane % 2 * lanes; });
    });
  }
  SmallVector<Value> takenApart() {
    return repeated([&](ArrayRef<Value> x, SmallVector<Value> &y) {
      for (int64_t i = 0; i < count / 2; ++i)
        for (int64_t odd : {0, 1})
          y[i + odd * count / 2] = pair(x[2 * i], x[2 * i + 1], [&](int64_t lane) { return 2 * lane + odd; });
    });
  }

private:
  SmallVector<Value> repeated(function_ref<void(ArrayRef<Value>, SmallVector<Value> &)> stage) {
    SmallVector<Value> x = vectors, y(count);
    for (int64_t width = 1; width < count; width *= 2) {
      stage(x, y);
      std::swap(x, y);
    }
    return x;
  }
  Value pair(Value low, Value high, function_ref<int64_t(int64_t)> source) {
    SmallVector<int64_t> from;
    for (int64_t lane = 0; lane < lanes; ++lane)
      from.push_back(source(lane));
    return vector::ShuffleOp::create(b, loc, low, high, from);
  }
  /// One vector after the other adds its lanes.
  Value collected(ArrayRef<int64_t> from) {
    Value result;
    int first = -1;
    for (int64_t v = 0; v < count; ++v) {
      if (llvm::none_of(from, [&](int64_t e) { return e / lanes == v; }))
        continue;
      if (first < 0) {
        first = static_cast<int>(v);
        continue;
      }
      Value before = result ? result : vectors[first];
      result = pair(before, vectors[v], [&](int64_t lane) {
        int64_t e = from[lane];
        return e / lanes == v ? lanes + e % lanes : result || e / lanes != first ? lane : e % lanes;
      });
    }
    return result ? result : vectors[first];
  }

  OpBuilder &b;
  Location loc;
  SmallVector<Value> vectors;
  int64_t count, lanes;
};

} // namespace

MapEmitter::Place MapEmitter::placeOf(const Place &place, const Group &group, int64_t lane) {
  Place there = place;
  for (auto [operand, base] : llvm::zip_equal(problem.operands, there.bases))
    base = add(base, group.sum(lane, rows::knownOf(operand.strides)));
  return there;
}

void MapEmitter::emitInterleaving(const Place &place) {
  const TilePlan &tile = plan.tile;
  bool interleaves = tile.network == TileNetwork::Interleave, isLate = tile.bodyInColumns;
  Group few = interleaves ? plan.rows : plan.columns, along = interleaves ? plan.columns : plan.rows, all = few;
  all.parts.append(along.parts);
  int64_t count = few.lanes(), lanes = tile.lanes;
  Value aligned = plan.streams && tile.writesWholeLines ? isDestinationAligned() : Value();

  // Vectors lie side by side where the few are packed, and a lane of the few apart where not.
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
  Run run(b, loc, in);
  Values out;
  if (llvm::isPowerOf2_64(count))
    out = interleaves ? run.interleaved() : run.takenApart();
  else
    out = run.permuted(
        [&](int64_t e) { return interleaves ? e % count * lanes + e / count : e % lanes * count + e / lanes; });
  for (int64_t i = 0; i < count; ++i) {
    Value v = problem.isCopy || !isLate ? out[i] : body(interleaves, i, out[i]);
    storeLine(v, placeIn(interleaves, i).bases.back(), aligned);
  }
}
