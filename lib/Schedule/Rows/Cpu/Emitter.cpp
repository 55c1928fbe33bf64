//===- Emitter.cpp - The kernel and its loops ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One loop over the iteration space; in it, for each sweep, a loop over the row and a straight-line tail. Accumulators
// are loop-carried, in the order (reduction result, slot). Long sums are computed in blocks: each block has fresh
// accumulators, and blocks are added in a wider format, so that the rounding error does not grow with the row.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Cpu/Emitter.h"

#include "Schedule/Build/CpuMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <functional>
#include <limits>
#include <set>

using namespace mlir;
using namespace quern::schedule;
using namespace quern::schedule::rows;

TypedAttr SweepEmitter::startOf(Stage &stage, unsigned k) {
  return vectors.inHalves ? b.getI16IntegerAttr(0) : stage.inits[k];
}

bool SweepEmitter::hasLongSum(int64_t steps) {
  bool sums = false;
  forEachReduction([&](int, Stage &stage, unsigned k) { sums |= isa<arith::AddFOp>(stage.combiner(k)); });
  return vectors.inHalves || (sums && steps * 2 > vectors.blockSteps() * 3);
}

/// Emits one loop over [begin, end) of the row.
SweepEmitter::Values SweepEmitter::emitLoop(Value begin, Value end, int64_t stepLength, int64_t slots,
                                            Values accumulators) {
  bool outermost = !sweepLoop;
  accumulators = loop(begin, end, index(stepLength), accumulators, [&](Value at, Values inner) {
    if (outermost)
      sweepLoop = b.getInsertionBlock()->getParentOp();
    if (plan.sweepsBackward(*form, sweep))
      at = create<arith::SubIOp>(index(chain.rowExtent.known() / stepLength * stepLength - stepLength), at);
    emitStep(at, slots, inner);
    return inner;
  });
  if (outermost)
    sweepLoop = nullptr;
  return accumulators;
}

/// Emits `steps` steps over [first, last) of the row. Long sums are computed in blocks: an outer loop carries sums in a
/// wider format, and other accumulators unchanged. `isWhole`: the length is known to be a multiple of a block.
SweepEmitter::Values SweepEmitter::emitMainLoop(Value first, Value last, int64_t steps, bool isWhole,
                                                int64_t stepLength) {
  if (!hasLongSum(steps))
    return emitLoop(first, last, stepLength, columns, freshAccumulators());
  int64_t block = vectors.blockSteps() * stepLength;
  SmallVector<WideSum> sums; // one for each accumulator
  forEachReduction([&](int, Stage &stage, unsigned k) { sums.append(columns, wideSumOf(stage, k)); });
  Values carried;
  for (auto [sum, start] : llvm::zip_equal(sums, freshAccumulators()))
    carried.append(sum.parts, sum.isWide ? splat(b.getZeroAttr(sum.type)) : start);
  const bool outermost = !sweepLoop;
  carried = loop(first, last, index(block), carried, [&](Value begin, Values outer) {
    if (outermost)
      sweepLoop = b.getInsertionBlock()->getParentOp();
    Value end = add(begin, index(block));
    if (!isWhole)
      end = create<arith::MinUIOp>(end, last);
    Values inner = freshAccumulators();
    MutableArrayRef<Value> rest(outer);
    for (auto [sum, start] : llvm::zip_equal(sums, inner)) {
      if (!sum.isWide)
        start = rest[0];
      rest = rest.drop_front(sum.parts);
    }
    rest = outer;
    for (auto [sum, result] : llvm::zip_equal(sums, emitLoop(begin, end, stepLength, columns, inner))) {
      addToWide(sum, rest.take_front(sum.parts), result);
      rest = rest.drop_front(sum.parts);
    }
    return outer;
  });
  if (outermost)
    sweepLoop = nullptr;
  return narrowed(sums, carried);
}

/// Emits the remainder of a contiguous row after the main loop, as straight-line code; the last vector is partial.
/// Steps cover several neighbors per lane as long as possible.
void SweepEmitter::emitTail(int64_t main, Values &accumulators) {
  const int64_t length = chain.rowExtent.known();
  if (int64_t slots = (length - main) / (vectors.lanes * depth); depth > 1 && slots) {
    emitStep(index(main), slots, accumulators);
    main += slots * vectors.lanes * depth;
  }
  depth = 1;
  for (; main < length; main += columns * vectors.lanes) {
    int64_t rest = std::min(length - main, columns * vectors.lanes), slots = llvm::divideCeil(rest, vectors.lanes);
    partial.assign(slots, SlotLanes());
    if (rest % vectors.lanes)
      partial.back().fixed = rest % vectors.lanes;
    emitStep(index(main), slots, accumulators);
    partial.clear();
  }
}

