//===- Integers.cpp - Exact arithmetic on integer elements ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/Emission/Arithmetic/Integers.h"

#include "Primitives/Emission/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

using namespace mlir;
using namespace quern;
using namespace quern::emission;
using arith::CmpIPredicate;

namespace {

struct IntegerRange {
  int64_t low = 0, high = 0;

  IntegerRange with(const IntegerRange &other) const { return {std::min(low, other.low), std::max(high, other.high)}; }
  IntegerRange times(const IntegerRange &other) const {
    const auto [min, max] = std::minmax({low * other.low, low * other.high, high * other.low, high * other.high});
    return {min, max};
  }
  bool fits(unsigned bits, bool isSigned) const {
    const unsigned magnitude = isSigned ? bits - 1 : bits;
    return low >= (isSigned ? -(int64_t(1) << magnitude) : 0) &&
           high <= static_cast<int64_t>((uint64_t(1) << magnitude) - 1);
  }
};

IntegerRange rangeOf(DataType type) {
  switch (type) {
  case DataType::U8:
    return {0, 255};
  case DataType::S8:
    return {-128, 127};
  default:
    return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
  }
}

bool isS32(const IntegerElement &element) { return element.type == DataType::S32; }

/// An integer type: its width in bits and its signedness.
struct Width {
  unsigned bits = 64;
  bool isSigned = true;

  /// Returns the narrowest type that holds all of `range`.
  static Width of(const IntegerRange &range) {
    for (unsigned bits : {8, 16, 32})
      for (bool isSigned : {true, false})
        if (range.fits(bits, isSigned))
          return {bits, isSigned};
    return {};
  }
};

/// Emits operations on integers of one width.
class IntegerMath {
public:
  IntegerMath(OpBuilder &builder, Location loc, Width width)
      : builder(builder), loc(loc), width(width), type(builder.getIntegerType(width.bits)) {}

