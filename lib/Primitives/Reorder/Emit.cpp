//===- Emit.cpp - Emission of a reorder as linalg -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One elementwise op over the logical dims: the layouts are in its maps, the conversion and the arithmetic are in its
// body.
//   dst = sat((s_src * (src - zp_src), post-ops) / s_dst + zp_dst)
// Each operation rounds separately to the compute type, in this order; absent attributes are not applied. Without any,
// equal types are copied bit for bit and integers saturate as integers. The padding of the destination is zeroed first,
// by a fill of the whole buffer, or afterwards; its compensation is computed last.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Primitives/Emission/Arithmetic/Convert.h"
#include "Primitives/Emission/Attributes/PostOps.h"
#include "Primitives/Emission/Padding.h"
#include "Primitives/Emission/Tensors.h"
#include "Primitives/Emitters.h"
#include "Primitives/Reorder/Emitter.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;

namespace {

FloatType computeTypeOf(const ReorderDesc &desc, Builder &builder) {
  bool wide = desc.src.dataType == DataType::F64 || desc.dst.dataType == DataType::F64;
  return wide ? builder.getF64Type() : builder.getF32Type();
}

class ReorderEmitter {
public:
  ReorderEmitter(ModuleOp module, const VerifiedProblem &problem);
  void emit();

private:
  Quantization quantization(const std::map<int32_t, QuantParams> &params, int32_t tensor, int32_t vector) {
    return Quantization(function, params, tensor, vector, space, compute, inputs);
  }
  bool hasArithmetic() const;
  bool isAdjusted() const { return (desc.dst.extras.flags & ExtraScaleAdjust) && desc.dst.extras.scaleAdjust != 1; }
  /// Adds the scales of RNN weights: one factor for all elements, or an operand. Integer sources are already quantized.
  void addWeightsScales();
  Value rnnQuantized(OpBuilder &b, Location at, Value x, ValueRange in) const;
  Value element(OpBuilder &b, Location at, ValueRange in, Value old) const;

  FunctionEmitter function;
  const ReorderDesc &desc;
  const Attributes &attr;
  FloatType compute;
  ArrayRef<int64_t> space;
  SmallVector<Operand> inputs; ///< all operands except those of post-ops
  Quantization srcZeroPoint, srcScale, dstScale, dstZeroPoint;
  reorder::RnnRole rnn;
  std::optional<float> weightsScale;
  std::optional<unsigned> weightsScales; ///< position in `inputs`
  PostOps postOps;
};

ReorderEmitter::ReorderEmitter(ModuleOp module, const VerifiedProblem &problem)
    : function(module, problem, "reorder", argumentTypesToFill(problem, module.getContext())),
      desc(std::get<ReorderDesc>(problem.desc.op)), attr(problem.desc.attr),
      compute(computeTypeOf(desc, function.builder)), space(desc.src.dims, desc.src.ndims),
      inputs{function.tensor(arg::src, space)},
      srcZeroPoint(quantization(attr.zeroPoints, arg::src, arg::zeroPointsOf(arg::src))),
      srcScale(quantization(attr.scales, arg::src, arg::scalesOf(arg::src))),
      dstScale(quantization(attr.scales, arg::dst, arg::scalesOf(arg::dst))),
      dstZeroPoint(quantization(attr.zeroPoints, arg::dst, arg::zeroPointsOf(arg::dst))),
      rnn(reorder::rnnRoleOf(desc, attr)), postOps(function, space, compute) {
  if (rnn == reorder::RnnRole::Weights && isFloating(desc.src.dataType))
    addWeightsScales();
}

void ReorderEmitter::addWeightsScales() {
  reorder::RnnWeightsScales scales = reorder::rnnWeightsScalesOf(desc, attr);
  if (scales.values.size() == 1)
    weightsScale = scales.values.front();
  if (scales.values.size() <= 1)
    return;
  AffineExpr place = function.builder.getAffineConstantExpr(0);
  for (auto [d, extent] : llvm::enumerate(space))
    if (scales.mask >> d & 1)
      place = place * extent + function.builder.getAffineDimExpr(d);
  weightsScales = inputs.size();
  inputs.push_back({function.table("reorder_scales", scales.values), AffineMap::get(space.size(), 0, place)});
}

bool ReorderEmitter::hasArithmetic() const {
  bool forRnn = rnn == reorder::RnnRole::Data || weightsScale || weightsScales;
  return srcZeroPoint || srcScale || forRnn || isAdjusted() || !postOps.empty() || dstScale || dstZeroPoint;
}

Value ReorderEmitter::rnnQuantized(OpBuilder &b, Location at, Value x, ValueRange in) const {
  auto constant = [&](double value) { return arith::ConstantOp::create(b, at, b.getFloatAttr(compute, value)); };
  if (weightsScale)
    return arith::MulFOp::create(b, at, x, constant(*weightsScale));
  if (weightsScales)
    return arith::MulFOp::create(b, at, x, widened(b, at, in[*weightsScales], DataType::F32, compute));
  if (rnn != reorder::RnnRole::Data)
    return x;
  x = arith::MulFOp::create(b, at, x, constant(attr.rnn.dataScale));
  return arith::AddFOp::create(b, at, x, constant(attr.rnn.dataShift));
}

Value ReorderEmitter::element(OpBuilder &b, Location at, ValueRange in, Value old) const {
  if (!hasArithmetic())
    return converted(b, at, in[0], desc.src.dataType, desc.dst.dataType, compute);
  Value x = widened(b, at, in[0], desc.src.dataType, compute);
  if (Value zeroPoint = srcZeroPoint.read(b, at, in))
    x = arith::SubFOp::create(b, at, x, zeroPoint);
  if (Value scale = srcScale.read(b, at, in))
    x = arith::MulFOp::create(b, at, x, scale);
  if (isAdjusted())
    x = arith::MulFOp::create(b, at, x,
                              arith::ConstantOp::create(b, at, b.getFloatAttr(compute, desc.dst.extras.scaleAdjust)));
  x = rnnQuantized(b, at, x, in);
  x = postOps.apply(b, at, x, in.drop_front(inputs.size()), old, desc.dst.dataType);
  if (Value scale = dstScale.read(b, at, in))
    x = arith::DivFOp::create(b, at, x, scale);
  if (Value zeroPoint = dstZeroPoint.read(b, at, in))
    x = arith::AddFOp::create(b, at, x, zeroPoint);
  return narrowed(b, at, x, desc.dst.dataType);
}

void ReorderEmitter::emit() {
  SmallVector<Operand> all(inputs);
  llvm::append_range(all, postOps.operands());
  function.step("y", "src converted to dst: scales, zero points, post-ops, type");
  function.elementwise(space, all, filledOutput(function, arg::dst, space),
                       [&](OpBuilder &b, Location at, ValueRange in, Value old) { return element(b, at, in, old); });
  function.finish();
}

} // namespace

void quern::emitReorder(ModuleOp module, const VerifiedProblem &problem) {
  ReorderEmitter(module, problem).emit();
  if (!fillsPadding(problem))
    emitPadding(module, problem, "reorder");
  emitReorderCompensation(module, problem);
}
