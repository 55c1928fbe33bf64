//===- Forms.cpp - Choosing the form of a row at run time -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel checks how long its rows are and how many are adjacent, and has separate code for each case. Values that one
// form hoists to the row level must not be found by another.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Cpu/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <functional>

using namespace mlir;
using namespace quern::schedule;
using namespace quern::schedule::rows;

void SweepEmitter::emitSpace() {
  if (plan.forms.maxRegisterVectors)
    emitHeld(1);
  else
    emitRows();
}

/// Emits rows of `count` vectors in registers, then longer ones. All rows of a call have one length, so each form has
/// its own loop over rows. Calls that use non-temporal stores have no such form: loads of later rows would wait for
/// pending stores if source and destination have the same offsets in their pages.
void SweepEmitter::emitHeld(int64_t count) {
  Value few = isAtMost(chain.rowExtent, count * vectors.lanes);
  if (form->streams)
    few = create<arith::SelectOp>(mayStream(), constant(b.getBoolAttr(false)), few);
  auto inRegisters = [&] {
    if (!entry)
      entry = b.getInsertionBlock()->getParentOp();
    vectorsInRegisters = count;
    emitRows();
    vectorsInRegisters = 0;
  };
  auto ofBlock = [&] {
    isOneBlock = true;
    emitRows();
    isOneBlock = false;
  };
  choose(few, inRegisters, [&] {
    if (count < plan.forms.maxRegisterVectors)
      return emitHeld(count + 1);
    // The length of the longest row whose sums need no wider accumulator.
    choose(isAtMost(chain.rowExtent, vectors.blockSteps() * vectors.lanes * 3 / 2), ofBlock, [&] { emitRows(); });
  });
}

void SweepEmitter::emitIteration(Value iteration) {
  ofRow = {};
  emitParallelIndices(plan.space.isSplit() ? emitChunkIndex(iteration) : iteration);
  if (vectorsInRegisters)
    return emitHeldRow();
  if (!plan.forms.shortRow || isOneBlock)
    return emitByWidth();
  const auto places = parallel;
  const int64_t longest = plan.forms.shortRow * (plan.hasNarrowForms() ? vectors.columns : 1);
  auto emitLong = [&] {
    ofRow = {};
    parallel = places;
    form = &plan.forms.longRows;
    emitByWidth();
    form = &plan.forms.usual;
  };
  choose(isAtMost(chain.rowExtent, longest), [&] { emitByWidth(); }, emitLong);
}

/// Emits straight-line code in which every value stays in registers across sweeps. The last vector may be partial.
void SweepEmitter::emitHeldRow() {
  form = &plan.forms.inRegisters;
  partial.assign(vectorsInRegisters, SlotLanes());
  SlotLanes &lanes = partial.back();
  lanes.left = atEntry([&] { return index(sub(chain.rowExtent, (vectorsInRegisters - 1) * vectors.lanes)); });
  lanes.mask = atEntry([&] { return prefixMask(lanes.left); });
  sweep = 0;
  emitSweeps();
  ofStep = {};
  partial.clear();
  form = &plan.forms.usual;
}

void SweepEmitter::emitHeldSweep() {
  columns = std::min(vectorsInRegisters, form->columnsIn(sweep));
  depth = 1;
  Values accumulators = freshAccumulators();
  emitStep(index(0), vectorsInRegisters, accumulators);
  finishReductions(accumulators);
}

void SweepEmitter::emitByWidth() {
  if (plan.hasNarrowForms())
    return form == &plan.forms.longRows ? emitWidths({vectors.columns}, {1, vectors.columns}) : emitGroup();
  if (!vectors.alongRow())
    limitLanes();
  sweep = plan.space.isSplit() ? sweep : 0;
  emitSweeps();
}

/// Returns the number of lanes of a group that are processed at a time, so that a row's data stays in L1 or, for longer
/// rows, fits scratch.
Value SweepEmitter::lanesAtATime() {
  SmallVector<std::pair<int64_t, int64_t>> answers; // the maximum row length, and the vectors for it
  auto allow = [&](int64_t width, int64_t most) {
    if (most > 0)
      answers.push_back({most, width});
  };
  for (int64_t width = vectors.columns; width >= 1 && plan.scratch.bytesAtPosition; width /= 2)
    allow(width, plan.strategy.l1Bytes / (width * plan.scratch.bytesAtPosition));
  for (int64_t width = vectors.columns; width >= 1 && plan.forms.shortRow; width /= 2)
    allow(width, plan.forms.shortRow * vectors.columns / width);
  return atEntry([&] {
    Value lanes = index(vectors.columns * vectors.lanes);
    for (auto [most, width] : llvm::reverse(answers))
      lanes = create<arith::SelectOp>(isAtMost(chain.rowExtent, most), index(width * vectors.lanes), lanes);
    return lanes;
  });
}

/// Emits the rows of an iteration, `stepLanes` at a time.
void SweepEmitter::emitGroup() {
  Value first = parallel[vectors.vectorDim], left = min(lanesLeft(0), vectors.columns * vectors.lanes);
  if (!stepLanes)
    stepLanes = lanesAtATime();
  SmallVector<int64_t> whole, narrow;
  for (int64_t width = vectors.columns; width >= 1; width /= 2)
    whole.push_back(width);
  for (int64_t width = 1; width < vectors.columns; width += width < 4 ? 1 : 2)
    narrow.push_back(width);
  narrow.push_back(vectors.columns);
  loop(index(0), left, stepLanes, {}, [&](Value at, const Values &) {
    parallel[vectors.vectorDim] = add(first, at);
    lanesHere = min(sub(left, at), stepLanes);
    emitWidths(whole, narrow);
    return Values();
  });
  lanesHere = Value();
}

/// Emits separate code for each number of whole adjacent vectors, and for each number of vectors of which the last ones
/// are partial.
void SweepEmitter::emitWidths(ArrayRef<int64_t> wholeWidths, ArrayRef<int64_t> narrowWidths) {
  const auto places = parallel;
  Value left = lanesHere ? lanesHere : lanesLeft(0);
  auto emit = [&](int64_t width, int64_t whole) {
    ofRow = {};
    parallel = places;
    sweep = 0;
    rowsOfStep = width;
    if (whole < width)
      limitLanes();
    std::fill_n(partial.begin(), std::min<int64_t>(whole, partial.size()), SlotLanes());
    emitSweeps();
    partial.clear();
  };
  std::function<void(size_t)> narrower = [&](size_t i) {
    const int64_t width = narrowWidths[i], before = i ? narrowWidths[i - 1] : 0;
    if (i + 1 == narrowWidths.size())
      return emit(width, before);
    choose(isAtMost(left, width * vectors.lanes), [&] { emit(width, before); }, [&] { narrower(i + 1); });
  };
  std::function<void(size_t)> whole = [&](size_t i) {
    if (i == wholeWidths.size())
      return narrower(0);
    const auto how = i ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge;
    choose(
        compare(how, left, wholeWidths[i] * vectors.lanes), [&] { emit(wholeWidths[i], wholeWidths[i]); },
        [&] { whole(i + 1); });
  };
  whole(0);
}
