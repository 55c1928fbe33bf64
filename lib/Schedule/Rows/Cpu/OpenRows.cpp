//===- OpenRows.cpp - Rows with open length and number --------------------===//
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
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <functional>
#include <limits>

using namespace mlir;
using namespace quern::schedule;
using namespace quern::schedule::rows;

/// Returns the end of the last whole step of `length` along the row.
Value SweepEmitter::endOfWholeSteps(int64_t length) {
  Value extent = index(chain.rowExtent), step = index(length), &known = wholeSteps[length];
  if (!known)
    known = atEntry([&] { return create<arith::SubIOp>(extent, create<arith::RemUIOp>(extent, step)).getResult(); });
  return known;
}

/// Returns the lanes of the last vector of a row.
SweepEmitter::SlotLanes SweepEmitter::lastLanes() {
  if (last.left)
    return last;
  Value extent = index(chain.rowExtent), end = endOfWholeSteps(vectors.lanes);
  atEntry([&] { last.left = last.count = create<arith::SubIOp>(extent, end); });
  last.mask = atEntry([&] { return prefixMask(last.left); });
  return last;
}

/// Emits three loops along the row: over steps of several vectors, over single vectors, and over the last, masked
/// vector, which may not exist. Their bounds and the mask are computed once per call.
void SweepEmitter::emitOpenSweep(int64_t stepLength, Values &accumulators) {
  Value end = vectors.alongRow() ? endOfWholeSteps(stepLength) : index(chain.rowExtent);
  // A kernel also serves executions with longer rows, which need their sums in blocks.
  const int64_t steps = isOneBlock ? 1 : std::numeric_limits<int32_t>::max();
  auto mainLoop = [&] { return emitMainLoop(index(0), end, steps, /*isWhole=*/false, stepLength); };
  if (!vectors.alongRow()) {
    accumulators = vectors.inHalves || !hasLongSum(steps) ? mainLoop() : emitByBlocks(stepLength, mainLoop);
    return;
  }
  accumulators = mainLoop();
  Value endOfVectors = endOfWholeSteps(vectors.lanes);
  if (columns > 1)
    accumulators = emitLoop(end, endOfVectors, vectors.lanes, 1, accumulators);
  partial.assign(1, lastLanes());
  accumulators = emitLoop(endOfVectors, index(chain.rowExtent), vectors.lanes, 1, accumulators);
  partial.clear();
}

/// Across rows, wider sums are expensive compared with short rows, which do not need them and get a separate loop.
SweepEmitter::Values SweepEmitter::emitByBlocks(int64_t stepLength, function_ref<Values()> blocks) {
  Value extent = index(chain.rowExtent);
  Value isBlock =
      create<arith::CmpIOp>(arith::CmpIPredicate::sle, extent, index(vectors.blockSteps() * stepLength * 3 / 2));
  Values fresh = freshAccumulators();
  auto types = llvm::map_to_vector(fresh, [](Value v) { return v.getType(); });
  auto inBranch = [&](function_ref<Values()> f) {
    sweepLoop = b.getInsertionBlock()->getParentOp(); // values of the row level are inserted before the condition
    return f();
  };
  auto few = [&] { return emitLoop(index(0), extent, stepLength, columns, fresh); };
  Values results = chooseValues(isBlock, types, [&] { return inBranch(few); }, [&] { return inBranch(blocks); });
  sweepLoop = nullptr;
  return results;
}

void SweepEmitter::emitSpace() {
  if (plan.forms.maxRegisterVectors)
    emitHeld(1);
  else
    emitRows();
}

/// Returns the length of the longest row whose sums need no wider accumulator.
int64_t SweepEmitter::lengthOfBlock() { return vectors.blockSteps() * vectors.lanes * 3 / 2; }

