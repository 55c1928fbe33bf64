//===- Emit.cpp - Emission of eltwise as linalg ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One elementwise op over the logical dims: forward is dst = post-ops(f(src)), backward diff_src = diff_dst · f'(src),
// or f' in terms of dst. Problems without floats are computed on integers (Primitives/Integers.h). The padding of the
// output is zeroed before or after the op, which does not write it, because f(0) need not be 0.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Primitives/Emission/Arithmetic/Convert.h"
#include "Primitives/Emission/Arithmetic/Eltwise.h"
#include "Primitives/Emission/Arithmetic/EltwiseDerivative.h"
#include "Primitives/Emission/Arithmetic/Integers.h"
#include "Primitives/Emission/Attributes/PostOps.h"
#include "Primitives/Emission/Padding.h"
#include "Primitives/Emitters.h"
#include "Primitives/Integers.h"

using namespace mlir;
using namespace quern;
using namespace quern::emission;

namespace {

FloatType computeTypeOf(const EltwiseDesc &desc, Builder &builder) {
  bool wide = llvm::any_of(std::array{&desc.src, &desc.dst, &desc.diffSrc, &desc.diffDst},
                           [](const TensorDesc *tensor) { return tensor->dataType == DataType::F64; });
  return wide ? builder.getF64Type() : builder.getF32Type();
}

class EltwiseEmitter {
public:
  EltwiseEmitter(ModuleOp module, const VerifiedProblem &problem)
      : function(module, problem, "eltwise", argumentTypesToFill(problem, module.getContext())),
        desc(std::get<EltwiseDesc>(problem.desc.op)), compute(computeTypeOf(desc, function.builder)),
        onIntegers(computesOnIntegers(problem.desc)) {}
  void emitForward();
  void emitBackward();

private:
  void elementwise(ArrayRef<int64_t> space, ArrayRef<Operand> inputs, Body body) {
    function.step("y",
                  Twine(nameOf(desc.alg)) + (isForward(desc.prop) ? ", post-ops" : ": its derivative times diff_dst"));
    function.elementwise(space, inputs, filledOutput(function, isForward(desc.prop) ? arg::dst : arg::diffSrc, space),
                         body);
    function.finish();
  }

  FunctionEmitter function;
  const EltwiseDesc &desc;
  FloatType compute;
  bool onIntegers;
};

void EltwiseEmitter::emitForward() {
  ArrayRef<int64_t> space(desc.src.dims, desc.src.ndims);
  PostOps postOps(function, space, compute);
  SmallVector<Operand> inputs{function.tensor(arg::src, space)};
  llvm::append_range(inputs, postOps.operands());
  elementwise(space, inputs, [&](OpBuilder &b, Location at, ValueRange in, Value) {
    if (onIntegers)
      return emitIntegerEltwise(b, at, desc.alg, desc.alpha, desc.beta, {in[0], desc.src.dataType}, desc.dst.dataType);
    Value x = widened(b, at, in[0], desc.src.dataType, compute);
    Value y = quern::emitEltwise(b, at, desc.alg, desc.alpha, desc.beta, x);
    return narrowed(b, at, postOps.apply(b, at, y, in.drop_front()), desc.dst.dataType);
  });
}

void EltwiseEmitter::emitBackward() {
  const TensorDesc &data = usesDst(desc.alg) ? desc.dst : desc.src;
  ArrayRef<int64_t> space(data.dims, data.ndims);
  Operand inputs[] = {function.tensor(usesDst(desc.alg) ? arg::dst : arg::src, space),
                      function.tensor(arg::diffDst, space)};
  elementwise(space, inputs, [&](OpBuilder &b, Location at, ValueRange in, Value) {
    Value x = widened(b, at, in[0], data.dataType, compute),
          gradient = widened(b, at, in[1], desc.diffDst.dataType, compute);
    return narrowed(b, at, emitEltwiseBackward(b, at, desc.alg, desc.alpha, desc.beta, x, gradient),
                    desc.diffSrc.dataType);
  });
}

} // namespace

void quern::emitEltwise(ModuleOp module, const VerifiedProblem &problem) {
  EltwiseEmitter emitter(module, problem);
  isForward(std::get<EltwiseDesc>(problem.desc.op).prop) ? emitter.emitForward() : emitter.emitBackward();
  if (!fillsPadding(problem))
    emitPadding(module, problem, "eltwise");
}
