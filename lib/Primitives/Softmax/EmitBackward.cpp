//===- EmitBackward.cpp - Emission of softmax backward as linalg ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// accurate: diff_src = dst * (diff_dst - Σ diff_dst * dst); log: diff_src = diff_dst - exp(dst) * Σ diff_dst. One
// reduction and one elementwise op. Multiply-adds may be fused. exp may not assume a nonpositive argument, because dst
// has arbitrary values.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Primitives/Emission/Arithmetic/Convert.h"
#include "Primitives/Softmax/Emitter.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;

namespace {

constexpr auto contract = arith::FastMathFlags::contract;

class SoftmaxBackwardEmitter : SoftmaxEmitter {
public:
  SoftmaxBackwardEmitter(ModuleOp module, const VerifiedProblem &problem)
      : SoftmaxEmitter(module, problem, arg::dst), dst(tensor(arg::dst)), diffDst(tensor(arg::diffDst)),
        diffSrc(tensor(arg::diffSrc)) {}
  void emit() {
    desc.alg == Alg::SoftmaxLog ? emitLog() : emitAccurate();
    function.finish();
  }

private:
  void emitAccurate();
  void emitLog();
  Value wide(OpBuilder &b, Location at, Value x, int32_t index) { return widened(b, at, x, typeOf(index), compute); }
  Value stored(OpBuilder &b, Location at, Value x) { return narrowed(b, at, x, typeOf(arg::diffSrc)); }

  Operand dst, diffDst, diffSrc;
};

void SoftmaxBackwardEmitter::emitAccurate() {
  function.step("sum", "sum of dst * diff_dst");
  Operand dot = reduce({dst, diffDst}, constant(0), [&](OpBuilder &b, Location at, ValueRange in, Value old) {
    Value y = wide(b, at, in[0], arg::dst), gradient = wide(b, at, in[1], arg::diffDst);
    return accumulate(b, at, arith::MulFOp::create(b, at, y, gradient, contract), old, contract);
  });
  function.step("diff", "dst * (diff_dst - sum)");
  elementwise({dst, diffDst, dot}, diffSrc, [&](OpBuilder &b, Location at, ValueRange in, Value) {
    Value y = wide(b, at, in[0], arg::dst), gradient = wide(b, at, in[1], arg::diffDst);
    Value centered = arith::SubFOp::create(b, at, gradient, in[2]);
    return stored(b, at, arith::MulFOp::create(b, at, y, centered));
  });
}

void SoftmaxBackwardEmitter::emitLog() {
  function.step("sum", "sum of diff_dst");
  Operand sum = reduce(diffDst, constant(0), [&](OpBuilder &b, Location at, ValueRange in, Value old) {
    return accumulate(b, at, wide(b, at, in[0], arg::diffDst), old);
  });
  function.step("diff", "diff_dst - exp(dst) * sum");
  elementwise({dst, diffDst, sum}, diffSrc, [&](OpBuilder &b, Location at, ValueRange in, Value) {
    Value probability = math::ExpOp::create(b, at, wide(b, at, in[0], arg::dst), arith::FastMathFlags::afn);
    Value share = arith::MulFOp::create(b, at, probability, in[2], contract);
    return stored(b, at, arith::SubFOp::create(b, at, wide(b, at, in[1], arg::diffDst), share, contract));
  });
}

} // namespace

void quern::emitSoftmaxBackward(ModuleOp module, const VerifiedProblem &problem) {
  SoftmaxBackwardEmitter(module, problem).emit();
}
