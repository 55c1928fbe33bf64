//===- DrawLine.cpp - Random lines of problems ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "DrawLine.h"

#include "Cases.h"
#include "DamageLine.h"
#include "DrawAttributes.h"
#include "Families.h"

#include <algorithm>
#include <limits>

namespace quern::fuzz {
namespace {

constexpr double maxElements = 4096;

DataType drawType(Random &random) {
  using enum DataType;
  return random.oneIn(2) ? random.pick({F32, F32, BF16, F16, F64, F8E5M2, F8E4M3})
                         : random.pick({S32, S8, U8, S8, U8, S32, S4, U4, E8M0, F4E2M1, Boolean});
}

/// Draws a type that most primitives support. Some problems have only integers, which are computed exactly.
DataType drawUsualType(Random &random, bool isInteger = false) {
  using enum DataType;
  if (isInteger)
    return random.pick({S32, S32, S8, U8});
  return random.oneIn(12) ? drawType(random) : random.pick({F32, F32, F32, BF16, F16, F64, S32, S8, U8, F8E4M3});
}

/// Draws sizes around the widths of vectors, several vectors and a remainder in one dim, and dims of 0 and 1.
Dims drawDims(Random &random) {
  Dims dims = drawShape(random, 1, random.oneIn(8) ? 12 : 4, random.pick({64.0, 512.0, maxElements}));
  if (random.oneIn(3)) {
    dims = drawShape(random, 1, 3, 16);
    dims[random.oneIn(2) ? dims.size() - 1 : static_cast<size_t>(drawDim(random, dims))] = random.between(1, 300);
  }
  if (random.oneIn(24))
    dims[static_cast<size_t>(drawDim(random, dims))] = 0;
  return dims;
}

/// Draws any layout, often a padded one.
TensorDesc drawTensor(Random &random, const Dims &dims, DataType type, bool isWritten) {
  using enum LayoutFamily;
  if (isWritten && random.oneIn(20))
    return legalLayout(TensorDesc::fromTag(dims, type, "any"));
  if (!isWritten && random.oneIn(12))
    return drawPlain(random, dims, type, {random.oneIn(3), false, true});
  if (isWritten && random.oneIn(4)) // vectors along a dim that ends within a block
    return drawBlocked(random, dims, type,
                       {{static_cast<int>(dims.size()) - 1, random.pick<int64_t>({8, 16, 16, 32, 64})}});
  if (!isWritten && random.oneIn(3))
    return drawPlain(random, dims, type, {});
  const LayoutFamily family =
      random.oneIn(3) ? Padded : random.pick({Plain, Permuted, Gapped, Submemory, Blocked, Blocks, Nested, Padded});
  return drawSide(random, family, dims, type, isWritten);
}

/// Makes any subset of the dims broadcast.
Dims drawRepeated(Random &random, Dims dims) {
  for (int64_t &dim : dims)
    dim = random.oneIn(3) ? 1 : dim;
  return dims;
}

PostOp drawFunction(Random &random) {
  return random.oneIn(3) ? drawEltwise(random, Alg::EltwiseLinear) : drawEltwise(random);
}

/// Sometimes draws a parameter that users do not pass, and returns true; results are then compared only between
/// placements.
bool drawUnusualNumbers(Random &random, float &alpha, float &beta) {
  if (!random.oneIn(16))
    return false;
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  (random.oneIn(2) ? alpha : beta) = random.pick({infinity, -infinity, nan, 1e38F, -0.0F, 1e-40F});
  return true;
}

Attributes drawAttributes(Random &random, const Dims &dims, DataType dst, const std::vector<int32_t> &quantized) {
  AttributesDraw drawn;
  const OperandShape shape{dims, std::vector<bool>(dims.size(), false)};
  if (random.oneIn(2))
    return drawn.open;
  if (random.oneIn(6))
    drawModes(random, drawn.open);
  if (random.oneIn(6))
    drawn.open.scratchpadMode = ScratchpadMode::User;
  for (int32_t argument : quantized)
    if (random.oneIn(4)) {
      drawn.open.scales[argument] = drawScale(random);
      drawn.open.scales[argument].mask = drawMask(random, shape.isOpen);
      if (random.oneIn(3))
        drawn.open.zeroPoints[argument] = {drawMask(random, shape.isOpen), DataType::S32, {}};
    }
  for (int64_t left = random.pick({0, 1, 1, 1, 2, 3, random.oneIn(8) ? 8 : 1}); left > 0; --left)
    switch (random.between(0, 4)) {
    case 0:
      appendBinary(random, shape, drawn);
      break;
    case 1:
      appendSum(random, dst, drawn);
      break;
    default:
      drawn.open.postOps.push_back(drawFunction(random));
    }
  if (random.oneIn(40))
    drawn.open.postOps.push_back({.kind = PostOp::Kind::Prelu, .mask = drawMask(random, shape.isOpen)});
  return drawn.open;
}

PrimitiveDesc drawEltwiseProblem(Random &random, bool &hasUsualNumbers) {
  const Dims dims = drawDims(random);
  EltwiseDesc op;
  const bool isInteger = random.oneIn(5);
  const DataType from = drawUsualType(random, isInteger);
  const DataType to = random.oneIn(2) ? from : drawUsualType(random, isInteger);
  if (!isInteger && random.oneIn(5)) {
    op.prop = PropKind::BackwardData;
    op.alg = random.oneIn(4)
                 ? static_cast<Alg>(random.between(int64_t(Alg::EltwiseReluDst), int64_t(Alg::EltwiseClipV2Dst)))
                 : drawFunction(random).alg;
    (usesDst(op.alg) ? op.dst : op.src) = drawTensor(random, dims, from, false);
    op.diffDst = drawTensor(random, dims, random.oneIn(2) ? from : to, false);
    op.diffSrc = drawTensor(random, dims, to, true);
  } else {
    op.prop = random.pick({PropKind::ForwardInference, PropKind::ForwardTraining});
    op.alg = drawFunction(random).alg;
    op.src = drawTensor(random, dims, from, false);
    op.dst = drawTensor(random, dims, to, true);
  }
  const PostOp parameters = drawEltwise(random, op.alg);
  op.alpha = parameters.alpha, op.beta = parameters.beta;
  hasUsualNumbers = !drawUnusualNumbers(random, op.alpha, op.beta);
  return {op, isForward(op.prop) ? drawAttributes(random, dims, to, {}) : Attributes()};
}

PrimitiveDesc drawReorderProblem(Random &random) {
  const Dims dims = drawDims(random);
  const DataType to = drawType(random);
  ReorderDesc op;
  op.src = drawTensor(random, dims, random.oneIn(3) ? to : drawType(random), false);
  op.dst = drawTensor(random, dims, to, true);
  if (op.dst.isAny())
    op.dst = legalLayout(TensorDesc::dense(dims, to));
  return {op, drawAttributes(random, dims, to, {arg::src, arg::dst})};
}

PrimitiveDesc drawBinaryProblem(Random &random) {
  const Dims dims = drawDims(random);
  BinaryDesc op;
  op.alg = static_cast<Alg>(random.between(int64_t(Alg::BinaryAdd), int64_t(Alg::BinarySelect)));
  const bool isInteger = random.oneIn(4);
  const DataType from = drawUsualType(random, isInteger);
  const DataType to = random.oneIn(2) ? from : drawUsualType(random, isInteger);
  op.src = drawTensor(random, dims, from, false);
  op.src1 = drawTensor(random, random.oneIn(2) ? dims : drawRepeated(random, dims),
                       random.oneIn(2) ? from : drawUsualType(random, isInteger), false);
  if (op.alg == Alg::BinarySelect)
    op.src2 = drawTensor(random, drawRepeated(random, dims), random.pick({DataType::S8, DataType::U8}), false);
  op.dst = drawTensor(random, dims, to, true);
  return {op, drawAttributes(random, dims, to, {arg::src, arg::src1, arg::dst})};
}

PrimitiveDesc drawSumProblem(Random &random) {
  const Dims dims = drawDims(random);
  SumDesc op;
  const bool isInteger = random.oneIn(3);
  for (int64_t left = random.between(1, 5); left > 0; --left) {
    op.scales.push_back(isInteger ? random.pick({1.0F, -2.0F, 3.0F}) : random.pick({1.0F, 0.5F, -2.0F, 0.0F}));
    op.srcs.push_back(drawTensor(random, dims, drawUsualType(random, isInteger), false));
  }
  const DataType to = drawUsualType(random, isInteger);
  op.dst = drawTensor(random, dims, to, true);
  return {op, drawAttributes(random, dims, to, {})};
}

PrimitiveDesc drawConcatProblem(Random &random) {
  Dims dims = drawDims(random);
  ConcatDesc op;
  op.axis = drawDim(random, dims);
  int64_t &along = dims[static_cast<size_t>(op.axis)], sum = 0;
  const DataType to = drawUsualType(random);
  for (int64_t left = random.between(1, 5); left > 0; --left) {
    sum += along = random.pick<int64_t>({0, 1, 3, 5, 16, 17, random.between(1, 40)});
    op.srcs.push_back(drawTensor(random, dims, random.oneIn(2) ? to : drawUsualType(random), false));
  }
  along = sum;
  op.dst = drawTensor(random, dims, to, true);
  return {op, drawAttributes(random, dims, to, {})};
}

PrimitiveDesc drawSoftmaxProblem(Random &random) {
  const Dims dims = drawDims(random);
  SoftmaxDesc op;
  op.axis = drawDim(random, dims);
  op.alg = static_cast<Alg>(random.between(int64_t(Alg::SoftmaxAccurate), int64_t(Alg::SoftmaxAccurateInfAsZero)));
  const DataType from = drawUsualType(random), to = random.oneIn(2) ? from : drawUsualType(random);
  op.dst = drawTensor(random, dims, to, true);
  if (random.oneIn(4)) {
    op.prop = PropKind::BackwardData;
    op.dst = drawTensor(random, dims, from, false);
    op.diffDst = drawTensor(random, dims, random.oneIn(2) ? from : to, false);
    op.diffSrc = drawTensor(random, dims, to, true);
    return {op, {}};
  }
  op.prop = random.pick({PropKind::ForwardInference, PropKind::ForwardTraining});
  op.src = drawTensor(random, dims, from, false);
  return {op, drawAttributes(random, dims, to, {arg::src, arg::dst})};
}

DrawnLine drawIndependent(Random &random) {
  DrawnLine drawn;
  switch (random.between(0, 15)) {
  case 0:
  case 1:
  case 2:
  case 3:
    drawn.line = drawEltwiseProblem(random, drawn.hasUsualNumbers).text();
    break;
  case 4:
  case 5:
  case 6:
  case 7:
    drawn.line = drawReorderProblem(random).text();
    break;
  case 8:
  case 9:
  case 10:
    drawn.line = drawBinaryProblem(random).text();
    break;
  case 11:
  case 12:
    drawn.line = drawSumProblem(random).text();
    break;
  case 13:
    drawn.line = drawConcatProblem(random).text();
    break;
  default:
    drawn.line = drawSoftmaxProblem(random).text();
  }
  return drawn;
}

/// Draws a valid problem of any primitive, except reorders of all tags, which have large tensors.
DrawnLine drawOfSets(Random &random, const Target &target) {
  std::vector<std::unique_ptr<PrimitiveCases>> sets;
  for (const CaseSet &set : caseSets)
    if (set.name != "reorder-tags")
      sets.push_back(set.make());
  PrimitiveCases &cases = *sets[static_cast<size_t>(random.between(0, static_cast<int64_t>(sets.size()) - 1))];
  cases.target = target;
  const Case drawn = cases.draw(random.bits() % 1000, random.between(0, 100000));
  return {drawn.desc.text(), drawn.sizes};
}

} // namespace

DrawnLine drawLine(Random &random, const Target &target) {
  const int64_t kind = random.between(0, 9);
  DrawnLine drawn = kind < 8 && kind != 1 ? drawIndependent(random) : drawOfSets(random, target);
  if (kind > 1 && kind < 7)
    return drawn;
  if (random.oneIn(2)) // the same sizes in all tensors
    drawn = {withSmallDims(random, drawn.line), {random.between(1, 20)}, false};
  if (kind < 2 || random.oneIn(2))
    drawn = {damaged(random, drawn.line, drawIndependent(random).line), {random.between(1, 20)}, false};
  return drawn;
}

} // namespace quern::fuzz
