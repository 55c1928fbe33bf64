//===- Index.cpp - Arithmetic of indices ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Folding here is cheaper than OpBuilder::createOrFold() and affine::makeComposedFoldedAffineApply(), which create an
// operation or a map first.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Build/Index.h"

#include "Schedule/Build/KernelBuilder.h"

#include <algorithm>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;

Index::Index(Value value) : value(value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  if (auto number = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr()) {
    size = number.getValue().getSExtValue();
    this->value = Value();
  }
}

bool KernelBuilder::isZero(Value v) { return Index(v).number() == 0; }

Value KernelBuilder::like(Value other, Index x) {
  if (x.value || isa<IndexType>(other.getType()))
    return index(x);
  return constant(b.getIntegerAttr(other.getType(), x.size.known()));
}

std::pair<Value, Value> KernelBuilder::sameType(Index x, Index y) {
  if (x.value)
    return {x.value, like(x.value, y)};
  if (y.value)
    return {like(y.value, x), y.value};
  return {index(x), index(y)};
}

Index KernelBuilder::add(Index x, Index y) {
  const auto left = x.number(), right = y.number();
  if (left && right)
    return *left + *right;
  if (left == 0)
    return y;
  if (right == 0)
    return x;
  auto [a, c] = sameType(x, y);
  return create<arith::AddIOp>(a, c, arith::IntegerOverflowFlags::nsw);
}

Index KernelBuilder::sub(Index x, Index y) {
  const auto left = x.number(), right = y.number();
  if (left && right)
    return *left - *right;
  if (right)
    return add(x, -*right);
  auto [a, c] = sameType(x, y);
  return create<arith::SubIOp>(a, c);
}

Index KernelBuilder::mul(Index x, Index y) {
  const auto left = x.number(), right = y.number();
  if (left && right)
    return *left * *right;
  if (left == 1 || right == 0)
    return y;
  if (right == 1 || left == 0)
    return x;
  auto [a, c] = sameType(x, y);
  return create<arith::MulIOp>(a, c, arith::IntegerOverflowFlags::nsw);
}

Index KernelBuilder::floorDiv(Index x, Index y) {
  const auto left = x.number(), right = y.number();
  if (left && right)
    return *left / *right;
  if (right == 1)
    return x;
  auto [a, c] = sameType(x, y);
  return create<arith::DivUIOp>(a, c);
}

Index KernelBuilder::ceilDiv(Index x, int64_t y) { return floorDiv(add(x, y - 1), y); }

Index KernelBuilder::mod(Index x, Index y) {
  const auto left = x.number(), right = y.number();
  if (left && right)
    return *left % *right;
  if (right == 1)
    return 0;
  auto [a, c] = sameType(x, y);
  return create<arith::RemUIOp>(a, c);
}

Index KernelBuilder::min(Index x, Index y) {
  const auto left = x.number(), right = y.number();
  if (left && right)
    return std::min(*left, *right);
  auto [a, c] = sameType(x, y);
  return create<arith::MinSIOp>(a, c);
}

Index KernelBuilder::max(Index x, Index y) {
  const auto left = x.number(), right = y.number();
  if (left && right)
    return std::max(*left, *right);
  auto [a, c] = sameType(x, y);
  return create<arith::MaxSIOp>(a, c);
}

Index KernelBuilder::roundDown(Index x, int64_t step) { return sub(x, mod(x, step)); }

Value KernelBuilder::compare(arith::CmpIPredicate how, Index x, Index y) {
  const auto left = x.number(), right = y.number();
  if (left && right)
    return constant(b.getBoolAttr(arith::applyCmpPredicate(how, llvm::APInt(64, *left, /*isSigned=*/true),
                                                           llvm::APInt(64, *right, /*isSigned=*/true))));
  auto [a, c] = sameType(x, y);
  return create<arith::CmpIOp>(how, a, c);
}

// A number is the second operand, as in canonical IR.

Value KernelBuilder::isLess(Index x, Index y) {
  return x.isNumber() ? compare(arith::CmpIPredicate::sgt, y, x) : compare(arith::CmpIPredicate::slt, x, y);
}

Value KernelBuilder::isAtMost(Index x, Index y) {
  return x.isNumber() ? compare(arith::CmpIPredicate::sge, y, x) : compare(arith::CmpIPredicate::sle, x, y);
}

Value KernelBuilder::addressAt(Value at, const AccessFunction &function, int64_t align) {
  if (isZero(at))
    return like(at, 0);
  Value sum = like(at, -function.start());
  at = add(at, function.shift());
  if (function.step().isOpen())
    return mul(at, function.step());
  for (const Digit &digit : function.digits()) {
    if (digit.modulus && !digit.shift && align % digit.end() == 0)
      continue;
    int64_t unit = digit.unit, stride = digit.stride;
    if (!digit.modulus && !digit.shift && align % unit == 0 && stride % unit == 0)
      stride /= std::exchange(unit, 1);
    Value term = unit == 1 ? at : create<arith::DivUIOp>(at, like(at, unit)).getResult();
    if (digit.modulus)
      term = create<arith::RemUIOp>(term, like(at, digit.modulus));
    if (stride != 1)
      term = create<arith::MulIOp>(term, like(term, stride), arith::IntegerOverflowFlags::nsw);
    sum = isZero(sum) ? term : create<arith::AddIOp>(sum, term, arith::IntegerOverflowFlags::nsw).getResult();
  }
  return sum;
}
