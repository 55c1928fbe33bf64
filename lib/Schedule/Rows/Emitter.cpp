//===- Emitter.cpp - Code that the emitters of rows share -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Emitter.h"

#include "Schedule/Build/Bodies.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern::schedule;
using namespace quern::schedule::rows;

/// Returns the results of a stage for one slot, from a cache or emitted here.
RowEmitter::Values RowEmitter::values(int i, int64_t slot) {
  bool isOfRow = !chain.stages[i].isElementwise();
  const AtOperation scope(*this, chain.stages[i].op.getLoc());
  StageKey key{i, isOfRow ? slot % rowsOfStep : slot};
  auto &cache = isOfRow ? ofRow.values : ofStep.values;
  if (auto hit = cache.find(key); hit != cache.end())
    return hit->second;
  Values results = before(isOfRow ? sweepLoop : nullptr, [&] { return compute(i, slot); });
  return cache[key] = results;
}

RowEmitter::Values RowEmitter::compute(int i, int64_t slot) { return emitBody(chain.stages[i], slot); }

/// Emits the body of a stage. Returns its results; for a reduction, the terms.
RowEmitter::Values RowEmitter::emitBody(Stage &stage, int64_t slot) {
  IRMapping map;
  Block *body = stage.op.getBlock();
  for (auto [i, access] : llvm::enumerate(stage.ins))
    if (Value element = operand(access, slot))
      map.map(body->getArgument(i), element);
  for (const Access &access : stage.indices)
    for (Operation *cast : access.base.getUsers())
      map.map(cast->getResult(0), numberOf(access, slot));
  auto widen = [&](Operation *clone) {
    if (lanesOfValue)
      clone->getResult(0).setType(VectorType::get({lanesOfValue}, clone->getResult(0).getType()));
  };
  return cloneBody(
      b, *body, map, [&](Value v) { return captured(v); }, widen, stage.reduces ? stage.results() : Values());
}

Value RowEmitter::numberOf(const Access &access, int64_t slot) {
  Value at = place(access, slot);
  return isa<IndexType>(at.getType()) ? create<arith::IndexCastOp>(b.getI32Type(), at).getResult() : at;
}

Value RowEmitter::operand(const Access &access, int64_t slot) {
  if (access.unread)
    return Value();
  if (access.isScalar())
    return captured(access.base);
  return access.producer >= 0 ? values(access.producer, slot)[access.result] : read(access, slot);
}

Value RowEmitter::combine(Operation *like, Value term, Value accumulator) {
  if (!hasNumberMax && isa<arith::MaxNumFOp, arith::MinNumFOp>(like)) {
    auto predicate = isa<arith::MaxNumFOp>(like) ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
    return create<arith::SelectOp>(create<arith::CmpFOp>(predicate, term, accumulator), term, accumulator);
  }
  Operation *op = b.clone(*like);
  op->setOperands({term, accumulator});
  op->getResult(0).setType(term.getType());
  return op->getResult(0);
}

void RowEmitter::addCompensated(Value &sum, Value &error, Value term) {
  Value total = create<arith::AddFOp>(sum, term);
  Value seen = create<arith::SubFOp>(total, sum);
  Value errorOfSum = create<arith::SubFOp>(sum, create<arith::SubFOp>(total, seen));
  Value errorOfTerm = create<arith::SubFOp>(term, seen);
  error = create<arith::AddFOp>(error, create<arith::AddFOp>(errorOfSum, errorOfTerm));
  sum = total;
}

Value RowEmitter::addError(Value sum, Value error) {
  Value isNumber = create<arith::CmpFOp>(arith::CmpFPredicate::ORD, error, error);
  return create<arith::SelectOp>(isNumber, create<arith::AddFOp>(sum, error), sum);
}

/// Returns fresh accumulators for all reductions of this sweep. The error of a compensated sum follows the sum.
RowEmitter::Values RowEmitter::freshAccumulators() {
  Values accumulators;
  forEachReduction([&](int, Stage &stage, unsigned k) {
    accumulators.append(columns, splat(startOf(stage, k)));
    if (isCompensated(stage.combiner(k)))
      accumulators.push_back(splat(b.getZeroAttr(stage.inits[k].getType())));
  });
  return accumulators;
}

