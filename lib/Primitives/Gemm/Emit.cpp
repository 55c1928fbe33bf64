//===- Emit.cpp - Emission of a product of two matrices as linalg ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Computes the sums over K, in f32 or s32, and then the results from them. Integers are scaled in f64, which holds
// every s32, and rounded to nearest with halves away from zero, as in oneDNN; the offset is added afterwards, modulo
// 2^32.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Primitives/Emission/Arithmetic/Convert.h"
#include "Primitives/Emission/Function.h"
#include "Primitives/Emission/Tensors.h"
#include "Primitives/Emitters.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;

namespace {

constexpr auto relaxation = arith::FastMathFlags::reassoc | arith::FastMathFlags::contract;

class GemmEmitter {
public:
  GemmEmitter(ModuleOp module, const VerifiedProblem &problem)
      : function(module, problem, "gemm", argumentTypes(problem, module.getContext())),
        gemm(std::get<GemmDesc>(problem.desc.op)), isFloat(gemm.dst.dataType == DataType::F32), b(function.builder) {}
  void emit();

private:
  AffineMap mapOf(ArrayRef<unsigned> dims, unsigned of) {
    return AffineMap::getMultiDimMapWithTargets(of, dims, b.getContext());
  }
  Operand emitSums();
  void emitResults(Operand sums);
  /// Loads the only element of an argument without conversion; null if there is no such argument.
  Value load(int32_t index);
  Value product(OpBuilder &at, Location loc, Value left, Value right);
  Value scaledFloat(OpBuilder &at, Location loc, Value sum, Value old);
  Value scaledInteger(OpBuilder &at, Location loc, Value sum, Value old);

