//===- OpenCopy.cpp - Reads of rhs with open sizes ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Copies of the tile for one slice of K, and reads of panels in place.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Cpu/OpenEmitter.h"

#include "Schedule/Build/Transpose.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

/// Returns the address of a vector of the tile at a step.
Value OpenEmitter::copyAt(Value k, Value partBegin, Value vector) {
  return linear(0, {{k, plan.width()}, {partBegin, -plan.width()}, {vector, plan.lanes * plan.stepLength()}});
}

/// Loads contiguous columns of two steps and interleaves them as pairs.
Value OpenEmitter::pairsOf(Value step, Value column, bool hasSecond) {
  Value first = loadVector(own.rhs, rhsAt(step, column), plan.lanes);
  Value second = hasSecond ? loadVector(own.rhs, rhsAt(linear(1, {{step, 1}}), column), plan.lanes)
                           : zeros(cast<VectorType>(first.getType()));
  return makePairs(b, own, first, second);
}

/// Returns the address of a vector of the tile at the first step.
Value OpenEmitter::placeInPanels(const Vectors &of, int64_t vector) {
  const int64_t perPanel = plan.panel / plan.lanes;
  const std::optional<int64_t> known = getConstantIntValue(of.first);
  Value which = linear(vector, {{of.first, 1}}), panel = create<arith::DivUIOp>(tileColumn, index(plan.panel)), within;
  if (plan.panel > plan.width()) {
    within = linear(0, {{which, plan.lanes}, {create<arith::RemUIOp>(tileColumn, index(plan.panel)), 1}});
  } else if (known) {
    panel = linear((*known + vector) / perPanel, {{panel, 1}});
    within = index((*known + vector) % perPanel * plan.lanes);
  } else {
    panel = linear(0, {{panel, 1}, {create<arith::DivUIOp>(which, index(perPanel)), 1}});
    within = linear(0, {{create<arith::RemUIOp>(which, index(perPanel)), plan.lanes}});
  }
  return linear(own.sums[0].offset, {{panel, own.columns[1].stride}, {within, own.columns[0].stride}});
}

void OpenEmitter::copyPart(Range k) {
  if (plan.transposes)
    return copyTransposed(k);
  if (!own.isStrided())
    return copyRuns(k);
  forRange(index(0), started, [&](Value vector) { copyElements(vector, k, k.begin); });
}

/// Copies contiguous columns.
void OpenEmitter::copyRuns(Range k) {
  auto move = [&](Value step, Value vector, bool isWhole) {
    Value column = linear(0, {{vector, plan.lanes}});
    Value loaded = plan.makesPairs ? pairsOf(step, column, isWhole) : loadRhs(rhsAt(step, column));
    create<vector::StoreOp>(loaded, copy, ValueRange{copyAt(step, k.begin, vector)});
  };
  Value isWhole = create<arith::CmpIOp>(arith::CmpIPredicate::eq, count, index(plan.width()));
  choose(
      isWhole,
      [&] {
        forSteps(k, [&](Value step, bool isWhole) {
          prefetchRhs(step);
          for (int64_t v = 0; v < plan.vectors; ++v)
            move(step, index(v), isWhole);
        });
      },
      [&] {
        forSteps(k, [&](Value step, bool isWhole) {
          forRange(index(0), whole, [&](Value vector) { move(step, vector, isWhole); });
        });
        forRange(whole, started, [&](Value vector) { copyElements(vector, k, k.begin); });
      });
}

/// Copies columns that are contiguous along K: squares if all lanes exist, otherwise single elements.
void OpenEmitter::copyTransposed(Range k) {
  const int64_t unit = transposeUnit(own.rhs.element());
  Value length = sub(k.end, k.begin);
  Value end = sub(k.end, create<arith::RemUIOp>(length, index(unit)));
  forRange(index(0), whole, [&](Value vector) {
    forRange(k.begin, end, [&](Value at) { copySquare(vector, at, k.begin); }, unit);
    copyElements(vector, {end, k.end}, k.begin);
  });
  forRange(whole, started, [&](Value vector) { copyElements(vector, k, k.begin); });
}

/// Copies as many steps from k as a square has columns.
void OpenEmitter::copySquare(Value vector, Value k, Value partBegin) {
  const Type element = own.rhs.element();
  const int64_t unit = transposeUnit(element);
  auto type = VectorType::get({unit}, element);
  Value first = rhsAt(k, linear(0, {{vector, plan.lanes}}));
  auto gather = [&](Value, int64_t row) {
    SmallVector<Value> pieces;
    for (int64_t lane = row; lane < plan.lanes; lane += unit)
      pieces.push_back(create<vector::LoadOp>(
          type, argument(own.rhs.base), ValueRange{linear(0, {{first, 1}, {index(lane), own.columns[0].stride}})}));
    return joinVectors(b, loc, pieces);
  };
  auto sink = [&](Value, ArrayRef<Value> columns) {
    Value at = copyAt(k, partBegin, vector);
    for (auto [j, column] : llvm::enumerate(columns))
      create<vector::StoreOp>(convert(b, own.rhs, column), copy,
                              ValueRange{linear(static_cast<int64_t>(j) * plan.width(), {{at, 1}})});
  };
  transposeSquares(b, loc, element, plan.lanes, {gather, sink}, Value(), [&](int64_t i) { return index(i); });
}

/// Copies a vector of the tile element by element; lanes without a column become zero.
void OpenEmitter::copyElements(Value vector, Range k, Value partBegin) {
  const auto one = VectorType::get({1}, own.rhs.element());
  Value first = linear(0, {{vector, plan.lanes}});
  Value exist = min(sub(count, first), index(plan.lanes));
  if (plan.makesPairs)
    return forSteps(k,
                    [&](Value step, bool isWhole) { copyPair(vector, step, partBegin, exist, /*hasSecond=*/isWhole); });
  forRange(k.begin, k.end, [&](Value step) {
    Value at = copyAt(step, partBegin, vector);
    create<vector::StoreOp>(zeros(sumType), copy, ValueRange{at});
    forRange(index(0), exist, [&](Value lane) {
      Value column = linear(0, {{first, 1}, {lane, 1}});
      Value loaded = create<memref::LoadOp>(argument(own.rhs.base), ValueRange{rhsAt(step, column)});
      Value converted = convert(b, own.rhs, create<vector::BroadcastOp>(one, loaded));
      create<memref::StoreOp>(create<vector::ExtractOp>(converted, 0), copy,
                              ValueRange{linear(0, {{at, 1}, {lane, 1}})});
    });
  });
}

/// Like copyElements(), for the pair of two steps.
void OpenEmitter::copyPair(Value vector, Value step, Value partBegin, Value exist, bool hasSecond) {
  Value at = copyAt(step, partBegin, vector);
  create<vector::StoreOp>(zeros(VectorType::get({2 * plan.lanes}, plan.copyType())), copy, ValueRange{at});
  forRange(index(0), exist, [&](Value lane) {
    Value column = linear(0, {{vector, plan.lanes}, {lane, 1}});
    for (int64_t i = 0; i < (hasSecond ? 2 : 1); ++i) {
      Value loaded = create<memref::LoadOp>(argument(own.rhs.base), ValueRange{rhsAt(linear(i, {{step, 1}}), column)});
      create<memref::StoreOp>(loaded, copy, ValueRange{linear(i, {{at, 1}, {lane, 2}})});
    }
  });
}
