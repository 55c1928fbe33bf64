//===- Emitter.cpp - The kernel and its loops ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One loop over the iteration space; in it, for each sweep, a loop over the row and a straight-line tail. Accumulators are loop-carried,
// in the order (reduction result, slot). Long sums run in blocks: fresh accumulators per block, the blocks added in a wider format, so
// that the rounding error does not grow with the row.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Cpu/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <set>

using namespace mlir;
using namespace quern::rows;

RowEmitter::RowEmitter(RowPlan &plan) : KernelBuilder(plan.chain.problem), plan(plan), chain(plan.chain) {}

void RowEmitter::makeKernel(Operation *after) {
  bool isOneOfMany = plan.isSplit() && plan.sweeps > 1;
  KernelTraits traits;
  traits.name = (chain.problem.getName() + "_kernel" + (isOneOfMany ? Twine(currentSweep) : Twine())).str();
  traits.plan = plan.text(currentSweep);
  traits.space = plan.space * plan.split.chunks;
  for (auto [size, divisor] : plan.factors)
    traits.factors.append({size, divisor});
  traits.nsPerIteration = plan.isSplit() ? nsOfChunk(plan, currentSweep) : plan.opsPerIteration() * plan.strategy.nsPerOperation;
  traits.sharedBytes = plan.sharedBytes;
  traits.scratchBytes = plan.scratchBytes;
  kernel = quern::makeKernel(chain.problem, after, traits);
  b.setInsertionPointToEnd(&kernel.function.getBody().front());
}

RowEmitter::Values RowEmitter::freshAccumulators() {
  Values accumulators;
  forEachReduction(
      [&](int, Stage &stage, unsigned k) { accumulators.append(columns, splat(plan.inHalves ? b.getI16IntegerAttr(0) : stage.inits[k])); });
  return accumulators;
}

bool RowEmitter::hasLongSum(int64_t steps) {
  bool sums = false;
  forEachReduction([&](int, Stage &stage, unsigned k) { sums |= isa<arith::AddFOp>(stage.combiner(k)); });
  return plan.inHalves || (sums && steps * 2 > plan.blockSteps() * 3);
}

/// One loop over [begin, end) of the row.
RowEmitter::Values RowEmitter::emitLoop(Value begin, Value end, int64_t stepLength, int64_t slots, Values accumulators) {
  auto loop = create<scf::ForOp>(begin, end, index(stepLength), accumulators);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  bool outermost = !sweepLoop;
  if (outermost)
    sweepLoop = loop;
  accumulators.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  Value at = loop.getInductionVar();
  if (plan.runsBackwards(currentSweep))
    at = create<arith::SubIOp>(index(chain.rowExtent / stepLength * stepLength - stepLength), at);
  emitStep(at, slots, accumulators);
  if (!accumulators.empty())
    create<scf::YieldOp>(accumulators);
  if (outermost)
    sweepLoop = nullptr;
  return Values(loop.getResults());
}

/// The loop in blocks: an outer loop carries sums in a wider format, and everything else as it is.
/// `isWhole`: the length is surely a multiple of a block.
RowEmitter::Values RowEmitter::emitBlockedLoop(Value first, Value last, bool isWhole, int64_t stepLength) {
  int64_t block = plan.blockSteps() * stepLength;
  SmallVector<WideSum> sums; // one for each accumulator
  forEachReduction([&](int, Stage &stage, unsigned k) { sums.append(columns, wideSumOf(stage, k)); });
  Values carried;
  for (auto [sum, start] : llvm::zip_equal(sums, freshAccumulators()))
    carried.append(sum.parts, sum.isWide ? splat(b.getZeroAttr(sum.type)) : start);
  auto outer = create<scf::ForOp>(first, last, index(block), carried);
  sweepLoop = outer;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(outer.getBody());
    carried.assign(outer.getRegionIterArgs().begin(), outer.getRegionIterArgs().end());
    Value begin = outer.getInductionVar(), end = add(begin, index(block));
    if (!isWhole)
      end = create<arith::MinUIOp>(end, last);
    Values inner = freshAccumulators();
    size_t at = 0;
    for (auto [sum, start] : llvm::zip_equal(sums, inner)) {
      if (!sum.isWide)
        start = carried[at];
      at += sum.parts;
    }
    inner = emitLoop(begin, end, stepLength, columns, inner);
    at = 0;
    for (auto [sum, result] : llvm::zip_equal(sums, inner)) {
      addToWide(sum, MutableArrayRef(carried).slice(at, sum.parts), result);
      at += sum.parts;
    }
    create<scf::YieldOp>(carried);
  }
  sweepLoop = nullptr;
  carried.assign(outer.getResults().begin(), outer.getResults().end());
  Values accumulators;
  size_t at = 0;
  for (const WideSum &sum : sums) {
    accumulators.push_back(narrowed(sum, ArrayRef(carried).slice(at, sum.parts)));
    at += sum.parts;
  }
  return accumulators;
}

