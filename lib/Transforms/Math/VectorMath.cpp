//===- VectorMath.cpp - Builder of vector arithmetic ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Thin wrappers over arith, math and vector operations. AVX-512 intrinsics exist for 128, 256 and 512 bits only, so a
// longer vector is split into registers and joined again by shuffles, which cost nothing after register allocation.
//
//===----------------------------------------------------------------------===//
#include "Transforms/Math/VectorMath.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace quern {

Value ConstantPool::get(OpBuilder &builder, Location loc, TypedAttr value) {
  Value &constant = constants[value];
  if (!constant) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(entry);
    constant = arith::ConstantOp::create(builder, loc, value);
  }
  return constant;
}

VectorMath::VectorMath(OpBuilder &builder, Location loc, VectorType type, const Target &target, ConstantPool &pool)
    : type(type), builder(builder), loc(loc), target(target), pool(pool) {}

Value VectorMath::constant(double value) {
  return pool.get(builder, loc, DenseElementsAttr::get(type, builder.getFloatAttr(type.getElementType(), value)));
}

Value VectorMath::integer(int64_t value) {
  Type element = builder.getIntegerType(type.getElementTypeBitWidth());
  APInt bits(type.getElementTypeBitWidth(), static_cast<uint64_t>(value), /*isSigned=*/true, /*implicitTrunc=*/true);
  return pool.get(builder, loc, DenseElementsAttr::get(type.clone(element), bits));
}

Value VectorMath::add(Value x, Value y) { return arith::AddFOp::create(builder, loc, x, y); }
Value VectorMath::sub(Value x, Value y) { return arith::SubFOp::create(builder, loc, x, y); }
Value VectorMath::mul(Value x, Value y) { return arith::MulFOp::create(builder, loc, x, y); }
Value VectorMath::div(Value x, Value y) { return arith::DivFOp::create(builder, loc, x, y); }

Value VectorMath::mulAdd(Value x, Value y, Value z) {
  if (hasFma())
    return math::FmaOp::create(builder, loc, x, y, z);
  return add(mul(x, y), z);
}

Value VectorMath::fusedMulAdd(Value x, Value y, Value z) {
  if (hasFma())
    return math::FmaOp::create(builder, loc, x, y, z);
  if (isF32()) {
    // A product of two f32 is exact in f64.
    VectorMath wide = asF64();
    return truncate(wide.add(wide.mul(extend(x), extend(y)), extend(z)));
  }
  auto [high, low] = product(x, y);
  Value total = add(high, z), ofZ = sub(total, high);
  Value error = add(sub(high, sub(total, ofZ)), sub(z, ofZ));
  Value result = add(total, add(error, low));
  return select(arith::CmpFPredicate::UNO, result, result, total, result);
}

/// For f64 without a fused multiply-add, this is Dekker's product: the products of the halves are exact.
TwoTerms VectorMath::product(Value x, Value y) {
  Value high = mul(x, y);
  if (hasFma())
    return {high, math::FmaOp::create(builder, loc, x, y, negate(high))};
  if (isF32()) {
    VectorMath wide = asF64();
    return {high, truncate(wide.sub(wide.mul(extend(x), extend(y)), extend(high)))};
  }
  TwoTerms a = split(x), b = x == y ? a : split(y);
  Value low = sub(mul(a.high, b.high), high);
  low = add(add(low, mul(a.high, b.low)), mul(a.low, b.high));
  return {high, add(low, mul(a.low, b.low))};
}

/// Splits an f64 into the upper half of its digits and the rest.
TwoTerms VectorMath::split(Value x) {
  Value scaled = mul(x, constant(0x1p27 + 1));
  Value high = sub(scaled, sub(scaled, x));
  return {high, sub(x, high)};
}

TwoTerms VectorMath::sum(Value x, Value y) {
  Value high = add(x, y);
  return {high, sub(y, sub(high, x))};
}

Value VectorMath::abs(Value x) { return math::AbsFOp::create(builder, loc, x); }
Value VectorMath::negate(Value x) { return arith::NegFOp::create(builder, loc, x); }
Value VectorMath::copySign(Value magnitude, Value sign) {
  return math::CopySignOp::create(builder, loc, magnitude, sign);
}
Value VectorMath::roundEven(Value x) { return math::RoundEvenOp::create(builder, loc, x); }

Value VectorMath::atMost(Value x, double limit) {
  Value bound = constant(limit);
  return select(arith::CmpFPredicate::OLT, bound, x, bound, x);
}
Value VectorMath::atLeast(Value x, double limit) {
  Value bound = constant(limit);
  return select(arith::CmpFPredicate::OGT, bound, x, bound, x);
}

VectorMath VectorMath::asF64() const {
  return VectorMath(builder, loc, VectorType::get(type.getShape(), builder.getF64Type()), target, pool);
}
Value VectorMath::extend(Value x) { return arith::ExtFOp::create(builder, loc, asF64().type, x); }
Value VectorMath::truncate(Value x) { return arith::TruncFOp::create(builder, loc, type, x); }

