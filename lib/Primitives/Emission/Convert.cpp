//===- Convert.cpp - Elements to the compute type and back ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Clamps are a compare and a select with the bound where x86's minps and maxps have it, so that each is one instruction.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Emission/Convert.h"

#include "Primitives/Emission/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;
using arith::CmpFPredicate;

namespace {

struct Bounds {
  double low, high;
};

/// Saturation happens in the compute type: for s32 in f32 the upper bound is the largest f32 that an s32 holds.
Bounds boundsOf(DataType integer, bool isF64) {
  switch (integer) {
  case DataType::U8:
    return {0, 255};
  case DataType::S8:
    return {-128, 127};
  default:
    return {-0x1p31, isF64 ? 0x1p31 - 1 : 0x1p31 - 128};
  }
}

class Narrowing {
public:
  Narrowing(OpBuilder &builder, Location loc, FloatType type) : builder(builder), loc(loc), type(type) {}

  Value toInteger(Value x, DataType to) {
    Bounds bounds = boundsOf(to, type.isF64());
    if (bounds.low == 0) // NaN compares to nothing: it becomes the lower bound, 0
      x = pick(CmpFPredicate::OGT, x, bounds.low);
    else
      x = pick(CmpFPredicate::OGT, zeroForNan(x), bounds.low);
    x = pick(CmpFPredicate::OLT, x, bounds.high);
    Value whole = arith::FPToSIOp::create(builder, loc, builder.getI32Type(), math::RoundEvenOp::create(builder, loc, x));
    return to == DataType::S32 ? whole : arith::TruncIOp::create(builder, loc, builder.getI8Type(), whole).getResult();
  }
  /// Keeps NaN.
  Value clamped(Value x, double magnitude) {
    x = pickBound(CmpFPredicate::OLT, magnitude, x);
    return pickBound(CmpFPredicate::OGT, -magnitude, x);
  }

private:
  Value constant(double value) { return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, value)); }
  /// x if it compares so to the bound, else the bound.
  Value pick(CmpFPredicate predicate, Value x, double bound) {
    Value limit = constant(bound);
    return arith::SelectOp::create(builder, loc, arith::CmpFOp::create(builder, loc, predicate, x, limit), x, limit);
  }
  /// The bound if it compares so to x, else x.
  Value pickBound(CmpFPredicate predicate, double bound, Value x) {
    Value limit = constant(bound);
    return arith::SelectOp::create(builder, loc, arith::CmpFOp::create(builder, loc, predicate, limit, x), limit, x);
  }
  Value zeroForNan(Value x) {
    Value isNumber = arith::CmpFOp::create(builder, loc, CmpFPredicate::ORD, x, x);
    return arith::SelectOp::create(builder, loc, isNumber, x, constant(0));
  }

  OpBuilder &builder;
  Location loc;
  FloatType type;
};

constexpr double largestF8E4M3 = 448;

} // namespace

Value emission::widened(OpBuilder &builder, Location loc, Value element, DataType from, FloatType compute) {
  if (element.getType() == compute)
    return element;
  if (isa<IntegerType>(element.getType())) {
    if (from == DataType::U8)
      element = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), element);
    else if (from == DataType::S8)
      element = arith::ExtSIOp::create(builder, loc, builder.getI32Type(), element);
    return arith::SIToFPOp::create(builder, loc, compute, element);
  }
  if (cast<FloatType>(element.getType()).getWidth() > compute.getWidth())
    return arith::TruncFOp::create(builder, loc, compute, element);
  return arith::ExtFOp::create(builder, loc, compute, element);
}

Value emission::narrowed(OpBuilder &builder, Location loc, Value value, DataType to) {
  Type element = elementType(to, builder);
  auto type = cast<FloatType>(value.getType());
  if (element == type)
    return value;
  if (isa<IntegerType>(element))
    return Narrowing(builder, loc, type).toInteger(value, to);
  if (to == DataType::F8E4M3) // the IR type has no infinity: what is too large would become NaN
    value = Narrowing(builder, loc, type).clamped(value, largestF8E4M3);
  if (cast<FloatType>(element).getWidth() > type.getWidth())
    return arith::ExtFOp::create(builder, loc, element, value);
  return arith::TruncFOp::create(builder, loc, element, value);
}

namespace {

/// Saturates without leaving the integers; the bounds that matter are those of the narrower type.
Value integerToInteger(OpBuilder &builder, Location loc, Value x, DataType from, DataType to) {
  auto constant = [&](int64_t value) { return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(x.getType(), value)); };
  Type byte = builder.getI8Type();
  if (to == DataType::S32) {
    if (from == DataType::U8)
      return arith::ExtUIOp::create(builder, loc, builder.getI32Type(), x);
    return arith::ExtSIOp::create(builder, loc, builder.getI32Type(), x);
  }
  if (from == DataType::U8)
    return arith::MinUIOp::create(builder, loc, x, constant(127));
  if (from == DataType::S8)
    return arith::MaxSIOp::create(builder, loc, x, constant(0));
  x = arith::MaxSIOp::create(builder, loc, x, constant(to == DataType::U8 ? 0 : -128));
  x = arith::MinSIOp::create(builder, loc, x, constant(to == DataType::U8 ? 255 : 127));
  return arith::TruncIOp::create(builder, loc, byte, x);
}

} // namespace

Value emission::converted(OpBuilder &builder, Location loc, Value element, DataType from, DataType to, FloatType compute) {
  if (from == to)
    return element;
  if (!isFloating(from) && !isFloating(to))
    return integerToInteger(builder, loc, element, from, to);
  return narrowed(builder, loc, widened(builder, loc, element, from, compute), to);
}