  FunctionEmitter function;
  const GemmDesc &gemm;
  bool isFloat;
  OpBuilder &b;
  Value srcOffset, weightsOffset, alpha, beta; // null: absent
};

Value GemmEmitter::load(int32_t index) {
  Value memref = function.find(index);
  if (!memref)
    return Value();
  return memref::LoadOp::create(b, function.loc, memref,
                                ValueRange{arith::ConstantIndexOp::create(b, function.loc, 0)});
}

Value extended(OpBuilder &b, Location loc, Value element, DataType type) {
  Type wide = b.getI32Type();
  return type == DataType::U8 ? arith::ExtUIOp::create(b, loc, wide, element).getResult()
                              : arith::ExtSIOp::create(b, loc, wide, element).getResult();
}

/// Returns the product of two elements after subtracting their offsets.
Value GemmEmitter::product(OpBuilder &at, Location loc, Value left, Value right) {
  if (isFloat)
    return arith::MulFOp::create(at, loc, left, right, relaxation);
  left = extended(at, loc, left, gemm.src.dataType);
  right = extended(at, loc, right, gemm.weights.dataType);
  if (gemm.offsets) {
    left = arith::SubIOp::create(at, loc, left, srcOffset);
    right = arith::SubIOp::create(at, loc, right, weightsOffset);
  }
  return arith::MulIOp::create(at, loc, left, right);
}

Operand GemmEmitter::emitSums() {
  Type type = isFloat ? Type(b.getF32Type()) : Type(b.getI32Type());
  int64_t m = gemm.dst.dims[0], n = gemm.dst.dims[1], k = gemm.src.dims[1];
  // The sums have the order of dims of dst, so that both are contiguous along the same dim.
  bool isTransposed = gemm.dst.strides[0] == 1 && gemm.dst.strides[1] != 1 && m != 1 && n != 1;
  unsigned outer = isTransposed ? 1 : 0, inner = 1 - outer;
  SmallVector<int64_t, 2> shape{gemm.dst.dims[outer], gemm.dst.dims[inner]};
  function.step("sum", "sum of src * weights over k");
  Operand sums{function.alloc(shape, type, function.find(arg::dst), {outer, inner}), mapOf({outer, inner}, 3)};
  Value zero = arith::ConstantOp::create(b, function.loc, b.getZeroAttr(type));
  linalg::FillOp::create(b, function.loc, zero, sums.memref);
  constexpr auto parallel = utils::IteratorType::parallel, reduction = utils::IteratorType::reduction;
  function.generic({m, n, k}, {parallel, parallel, reduction},
                   {{function.find(arg::src), mapOf({0, 2}, 3)}, {function.find(arg::weights), mapOf({2, 1}, 3)}}, sums,
                   [&](OpBuilder &at, Location loc, ValueRange in, Value sum) -> Value {
                     Value term = product(at, loc, in[0], in[1]);
                     if (isFloat)
                       return arith::AddFOp::create(at, loc, sum, term, relaxation);
                     return arith::AddIOp::create(at, loc, sum, term);
                   });
  return {sums.memref, mapOf({outer, inner}, 2)};
}

/// If alpha is 0, the product is ignored, even if it is NaN.
Value GemmEmitter::scaledFloat(OpBuilder &at, Location loc, Value sum, Value old) {
  if (alpha) {
    Value zero = arith::ConstantOp::create(at, loc, at.getZeroAttr(sum.getType()));
    Value isZero = arith::CmpFOp::create(at, loc, arith::CmpFPredicate::OEQ, alpha, zero);
    sum = arith::SelectOp::create(at, loc, isZero, zero, arith::MulFOp::create(at, loc, sum, alpha));
  }
  if (!beta)
    return sum;
  return arith::AddFOp::create(at, loc, arith::MulFOp::create(at, loc, old, beta, arith::FastMathFlags::contract), sum,
                               arith::FastMathFlags::contract);
}

/// Rounds to the nearest integer, halves away from zero. Adding the number below a half keeps 0.49999999999999994 from
/// becoming 1.
Value roundedAway(OpBuilder &b, Location loc, Value x) {
  Value almostHalf = arith::ConstantOp::create(b, loc, b.getF64FloatAttr(0x1.fffffffffffffp-2));
  Value shift = math::CopySignOp::create(b, loc, almostHalf, x);
  return math::TruncOp::create(b, loc, arith::AddFOp::create(b, loc, x, shift));
}

Value GemmEmitter::scaledInteger(OpBuilder &at, Location loc, Value sum, Value old) {
  if (!alpha && !beta)
    return sum;
  FloatType wide = at.getF64Type();
  Value value = arith::SIToFPOp::create(at, loc, wide, sum);
  if (alpha)
    value = arith::MulFOp::create(at, loc, value, alpha);
  if (beta)
    value = arith::AddFOp::create(at, loc, value,
                                  arith::MulFOp::create(at, loc, arith::SIToFPOp::create(at, loc, wide, old), beta));
  return narrowed(at, loc, roundedAway(at, loc, value), DataType::S32);
}

void GemmEmitter::emitResults(Operand sums) {
  FloatType scaling = isFloat ? b.getF32Type() : b.getF64Type();
  alpha = function.loadScalar(arg::gemmAlpha, scaling);
  beta = function.loadScalar(arg::gemmBeta, scaling);
  Value fixed = gemm.dstOffset == GemmOffset::Fixed ? load(arg::gemmDstOffset) : Value();
  function.step("y", "alpha * sum + beta * dst, and its offset");
  SmallVector<Operand> inputs = {sums};
  if (gemm.dstOffset == GemmOffset::Column || gemm.dstOffset == GemmOffset::Row)
    inputs.push_back({function.find(arg::gemmDstOffset), mapOf({gemm.dstOffset == GemmOffset::Column ? 0u : 1u}, 2)});
  function.elementwise({gemm.dst.dims[0], gemm.dst.dims[1]}, inputs, {function.find(arg::dst), mapOf({0, 1}, 2)},
                       [&](OpBuilder &at, Location loc, ValueRange in, Value old) -> Value {
                         Value value = isFloat ? scaledFloat(at, loc, in[0], old) : scaledInteger(at, loc, in[0], old);
                         Value offset = fixed ? fixed : in.size() > 1 ? in[1] : Value();
                         return offset ? arith::AddIOp::create(at, loc, value, offset).getResult() : value;
                       });
}

void GemmEmitter::emit() {
  if (gemm.offsets) {
    srcOffset = extended(b, function.loc, load(arg::gemmSrcOffset), gemm.src.dataType);
    weightsOffset = extended(b, function.loc, load(arg::gemmWeightsOffset), gemm.weights.dataType);
  }
  emitResults(emitSums());
  function.finish();
}

} // namespace

void quern::emitGemm(ModuleOp module, const VerifiedProblem &problem) { GemmEmitter(module, problem).emit(); }
