//===- Emit.cpp - Emission of softmax as linalg ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Emits the problem, then the zeros of its destination's padding. Intermediates are dense and have the logical
// shape, whatever the layouts of the tensors are.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Emission/Padding.h"
#include "Primitives/Emitters.h"
#include "Primitives/Softmax/Emitter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;

static FloatType computeTypeOf(const SoftmaxDesc &desc, Builder &builder) {
  bool wide = llvm::any_of(std::array{&desc.src, &desc.dst, &desc.diffSrc, &desc.diffDst},
                           [](const TensorDesc *tensor) { return tensor->dataType == DataType::F64; });
  return wide ? builder.getF64Type() : builder.getF32Type();
}

SoftmaxEmitter::SoftmaxEmitter(ModuleOp module, const VerifiedProblem &problem, int32_t shapeLike)
    : function(module, problem, "softmax", argumentTypes(problem, module.getContext())),
      desc(std::get<SoftmaxDesc>(problem.desc.op)), compute(computeTypeOf(desc, function.builder)) {
  const TensorDesc &like = function.descOf(shapeLike);
  space.assign(like.shape().begin(), like.shape().end());
  shape = function.find(shapeLike);
  SmallVector<AffineExpr> rowExprs;
  for (unsigned d = 0; d < space.size(); ++d) {
    fullDims.push_back(d);
    if (static_cast<int>(d) == desc.axis)
      continue;
    rows.push_back(space[d]);
    rowDims.push_back(d);
    rowExprs.push_back(function.builder.getAffineDimExpr(d));
  }
  rowsInSpace = AffineMap::get(space.size(), 0, rowExprs, function.builder.getContext());
  rowIdentity = function.builder.getMultiDimIdentityMap(rows.size());
}

SoftmaxEmitter::Operand SoftmaxEmitter::allocFull() {
  return {function.alloc(space, compute, shape, fullDims), function.builder.getMultiDimIdentityMap(space.size())};
}

SoftmaxEmitter::Operand SoftmaxEmitter::allocRows() {
  return {function.alloc(rows, compute, shape, rowDims), rowsInSpace};
}

void SoftmaxEmitter::elementwise(ArrayRef<Operand> inputs, Operand output, Body body) {
  function.elementwise(space, inputs, output, body);
}

SoftmaxEmitter::Operand SoftmaxEmitter::reduce(ArrayRef<Operand> inputs, Value start, Body body) {
  Operand result = allocRows();
  linalg::FillOp::create(function.builder, function.loc, start, result.memref);
  SmallVector<utils::IteratorType> kinds(space.size(), utils::IteratorType::parallel);
  kinds[desc.axis] = utils::IteratorType::reduction;
  function.generic(space, kinds, inputs, result, body);
  return result;
}

SoftmaxEmitter::Operand SoftmaxEmitter::perRow(ArrayRef<Operand> inputs, Body body) {
  Operand result = allocRows();
  SmallVector<Operand> rowInputs;
  for (const Operand &input : inputs)
    rowInputs.push_back({input.memref, rowIdentity});
  function.elementwise(rows, rowInputs, {result.memref, rowIdentity}, body);
  return result;
}

Value SoftmaxEmitter::accumulate(OpBuilder &b, Location at, Value term, Value accumulator, arith::FastMathFlags more) {
  return arith::AddFOp::create(b, at, term, accumulator, arith::FastMathFlags::reassoc | more);
}

void quern::emitSoftmax(ModuleOp module, const VerifiedProblem &problem) {
  bool forward = isForward(std::get<SoftmaxDesc>(problem.desc.op).prop);
  (forward ? emitSoftmaxForward : emitSoftmaxBackward)(module, problem);
  emitPadding(module, problem, "softmax");
}
