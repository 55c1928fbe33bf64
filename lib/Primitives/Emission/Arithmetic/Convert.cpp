//===- Convert.cpp - Conversion between element and compute types ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Clamps are a compare and a select with the bound as the last operand, so that each becomes one minps or maxps on x86.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Emission/Arithmetic/Convert.h"

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

/// Saturation happens in the compute type: for s32 in f32, the upper bound is the largest f32 that fits an s32.
Bounds boundsOf(DataType integer, bool isF64) {
  switch (integer) {
  case DataType::U8:
    return {0, 255};
  case DataType::S8:
    return {-128, 127};
  case DataType::U4:
    return {0, 15};
  case DataType::S4:
    return {-8, 7};
  default:
    return {-0x1p31, isF64 ? 0x1p31 - 1 : 0x1p31 - 128};
  }
}

class Narrowing {
public:
  Narrowing(OpBuilder &builder, Location loc, FloatType type) : builder(builder), loc(loc), type(type) {}

  Value toInteger(Value x, DataType to) {
    Bounds bounds = boundsOf(to, type.isF64());
    if (bounds.low == 0) // NaN fails every ordered comparison and becomes the lower bound, 0
      x = pick(CmpFPredicate::OGT, x, bounds.low);
    else
      x = pick(CmpFPredicate::OGT, zeroForNan(x), bounds.low);
    x = pick(CmpFPredicate::OLT, x, bounds.high);
    Value whole =
        arith::FPToSIOp::create(builder, loc, builder.getI32Type(), math::RoundEvenOp::create(builder, loc, x));
    return to == DataType::S32 ? whole
                               : arith::TruncIOp::create(builder, loc, elementType(to, builder), whole).getResult();
  }

private:
  Value constant(double value) { return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, value)); }
  /// Returns x if the comparison with the bound holds, else the bound.
  Value pick(CmpFPredicate predicate, Value x, double bound) {
    Value limit = constant(bound);
    return arith::SelectOp::create(builder, loc, arith::CmpFOp::create(builder, loc, predicate, x, limit), x, limit);
  }
  Value zeroForNan(Value x) {
    Value isNumber = arith::CmpFOp::create(builder, loc, CmpFPredicate::ORD, x, x);
    return arith::SelectOp::create(builder, loc, isNumber, x, constant(0));
  }

  OpBuilder &builder;
  Location loc;
  FloatType type;
};

bool isUnsigned(DataType type) { return type == DataType::U8 || type == DataType::U4; }

Value extended(OpBuilder &builder, Location loc, Value integer, DataType from, Type to) {
  if (integer.getType() == to)
    return integer;
  if (isUnsigned(from))
    return arith::ExtUIOp::create(builder, loc, to, integer);
  return arith::ExtSIOp::create(builder, loc, to, integer);
}

} // namespace

Value emission::widened(OpBuilder &builder, Location loc, Value element, DataType from, FloatType compute) {
  if (element.getType() == compute)
    return element;
  if (isa<IntegerType>(element.getType())) {
    element = extended(builder, loc, element, from, builder.getI32Type());
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
  if (to == DataType::E8M0) // an exponent: the largest power of two not above
    return arith::TruncFOp::create(builder, loc, element, value,
                                   arith::RoundingModeAttr::get(builder.getContext(), arith::RoundingMode::toward_zero),
                                   nullptr);
  if (cast<FloatType>(element).getWidth() > type.getWidth())
    return arith::ExtFOp::create(builder, loc, element, value);
  return arith::TruncFOp::create(builder, loc, element, value);
}

Value emission::roundedFactor(OpBuilder &builder, Location loc, Value value, DataType to) {
  if (value.getType() == elementType(to, builder))
    return value;
  auto flags = arith::FastMathFlagsAttr::get(builder.getContext(), arith::FastMathFlags::afn);
  return arith::TruncFOp::create(builder, loc, elementType(to, builder), value, arith::RoundingModeAttr(), flags);
}

namespace {

/// Saturates between integer types. Values of 4 bits are extended first, because no target computes in 4 bits.
Value integerToInteger(OpBuilder &builder, Location loc, Value x, DataType from, DataType to) {
  Bounds source = boundsOf(from, /*isF64=*/true), bounds = boundsOf(to, /*isF64=*/true);
  if (bitsOf(from) == 4)
    x = extended(builder, loc, x, from, builder.getI8Type());
  auto constant = [&](double value) {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(x.getType(), static_cast<int64_t>(value)));
  };
  if (source.low < bounds.low)
    x = arith::MaxSIOp::create(builder, loc, x, constant(bounds.low));
  if (source.high > bounds.high)
    x = from == DataType::U8 ? arith::MinUIOp::create(builder, loc, x, constant(bounds.high)).getResult()
                             : arith::MinSIOp::create(builder, loc, x, constant(bounds.high)).getResult();
  Type element = elementType(to, builder);
  if (element.getIntOrFloatBitWidth() < x.getType().getIntOrFloatBitWidth())
    return arith::TruncIOp::create(builder, loc, element, x);
  return extended(builder, loc, x, from, element);
}

} // namespace

Value emission::converted(OpBuilder &builder, Location loc, Value element, DataType from, DataType to,
                          FloatType compute) {
  if (from == to)
    return element;
  if (!isFloating(from) && !isFloating(to))
    return integerToInteger(builder, loc, element, from, to);
  return narrowed(builder, loc, widened(builder, loc, element, from, compute), to);
}