/// Adds the terms of a slot to the accumulators of a reduction, and removes these from the front of `accumulators`.
/// Lanes outside the row keep their values.
void RowEmitter::accumulate(Stage &stage, int64_t slot, MutableArrayRef<Value> &accumulators) {
  const AtOperation scope(*this, stage.op.getLoc());
  for (auto [k, term] : llvm::enumerate(emitBody(stage, slot))) {
    Operation *like = stage.combiner(k);
    MutableArrayRef<Value> own =
        isCompensated(like) ? accumulators.take_front(2) : accumulators.slice(slot % columns, 1);
    const Values old(own);
    if (own.size() == 2)
      addCompensated(own[0], own[1], term);
    else
      own[0] = combine(like, term, own[0]);
    if (Value isInRow = inRow(slot))
      for (auto [now, before] : llvm::zip_equal(own, old))
        now = create<arith::SelectOp>(isInRow, now, before);
    accumulators = accumulators.drop_front(std::max<size_t>(columns, own.size()));
  }
}

/// Converts the accumulators of this sweep to values of rows.
void RowEmitter::finishReductions(ArrayRef<Value> accumulators) {
  SmallVector<Reduction> reductions;
  forEachReduction([&](int, Stage &stage, unsigned k) {
    Operation *like = stage.combiner(k);
    bool isTwo = isCompensated(like);
    reductions.push_back(
        {like, isTwo ? Values{addError(accumulators[0], accumulators[1])} : Values(accumulators.take_front(columns))});
    accumulators = accumulators.drop_front(isTwo ? 2 : columns);
  });
  combineParts(reductions);
  ArrayRef<Reduction> next = reductions;
  forEachReduction([&](int i, Stage &, unsigned) {
    for (auto [row, value] : llvm::enumerate(next.consume_front().parts))
      ofRow.values[{i, row}].push_back(value);
  });
}

void RowEmitter::writeRowOutputs() {
  SmallVector<RowOutput> outputs;
  for (auto [i, stage] : llvm::enumerate(chain.stages))
    for (int64_t slot = 0; stage.writesArgument && !stage.isElementwise() && slot < rowsOfStep; ++slot)
      for (auto [access, value] : llvm::zip_equal(stage.outs, values(i, slot)))
        if (access.isArgument())
          outputs.push_back({&access, slot, value});
  storeRowOutputs(outputs);
}

/// Returns the offset plus the parallel part of the address, which is computed once per row for all operands that share
/// it.
Value RowEmitter::rowBase(const Access &access) {
  Value &base = ofRow.bases[{access.offset, access.strides, access.nonlinear}];
  if (!base)
    base = before(sweepLoop, [&] {
      Value sum;
      auto include = [&](Value term) { sum = sum ? add(sum, term) : term; };
      for (auto [at, stride] : llvm::zip_equal(parallel, access.strides))
        if (stride != 0)
          include(mul(at, stride));
      for (auto &[dim, function] : access.nonlinear)
        include(addressAt(parallel[dim], function));
      if (!sum)
        return index(access.offset);
      if (access.offset != 0)
        include(like(sum, access.offset));
      return isa<IndexType>(sum.getType()) ? sum : create<arith::IndexCastOp>(b.getIndexType(), sum).getResult();
    });
  return base;
}

/// Returns the position of a slot along the row.
Value RowEmitter::positionOf(int64_t slot) {
  Value &known = ofStep.positions[slot];
  if (!known)
    known = slot ? add(position, index(offsetOf(slot))) : position;
  return known;
}

/// Returns the address of a slot's first lane.
Value RowEmitter::place(const Access &access, int64_t slot) {
  if (!slotsDiffer(access))
    slot = 0;
  Value &known = ofStep.places[{nullptr, access.offset, access.strides, access.nonlinear, access.row, slot}];
  if (!known && slot)
    known = placeByOther(access, slot);
  if (known)
    return known;
  Value base = rowBase(access);
  return known = access.row.isStill() ? base : add(base, addressAt(positionOf(slot), access.row, positionAlign));
}

/// Reads an operand at the outermost level at which it is invariant.
Value RowEmitter::read(const Access &access, int64_t slot) {
  const Level level = levelOf(access);
  auto &cache = level == Level::Kernel ? kernelLoads : level == Level::Row ? ofRow.loads : ofStep.loads;
  const bool differs = slotsDiffer(access);
  AddressKey key{access.base.getAsOpaquePointer(),
                 access.offset,
                 access.strides,
                 access.nonlinear,
                 access.row,
                 differs ? slot : 0};
  if (auto hit = cache.find(key); hit != cache.end())
    return hit->second;
  Operation *point = level == Level::Kernel ? entry : level == Level::Row ? sweepLoop : nullptr;
  int64_t from = slot;
  Values loaded = before(point, [&] { return loadSlot(access, from); });
  for (auto [i, value] : llvm::enumerate(loaded)) {
    std::get<5>(key) = differs ? from + static_cast<int64_t>(i) : 0;
    cache[key] = value;
  }
  return differs ? loaded[slot - from] : loaded[0];
}
