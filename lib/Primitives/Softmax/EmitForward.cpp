//===- EmitForward.cpp - Emission of softmax forward as linalg ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One op per step: maximum, exponential (or shift), sum, inverse (or logarithm), result with its scales and post-ops.
// maxnumf ignores NaN, and exp(x - inf) is NaN or 0, so NaN and +inf reach the row through the exponentials and their
// sum. A row of only -inf becomes NaN (-inf - -inf), unless the algorithm is accurate_inf_as_zero, which replaces its
// maximum and its inverse by 0. Scales are multiplied into a value that is computed once per row (accurate) or once per
// kernel (log), and division by the destination's scale becomes multiplication by its inverse: this deviates by a few
// roundings of the compute type from the formula, which the thresholds permit. Except for log, only a destination
// scale after post-ops costs a multiplication per element.
//
//===----------------------------------------------------------------------===//
#include "IR/QuernDialect.h"
#include "Primitives/Arguments.h"
#include "Primitives/Emission/Arithmetic/Convert.h"
#include "Primitives/Emission/Attributes/PostOps.h"
#include "Primitives/Softmax/Emitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace quern;
using namespace quern::emission;

namespace {

class ForwardEmitter : SoftmaxEmitter {
public:
  ForwardEmitter(ModuleOp module, const VerifiedProblem &problem)
      : SoftmaxEmitter(module, problem, arg::src), src(tensor(arg::src)),
        srcScale(function.loadScalar(arg::scalesOf(arg::src), compute)),
        dstScale(function.loadScalar(arg::scalesOf(arg::dst), compute)), postOps(function, space, compute) {}
  void emit();

private:
  void emitAccurate(Operand max);
  void emitLog(Operand max);
  Operand emitMax();
  Operand emitInverse(Operand sum);
  /// Returns 1 / dstScale if post-ops separate it from the source's scale, otherwise null.
  Value emitLastFactor();
  /// Emits dst = body(inputs), post-ops, times `lastFactor` unless null.
  void emitResult(ArrayRef<Operand> inputs, Value lastFactor, Body body);
  Value source(OpBuilder &b, Location at, Value x) { return widened(b, at, x, typeOf(arg::src), compute); }