/// What the main loop leaves of a contiguous row: straight-line, the last vector partial. Steps take several neighbours to a lane as long
/// as they can.
void RowEmitter::emitTail(int64_t main, Values &accumulators) {
  if (int64_t vectors = (chain.rowExtent - main) / (plan.lanes * depth); depth > 1 && vectors) {
    emitStep(index(main), vectors, accumulators);
    main += vectors * plan.lanes * depth;
  }
  depth = 1;
  for (; main < chain.rowExtent; main += columns * plan.lanes) {
    int64_t rest = std::min(chain.rowExtent - main, columns * plan.lanes), slots = llvm::divideCeil(rest, plan.lanes);
    partial.assign(slots, Lanes());
    if (rest % plan.lanes)
      partial.back().fixed = rest % plan.lanes;
    emitStep(index(main), slots, accumulators);
    partial.clear();
  }
}

/// One sweep over the row. Along the row: a main loop of `columns` vectors, then the tail. Across: one loop over the row.
void RowEmitter::emitSweep() {
  columns = plan.columnsIn(currentSweep);
  depth = plan.depth;
  int64_t stepLength = plan.alongRow() ? columns * plan.lanes * depth : depth * plan.runs;
  if (plan.isSplit())
    return emitChunk(stepLength);
  int64_t steps = chain.rowExtent / stepLength, main = steps * stepLength;
  Values accumulators = freshAccumulators();
  if (isOpen(chain.rowExtent)) {
    emitOpenSweep(stepLength, accumulators);
    return finishReductions(accumulators);
  }
  if (steps > 1 && hasLongSum(steps))
    accumulators = emitBlockedLoop(index(0), index(main), steps % plan.blockSteps() == 0, stepLength);
  else if (steps > 1)
    accumulators = emitLoop(index(0), index(main), stepLength, columns, accumulators);
  else if (steps == 1)
    emitStep(index(0), columns, accumulators);
  if (main < chain.rowExtent)
    emitTail(main, accumulators);
  finishReductions(accumulators);
}

/// Everything that the current sweep does for `slots` vectors at row position `at`.
void RowEmitter::emitStep(Value at, int64_t slots, Values &accumulators) {
  position = at;
  auto forget = [&] {
    stepLoads.clear();
    stepPairs.clear();
    stepValues.clear();
    places.clear();
    keptPlaces.clear();
  };
  forget();
  for (pairedSlots = 0; plan.readsPairs(currentSweep) && pairedSlots < slots && lanesOf(pairedSlots).all();)
    ++pairedSlots;
  KeptValues kept;
  for (int64_t slot = 0; slot < slots; ++slot) {
    emitSlot(slot, accumulators, kept);
    if (!plan.alongRow() || slot % 2 || slot + 1 == slots) // two neighbours side by side, as a pair of conversions wants them
      writeKept(kept);
  }
  if (currentSweep == 1) // the first that computes on what is already there
    prefetchNextGroup(slots);
  forget();
}

/// Asks for the lines that the next iteration reads at this row position. Beyond the last group this names memory that is not the
/// operand's, which a prefetch may.
void RowEmitter::prefetchNextGroup(int64_t slots) {
  std::set<std::pair<const void *, Walk>> asked;
  for (Stage &stage : chain.stages)
    for (const Access &access : stage.ins) {
      if (!plan.isPrefetched(access) || !asked.insert({access.base.getAsOpaquePointer(), access.row}).second)
        continue;
      int64_t vectorBytes = plan.lanes * bytesOf(access.elementType()), perLine = std::max<int64_t>(64 / vectorBytes, 1);
      for (int64_t slot = 0; slot < slots; slot += perLine) {
        Value next = add(place(access, slot), index(plan.columns * plan.lanes));
        create<memref::PrefetchOp>(kernel.arguments.lookup(access.base), ValueRange{next}, /*isWrite=*/false, /*localityHint=*/3,
                                   /*isDataCache=*/true);
      }
    }
}

/// Values first, stores last: within a slot nothing is read after something that may be the same memory was written.
void RowEmitter::emitSlot(int64_t slot, Values &accumulators, KeptValues &kept) {
  size_t at = slot;
  for (auto [i, stage] : llvm::enumerate(chain.stages)) {
    if (plan.stages[i].keptIn == currentSweep)
      kept.push_back({static_cast<int>(i), slot, values(i, slot)});
    if (!stage.reduces || plan.stages[i].sweep != currentSweep)
      continue;
    if (depth > 1 || plan.inHalves) {
      accumulators[at] = depth > 1 ? addNeighbours(stage, slot, accumulators[at]) : addHalves(stage, slot, accumulators[at]);
      at += columns;
      continue;
    }
    Values blockArguments;
    for (const Access &in : stage.ins)
      blockArguments.push_back(operand(in, slot));
    for (unsigned k = 0; k < stage.outs.size(); ++k)
      blockArguments.push_back(accumulators[at + k * columns]);
    const Lanes &lanes = lanesOf(slot);
    for (Value result : emitBody(stage, blockArguments)) {
      if (plan.alongRow() && !lanes.all()) // the lanes that do not exist keep what they had
        result = create<arith::SelectOp>(maskOf(lanes), result, accumulators[at]);
      accumulators[at] = result;
      at += columns;
    }
  }
}

