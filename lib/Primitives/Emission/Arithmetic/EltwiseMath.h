//===- EltwiseMath.h - Builder of scalar arithmetic -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Operations that the eltwise functions are composed of, and the functions that take more than a line. Arguments of exp
// that are products are kept in two terms: exp turns the absolute error of its argument into a relative error, and half
// an ulp of 100 becomes 32 ulp of the result.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_ARITHMETIC_ELTWISEMATH_H
#define QUERN_PRIMITIVES_EMISSION_ARITHMETIC_ELTWISEMATH_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace quern {

/// Unevaluated sum high + low, where `high` is the rounded sum. A null `low` is zero.
struct TwoTerms {
  mlir::Value high, low;
};

/// exp of an argument whose result may be denormal: plain = scaled·factor, where `scaled` is a normal number unless
/// `plain` is zero.
struct ScaledExp {
  mlir::Value scaled, factor, plain;
};

/// Emits at the builder's insertion point. All values have one type, f32 or f64. Each constant is created once.
class EltwiseMath {
public:
  EltwiseMath(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type) : builder(builder), loc(loc), type(type) {}

  bool isF32() const { return type.isF32(); }
  mlir::Value constant(double value);
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value sub(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value div(mlir::Value x, mlir::Value y);
  mlir::Value abs(mlir::Value x);
  mlir::Value negate(mlir::Value x);
  /// Emits x·y + z with one or two roundings, whichever is cheaper.
  mlir::Value mulAdd(mlir::Value x, mlir::Value y, mlir::Value z);
  /// Emits x·y + z with one rounding.
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z);
  /// Evaluates a polynomial by Horner's scheme; coefficients start at the highest power.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> coefficients);
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value x, double limit);
  mlir::Value select(mlir::Value condition, mlir::Value whenTrue, mlir::Value whenFalse);
  /// Clamps to at most, or at least, `limit`; NaN propagates.
  mlir::Value atMost(mlir::Value x, double limit);
  mlir::Value atLeast(mlir::Value x, double limit);
  /// Emits exp of a nonpositive argument or NaN. The expansion adds the low term after the range reduction, where it is
  /// not rounded away.
  mlir::Value expOfNonpositive(TwoTerms x);
  mlir::Value log1p(mlir::Value x);
  mlir::Value sqrt(mlir::Value x);
  mlir::Value pow(mlir::Value x, double exponent);

  /// Emits x·y exactly.
  TwoTerms product(mlir::Value x, mlir::Value y);
  /// Emits exp(z) for a z that is NaN, or finite and not positive. `tail` (i1) may be true only if -z is at least
  /// tailStart(), and must be true if the result is denormal and its error would be magnified.
  ScaledExp scaledExp(TwoTerms z, mlir::Value tail);
  double tailStart() const { return isF32() ? 64 : 512; }
  /// Emits -|factor·x|, limited to arguments for which exp is still zero after scaling.
  TwoTerms minusMagnitude(mlir::Value x, double factor);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type type;
  llvm::SmallDenseMap<mlir::Attribute, mlir::Value> constants;
};

/// Emits αx + β with one rounding, because two would be inaccurate near its zero.
mlir::Value emitLinear(EltwiseMath &math, mlir::Value x, double alpha, double beta);
/// Emits α·x^β.
mlir::Value emitPower(EltwiseMath &math, mlir::Value x, double alpha, double beta);

/// Argument of gelu_tanh, which is x·sigmoid(z): -|z|, and |x| limited to a bound at which exp(-|z|) is 0.
struct GeluTanhArgument {
  TwoTerms minus;
  mlir::Value magnitude;
};
GeluTanhArgument emitGeluTanhArgument(EltwiseMath &math, mlir::Value x);

/// Tail of the normal distribution, ½·erfc(|x| / √2), as series·inverse·exp, where `exp` is exp(-x²/2). `magnitude` is
/// |x|, limited to a bound at which `exp` is 0.
struct NormalTail {
  mlir::Value magnitude, series, inverse, exp;
};
NormalTail emitNormalTail(EltwiseMath &math, mlir::Value x);

// Functions of the form x times a cumulative distribution, and functions built from the same parts.
mlir::Value emitSwish(EltwiseMath &math, mlir::Value x, double alpha);
mlir::Value emitGeluTanh(EltwiseMath &math, mlir::Value x);
mlir::Value emitGeluErf(EltwiseMath &math, mlir::Value x);
mlir::Value emitMish(EltwiseMath &math, mlir::Value x);
mlir::Value emitSoftRelu(EltwiseMath &math, mlir::Value x, double alpha);

} // namespace quern

#endif // QUERN_PRIMITIVES_EMISSION_ARITHMETIC_ELTWISEMATH_H
