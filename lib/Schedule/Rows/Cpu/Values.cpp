//===- Values.cpp - The values of stages on vectors ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Cpu/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern::schedule;
using namespace quern::schedule::rows;

/// Loads the results if an earlier sweep or kernel stored them, or computes them.
SweepEmitter::Values SweepEmitter::compute(int i, int64_t slot) {
  Stage &stage = chain.stages[i];
  const StagePlan &own = form->stages[i];
  if (own.keptIn < 0 || sweep <= own.keptIn)
    return stage.reduces ? combinePartials(i, slot) : RowEmitter::compute(i, slot);
  if (own.storage)
    return {read(*own.storage, slot)};
  if (own.scratch >= 0)
    return {loadKept(own.scratch, stage.outs[0].elementType(), slot)};
  return Values(llvm::map_range( // results that are not in arguments are not used later
      stage.outs, [&](const Access &access) { return access.isArgument() ? read(access, slot) : Value(); }));
}

/// Loads a slot from memory, or from scratch if an earlier sweep kept the read; the sweep that keeps it also stores it.
/// If both vectors of a pair are read, they are loaded at once and deinterleaved.
SweepEmitter::Values SweepEmitter::loadSlot(const Access &access, int64_t &slot) {
  const KeptRead *kept = access.row.isStill() ? nullptr : form->keptReadOf(access);
  if (kept && sweep > kept->keptIn)
    return {loadKept(kept->scratch, access.elementType(), slot)};
  if ((slot | 1) < pairedSlots && vectors.lanesOf(access) == LaneKind::Unit) {
    slot -= slot % 2;
    Value pairs = load(kernel.arguments.lookup(access.base), place(access, slot), 2 * vectors.lanes);
    return Values(create<vector::DeinterleaveOp>(pairs).getResults());
  }
  Values loaded = VectorEmitter::loadSlot(access, slot);
  if (kept && sweep == kept->keptIn)
    storeKept(kept->scratch, slot, loaded[0]);
  return loaded;
}

/// Returns the index of a slot's element in a buffer of kept values, which are stored by row position, then slot.
Value SweepEmitter::keptPlace(int64_t slot) {
  Value &known = keptPlaces[slot];
  if (known)
    return known;
  if (slot) {
    Value first = keptPlace(0);
    return known = add(first, index(slot * vectors.lanes));
  }
  return known = vectors.alongRow() ? position : mul(position, columns * vectors.lanes);
}

Value SweepEmitter::keptView(int64_t offset, Type element) {
  int64_t length = chain.rowExtent.knownOr(plan.forms.shortRow);
  return scratchView(
      offset, vectors.alongRow() ? llvm::alignTo(length, vectors.lanes) : length * vectors.columns * vectors.lanes,
      element);
}

Value SweepEmitter::loadKept(int64_t offset, Type element, int64_t slot) {
  Value at = keptPlace(slot);
  return load(keptView(offset, element), at, vectors.lanes);
}

void SweepEmitter::storeKept(int64_t offset, int64_t slot, Value v) {
  Value at = keptPlace(slot);
  store(v, keptView(offset, cast<VectorType>(v.getType()).getElementType()), at);
}

/// Combines the parts as a balanced tree.
Value SweepEmitter::combineAll(Operation *like, Values parts) {
  for (; parts.size() > 1; parts.resize((parts.size() + 1) / 2))
    for (size_t i = 0; 2 * i < parts.size(); ++i)
      parts[i] = 2 * i + 1 < parts.size() ? combine(like, parts[2 * i], parts[2 * i + 1]) : parts[2 * i];
  return parts[0];
}

/// Reduces the lanes of one accumulator; the result is in every lane.
Value SweepEmitter::reduceLanes(Operation *like, Value accumulator) {
  using Kind = vector::CombiningKind;
  Kind kind = isa<arith::AddFOp, arith::AddIOp>(like) ? Kind::ADD
              : isa<arith::MaxNumFOp>(like)           ? Kind::MAXNUMF
              : isa<arith::MinNumFOp>(like)           ? Kind::MINNUMF
              : isa<arith::MaximumFOp>(like)          ? Kind::MAXIMUMF
              : isa<arith::MinimumFOp>(like)          ? Kind::MINIMUMF
              : isa<arith::MaxSIOp>(like)             ? Kind::MAXSI
              : isa<arith::MinSIOp>(like)             ? Kind::MINSI
              : isa<arith::MaxUIOp>(like)             ? Kind::MAXUI
                                                      : Kind::MINUI;
  bool skipsNaN = isa<arith::MaxNumFOp, arith::MinNumFOp>(like);
  auto flags = skipsNaN                   ? arith::FastMathFlags::nnan
               : isa<arith::AddFOp>(like) ? arith::FastMathFlags::reassoc
                                          : arith::FastMathFlags::none;
  Value scalar = create<vector::ReductionOp>(kind, accumulator, flags);
  return create<vector::BroadcastOp>(accumulator.getType(), scalar);
}

/// Along the row, the vectors of each reduction are combined into one.
void SweepEmitter::combineParts(MutableArrayRef<Reduction> reductions) {
  if (vectors.alongRow())
    for (auto &[like, parts] : reductions)
      parts = {reduceLanes(like, combineAll(like, parts))};
}

SweepEmitter::WideSum SweepEmitter::wideSumOf(Stage &stage, unsigned k) {
  Type type = stage.inits[k].getType();
  if (vectors.inHalves)
    return {true, type, 1, isSigned(stage)};
  if (!isa<arith::AddFOp>(stage.combiner(k)))
    return {false, type, 1};
  return {true, b.getF64Type(), type.isF64() ? 2u : 1u};
}

/// Adds a block's sum, or replaces an accumulator that is not wide. For sums of f64, the error of each addition is
/// accumulated separately.
void SweepEmitter::addToWide(const WideSum &sum, MutableArrayRef<Value> parts, Value term) {
  if (!sum.isWide) {
    parts[0] = term;
    return;
  }
  if (vectors.inHalves) {
    parts[0] = create<arith::AddIOp>(parts[0], widened(term, vec(sum.type), sum.isSigned));
    return;
  }
  if (sum.parts == 1) {
    parts[0] = create<arith::AddFOp>(parts[0], create<arith::ExtFOp>(vec(sum.type), term));
    return;
  }
  addCompensated(parts[0], parts[1], term);
}

/// Converts wide sums back to the accumulators' types.
SweepEmitter::Values SweepEmitter::narrowed(ArrayRef<WideSum> sums, ArrayRef<Value> parts) {
  return llvm::map_to_vector(sums, [&](const WideSum &sum) -> Value {
    ArrayRef<Value> own = parts.take_front(sum.parts);
    parts = parts.drop_front(sum.parts);
    if (own.size() == 2)
      return addError(own[0], own[1]);
    return sum.isWide && !vectors.inHalves ? create<arith::TruncFOp>(vec(b.getF32Type()), own[0]).getResult() : own[0];
  });
}