  Operand src;
  Value srcScale, dstScale; // null: 1
  PostOps postOps;
};

SoftmaxEmitter::Operand ForwardEmitter::emitMax() {
  function.step("max", "max of the row");
  Value lowest = constant(-std::numeric_limits<double>::infinity());
  Operand max = reduce(src, lowest, [&](OpBuilder &b, Location at, ValueRange in, Value old) -> Value {
    return arith::MaxNumFOp::create(b, at, source(b, at, in[0]), old);
  });
  if (desc.alg != Alg::SoftmaxAccurateInfAsZero)
    return max;
  function.step("max", "0 for the max of an empty row");
  Value zero = constant(0);
  return perRow(max, [&](OpBuilder &b, Location at, ValueRange in, Value) -> Value {
    Value empty = arith::CmpFOp::create(b, at, arith::CmpFPredicate::OEQ, in[0], lowest);
    return arith::SelectOp::create(b, at, empty, zero, in[0]);
  });
}

/// The argument of exp is x - max, which is never positive, so its expansion needs no upper clamp; afn permits an error
/// of a few ulp.
Value emitExp(OpBuilder &b, Location at, Value shifted) {
  auto exp = math::ExpOp::create(b, at, shifted, arith::FastMathFlags::afn);
  addRelaxation(exp, Relaxation::Nonpositive);
  return exp;
}

SoftmaxEmitter::Operand ForwardEmitter::emitInverse(Operand sum) {
  bool emptyIsZero = desc.alg == Alg::SoftmaxAccurateInfAsZero;
  function.step("inverse", "1 / sum, with scales");
  Value one = constant(1), zero = emptyIsZero ? constant(0) : Value();
  return perRow(sum, [&](OpBuilder &b, Location at, ValueRange in, Value) -> Value {
    Value factor = arith::DivFOp::create(b, at, one, in[0]);
    if (emptyIsZero) {
      Value empty = arith::CmpFOp::create(b, at, arith::CmpFPredicate::OEQ, in[0], zero);
      factor = arith::SelectOp::create(b, at, empty, zero, factor);
    }
    if (srcScale)
      factor = arith::MulFOp::create(b, at, factor, srcScale);
    if (dstScale && postOps.empty())
      factor = arith::DivFOp::create(b, at, factor, dstScale);
    return factor;
  });
}

void ForwardEmitter::emitResult(ArrayRef<Operand> inputs, Value lastFactor, Body body) {
  SmallVector<Operand> all(inputs);
  llvm::append_range(all, postOps.operands());
  function.step("y", desc.alg == Alg::SoftmaxLog ? "x - max - log(sum), scales and post-ops"
                                                 : "exp(x - max) / sum, scales and post-ops");
  elementwise(all, tensor(arg::dst), [&](OpBuilder &b, Location at, ValueRange in, Value old) -> Value {
    Value y = postOps.apply(b, at, body(b, at, in, old), in.drop_front(inputs.size()));
    if (lastFactor)
      y = arith::MulFOp::create(b, at, y, lastFactor);
    return narrowed(b, at, y, typeOf(arg::dst));
  });
}

Value ForwardEmitter::emitLastFactor() {
  if (!dstScale || postOps.empty())
    return Value();
  return arith::DivFOp::create(function.builder, function.loc, constant(1), dstScale);
}

void ForwardEmitter::emitAccurate(Operand max) {
  function.step("exp", "exp(x - max)");
  Operand exp = allocFull();
  elementwise({src, max}, exp, [&](OpBuilder &b, Location at, ValueRange in, Value) -> Value {
    return emitExp(b, at, arith::SubFOp::create(b, at, source(b, at, in[0]), in[1]));
  });
  function.step("sum", "sum of exp(x - max)");
  Operand sum = reduce(exp, constant(0), [&](OpBuilder &b, Location at, ValueRange in, Value old) {
    return accumulate(b, at, in[0], old);
  });
  Operand inverse = emitInverse(sum);
  Value lastFactor = emitLastFactor();
  emitResult({exp, inverse}, lastFactor, [&](OpBuilder &b, Location at, ValueRange in, Value) -> Value {
    return arith::MulFOp::create(b, at, in[0], in[1]);
  });
}

void ForwardEmitter::emitLog(Operand max) {
  Value factor = srcScale, lastFactor = emitLastFactor();
  if (dstScale && postOps.empty())
    factor = arith::DivFOp::create(function.builder, function.loc, srcScale ? srcScale : constant(1), dstScale);
  function.step("shifted", "x - max");
  Operand shifted = allocFull();
  elementwise({src, max}, shifted, [&](OpBuilder &b, Location at, ValueRange in, Value) -> Value {
    return arith::SubFOp::create(b, at, source(b, at, in[0]), in[1]);
  });
  function.step("sum", "sum of exp(x - max)");
  Operand sum = reduce(shifted, constant(0), [&](OpBuilder &b, Location at, ValueRange in, Value old) {
    return accumulate(b, at, emitExp(b, at, in[0]), old);
  });
  function.step("log", "log(sum)");
  Operand log = perRow(
      sum, [&](OpBuilder &b, Location at, ValueRange in, Value) -> Value { return math::LogOp::create(b, at, in[0]); });
  emitResult({shifted, log}, lastFactor, [&](OpBuilder &b, Location at, ValueRange in, Value) -> Value {
    Value y = arith::SubFOp::create(b, at, in[0], in[1]);
    return factor ? arith::MulFOp::create(b, at, y, factor).getResult() : y;
  });
}

void ForwardEmitter::emit() {
  Operand max = emitMax();
  if (desc.alg == Alg::SoftmaxLog)
    emitLog(max);
  else
    emitAccurate(max);
  function.finish();
}

} // namespace

void quern::emitSoftmaxForward(ModuleOp module, const VerifiedProblem &problem) {
  ForwardEmitter(module, problem).emit();
}
