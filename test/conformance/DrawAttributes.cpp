//===- DrawAttributes.cpp - Random scales and post-ops --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "DrawAttributes.h"

#include "Primitives/Arguments.h"

namespace quern {

QuantParams drawScale(Random &random) {
  QuantParams scale;
  scale.dataType = random.pick({DataType::F32, DataType::F32, DataType::BF16, DataType::F16});
  return scale;
}

int32_t drawMask(Random &random, const std::vector<bool> &isOpen) {
  int32_t mask = 0;
  int64_t kind = random.between(0, 3); // 0: none, 1: one, 2: some, 3: all
  size_t one = static_cast<size_t>(random.between(0, static_cast<int64_t>(isOpen.size()) - 1));
  for (size_t d = 0; d < isOpen.size(); ++d) {
    bool isMasked = kind == 3 || (kind == 1 && d == one) || (kind == 2 && random.oneIn(2));
    mask |= isMasked && !isOpen[d] ? 1 << d : 0;
  }
  return mask;
}

void drawModes(Random &random, Attributes &attributes) {
  attributes.fpmathMode =
      random.pick({FpmathMode::BF16, FpmathMode::F16, FpmathMode::TF32, FpmathMode::Any, FpmathMode::Strict});
  attributes.accumulationMode = random.pick({AccumulationMode::Relaxed, AccumulationMode::Any, AccumulationMode::F32});
  attributes.deterministic = random.oneIn(3);
}

PostOp drawEltwise(Random &random) {
  return drawEltwise(random, static_cast<Alg>(random.between(static_cast<int64_t>(Alg::EltwiseRelu),
                                                             static_cast<int64_t>(Alg::EltwiseHardswish))));
}

PostOp drawEltwise(Random &random, Alg alg) {
  PostOp op;
  op.kind = PostOp::Kind::Eltwise;
  op.alg = alg;
  switch (op.alg) {
  case Alg::EltwiseRelu:
    op.alpha = random.pick({0.0f, 0.5f, 1.0f, 2.0f, 0.01f, -0.25f, -3.0f});
    break;
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
  case Alg::EltwiseReluDst:
  case Alg::EltwiseEluDst:
    op.alpha = random.pick({0.5f, 0.0f, 2.0f, 0.01f});
    break;
  case Alg::EltwiseClip:
  case Alg::EltwiseClipV2:
  case Alg::EltwiseClipV2Dst:
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

namespace {

/// Draws an operand that broadcasts along any subset of the dims.
TensorDesc drawOperandOf(Random &random, const OperandShape &shape, DataType type, TensorDesc &open) {
  std::vector<int64_t> dims(shape.dims.size());
  int64_t kind = random.between(0, 3); // 0: a scalar, 1: full, else each dim is drawn
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
    // A broadcast dim looks like a dim of the tensor that is 1 in this execution, so it stays known.
    if (shape.isOpen[d] && dims[d] == shape.dims[d] && kind != 0)
      openDims[d] = runtimeDim;
  }
  open = *TensorDesc::fromTag(openDims, type, tag);
  return *TensorDesc::fromTag(dims, type, tag);
}

void drawQuantization(Random &random, const TensorDesc &open, int32_t argument, Attributes &attributes) {
  std::vector<bool> isOpen;
  for (int64_t dim : open.shape())
    isOpen.push_back(dim == runtimeDim);
  if (random.oneIn(3)) {
    attributes.scales[argument] = drawScale(random);
    attributes.scales[argument].mask = drawMask(random, isOpen);
  }
  if (!isFloating(open.dataType) && random.oneIn(3))
    attributes.zeroPoints[argument] = {drawMask(random, isOpen), DataType::S32, {}};
}

PostOp drawBinary(Random &random, const OperandShape &shape, Alg alg, int index, Attributes &open, PostOp &actual) {
  PostOp op;
  op.kind = PostOp::Kind::Binary;
  op.alg = alg;
  DataType type = random.pick({DataType::F32, DataType::F32, DataType::BF16, DataType::F16, DataType::F64, DataType::S8,
                               DataType::U8, DataType::S32, DataType::F8E5M2, DataType::F8E4M3});
  actual = op;
  actual.src1 = drawOperandOf(random, shape, type, op.src1);
  if (op.alg == Alg::BinarySelect)
    actual.src2 = drawOperandOf(random, shape, random.pick({DataType::S8, DataType::U8}), op.src2);
  drawQuantization(random, op.src1, arg::ofPostOp(static_cast<size_t>(index), arg::src1), open);
  return op;
}

} // namespace

void appendBinary(Random &random, const OperandShape &shape, AttributesDraw &drawn) {
  appendBinary(
      random, shape, drawn,
      static_cast<Alg>(random.between(static_cast<int64_t>(Alg::BinaryAdd), static_cast<int64_t>(Alg::BinarySelect))));
}

void appendBinary(Random &random, const OperandShape &shape, AttributesDraw &drawn, Alg alg) {
  PostOp actual;
  int index = static_cast<int>(drawn.open.postOps.size());
  drawn.open.postOps.push_back(drawBinary(random, shape, alg, index, drawn.open, actual));
  drawn.actualPostOps.push_back(actual);
}

void appendEltwise(Random &random, AttributesDraw &drawn) {
  drawn.open.postOps.push_back(drawEltwise(random));
  drawn.actualPostOps.push_back(drawn.open.postOps.back());
}

void appendSum(Random &random, DataType dst, AttributesDraw &drawn) {
  PostOp sum;
  sum.kind = PostOp::Kind::Sum;
  sum.scale = random.pick({1.0f, 0.5f, -1.5f, 0.1f, 3.0f, 0.0f});
  if (random.oneIn(2))
    sum.dataType = dst == DataType::S8 && random.oneIn(2)   ? DataType::U8
                   : dst == DataType::U8 && random.oneIn(2) ? DataType::S8
                                                            : dst;
  if (!isFloating(dst))
    sum.zeroPoint = random.pick({0, 0, 3, -7, 128});
  drawn.open.postOps.push_back(sum);
  drawn.actualPostOps.push_back(sum);
}

void drawDropout(Random &random, const TensorDesc &dst, Attributes &attributes) {
  if (dst.hasRuntimeDims() || !random.oneIn(8))
    return;
  attributes.dropout.seedType = random.pick({DataType::S32, DataType::S64});
  attributes.dropout.usesOffset = random.oneIn(2);
  attributes.dropout.isOnHost = random.oneIn(4);
  if (random.oneIn(3))
    return;
  const bool isAny = random.oneIn(4);
  attributes.dropout.mask =
      isAny ? *TensorDesc::fromTag(dst.shape(), DataType::U8, "any") : *TensorDesc::dense(dst.shape(), DataType::U8);
}

void appendSizes(const AttributesDraw &drawn, std::vector<int64_t> &sizes) {
  for (size_t i = 0; i < drawn.open.postOps.size(); ++i) {
    appendSizes(drawn.open.postOps[i].src1, drawn.actualPostOps[i].src1, sizes);
    appendSizes(drawn.open.postOps[i].src2, drawn.actualPostOps[i].src2, sizes);
  }
}

} // namespace quern
