//===- OpenRhs.cpp - The second factor of products with open sizes --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Copies of the tile for one slice of K, and reads of panels in place.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Build/Bodies.h"
#include "Schedule/Build/CpuMemory.h"
#include "Schedule/Build/Transpose.h"
#include "Schedule/Contraction/Cpu/OpenEmitter.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

void contractions::forOpenSteps(ContractionBuilder &ir, int64_t length, IndexRange k, SmallVector<Value> &carried,
                                StepBody body) {
  Value left, end = k.end;
  if (length > 1) {
    left = ir.mod(ir.sub(k.end, k.begin), length);
    end = ir.sub(k.end, left);
  }
  auto take = [&](Value to, int64_t elements) {
    carried = ir.loop(elements < length ? end : k.begin, to, ir.index(elements), carried,
                      [&](Value step, SmallVector<Value> now) { return body(step, std::move(now), elements); });
  };
  take(end, length);
  for (int64_t elements = 1; elements < length; ++elements) {
    take(ir.create<arith::SelectOp>(ir.isEqual(left, elements), k.end, end), elements);
  }
}

void OpenRhs::forSteps(IndexRange k, function_ref<void(Value, bool)> body) {
  SmallVector<Value> none;
  forOpenSteps(ir, plan.stepLength(), k, none, [&](Value step, const SmallVector<Value> &, int64_t elements) {
    body(step, elements == plan.stepLength());
    return SmallVector<Value>();
  });
}

Value OpenRhs::at(Value k, Value column) {
  return ir.linear(own.sums[0].offset,
                   {{k, own.reduced[0].rhs}, {tile.column, own.columns[0].stride}, {column, own.columns[0].stride}});
}

Value OpenRhs::load(Value step, Value column, bool hasSecond) {
  Value memref = ir.buffer(own.rhs.base), first = ir.load(memref, at(step, column), plan.lanes);
  if (!plan.makesPairs)
    return convert(ir.b, own.rhs, first);
  Value second =
      hasSecond ? ir.load(memref, at(ir.linear(1, {{step, 1}}), column), plan.lanes) : ir.zeros(first.getType());
  return makePairs(ir.b, own, first, second);
}

Value OpenRhs::loadCopied(Value step, Value begin, Value first, int64_t v) {
  const int64_t elements = plan.lanes * plan.product.packed;
  return ir.load(copy, ir.linear(v * elements, {{copyAt(step, begin, first), 1}}), elements);
}

Value OpenRhs::placeInPanels(Value first, int64_t vector) {
  const int64_t perPanel = plan.panel / plan.lanes;
  const std::optional<int64_t> known = getConstantIntValue(first);
  Value which = ir.linear(vector, {{first, 1}});
  Value panel = ir.floorDiv(tile.column, plan.panel), within;
  if (plan.panel > plan.width()) {
    within = ir.linear(0, {{which, plan.lanes}, {ir.mod(tile.column, plan.panel), 1}});
  } else if (known) {
    panel = ir.linear((*known + vector) / perPanel, {{panel, 1}});
    within = ir.index((*known + vector) % perPanel * plan.lanes);
  } else {
    panel = ir.linear(0, {{panel, 1}, {ir.floorDiv(which, perPanel), 1}});
    within = ir.linear(0, {{ir.mod(which, perPanel), plan.lanes}});
  }
  return ir.linear(own.sums[0].offset, {{panel, own.columns[1].stride}, {within, own.columns[0].stride}});
}

Value OpenRhs::loadFromPanel(Value place, Value step) {
  const Size stride = own.packed > 1 ? Size(own.reduced[0].rhs.known() / own.packed) : own.reduced[0].rhs;
  return ir.load(ir.buffer(own.rhs.base), ir.linear(0, {{place, 1}, {step, stride}}), plan.lanes * plan.product.packed);
}

void OpenRhs::prefetch(Value step) {
  constexpr int64_t ahead = 16;
  for (int64_t i = 0; i < plan.stepLength(); ++i)
    for (int64_t column = 0; column < plan.width(); column += lineBytes / bytesOf(own.rhs.element()))
      ir.prefetch(ir.buffer(own.rhs.base), at(ir.linear(ahead + i, {{step, 1}}), ir.index(column)), /*locality=*/3);
}

