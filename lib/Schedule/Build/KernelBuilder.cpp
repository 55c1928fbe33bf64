//===- KernelBuilder.cpp - Constants, indices and masks of a kernel ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Build/KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>
#include <utility>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;

bool KernelBuilder::isZero(Value v) { return matchPattern(v, m_Zero()); }

Value KernelBuilder::constant(TypedAttr attr) {
  Value &known = constants[attr];
  if (!known)
    known = atEntry([&] { return create<arith::ConstantOp>(attr).getResult(); });
  return known;
}

Value KernelBuilder::index(Size size) {
  if (!size.isOpen())
    return constant(b.getIndexAttr(size.known()));
  Value &value = openSizes[size.openIndex()];
  if (!value)
    value =
        atEntry([&] { return create<memref::LoadOp>(kernel.sizes, ValueRange{index(size.openIndex())}).getResult(); });
  return value;
}

Value KernelBuilder::like(Value other, Size size) {
  return isa<IndexType>(other.getType()) ? index(size) : constant(b.getIntegerAttr(other.getType(), size.known()));
}

Value KernelBuilder::splat(TypedAttr scalar, int64_t lanes) {
  return constant(lanes
                      ? TypedAttr(DenseElementsAttr::get(VectorType::get({lanes}, scalar.getType()), Attribute(scalar)))
                      : scalar);
}

Value KernelBuilder::zeros(Type type) { return constant(b.getZeroAttr(type)); }

Value KernelBuilder::captured(Value scalar, int64_t lanes) {
  TypedAttr attr;
  if (matchPattern(scalar, m_Constant(&attr)))
    return splat(attr, lanes);
  Value inKernel = kernel.arguments.lookup(scalar);
  if (!lanes)
    return inKernel;
  Value &known = splats[{scalar, lanes}];
  if (!known)
    known = atEntry(
        [&] { return create<vector::BroadcastOp>(VectorType::get({lanes}, scalar.getType()), inKernel).getResult(); });
  return known;
}

Value KernelBuilder::add(Value x, Value y) {
  if (isZero(x))
    return y;
  return isZero(y) ? x : create<arith::AddIOp>(x, y, arith::IntegerOverflowFlags::nsw).getResult();
}

Value KernelBuilder::scaled(Value v, Size by) {
  return by == 1 || isZero(v) ? v : create<arith::MulIOp>(v, like(v, by), arith::IntegerOverflowFlags::nsw).getResult();
}

Value KernelBuilder::addressAt(Value at, const AccessFunction &function, int64_t align) {
  if (isZero(at))
    return like(at, 0);
  Value sum = like(at, -function.start());
  at = add(at, like(at, function.shift()));
  if (function.step().isOpen())
    return scaled(at, function.step());
  for (const Digit &digit : function.digits()) {
    if (digit.modulus && !digit.shift && align % digit.end() == 0)
      continue;
    int64_t unit = digit.unit, stride = digit.stride;
    if (!digit.modulus && !digit.shift && align % unit == 0 && stride % unit == 0)
      stride /= std::exchange(unit, 1);
    Value term = unit == 1 ? at : create<arith::DivUIOp>(at, like(at, unit)).getResult();
    if (digit.modulus)
      term = create<arith::RemUIOp>(term, like(at, digit.modulus));
    sum = add(sum, scaled(term, stride));
  }
  return sum;
}

Value KernelBuilder::both(Value x, Value y) { return !x ? y : !y ? x : create<arith::AndIOp>(x, y).getResult(); }

Value KernelBuilder::prefixMask(int64_t count, int64_t lanes) {
  SmallVector<bool> bits(lanes);
  std::fill_n(bits.begin(), count, true);
  return constant(DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()), bits));
}

Value KernelBuilder::prefixMask(Value count, int64_t lanes) {
  auto type = VectorType::get({lanes}, b.getI32Type());
  auto numbers = llvm::to_vector(llvm::seq<int32_t>(0, static_cast<int32_t>(lanes)));
  Value iota = constant(DenseElementsAttr::get(type, ArrayRef<int32_t>(numbers)));
  if (isa<IndexType>(count.getType()))
    count = create<arith::IndexCastOp>(b.getI32Type(), count);
  return create<arith::CmpIOp>(arith::CmpIPredicate::slt, iota, create<vector::BroadcastOp>(type, count));
}

KernelBuilder::Values KernelBuilder::chooseValues(Value condition, TypeRange types, function_ref<Values()> then,
                                                  function_ref<Values()> otherwise) {
  if (!condition)
    return then();
  auto choice = create<scf::IfOp>(types, condition, /*withElseRegion=*/!types.empty());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  Values results = then();
  if (types.empty())
    return {};
  create<scf::YieldOp>(results);
  b.setInsertionPointToStart(choice.elseBlock());
  create<scf::YieldOp>(otherwise());
  return Values(choice.getResults());
}

KernelBuilder::Values KernelBuilder::loop(Value begin, Value end, Value step, ValueRange initial,
                                          function_ref<Values(Value, Values)> body) {
  auto loop = create<scf::ForOp>(begin, end, step, initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Values next = body(loop.getInductionVar(), Values(loop.getRegionIterArgs()));
  if (!next.empty())
    create<scf::YieldOp>(next);
  return Values(loop.getResults());
}

void KernelBuilder::forRange(Value begin, Value end, function_ref<void(Value)> body, int64_t step) {
  loop(begin, end, index(step), {}, [&](Value at, const Values &) {
    body(at);
    return Values();
  });
}
