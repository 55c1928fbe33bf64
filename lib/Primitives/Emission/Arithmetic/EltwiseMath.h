//===- EltwiseMath.h - Builder of scalar arithmetic -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the eltwise functions are written in, and the ones that need more than a line. Arguments of exp that are
// products are kept in two terms: exp turns the absolute error of its argument into a relative one, and half a unit of
// the last place of 100 is 32 of them.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_ARITHMETIC_ELTWISEMATH_H
#define QUERN_PRIMITIVES_EMISSION_ARITHMETIC_ELTWISEMATH_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace quern {

/// high + low, where high is the sum rounded. A null `low` is zero.
struct TwoTerms {
  mlir::Value high, low;
};

/// exp of an argument that may give a denormal: plain = scaled·factor, where `scaled` is a normal number as
/// long as plain is not zero.
struct ScaledExp {
  mlir::Value scaled, factor, plain;
};

/// Emits at the builder's insertion point, on values of one type, f32 or f64. Each constant is made once.
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
  /// x·y + z, in one rounding or two as is cheaper.
  mlir::Value mulAdd(mlir::Value x, mlir::Value y, mlir::Value z);
  /// x·y + z with one rounding.
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z);
  /// Horner's scheme, highest power first.
  mlir::Value polynomial(mlir::Value x, llvm::ArrayRef<double> coefficients);
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value x, double limit);
  mlir::Value select(mlir::Value condition, mlir::Value whenTrue, mlir::Value whenFalse);
  /// At most, or at least, `limit`; NaN passes.
  mlir::Value atMost(mlir::Value x, double limit);
  mlir::Value atLeast(mlir::Value x, double limit);
  /// exp of what is not positive, or NaN; its expansion adds the low term after the reduction,
  /// where nothing of it is lost.
  mlir::Value expOfNonpositive(TwoTerms x);
  mlir::Value log1p(mlir::Value x);
  mlir::Value sqrt(mlir::Value x);
  mlir::Value pow(mlir::Value x, double exponent);

  /// x·y exactly.
  TwoTerms product(mlir::Value x, mlir::Value y);
  /// exp(z) for finite z <= 0 or NaN. `tail` (i1) may hold only where -z is at least tailStart(), and holds wherever
  /// the result is denormal and its error would be magnified.
  ScaledExp scaledExp(TwoTerms z, mlir::Value tail);
  double tailStart() const { return isF32() ? 64 : 512; }
  /// -|factor·x|, no lower than where exp vanishes by far even if scaled.
  TwoTerms minusMagnitude(mlir::Value x, double factor);

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type type;
  llvm::SmallDenseMap<mlir::Attribute, mlir::Value> constants;
};

/// αx + β, in one rounding: near its zero nothing else is accurate.
mlir::Value emitLinear(EltwiseMath &math, mlir::Value x, double alpha, double beta);
/// α·x^β
mlir::Value emitPower(EltwiseMath &math, mlir::Value x, double alpha, double beta);

/// Of gelu_tanh, which is x·sigmoid(z): -|z|, and |x| no larger than where exp(-|z|) is 0.
struct GeluTanhArgument {
  TwoTerms minus;
  mlir::Value magnitude;
};
GeluTanhArgument emitGeluTanhArgument(EltwiseMath &math, mlir::Value x);

/// The normal distribution's tail ½·erfc(|x| / √2) as series·inverse·exp, with |x| no larger than
/// where `exp`, exp(-x²/2), is 0.
struct NormalTail {
  mlir::Value magnitude, series, inverse, exp;
};
NormalTail emitNormalTail(EltwiseMath &math, mlir::Value x);

// x times a cumulative distribution, and what is built alike.
mlir::Value emitSwish(EltwiseMath &math, mlir::Value x, double alpha);
mlir::Value emitGeluTanh(EltwiseMath &math, mlir::Value x);
mlir::Value emitGeluErf(EltwiseMath &math, mlir::Value x);
mlir::Value emitMish(EltwiseMath &math, mlir::Value x);
mlir::Value emitSoftRelu(EltwiseMath &math, mlir::Value x, double alpha);

} // namespace quern

#endif // QUERN_PRIMITIVES_EMISSION_ARITHMETIC_ELTWISEMATH_H