/// Emits a sweep over rows of open length, for vectors that run across rows. Wider sums are expensive compared with
/// short rows, which do not need them and get a separate loop; `blocks` emits longer rows.
SweepEmitter::Values SweepEmitter::emitByBlocks(int64_t stepLength, function_ref<Values()> blocks) {
  Value isBlock = isAtMost(chain.rowExtent, vectors.blockSteps() * stepLength * 3 / 2);
  Values fresh = freshAccumulators();
  auto types = llvm::map_to_vector(fresh, [](Value v) { return v.getType(); });
  auto inBranch = [&](function_ref<Values()> f) {
    sweepLoop = b.getInsertionBlock()->getParentOp(); // values of the row level are inserted before the condition
    return f();
  };
  auto few = [&] { return emitLoop(index(0), index(chain.rowExtent), stepLength, columns, fresh); };
  Values results = chooseValues(isBlock, types, [&] { return inBranch(few); }, [&] { return inBranch(blocks); });
  sweepLoop = nullptr;
  return results;
}

/// Returns the end of the last whole step of `length` along the row.
quern::Index SweepEmitter::endOfWholeSteps(int64_t length) {
  auto [known, isNew] = wholeSteps.try_emplace(length, 0);
  if (isNew)
    known->second = atEntry([&] { return roundDown(chain.rowExtent, length); });
  return known->second;
}

/// Emits the remainder of a row of open length: a loop over single vectors, and one over the last, masked vector, which
/// may not exist. Their bounds and the mask are computed once per call.
void SweepEmitter::emitOpenTail(Index main, Values &accumulators) {
  const Index end = endOfWholeSteps(vectors.lanes);
  if (columns > 1)
    accumulators = emitLoop(index(main), index(end), vectors.lanes, 1, accumulators);
  if (!last.left)
    atEntry([&] {
      last.left = last.count = index(sub(chain.rowExtent, end));
      last.mask = prefixMask(last.left);
    });
  partial.assign(1, last);
  accumulators = emitLoop(index(end), index(chain.rowExtent), vectors.lanes, 1, accumulators);
  partial.clear();
}

/// Emits one sweep over a whole row. Along the row: steps of `columns` vectors, then the remainder. Across rows: steps
/// only.
void SweepEmitter::emitWholeRow(int64_t stepLength, Values &accumulators) {
  const Index main = endOfWholeSteps(stepLength);
  // A kernel for open lengths also serves executions with longer rows, which need their sums in blocks.
  const int64_t steps = main.isNumber() ? *main.number() / stepLength
                        : isOneBlock    ? 1
                                        : std::numeric_limits<int32_t>::max();
  const bool isWhole = main.isNumber() && steps % vectors.blockSteps() == 0;
  auto mainLoop = [&] { return emitMainLoop(index(0), index(main), steps, isWhole, stepLength); };
  if (main == stepLength)
    emitStep(index(0), columns, accumulators);
  else if (!main.isNumber() && !vectors.alongRow() && !vectors.inHalves && hasLongSum(steps))
    accumulators = emitByBlocks(stepLength, mainLoop);
  else if (main != 0)
    accumulators = mainLoop();
  if (!vectors.alongRow())
    return;
  if (!main.isNumber())
    emitOpenTail(main, accumulators);
  else if (main != chain.rowExtent)
    emitTail(*main.number(), accumulators);
}

/// Returns the location of the last operation that the sweep computes.
Location SweepEmitter::locationOfSweep() {
  Location last = loc;
  for (auto [stage, own] : llvm::zip_equal(chain.stages, form->stages))
    if (own.keptIn == sweep || (stage.reduces && stage.sweep == sweep))
      last = stage.op.getLoc();
  return last;
}