Value VectorMath::polynomial(Value x, ArrayRef<double> coefficients) {
  Value sum = constant(coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = mulAdd(sum, x, constant(coefficient));
  return sum;
}

Value VectorMath::polynomialByPairs(Value x, Value square, ArrayRef<double> coefficients) {
  Value sum;
  if (coefficients.size() % 2 == 1) {
    sum = constant(coefficients.front());
    coefficients = coefficients.drop_front();
  }
  for (; !coefficients.empty(); coefficients = coefficients.drop_front(2)) {
    Value pair = mulAdd(x, constant(coefficients[0]), constant(coefficients[1]));
    sum = sum ? mulAdd(square, sum, pair) : pair;
  }
  return sum;
}

Value VectorMath::select(arith::CmpFPredicate predicate, Value x, Value y, Value whenTrue, Value whenFalse) {
  return arith::SelectOp::create(builder, loc, arith::CmpFOp::create(builder, loc, predicate, x, y), whenTrue,
                                 whenFalse);
}

Value VectorMath::addInt(Value x, Value y) { return arith::AddIOp::create(builder, loc, x, y); }
Value VectorMath::shiftLeft(Value x, int bits) { return arith::ShLIOp::create(builder, loc, x, integer(bits)); }
Value VectorMath::shiftRight(Value x, int bits) { return arith::ShRUIOp::create(builder, loc, x, integer(bits)); }
Value VectorMath::andInt(Value x, Value y) { return arith::AndIOp::create(builder, loc, x, y); }
Value VectorMath::orInt(Value x, Value y) { return arith::OrIOp::create(builder, loc, x, y); }

Value VectorMath::asInteger(Value x) {
  return arith::BitcastOp::create(builder, loc, type.clone(builder.getIntegerType(type.getElementTypeBitWidth())), x);
}
Value VectorMath::asFloat(Value x) { return arith::BitcastOp::create(builder, loc, type, x); }

int64_t VectorMath::registerLanes() const {
  for (int64_t bits : {512, 256, 128})
    if (int64_t lanes = bits / type.getElementTypeBitWidth(); type.getNumElements() % lanes == 0)
      return lanes;
  return 0;
}

Value VectorMath::perRegister(ValueRange operands, function_ref<Value(ValueRange, VectorType)> emit) {
  int64_t lanes = registerLanes(), total = type.getNumElements();
  auto part = VectorType::get({lanes}, type.getElementType());
  if (lanes == total)
    return emit(operands, part);
  // Joined two by two: LLVM has one instruction for a shuffle of operands of equal length; other shuffles are lowered
  // element by element.
  SmallVector<Value, 8> results;
  for (int64_t begin = 0; begin < total; begin += lanes) {
    auto range = llvm::to_vector(llvm::seq<int64_t>(begin, begin + lanes));
    SmallVector<Value, 3> parts;
    for (Value operand : operands)
      parts.push_back(vector::ShuffleOp::create(builder, loc, operand, operand, range));
    results.push_back(emit(parts, part));
  }
  for (; results.size() > 1; lanes *= 2) {
    auto both = llvm::to_vector(llvm::seq<int64_t>(0, 2 * lanes));
    if (results.size() % 2)
      results.push_back(results.back()); // padding, dropped below
    for (size_t i = 0; 2 * i < results.size(); ++i)
      results[i] = vector::ShuffleOp::create(builder, loc, results[2 * i], results[2 * i + 1], both);
    results.resize(results.size() / 2);
  }
  if (lanes == total)
    return results[0];
  return vector::ShuffleOp::create(builder, loc, results[0], results[0], llvm::to_vector(llvm::seq<int64_t>(0, total)));
}

/// Calls an AVX-512 intrinsic with a pass-through and a full mask; only the 512-bit forms have a rounding operand.
Value VectorMath::callMasked(StringRef name, ValueRange operands, std::optional<int32_t> immediate) {
  return perRegister(operands, [&](ValueRange parts, VectorType part) -> Value {
    int64_t bits = part.getNumElements() * part.getElementTypeBitWidth();
    SmallVector<Value, 6> arguments(parts);
    if (immediate)
      arguments.push_back(pool.get(builder, loc, builder.getI32IntegerAttr(*immediate)));
    arguments.push_back(
        pool.get(builder, loc, DenseElementsAttr::get(part, builder.getFloatAttr(part.getElementType(), 0.0))));
    Type mask = builder.getIntegerType(std::max<int64_t>(8, part.getNumElements()));
    arguments.push_back(pool.get(builder, loc, builder.getIntegerAttr(mask, -1)));
    constexpr int32_t currentRounding = 4;
    if (bits == 512)
      arguments.push_back(pool.get(builder, loc, builder.getI32IntegerAttr(currentRounding)));
    std::string full = ("llvm.x86.avx512.mask." + name + (isF32() ? ".ps." : ".pd.") + Twine(bits)).str();
    return LLVM::CallIntrinsicOp::create(builder, loc, Type(part), builder.getStringAttr(full), arguments).getResult(0);
  });
}

Value VectorMath::scalef(Value x, Value exponent) { return callMasked("scalef", {x, exponent}, std::nullopt); }
Value VectorMath::getExponent(Value x) { return callMasked("getexp", x, std::nullopt); }

Value VectorMath::getMantissa(Value x) {
  constexpr int32_t intervalOneToTwoNanIfNegative = 8;
  return callMasked("getmant", x, intervalOneToTwoNanIfNegative);
}

Value VectorMath::lookup32(ArrayRef<float> table, Value bits) {
  return perRegister(bits, [&](ValueRange parts, VectorType part) -> Value {
    Value low = pool.get(builder, loc, DenseElementsAttr::get(part, table.take_front(16)));
    Value high = pool.get(builder, loc, DenseElementsAttr::get(part, table.take_back(16)));
    StringAttr name = builder.getStringAttr("llvm.x86.avx512.vpermi2var.ps.512");
    return LLVM::CallIntrinsicOp::create(builder, loc, Type(part), name, ValueRange{low, parts[0], high}).getResult(0);
  });
}

} // namespace quern
