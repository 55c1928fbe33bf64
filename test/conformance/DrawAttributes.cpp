//===- DrawAttributes.cpp - Random attributes of every class --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See Generator.h.
//
//===----------------------------------------------------------------------===//
#include "Generator.h"

#include "Layouts.h"

namespace quern {
namespace {

QuantParams drawScale(Random &random) {
  QuantParams scale;
  scale.dataType = random.pick({DataType::F32, DataType::F32, DataType::BF16, DataType::F16});
  return scale;
}

/// Parameters for which the function is defined on all numbers or nearly so.
PostOp drawEltwise(Random &random) {
  PostOp op;
  op.kind = PostOp::Kind::Eltwise;
  op.alg = static_cast<Alg>(random.between(static_cast<int64_t>(Alg::EltwiseRelu), static_cast<int64_t>(Alg::EltwiseHardswish)));
  switch (op.alg) {
  case Alg::EltwiseRelu:
  case Alg::EltwiseElu:
  case Alg::EltwiseSwish:
  case Alg::EltwiseSoftRelu:
  case Alg::EltwiseMish:
    op.alpha = random.pick({0.5f, 1.0f, 2.0f, 0.01f, -0.25f});
    break;
  case Alg::EltwiseLinear:
    op.alpha = random.pick({2.0f, -0.5f, 100.0f, 0.0f});
    op.beta = random.pick({0.0f, 1.5f, -3.0f});
    break;
  case Alg::EltwiseClip:
  case Alg::EltwiseClipV2:
    op.alpha = random.pick({-1.0f, 0.0f, -20.0f});
    op.beta = random.pick({0.25f, 1.0f, 6.0f});
    break;
  case Alg::EltwisePow:
    op.alpha = random.pick({1.0f, 2.0f, -0.5f});
    op.beta = random.pick({2.0f, 0.5f, 1.0f, 0.0f, 3.0f});
    break;
  case Alg::EltwiseHardsigmoid:
  case Alg::EltwiseHardswish:
    op.alpha = random.pick({0.1666667f, 0.2f, 1.0f});
    op.beta = random.pick({0.5f, 0.0f});
    break;
  default:
    break;
  }
  return op;
}

/// Any subset of the dims repeats.
TensorDesc drawOperandOf(Random &random, const OperandShape &shape, DataType type, TensorDesc &open) {
  std::vector<int64_t> dims(shape.dims.size());
  int64_t kind = random.between(0, 3); // 0: a scalar, 1: full, else each dim for itself
  bool hasOpenDim = false;
  for (size_t d = 0; d < dims.size(); ++d) {
    bool repeats = kind == 0 || (kind > 1 && random.oneIn(2));
    dims[d] = repeats ? 1 : shape.dims[d];
    hasOpenDim = hasOpenDim || (!repeats && shape.isOpen[d]);
  }
  if (!hasOpenDim)
    return open = drawOperand(random, dims, type);
  std::string tag;
  std::vector<int64_t> openDims = dims;
  for (size_t d = 0; d < dims.size(); ++d) {
    tag += static_cast<char>('a' + d);
    // A dim of 1 that repeats looks the same as one of the tensor's that is 1 in this execution, and stays as it is.
    if (shape.isOpen[d] && dims[d] == shape.dims[d] && kind != 0)
      openDims[d] = runtimeDim;
  }
  open = *TensorDesc::fromTag(openDims, type, tag);
  return *TensorDesc::fromTag(dims, type, tag);
}

void drawQuantization(Random &random, const TensorDesc &open, int32_t argument, Attributes &attributes) {
  auto drawMask = [&] {
    int32_t mask = 0;
    for (int d = 0; d < open.ndims; ++d)
      mask |= open.dims[d] != runtimeDim && random.oneIn(3) ? 1 << d : 0;
    return random.oneIn(2) ? 0 : mask;
  };
  if (random.oneIn(3)) {
    attributes.scales[argument] = drawScale(random);
    attributes.scales[argument].mask = drawMask();
  }
  bool isInteger = !isFloating(open.dataType);
  if (isInteger && random.oneIn(3))
    attributes.zeroPoints[argument] = {drawMask(), DataType::S32, {}};
}

PostOp drawBinary(Random &random, const OperandShape &shape, int index, Attributes &open, PostOp &actual) {
  PostOp op;
  op.kind = PostOp::Kind::Binary;
  op.alg = static_cast<Alg>(random.between(static_cast<int64_t>(Alg::BinaryAdd), static_cast<int64_t>(Alg::BinarySelect)));
  DataType type = random.pick({DataType::F32, DataType::F32, DataType::BF16, DataType::F16, DataType::F64, DataType::S8, DataType::U8,
                               DataType::S32, DataType::F8E5M2, DataType::F8E4M3});
  actual = op;
  actual.src1 = drawOperandOf(random, shape, type, op.src1);
  if (op.alg == Alg::BinarySelect)
    actual.src2 = drawOperandOf(random, shape, random.pick({DataType::S8, DataType::U8}), op.src2);
  drawQuantization(random, op.src1, QUERN_ARG_ATTR_MULTIPLE_POST_OP(index) | QUERN_ARG_SRC_1, open);
  return op;
}

int64_t drawPostOpCount(Random &random, AttributeClass attribute) {
  if (attribute != AttributeClass::Mixed)
    return random.between(1, 3);
  return random.oneIn(8) ? static_cast<int64_t>(maxPostOps) : random.oneIn(4) ? random.between(5, 31) : random.between(2, 4);
}

} // namespace

AttributesDraw drawAttributes(Random &random, AttributeClass attribute, const OperandShape &shape) {
  AttributesDraw drawn;
  Attributes &open = drawn.open;
  bool isMixed = attribute == AttributeClass::Mixed;
  if (attribute == AttributeClass::Modes || (isMixed && random.oneIn(2))) {
    open.fpmathMode = random.pick({FpmathMode::BF16, FpmathMode::F16, FpmathMode::TF32, FpmathMode::Any, FpmathMode::Strict});
    open.accumulationMode = random.pick({AccumulationMode::Relaxed, AccumulationMode::Any, AccumulationMode::F32});
    open.deterministic = random.oneIn(3);
  }
  if (attribute == AttributeClass::Scratchpad || (isMixed && random.oneIn(4)))
    open.scratchpadMode = ScratchpadMode::User;
  if (attribute == AttributeClass::Scales || isMixed) {
    int64_t which = random.between(isMixed ? 0 : 1, 3);
    if (which & 1)
      open.scales[QUERN_ARG_SRC] = drawScale(random);
    if (which & 2)
      open.scales[QUERN_ARG_DST] = drawScale(random);
  }
  drawn.actualPostOps = {};
  bool isEltwise = attribute == AttributeClass::Eltwise, isBinary = attribute == AttributeClass::Binary;
  if (isEltwise || isBinary || isMixed)
    for (int64_t i = 0, count = drawPostOpCount(random, attribute); i < count; ++i) {
      PostOp actual;
      if (isEltwise || (isMixed && random.oneIn(2)))
        open.postOps.push_back(actual = drawEltwise(random));
      else
        open.postOps.push_back(drawBinary(random, shape, static_cast<int>(i), open, actual));
      drawn.actualPostOps.push_back(actual);
    }
  return drawn;
}

} // namespace quern