void RowEmitter::writeKept(KeptValues &kept) {
  for (auto &[i, slot, results] : kept) {
    const StagePlan &own = plan.stages[i];
    if (own.storage)
      write(*own.storage, slot, results[0]);
    else if (own.scratch >= 0)
      storeKept(own.scratch, slot, results[0]);
    else
      for (auto [access, result] : llvm::zip_equal(chain.stages[i].outs, results))
        write(access, slot, result);
  }
  kept.clear();
}

/// Turns the accumulators of this sweep into row values.
void RowEmitter::finishReductions(ArrayRef<Value> accumulators) {
  forEachReduction([&](int i, Stage &stage, unsigned k) {
    Values parts(accumulators.take_front(columns));
    accumulators = accumulators.drop_front(columns);
    if (plan.alongRow())
      parts.assign(1, reduceLanes(stage.combiner(k), combineAll(stage.combiner(k), parts)));
    for (auto [slot, part] : llvm::enumerate(parts))
      rowValues[{i, slot}].push_back(part);
  });
}

void RowEmitter::writeRowOutputs() {
  SmallVector<std::tuple<const Access *, int64_t, Value>> outputs;
  for (auto [i, stage] : llvm::enumerate(chain.stages))
    if (stage.writesArgument && !stage.isElementwise())
      for (int64_t slot = 0; slot < (plan.alongRow() ? 1 : columns); ++slot)
        for (auto [access, v] : llvm::zip_equal(stage.outs, values(i, slot)))
          outputs.push_back({&access, slot, v});
  for (auto [access, slot, v] : outputs)
    write(*access, slot, v);
}

/// Whether every streamed destination starts on a multiple of its vectors, and the call is one that may stream.
Value RowEmitter::mayStream() {
  return atEntry([&] {
    Value misaligned;
    for (Stage &stage : chain.stages)
      for (const Access &out : stage.outs) {
        if (!stage.isElementwise() || !plan.isStreamed(out))
          continue;
        int64_t vectorBytes = plan.lanes * bytesOf(out.elementType());
        Value start = create<memref::ExtractAlignedPointerAsIndexOp>(kernel.arguments.lookup(out.base));
        Value rest = create<arith::AndIOp>(start, index(vectorBytes - 1));
        misaligned = misaligned ? create<arith::OrIOp>(misaligned, rest).getResult() : rest;
      }
    Value aligned = create<arith::CmpIOp>(arith::CmpIPredicate::eq, misaligned, index(0));
    if (!plan.streamsAlone)
      return aligned;
    Value count = create<arith::SubIOp>(kernel.end(), kernel.begin());
    Value all = create<arith::CmpIOp>(arith::CmpIPredicate::eq, count, index(plan.space));
    return create<arith::AndIOp>(aligned, all).getResult();
  });
}

/// The sweep in two forms. What one pulls to the level of the row must not be found by the other; what both need there comes first, once.
void RowEmitter::emitStreamedSweep() {
  for (auto [i, stage] : llvm::enumerate(chain.stages))
    for (int64_t slot = 0; slot < (plan.alongRow() ? 1 : plan.columnsIn(currentSweep)); ++slot)
      if (stage.perRow && ((plan.stages[i].usedIn >> currentSweep) & 1))
        values(i, slot);
  auto choice = create<scf::IfOp>(mayStream(), /*withElseRegion=*/true);
  auto loads = rowLoads;
  auto bases = rowBases;
  auto results = rowValues;
  for (bool streamed : {true, false}) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(streamed ? choice.thenBlock() : choice.elseBlock());
    streaming = streamed;
    emitSweep();
    rowLoads = loads;
    rowBases = bases;
    rowValues = results;
  }
}

void RowEmitter::emitRowGroup() {
  for (int end = plan.isSplit() ? currentSweep + 1 : plan.sweeps; currentSweep < end; ++currentSweep) {
    if (plan.streams && currentSweep == plan.sweeps - 1)
      emitStreamedSweep();
    else
      emitSweep();
  }
  writeRowOutputs();
}

func::FuncOp RowEmitter::emit(Operation *after, int sweep) {
  currentSweep = sweep;
  makeKernel(after);
  clonePrologue(b, kernel, chain.problem, chain.prologue, [&](int64_t size) { return index(size); });
  auto end = create<func::ReturnOp>();
  b.setInsertionPoint(end);
  rows = create<scf::ForOp>(kernel.begin(), kernel.end(), index(1));
  entry = rows;
  b.setInsertionPointToStart(rows.getBody());
  Value iteration = rows.getInductionVar();
  emitParallelIndices(plan.isSplit() ? emitChunkIndex(iteration) : iteration);
  if (plan.wholeRows) {
    emitWholeRows();
    return kernel.function;
  }
  if (!plan.alongRow())
    limitLanes();
  emitRowGroup();
  return kernel.function;
}
