//===- Eltwise.cpp - Elementwise functions on scalars ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/Emission/Arithmetic/Eltwise.h"

#include "Primitives/Emission/Arithmetic/EltwiseMath.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using arith::CmpFPredicate;

namespace quern {
namespace {

Value hardsigmoid(EltwiseMath &math, Value x, double alpha, double beta) {
  return math.atMost(math.atLeast(emitLinear(math, x, alpha, beta), 0), 1);
}

Value relu(EltwiseMath &math, Value x, double alpha) {
  if (alpha == 0)
    return math.atLeast(x, 0);
  return math.select(math.compare(CmpFPredicate::OGT, x, 0), x, math.mul(x, math.constant(alpha)));
}

/// Emits one function; EltwiseMath has those that take more than a few operations.
class EltwiseEmitter {
public:
  EltwiseEmitter(OpBuilder &builder, Location loc, float alpha, float beta, Value x)
      : builder(builder), loc(loc), math(builder, loc, x.getType()), alpha(alpha), beta(beta), x(x) {}

  Value emit(Alg alg);

private:
  template <typename Op> Value make(Value operand) { return Op::create(builder, loc, operand); }
  Value elu() {
    return math.select(math.compare(CmpFPredicate::OGT, x, 0), x,
                       math.mul(make<math::ExpM1Op>(x), math.constant(alpha)));
  }
  Value logistic() {
    Value e = math.expOfNonpositive({math.negate(math.abs(x)), Value()}), one = math.constant(1);
    return math.div(math.select(math.compare(CmpFPredicate::OLT, x, 0), e, one), math.add(e, one));
  }

  OpBuilder &builder;
  Location loc;
  EltwiseMath math;
  double alpha, beta;
  Value x;
};

Value EltwiseEmitter::emit(Alg alg) {
  switch (alg) {
  case Alg::EltwiseRelu:
  case Alg::EltwiseReluDst:
    return relu(math, x, alpha);
  case Alg::EltwiseTanh:
  case Alg::EltwiseTanhDst:
    return make<math::TanhOp>(x);
  case Alg::EltwiseElu:
  case Alg::EltwiseEluDst:
    return elu();
  case Alg::EltwiseSquare:
    return math.mul(x, x);
  case Alg::EltwiseAbs:
    return math.abs(x);
  case Alg::EltwiseSqrt:
  case Alg::EltwiseSqrtDst:
    return make<math::SqrtOp>(x);
  case Alg::EltwiseLinear:
    return emitLinear(math, x, alpha, beta);
  case Alg::EltwiseSoftRelu:
    return emitSoftRelu(math, x, alpha);
  case Alg::EltwiseHardsigmoid:
    return hardsigmoid(math, x, alpha, beta);
  case Alg::EltwiseHardswish:
    return math.mul(x, hardsigmoid(math, x, alpha, beta));
  case Alg::EltwiseLogistic:
  case Alg::EltwiseLogisticDst:
    return logistic();
  case Alg::EltwiseExp:
  case Alg::EltwiseExpDst:
    return make<math::ExpOp>(x);
  case Alg::EltwiseGeluTanh:
    return emitGeluTanh(math, x);
  case Alg::EltwiseGeluErf:
    return emitGeluErf(math, x);
  case Alg::EltwiseSwish:
    return emitSwish(math, x, alpha);
  case Alg::EltwiseMish:
    return emitMish(math, x);
  case Alg::EltwiseLog:
    return make<math::LogOp>(x);
  case Alg::EltwiseClip:
  case Alg::EltwiseClipV2:
  case Alg::EltwiseClipV2Dst:
    return math.atMost(math.atLeast(x, alpha), beta);
  case Alg::EltwisePow:
    return emitPower(math, x, alpha, beta);
  case Alg::EltwiseRound:
    return make<math::RoundEvenOp>(x);
  default:
    return Value();
  }
}

} // namespace

Value emitEltwise(OpBuilder &builder, Location loc, Alg alg, float alpha, float beta, Value x) {
  return EltwiseEmitter(builder, loc, alpha, beta, x).emit(alg);
}

} // namespace quern