/// Emits the current sweep over the row, or over a chunk of it.
void SweepEmitter::emitSweep() {
  const AtOperation scope(*this, locationOfSweep());
  if (vectorsInRegisters)
    return emitHeldSweep();
  columns = vectors.alongRow() ? form->columnsIn(sweep) : rowsOfStep;
  depth = vectors.depth;
  int64_t stepLength = vectors.alongRow() ? columns * vectors.lanes * depth : depth * vectors.runs;
  if (plan.space.isSplit())
    return emitChunk(stepLength);
  Values accumulators = freshAccumulators();
  emitWholeRow(stepLength, accumulators);
  finishReductions(accumulators);
}

/// Emits all operations of the current sweep for `slots` vectors at row position `at`.
void SweepEmitter::emitStep(Value at, int64_t slots, Values &accumulators) {
  position = at;
  positionAlign = depth * vectors.runs;
  if (!vectorsInRegisters)
    ofStep = {};
  keptPlaces.clear();
  for (pairedSlots = 0;
       !vectorsInRegisters && form->readsPairs(sweep) && pairedSlots < slots && lanesOf(pairedSlots).all();)
    ++pairedSlots;
  KeptValues kept;
  for (int64_t slot = 0; slot < slots; ++slot) {
    emitSlot(slot, accumulators, kept);
    // Two adjacent slots are written together, because a narrowing conversion takes a pair of vectors.
    if (!vectors.alongRow() || slot % 2 || slot + 1 == slots)
      writeKept(kept);
  }
  // Sweep 1 is the first whose data is already cached, so it can wait for prefetches.
  if (sweep == 1 && !(plan.hasNarrowForms() && lanesOf(slots - 1).left))
    prefetchNextGroup(slots);
  if (!vectorsInRegisters)
    ofStep = {};
  keptPlaces.clear();
}

/// Prefetches the cache lines that the next iteration reads at this row position. Addresses past the last group are
/// harmless: a prefetch may name any memory.
void SweepEmitter::prefetchNextGroup(int64_t slots) {
  std::set<std::pair<const void *, AccessFunction>> asked;
  for (Stage &stage : chain.stages)
    for (const Access &access : stage.ins) {
      if (!plan.isPrefetched(access) || !asked.insert({access.base.getAsOpaquePointer(), access.row}).second)
        continue;
      int64_t vectorBytes = vectors.lanes * bytesOf(access.elementType()),
              perLine = std::max<int64_t>(lineBytes / vectorBytes, 1);
      for (int64_t slot = 0; slot < slots; slot += perLine) {
        Value next = add(place(access, slot), index(rowsOfStep * vectors.lanes));
        prefetch(kernel.arguments.lookup(access.base), next, /*locality=*/3);
      }
    }
}

/// Computes all values of a slot before it stores any, so that no read follows a write to memory that may alias.
void SweepEmitter::emitSlot(int64_t slot, MutableArrayRef<Value> accumulators, KeptValues &kept) {
  for (auto [i, stage] : llvm::enumerate(chain.stages)) {
    if (form->stages[i].keptIn == sweep)
      kept.push_back({static_cast<int>(i), slot, values(i, slot)});
    if (!stage.reduces || stage.sweep != sweep)
      continue;
    if (depth == 1 && !vectors.inHalves) {
      accumulate(stage, slot, accumulators);
      continue;
    }
    const AtOperation scope(*this, stage.op.getLoc());
    accumulators[slot] =
        depth > 1 ? addNeighbors(stage, slot, accumulators[slot]) : addHalves(stage, slot, accumulators[slot]);
    accumulators = accumulators.drop_front(columns);
  }
}

void SweepEmitter::writeKept(KeptValues &kept) {
  for (auto &[i, slot, results] : kept) {
    const StagePlan &own = form->stages[i];
    const AtOperation scope(*this, chain.stages[i].op.getLoc());
    if (own.storage)
      storeSlot(*own.storage, slot, results[0]);
    else if (own.scratch >= 0)
      storeKept(own.scratch, slot, results[0]);
    else
      for (auto [access, result] : llvm::zip_equal(chain.stages[i].outs, results))
        storeSlot(access, slot, result);
  }
  kept.clear();
}

void SweepEmitter::emitSweeps() {
  for (int end = plan.space.isSplit() ? sweep + 1 : plan.sweeps; sweep < end; ++sweep) {
    if (form->streams && sweep == plan.sweeps - 1)
      emitStreamedSweep();
    else
      emitSweep();
  }
  writeRowOutputs();
}