  template <typename Op> Value make(Value x, Value y) { return Op::create(builder, loc, x, y); }
  Value constant(int64_t value) { return constant(value, type); }
  Value constant(int64_t value, Type of) {
    const APInt bits = APInt(64, value, /*isSigned=*/true).sextOrTrunc(of.getIntOrFloatBitWidth());
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(of, bits));
  }
  /// Converts the element to this width, modulo two to the power of the width.
  Value resized(const IntegerElement &x) { return resized(x.value, x.type == DataType::U8, type); }
  Value resized(Value x, bool isUnsigned, Type to) {
    const unsigned from = x.getType().getIntOrFloatBitWidth(), bits = to.getIntOrFloatBitWidth();
    if (from == bits)
      return x;
    if (from > bits)
      return arith::TruncIOp::create(builder, loc, to, x);
    return isUnsigned ? arith::ExtUIOp::create(builder, loc, to, x).getResult()
                      : arith::ExtSIOp::create(builder, loc, to, x).getResult();
  }
  Value atLeast(Value x, Value bound) {
    return width.isSigned ? make<arith::MaxSIOp>(x, bound) : make<arith::MaxUIOp>(x, bound);
  }
  Value atMost(Value x, Value bound) {
    return width.isSigned ? make<arith::MinSIOp>(x, bound) : make<arith::MinUIOp>(x, bound);
  }
  Value compare(CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(builder, loc, predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) { return arith::SelectOp::create(builder, loc, condition, x, y); }

  /// Saturates `x`, whose value is within `range`, to a type.
  Value saturated(Value x, const IntegerRange &range, DataType to) {
    const IntegerRange limits = rangeOf(to);
    if (range.low < limits.low)
      x = atLeast(x, constant(limits.low));
    if (range.high > limits.high)
      x = atMost(x, constant(limits.high));
    return resized(x, !width.isSigned, elementType(to, builder));
  }

  /// Returns the saturated sum or difference of two i32, computed in i32. A result that overflows has the wrong sign:
  /// it saturates to the limit of the opposite sign.
  Value saturatedSum(Value x, Value y, bool isDifference) {
    const Value sum = isDifference ? make<arith::SubIOp>(x, y) : make<arith::AddIOp>(x, y);
    const Value differs = make<arith::XOrIOp>(x, sum);
    const Value other = isDifference ? make<arith::XOrIOp>(x, y) : make<arith::XOrIOp>(y, sum);
    const Value overflows = compare(CmpIPredicate::slt, make<arith::AndIOp>(differs, other), constant(0));
    const Value limit =
        make<arith::XOrIOp>(make<arith::ShRSIOp>(sum, constant(31)), constant(std::numeric_limits<int32_t>::min()));
    return select(overflows, limit, sum);
  }

private:
  OpBuilder &builder;
  Location loc;
  Width width;
  Type type;
};

CmpIPredicate predicateOf(Alg alg, bool isSigned) {
  switch (alg) {
  case Alg::BinaryGe:
    return isSigned ? CmpIPredicate::sge : CmpIPredicate::uge;
  case Alg::BinaryGt:
    return isSigned ? CmpIPredicate::sgt : CmpIPredicate::ugt;
  case Alg::BinaryLe:
    return isSigned ? CmpIPredicate::sle : CmpIPredicate::ule;
  case Alg::BinaryLt:
    return isSigned ? CmpIPredicate::slt : CmpIPredicate::ult;
  case Alg::BinaryEq:
    return CmpIPredicate::eq;
  default:
    return CmpIPredicate::ne;
  }
}

/// If an operand is s32, the sum saturates in 32 bits first; every destination type is within that range.
Value emitSum(OpBuilder &builder, Location loc, const IntegerElement &x, const IntegerElement &y, bool isDifference,
              DataType to) {
  const IntegerRange a = rangeOf(x.type), b = rangeOf(y.type);
  const IntegerRange whole =
      isDifference ? IntegerRange{a.low - b.high, a.high - b.low} : IntegerRange{a.low + b.low, a.high + b.high};
  const bool isLong = isS32(x) || isS32(y);
  IntegerMath math(builder, loc, isLong ? Width{32, true} : Width::of(whole));
  const Value left = math.resized(x), right = math.resized(y);
  if (isLong)
    return math.saturated(math.saturatedSum(left, right, isDifference), rangeOf(DataType::S32), to);
  const Value sum = isDifference ? math.make<arith::SubIOp>(left, right) : math.make<arith::AddIOp>(left, right);
  return math.saturated(sum, whole, to);
}

Value emitProduct(OpBuilder &builder, Location loc, const IntegerElement &x, const IntegerElement &y, DataType to) {
  const IntegerRange whole = rangeOf(x.type).times(rangeOf(y.type));
  IntegerMath math(builder, loc, Width::of(whole));
  return math.saturated(math.make<arith::MulIOp>(math.resized(x), math.resized(y)), whole, to);
}

/// Emits alpha · x + beta.
Value emitLinear(OpBuilder &builder, Location loc, const IntegerElement &x, int64_t alpha, int64_t beta, DataType to) {
  IntegerRange whole = rangeOf(x.type).times({alpha, alpha});
  whole.low += beta, whole.high += beta;
  IntegerMath math(builder, loc, Width::of(whole));
  Value y = math.resized(x);
  if (alpha != 1)
    y = math.make<arith::MulIOp>(y, math.constant(alpha));
  if (beta != 0)
    y = math.make<arith::AddIOp>(y, math.constant(beta));
  return math.saturated(y, whole, to);
}

Value emitRelu(OpBuilder &builder, Location loc, const IntegerElement &x, int64_t alpha, DataType to) {
  const IntegerRange source = rangeOf(x.type), whole = source.with(source.times({alpha, alpha}));
  IntegerMath math(builder, loc, Width::of(whole));
  const Value value = math.resized(x);
  if (alpha == 1 || source.low == 0)
    return math.saturated(value, source, to);
  const Value zero = math.constant(0);
  if (alpha == 0)
    return math.saturated(math.atLeast(value, zero), {0, source.high}, to);
  const Value scaled = math.make<arith::MulIOp>(value, math.constant(alpha));
  return math.saturated(math.select(math.compare(CmpIPredicate::sgt, value, zero), value, scaled), whole, to);
}

/// The magnitude of the minimum of s32 does not fit in s32; it saturates to the maximum.
Value emitAbs(OpBuilder &builder, Location loc, const IntegerElement &x, DataType to) {
  const IntegerRange source = rangeOf(x.type);
  if (source.low == 0)
    return emitLinear(builder, loc, x, 1, 0, to);
  const int64_t maxMagnitude = std::min<int64_t>(-source.low, std::numeric_limits<int32_t>::max());
  IntegerMath math(builder, loc, Width::of({-maxMagnitude, maxMagnitude}));
  Value value = math.resized(x);
  if (maxMagnitude < -source.low)
    value = math.atLeast(value, math.constant(-maxMagnitude));
  const Value negated = math.make<arith::SubIOp>(math.constant(0), value);
  return math.saturated(math.atLeast(value, negated), {0, maxMagnitude}, to);
}

/// One clamp applies the bounds of the algorithm and of the destination type.
Value emitClip(OpBuilder &builder, Location loc, const IntegerElement &x, double alpha, double beta, DataType to) {
  const IntegerRange source = rangeOf(x.type), limits = rangeOf(to);
  const auto boundOf = [&](double value) { // not NaN (eltwise C4)
    APFloat whole(std::clamp(value, static_cast<double>(limits.low), static_cast<double>(limits.high)));
    whole.roundToIntegral(APFloat::rmNearestTiesToEven); // independent of the caller's rounding mode
    return static_cast<int64_t>(whole.convertToDouble());
  };
  const int64_t low = boundOf(alpha), high = boundOf(beta);
  IntegerMath math(builder, loc, Width::of(source.with({low, high})));
  Value value = math.resized(x);
  if (low > source.low)
    value = math.atLeast(value, math.constant(low));
  if (high < source.high)
    value = math.atMost(value, math.constant(high));
  return math.saturated(value, {low, high}, to);
}

SmallVector<int64_t, 4> integersOf(ArrayRef<float> factors) {
  SmallVector<int64_t, 4> integers;
  for (float factor : factors)
    integers.push_back(static_cast<int64_t>(factor));
  return integers;
}

} // namespace

