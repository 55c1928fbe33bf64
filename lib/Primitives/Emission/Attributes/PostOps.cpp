//===- PostOps.cpp - Emission of post-ops in the op that stores a result --===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/Emission/Attributes/PostOps.h"

#include "Primitives/Arguments.h"
#include "Primitives/Emission/Arithmetic/Binary.h"
#include "Primitives/Emission/Arithmetic/Convert.h"
#include "Primitives/Emission/Arithmetic/Eltwise.h"
#include "Primitives/Emission/Tensors.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;

PostOps::PostOps(FunctionEmitter &function, ArrayRef<int64_t> space, FloatType compute)
    : function(function), space(space), compute(compute), dropout(function, space, compute, inputs) {
  for (auto [i, op] : llvm::enumerate(function.problem.desc.attr.postOps))
    steps.push_back(op.kind == PostOp::Kind::Binary ? makeBinary(op, i) : Step{&op});
}

int PostOps::addInput(Operand operand) {
  inputs.push_back(operand);
  return static_cast<int>(inputs.size()) - 1;
}

PostOps::Step PostOps::makeBinary(const PostOp &op, size_t position) {
  const Attributes &attr = function.problem.desc.attr;
  int32_t src1 = arg::ofPostOp(position, arg::src1);
  Step step{&op};
  step.src1 = addInput(function.tensor(src1, space));
  if (op.alg == Alg::BinarySelect)
    step.src2 = addInput(function.tensor(arg::ofPostOp(position, arg::src2), space));
  step.scale = Quantization(function, attr.scales, src1, arg::scalesOf(src1), space, compute, inputs);
  step.zeroPoint = Quantization(function, attr.zeroPoints, src1, arg::zeroPointsOf(src1), space, compute, inputs);
  return step;
}

Value PostOps::applyBinary(OpBuilder &builder, Location loc, const Step &step, Value value, ValueRange elements) const {
  auto read = [&](int input, DataType type) { return widened(builder, loc, elements[input], type, compute); };
  Value other = read(step.src1, step.op->src1.dataType);
  if (Value zeroPoint = step.zeroPoint.read(builder, loc, elements))
    other = arith::SubFOp::create(builder, loc, other, zeroPoint);
  if (Value scale = step.scale.read(builder, loc, elements))
    other = arith::MulFOp::create(builder, loc, other, scale);
  Value condition = step.src2 >= 0 ? read(step.src2, step.op->src2.dataType) : Value();
  return emitBinary(builder, loc, step.op->alg, value, other, condition);
}

/// If the sum has a type, the bits of the old element are reinterpreted as that type.
Value PostOps::applySum(OpBuilder &builder, Location loc, const PostOp &sum, Value value, Value old,
                        DataType oldType) const {
  auto constant = [&](double number) {
    return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(compute, number));
  };
  DataType type = sum.dataType == DataType::Undef ? oldType : sum.dataType;
  if (Type read = elementType(type, builder); read != old.getType())
    old = arith::BitcastOp::create(builder, loc, read, old);
  Value prior = widened(builder, loc, old, type, compute);
  if (sum.zeroPoint != 0)
    prior = arith::SubFOp::create(builder, loc, prior, constant(sum.zeroPoint));
  if (sum.scale != 1)
    prior = arith::MulFOp::create(builder, loc, prior, constant(sum.scale));
  return arith::AddFOp::create(builder, loc, value, prior);
}

Value PostOps::apply(OpBuilder &builder, Location loc, Value value, ValueRange elements, Value old,
                     DataType oldType) const {
  value = dropout.apply(builder, loc, value, elements);
  for (const Step &step : steps) {
    const PostOp &op = *step.op;
    if (op.kind == PostOp::Kind::Eltwise)
      value = emitEltwise(builder, loc, op.alg, op.alpha, op.beta, value);
    else if (op.kind == PostOp::Kind::Sum)
      value = applySum(builder, loc, op, value, old, oldType);
    else
      value = applyBinary(builder, loc, step, value, elements);
  }
  return value;
}
