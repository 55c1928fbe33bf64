//===- Values.cpp - The values of stages on vectors ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Cpu/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern::rows;

/// The results of a stage for one vector: found in a cache or emitted here.
RowEmitter::Values RowEmitter::values(int i, int64_t slot) {
  bool rowLevel = !chain.stages[i].isElementwise();
  if (rowLevel && plan.wholeRows)
    return valuesOfRows(i);
  StageKey key{i, rowLevel && plan.alongRow() ? 0 : slot};
  auto &cache = rowLevel ? rowValues : stepValues;
  if (auto hit = cache.find(key); hit != cache.end())
    return hit->second;
  Values results = before(rowLevel ? sweepLoop : nullptr, [&] { return emitStage(i, slot); });
  return cache[key] = results;
}

RowEmitter::Values RowEmitter::emitStage(int i, int64_t slot) {
  Stage &stage = chain.stages[i];
  const StagePlan &own = plan.stages[i];
  if (own.keptIn >= 0 && currentSweep > own.keptIn) {
    if (own.storage)
      return {read(*own.storage, slot)};
    if (own.scratch >= 0)
      return {loadKept(own.scratch, stage.outs[0].elementType(), slot)};
    return Values(llvm::map_range(stage.outs, [&](const Access &access) { return read(access, slot); }));
  }
  if (stage.reduces) // in an earlier kernel
    return combinePartials(i, slot);
  Values blockArguments;
  for (const Access &in : stage.ins)
    blockArguments.push_back(operand(in, slot));
  return emitBody(stage, blockArguments);
}

Value RowEmitter::operand(const Access &access, int64_t slot) {
  if (access.unread)
    return Value();
  if (access.isScalar())
    return captured(access.base);
  return access.producer >= 0 ? values(access.producer, slot)[access.result] : read(access, slot);
}

/// On vectors; fewer arguments than the block has are legal where the rest is not read.
RowEmitter::Values RowEmitter::emitBody(Stage &stage, ArrayRef<Value> blockArguments) {
  auto reduced = [&](Operation *combiner, Value term, Value accumulator, ValueOf valueOf) {
    return combine(combiner, valueOf(term), valueOf(accumulator));
  };
  auto widen = [&](Operation *clone) { clone->getResult(0).setType(vec(clone->getResult(0).getType())); };
  return cloneBody(b, stage, blockArguments, {[&](Value v) { return captured(v); }, reduced, widen});
}

/// A balanced tree.
Value RowEmitter::combineAll(Operation *like, Values parts) {
  for (; parts.size() > 1; parts.resize((parts.size() + 1) / 2))
    for (size_t i = 0; 2 * i < parts.size(); ++i)
      parts[i] = 2 * i + 1 < parts.size() ? combine(like, parts[2 * i], parts[2 * i + 1]) : parts[2 * i];
  return parts[0];
}

/// The lanes of one accumulator combined, in every lane.
Value RowEmitter::reduceLanes(Operation *like, Value accumulator) {
  using Kind = vector::CombiningKind;
  Kind kind = isa<arith::AddFOp, arith::AddIOp>(like) ? Kind::ADD
              : isa<arith::MaxNumFOp>(like)           ? Kind::MAXNUMF
              : isa<arith::MinNumFOp>(like)           ? Kind::MINNUMF
              : isa<arith::MaximumFOp>(like)          ? Kind::MAXIMUMF
                                                      : Kind::MINIMUMF;
  bool skipsNaN = isa<arith::MaxNumFOp, arith::MinNumFOp>(like);
  auto flags = skipsNaN                   ? arith::FastMathFlags::nnan
               : isa<arith::AddFOp>(like) ? arith::FastMathFlags::reassoc
                                          : arith::FastMathFlags::none;
  Value scalar = create<vector::ReductionOp>(kind, accumulator, flags);
  return create<vector::BroadcastOp>(accumulator.getType(), scalar);
}

RowEmitter::WideSum RowEmitter::wideSumOf(Stage &stage, unsigned k) {
  Type type = stage.inits[k].getType();
  if (plan.inHalves)
    return {true, type, 1, isa<arith::ExtSIOp>(stage.op.getBlock()->front())};
  if (!isa<arith::AddFOp>(stage.combiner(k)))
    return {false, type, 1};
  return {true, b.getF64Type(), type.isF64() ? 2u : 1u};
}

/// Adds a block's sum. In f64 the error of each addition is kept apart.
void RowEmitter::addToWide(const WideSum &sum, MutableArrayRef<Value> parts, Value term) {
  if (!sum.isWide) {
    parts[0] = term;
    return;
  }
  if (plan.inHalves) {
    parts[0] = create<arith::AddIOp>(parts[0], widenHalves(sum.isSigned, term));
    return;
  }
  if (sum.parts == 1) {
    parts[0] = create<arith::AddFOp>(parts[0], create<arith::ExtFOp>(vec(sum.type), term));
    return;
  }
  addKeepingLost(b, loc, parts[0], parts[1], term);
}

/// Back to the accumulator's type. An infinite sum has a NaN for its error, which then does not count.
Value RowEmitter::narrowed(const WideSum &sum, ArrayRef<Value> parts) {
  if (!sum.isWide || plan.inHalves)
    return parts[0];
  if (sum.parts == 1)
    return create<arith::TruncFOp>(vec(b.getF32Type()), parts[0]);
  Value isNumber = create<arith::CmpFOp>(arith::CmpFPredicate::ORD, parts[1], parts[1]);
  return create<arith::SelectOp>(isNumber, create<arith::AddFOp>(parts[0], parts[1]), parts[0]);
}
