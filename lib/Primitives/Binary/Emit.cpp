//===- Emit.cpp - Emission of binary as linalg ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One elementwise op over the logical dims of dst: layouts and broadcasts are in its maps, the arithmetic is in its
// body.
//   dst = sat((s_src * src) alg (s_src_1 * src_1), post-ops)
// Each operation rounds separately to the compute type, in this order; absent scales are not applied. Problems without
// floats are computed on integers (Primitives/Integers.h). The padding of the destination is zeroed first, by a fill of
// the whole buffer, or afterwards.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Primitives/Emission/Arithmetic/Binary.h"
#include "Primitives/Emission/Arithmetic/Convert.h"
#include "Primitives/Emission/Arithmetic/Integers.h"
#include "Primitives/Emission/Attributes/PostOps.h"
#include "Primitives/Emission/Padding.h"
#include "Primitives/Emitters.h"
#include "Primitives/Integers.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;

namespace {

FloatType computeTypeOf(const BinaryDesc &desc, Builder &builder) {
  for (const TensorDesc *tensor : {&desc.src, &desc.src1, &desc.src2, &desc.dst})
    if (tensor->dataType == DataType::F64)
      return builder.getF64Type();
  return builder.getF32Type();
}

class BinaryPrimitiveEmitter {
public:
  BinaryPrimitiveEmitter(ModuleOp module, const VerifiedProblem &problem);
  void emit();

private:
  Quantization scale(int32_t argument) {
    return Quantization(function, attr.scales, argument, arg::scalesOf(argument), space, compute, inputs);
  }
  Value operand(OpBuilder &b, Location at, Value element, DataType type, const Quantization &scale,
                ValueRange in) const;
  Value element(OpBuilder &b, Location at, ValueRange in, Value old) const;

  FunctionEmitter function;
  const BinaryDesc &desc;
  const Attributes &attr;
  FloatType compute;
  bool onIntegers;
  ArrayRef<int64_t> space;
  SmallVector<Operand> inputs; ///< src, src_1, the condition of a select, scales; without the operands of post-ops
  Quantization srcScale, src1Scale;
  PostOps postOps;
};

SmallVector<Operand> tensorsOf(FunctionEmitter &function, const BinaryDesc &desc, ArrayRef<int64_t> space) {
  SmallVector<Operand> tensors{function.tensor(arg::src, space), function.tensor(arg::src1, space)};
  if (!desc.src2.isZero())
    tensors.push_back(function.tensor(arg::src2, space));
  return tensors;
}

BinaryPrimitiveEmitter::BinaryPrimitiveEmitter(ModuleOp module, const VerifiedProblem &problem)
    : function(module, problem, "binary", argumentTypesToFill(problem, module.getContext())),
      desc(std::get<BinaryDesc>(problem.desc.op)), attr(problem.desc.attr),
      compute(computeTypeOf(desc, function.builder)), onIntegers(computesOnIntegers(problem.desc)),
      space(desc.dst.dims, desc.dst.ndims), inputs(tensorsOf(function, desc, space)), srcScale(scale(arg::src)),
      src1Scale(scale(arg::src1)), postOps(function, space, compute) {}

Value BinaryPrimitiveEmitter::operand(OpBuilder &b, Location at, Value element, DataType type,
                                      const Quantization &scale, ValueRange in) const {
  Value x = widened(b, at, element, type, compute);
  if (Value factor = scale.read(b, at, in))
    x = arith::MulFOp::create(b, at, x, factor);
  return x;
}

Value BinaryPrimitiveEmitter::element(OpBuilder &b, Location at, ValueRange in, Value old) const {
  if (onIntegers)
    return emitIntegerBinary(b, at, desc.alg, {in[0], desc.src.dataType}, {in[1], desc.src1.dataType},
                             {desc.src2.isZero() ? Value() : in[2], desc.src2.dataType}, desc.dst.dataType);
  Value x = operand(b, at, in[0], desc.src.dataType, srcScale, in);
  Value y = operand(b, at, in[1], desc.src1.dataType, src1Scale, in);
  Value condition = desc.src2.isZero() ? Value() : widened(b, at, in[2], desc.src2.dataType, compute);
  Value result = emitBinary(b, at, desc.alg, x, y, condition);
  result = postOps.apply(b, at, result, in.drop_front(inputs.size()), old, desc.dst.dataType);
  return narrowed(b, at, result, desc.dst.dataType);
}

void BinaryPrimitiveEmitter::emit() {
  SmallVector<Operand> all(inputs);
  llvm::append_range(all, postOps.operands());
  function.step("y", Twine(nameOf(desc.alg)) + " of src and src1, post-ops");
  function.elementwise(space, all, filledOutput(function, arg::dst, space),
                       [&](OpBuilder &b, Location at, ValueRange in, Value old) { return element(b, at, in, old); });
  function.finish();
}

} // namespace

void quern::emitBinary(ModuleOp module, const VerifiedProblem &problem) {
  BinaryPrimitiveEmitter(module, problem).emit();
  if (!fillsPadding(problem))
    emitPadding(module, problem, "binary");
}
