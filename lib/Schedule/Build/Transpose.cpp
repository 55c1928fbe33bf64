//===- Transpose.cpp - Transposing squares of elements in registers ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One stage replaces registers x[0 … n) by the interleaved halves of x[i] and x[i + n/2], low ones first. After
// log2(unit) stages of all unit registers, register j is column j. Two stages of four registers at a distance of n/4
// involve no other registers, so the network of 16 registers is that of four, run four times in each of two passes.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Build/Transpose.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace quern;

namespace {

constexpr int64_t radix = 4, maxRegisters = 8;

class Network {
public:
  Network(OpBuilder &b, Location loc, Type element, int64_t lanes, function_ref<Value(int64_t)> index)
      : b(b), loc(loc), lanes(lanes), unit(transposeUnit(element)), type(VectorType::get({lanes}, element)),
        index(index) {
    for (int64_t part = 0; part < lanes; part += unit)
      for (int64_t i = 0; i < unit / 2; ++i) {
        low.append({part + i, lanes + part + i});
        high.append({part + unit / 2 + i, lanes + part + unit / 2 + i});
      }
  }

  /// Runs all stages on only these registers.
  SmallVector<Value> run(SmallVector<Value> x) {
    for (size_t width = 1; width < x.size(); width *= 2)
      x = stage(x);
    return x;
  }

  void direct(const SquareAccess &access) {
    SmallVector<Value> x;
    for (int64_t row = 0; row < unit; ++row)
      x.push_back(access.gather(Value(), row));
    access.sink(Value(), run(std::move(x)));
  }

  /// Transposes radix · radix registers in two passes.
  void twice(const SquareAccess &access, Value scratch) {
    forFour([&](Value i) {
      SmallVector<Value> x;
      for (int64_t row = 0; row < unit; row += radix)
        x.push_back(access.gather(i, row));
      Value at = scaled(i, radix * lanes);
      for (auto [j, v] : llvm::enumerate(run(std::move(x))))
        vector::StoreOp::create(b, loc, v, scratch, plus(at, j * lanes));
    });
    forFour([&](Value i) {
      SmallVector<Value> x;
      Value at = scaled(i, lanes);
      for (int64_t row = 0; row < unit; row += radix)
        x.push_back(vector::LoadOp::create(b, loc, type, scratch, plus(at, row * lanes)));
      access.sink(scaled(i, radix), run(std::move(x)));
    });
  }

private:
  SmallVector<Value> stage(ArrayRef<Value> x) {
    SmallVector<Value> y;
    for (size_t i = 0, half = x.size() / 2; i < half; ++i)
      for (ArrayRef<int64_t> lanesOfPair : {ArrayRef<int64_t>(low), ArrayRef<int64_t>(high)})
        y.push_back(vector::ShuffleOp::create(b, loc, x[i], x[i + half], lanesOfPair));
    return y;
  }
  void forFour(function_ref<void(Value)> body) {
    auto loop = scf::ForOp::create(b, loc, index(0), index(radix), index(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }
  Value plus(Value v, int64_t by) {
    return by ? arith::AddIOp::create(b, loc, v, index(by), arith::IntegerOverflowFlags::nsw).getResult() : v;
  }
  Value scaled(Value v, int64_t by) {
    return arith::MulIOp::create(b, loc, v, index(by), arith::IntegerOverflowFlags::nsw);
  }

  OpBuilder &b;
  Location loc;
  int64_t lanes, unit;
  VectorType type;
  function_ref<Value(int64_t)> index;
  SmallVector<int64_t> low, high;
};

} // namespace

int64_t quern::transposeScratch(Type element, int64_t lanes) {
  int64_t unit = transposeUnit(element);
  return unit > maxRegisters ? unit * lanes : 0;
}

void quern::transposeSquares(OpBuilder &b, Location loc, Type element, int64_t lanes, const SquareAccess &access,
                             Value scratch, function_ref<Value(int64_t)> index) {
  Network network(b, loc, element, lanes, index);
  if (transposeScratch(element, lanes))
    network.twice(access, scratch);
  else
    network.direct(access);
}

SmallVector<Value> quern::joinAdjacent(OpBuilder &b, Location loc, SmallVector<Value> vectors, int64_t count) {
  for (; count > 1; count /= 2) {
    SmallVector<int64_t> lanes(2 * cast<VectorType>(vectors[0].getType()).getNumElements());
    std::iota(lanes.begin(), lanes.end(), 0);
    SmallVector<Value> wider;
    for (size_t i = 0; i < vectors.size(); i += 2)
      wider.push_back(vector::ShuffleOp::create(b, loc, vectors[i], vectors[i + 1], lanes));
    vectors = std::move(wider);
  }
  return vectors;
}

Value quern::joinVectors(OpBuilder &b, Location loc, SmallVector<Value> vectors) {
  const auto count = static_cast<int64_t>(vectors.size());
  return joinAdjacent(b, loc, std::move(vectors), count)[0];
}

namespace {

/// Vectors as one run of elements, from which permutations create new vectors.
class Run {
public:
  Run(OpBuilder &b, Location loc, SmallVector<Value> vectors)
      : b(b), loc(loc), vectors(std::move(vectors)), count(this->vectors.size()),
        lanes(cast<VectorType>(this->vectors[0].getType()).getNumElements()) {}

  /// Permutes the elements of all vectors: element e of the result is element source(e).
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

  /// Interleaves the first half of the run with the second, log2(count) times.
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
  /// Returns the vector of the elements with the indices `from` in the run. It merges the vectors one after another.
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

SmallVector<Value> quern::interleaveVectors(OpBuilder &b, Location loc, SmallVector<Value> vectors) {
  const auto count = static_cast<int64_t>(vectors.size()),
             lanes = static_cast<int64_t>(cast<VectorType>(vectors[0].getType()).getNumElements());
  Run run(b, loc, std::move(vectors));
  if (llvm::isPowerOf2_64(count))
    return run.interleaved();
  return run.permuted([&](int64_t e) { return e % count * lanes + e / count; });
}

SmallVector<Value> quern::deinterleaveVectors(OpBuilder &b, Location loc, SmallVector<Value> vectors) {
  const auto count = static_cast<int64_t>(vectors.size()),
             lanes = static_cast<int64_t>(cast<VectorType>(vectors[0].getType()).getNumElements());
  Run run(b, loc, std::move(vectors));
  if (llvm::isPowerOf2_64(count))
    return run.takenApart();
  return run.permuted([&](int64_t e) { return e % lanes * count + e / lanes; });
}