/// Returns the address of a vector in the copy of the steps from `begin` on.
Value OpenRhs::copyAt(Value k, Value begin, Value vector) {
  return ir.linear(0, {{k, plan.width()}, {begin, -plan.width()}, {vector, plan.lanes * plan.stepLength()}});
}

void OpenRhs::copySteps(IndexRange k) {
  if (plan.transposes)
    return copyTransposed(k);
  if (!own.isStrided())
    return copyRuns(k);
  ir.forRange(ir.index(0), tile.started, [&](Value vector) { copyElements(vector, k, k.begin); });
}

/// Copies contiguous columns.
void OpenRhs::copyRuns(IndexRange k) {
  auto move = [&](Value step, Value vector, bool isWhole) {
    Value loaded = load(step, ir.linear(0, {{vector, plan.lanes}}), isWhole);
    ir.store(loaded, copy, copyAt(step, k.begin, vector));
  };
  ir.choose(
      ir.isEqual(tile.count, plan.width()),
      [&] {
        forSteps(k, [&](Value step, bool isWhole) {
          prefetch(step);
          for (int64_t v = 0; v < plan.vectors; ++v)
            move(step, ir.index(v), isWhole);
        });
      },
      [&] {
        forSteps(k, [&](Value step, bool isWhole) {
          ir.forRange(ir.index(0), tile.whole, [&](Value vector) { move(step, vector, isWhole); });
        });
        ir.forRange(tile.whole, tile.started, [&](Value vector) { copyElements(vector, k, k.begin); });
      });
}

/// Copies columns that are contiguous along K: squares if all lanes exist, otherwise single elements.
void OpenRhs::copyTransposed(IndexRange k) {
  const int64_t unit = transposeUnit(own.rhs.element());
  Value end = ir.endOfWhole(k.begin, k.end, unit);
  ir.forRange(ir.index(0), tile.whole, [&](Value vector) {
    ir.forRange(k.begin, end, [&](Value at) { copySquare(vector, at, k.begin); }, unit);
    copyElements(vector, {end, k.end}, k.begin);
  });
  ir.forRange(tile.whole, tile.started, [&](Value vector) { copyElements(vector, k, k.begin); });
}

/// Copies as many steps from k as a square has columns.
void OpenRhs::copySquare(Value vector, Value k, Value begin) {
  Value first = at(k, ir.linear(0, {{vector, plan.lanes}})), place = copyAt(k, begin, vector);
  ir.transpose(
      ir.buffer(own.rhs.base), plan.lanes,
      [&](int64_t lane) { return ir.linear(0, {{first, 1}, {ir.index(lane), own.columns[0].stride}}); },
      [&](int64_t i, Value v) {
        Value converted = convert(ir.b, own.rhs, v);
        ir.store(converted, copy, ir.linear(i * plan.width(), {{place, 1}}));
      });
}

/// Copies a vector of the tile element by element; lanes without a column become zero.
void OpenRhs::copyElements(Value vector, IndexRange k, Value begin) {
  const auto one = VectorType::get({1}, own.rhs.element());
  const int64_t length = plan.stepLength();
  Value first = ir.linear(0, {{vector, plan.lanes}}), memref = ir.buffer(own.rhs.base);
  Value exist = ir.min(ir.sub(tile.count, first), ir.index(plan.lanes));
  auto zero = VectorType::get({length * plan.lanes}, plan.copyType());
  forSteps(k, [&](Value step, bool isWhole) {
    Value place = copyAt(step, begin, vector);
    ir.store(ir.zeros(zero), copy, place);
    ir.forRange(ir.index(0), exist, [&](Value lane) {
      Value column = ir.linear(0, {{first, 1}, {lane, 1}});
      for (int64_t i = 0; i < (isWhole ? length : 1); ++i) {
        Value element = ir.loadScalar(memref, at(ir.linear(i, {{step, 1}}), column));
        if (!plan.makesPairs) {
          Value converted = convert(ir.b, own.rhs, ir.create<vector::BroadcastOp>(one, element));
          element = ir.create<vector::ExtractOp>(converted, 0);
        }
        ir.storeScalar(element, copy, ir.linear(i, {{place, 1}, {lane, length}}));
      }
    });
  });
}