Value emission::emitIntegerBinary(OpBuilder &builder, Location loc, Alg alg, IntegerElement x, IntegerElement y,
                                  IntegerElement condition, DataType to) {
  if (alg == Alg::BinaryAdd || alg == Alg::BinarySub)
    return emitSum(builder, loc, x, y, alg == Alg::BinarySub, to);
  if (alg == Alg::BinaryMul)
    return emitProduct(builder, loc, x, y, to);
  const IntegerRange both = rangeOf(x.type).with(rangeOf(y.type));
  const Width width = Width::of(both);
  IntegerMath math(builder, loc, width);
  const Value left = math.resized(x), right = math.resized(y);
  switch (alg) {
  case Alg::BinaryMax:
    return math.saturated(math.atLeast(left, right), both, to);
  case Alg::BinaryMin:
    return math.saturated(math.atMost(left, right), both, to);
  case Alg::BinarySelect: {
    const Value isSet = math.compare(CmpIPredicate::ne, condition.value, math.constant(0, condition.value.getType()));
    return math.saturated(math.select(isSet, left, right), both, to);
  }
  default: {
    const Type element = elementType(to, builder);
    const Value holds = math.compare(predicateOf(alg, width.isSigned), left, right);
    return math.select(holds, math.constant(1, element), math.constant(0, element));
  }
  }
}

Value emission::emitIntegerEltwise(OpBuilder &builder, Location loc, Alg alg, float alpha, float beta, IntegerElement x,
                                   DataType to) {
  switch (alg) {
  case Alg::EltwiseRelu:
  case Alg::EltwiseReluDst:
    return emitRelu(builder, loc, x, static_cast<int64_t>(alpha), to);
  case Alg::EltwiseAbs:
    return emitAbs(builder, loc, x, to);
  case Alg::EltwiseSquare:
    return emitProduct(builder, loc, x, x, to);
  case Alg::EltwiseLinear:
    return emitLinear(builder, loc, x, static_cast<int64_t>(alpha), static_cast<int64_t>(beta), to);
  case Alg::EltwiseRound:
    return emitLinear(builder, loc, x, 1, 0, to);
  default:
    return emitClip(builder, loc, x, alpha, beta, to);
  }
}

IntegerSum::IntegerSum(MLIRContext *context, ArrayRef<float> factors, ArrayRef<DataType> types)
    : factors(integersOf(factors)), types(types) {
  for (auto [factor, type] : llvm::zip_equal(this->factors, types)) {
    const IntegerRange term = rangeOf(type).times({factor, factor});
    low += term.low, high += term.high;
  }
  sumType = IntegerType::get(context, Width::of({low, high}).bits);
}

Value IntegerSum::add(OpBuilder &builder, Location loc, Value before, size_t first, ValueRange elements) const {
  IntegerMath math(builder, loc, {sumType.getWidth(), true});
  for (auto [i, element] : llvm::enumerate(elements)) {
    Value term = math.resized({element, types[first + i]});
    if (int64_t factor = factors[first + i]; factor == -1 && before) {
      before = math.make<arith::SubIOp>(before, term);
      continue;
    } else if (factor != 1) {
      term = math.make<arith::MulIOp>(term, math.constant(factor));
    }
    before = before ? math.make<arith::AddIOp>(before, term) : term;
  }
  return before;
}

Value IntegerSum::finish(OpBuilder &builder, Location loc, Value sum, DataType to) const {
  return IntegerMath(builder, loc, Width::of({low, high})).saturated(sum, {low, high}, to);
}

Value IntegerSum::emit(OpBuilder &builder, Location loc, ValueRange elements, DataType to) const {
  const bool isPair = elements.size() == 2 && factors[0] == 1 && std::abs(factors[1]) == 1;
  if (isPair) // saturates in 32 bits instead of computing in 64
    return emitSum(builder, loc, {elements[0], types[0]}, {elements[1], types[1]}, factors[1] < 0, to);
  return finish(builder, loc, add(builder, loc, Value(), 0, elements), to);
}