/// Emits rows of `vectors` vectors in registers, then longer ones. All rows of a call have one length, so each form has
/// its own loop over rows. Calls that use non-temporal stores have no such form: loads of later rows would wait for
/// pending stores if source and destination have the same offsets in their pages.
void SweepEmitter::emitHeld(int64_t count) {
  Value few = create<arith::CmpIOp>(arith::CmpIPredicate::sle, index(chain.rowExtent), index(count * vectors.lanes));
  if (form->streams)
    few = create<arith::SelectOp>(mayStream(), constant(b.getBoolAttr(false)), few);
  auto fits = create<scf::IfOp>(few, /*withElseRegion=*/true);
  if (!entry)
    entry = fits;
  const OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(fits.thenBlock());
  vectorsInRegisters = count;
  emitRows();
  vectorsInRegisters = 0;
  b.setInsertionPointToStart(fits.elseBlock());
  if (count < plan.forms.maxRegisterVectors)
    return emitHeld(count + 1);
  Value isBlock = create<arith::CmpIOp>(arith::CmpIPredicate::sle, index(chain.rowExtent), index(lengthOfBlock()));
  auto ofBlock = [&] {
    isOneBlock = true;
    emitRows();
    isOneBlock = false;
  };
  choose(isBlock, ofBlock, [&] { emitRows(); });
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
  choose(
      create<arith::CmpIOp>(arith::CmpIPredicate::sle, index(chain.rowExtent), index(longest)), [&] { emitByWidth(); },
      emitLong);
}

/// Emits straight-line code in which every value stays in registers across sweeps. The last vector may be partial.
void SweepEmitter::emitHeldRow() {
  form = &plan.forms.inRegisters;
  partial.assign(vectorsInRegisters, SlotLanes());
  SlotLanes &lanes = partial.back();
  Value extent = index(chain.rowExtent), before = index((vectorsInRegisters - 1) * vectors.lanes);
  lanes.left = atEntry([&] { return create<arith::SubIOp>(extent, before); });
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
  Value rows = index(chain.rowExtent), lanes = index(vectors.columns * vectors.lanes);
  SmallVector<std::pair<Value, Value>> answers; // the maximum row length, and the lanes for it
  auto allow = [&](int64_t width, int64_t most) {
    if (most > 0)
      answers.push_back({index(most), index(width * vectors.lanes)});
  };
  for (int64_t width = vectors.columns; width >= 1 && plan.scratch.bytesAtPosition; width /= 2)
    allow(width, plan.strategy.l1Bytes / (width * plan.scratch.bytesAtPosition));
  for (int64_t width = vectors.columns; width >= 1 && plan.forms.shortRow; width /= 2)
    allow(width, plan.forms.shortRow * vectors.columns / width);
  return atEntry([&] {
    for (auto [most, narrower] : llvm::reverse(answers)) {
      Value fits = create<arith::CmpIOp>(arith::CmpIPredicate::sle, rows, most);
      lanes = create<arith::SelectOp>(fits, narrower, lanes);
    }
    return lanes;
  });
}

/// Emits the rows of an iteration, `stepLanes` at a time.
void SweepEmitter::emitGroup() {
  Value first = parallel[vectors.vectorDim],
        left = create<arith::MinSIOp>(lanesLeft(0), index(vectors.columns * vectors.lanes));
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
    lanesHere = create<arith::MinSIOp>(create<arith::SubIOp>(left, at), stepLanes);
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
    Value fits = create<arith::CmpIOp>(arith::CmpIPredicate::sle, left, index(width * vectors.lanes));
    choose(fits, [&] { emit(width, before); }, [&] { narrower(i + 1); });
  };
  std::function<void(size_t)> whole = [&](size_t i) {
    if (i == wholeWidths.size())
      return narrower(0);
    const auto how = i ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge;
    Value isWhole = create<arith::CmpIOp>(how, left, index(wholeWidths[i] * vectors.lanes));
    choose(isWhole, [&] { emit(wholeWidths[i], wholeWidths[i]); }, [&] { whole(i + 1); });
  };
  whole(0);
}
