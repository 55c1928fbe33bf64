//===- Differences.cpp - Known differences of oneDNN's reorder ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// docs/primitives/reorder.md explains each of these, found by running the same problems in both libraries. A difference
// counts as known only if its cause is present.
//
//===----------------------------------------------------------------------===//
#include "PeerDifferences.h"
#include "Primitives/Arguments.h"
#include "Reorder/Generator.h"

#include <algorithm>
#include <functional>

namespace quern::cases::reorder {
namespace {

/// Returns the scales or zero points of an argument; null if there are none.
const QuantParams *find(const std::map<int32_t, QuantParams> &all, int32_t argument) {
  auto found = all.find(argument);
  return found == all.end() ? nullptr : &found->second;
}

bool hasMask(const QuantParams *params) { return params && params->mask != 0; }

/// Returns true if the dims of a mask are not consecutive.
bool isScattered(const QuantParams *params) {
  if (!params || params->mask == 0)
    return false;
  int32_t shifted = params->mask / (params->mask & -params->mask);
  return (shifted & (shifted + 1)) != 0;
}

/// Returns true if the type is not `simple` and there are no groups, or one: oneDNN does not support that.
bool isMisread(const QuantParams *params, DataType simple, const TensorDesc &tensor) {
  return params && params->dataType != simple &&
         (params->groups.empty() || arg::vectorOf(*params, tensor).dims[0] == 1);
}

/// Returns differences that follow from the problem, whatever the values are.
Difference differenceOf(const PeerComparison &with) {
  const ReorderDesc &op = std::get<ReorderDesc>(with.desc.op);
  const Attributes &attr = with.desc.attr;
  const QuantParams *srcScale = find(attr.scales, arg::src), *dstScale = find(attr.scales, arg::dst);
  const QuantParams *srcPoint = find(attr.zeroPoints, arg::src), *dstPoint = find(attr.zeroPoints, arg::dst);
  DataType to = op.dst.dataType;
  if (with.implementation.starts_with("jit_direct_copy") && (bitsOf(to) < 8 || to == DataType::E8M0))
    return {"jit_direct_copy does not write e8m0 and 4-bit types", 0.03};
  if (with.implementation.starts_with("jit_direct_copy") && hasGaps(op.dst))
    return {"jit_direct_copy omits the end of a submemory of a blocked tensor", 0.005};
  const bool isRowMajor = std::is_sorted(op.dst.strides, op.dst.strides + op.dst.ndims, std::greater<>());
  if (with.implementation.starts_with("simple") && bitsOf(to) < 8 && op.dst.isPlain() && !isRowMajor)
    return {"simple writes 4-bit types row by row even if the order of the dims is different", 0.005};
  bool hasWeightsScales = !attr.rnn.weightsScales.empty() || !attr.rnn.projectionScales.empty();
  if (with.implementation.starts_with("rnn_data_reorder") && hasWeightsScales)
    return {"rnn_data_reorder accepts weights in a plain layout, but ignores their scales", 0.005};
  bool hasSum = std::any_of(attr.postOps.begin(), attr.postOps.end(),
                            [](const PostOp &post) { return post.kind == PostOp::Kind::Sum; });
  if (bitsOf(to) < 8 && hasSum)
    return {"a sum with a 4-bit dst reads wrong old values", 0.01};
  if (isMisread(srcScale, DataType::F32, op.src) || isMisread(dstScale, DataType::F32, op.dst))
    return {"scales that are not f32, with fewer than two groups, are read as f32", 0.01};
  if (isMisread(srcPoint, DataType::S32, op.src) || isMisread(dstPoint, DataType::S32, op.dst))
    return {"zero points that are not s32, with fewer than two groups, are read as s32", 0.005};
  if (hasMask(srcPoint) || hasMask(dstPoint))
    return {"only the first of several zero points is used", 0.01};
  if (isScattered(srcScale) || isScattered(dstScale))
    return {"wrong scales are used if the dims of their mask are not adjacent", 0.025};
  const bool isDirect =
      op.src.isPlain() && op.src.samePlaces(op.dst) && op.src.dataType == DataType::F32 && to == DataType::F32;
  if (isOldPeer(with) && isDirect && dstScale && hasSum)
    return {"3.2 does not divide the sum by the scale of dst in a direct copy of f32", 0.005};
  if (isOldPeer(with) && dstPoint && hasGaps(op.dst))
    return {"3.2 ignores the zero point of a destination with gaps", 0.005};
  return {};
}

} // namespace

std::string unsafeForPeer(const PrimitiveDesc &desc, std::string_view peer) {
  const ReorderDesc &op = std::get<ReorderDesc>(desc.op);
  if (op.src.ndims + std::max(op.src.innerBlockCount, op.dst.innerBlockCount) > maxDims)
    return "crashes with more than 12 dims and inner blocks in total";
  if (isOldPeer(peer) && op.src.hasZeroDim())
    return "3.2 crashes if a dim is 0 and scales have a mask";
  return {};
}

Difference knownDifference(const PeerComparison &with, size_t element, double ours, double theirs) {
  if (Difference difference = differenceOf(with))
    return difference;
  const ReorderDesc &op = std::get<ReorderDesc>(with.desc.op);
  const Attributes &attr = with.desc.attr;
  DataType to = op.dst.dataType;
  if (Difference difference = differenceOfConversion(op.src.dataType, to, ours, theirs))
    return difference;
  bool computes = !attr.scales.empty() || !attr.zeroPoints.empty() || !attr.postOps.empty() || !attr.rnn.isIdentity();
  if (op.src.dataType == DataType::S32 && !computes && isRoundedOtherwise(to, ours, theirs))
    return {"s32 is converted through f32", 0.005};
  if (op.src.dataType == DataType::S32 && !attr.zeroPoints.empty() && areOppositeEnds(to, ours, theirs))
    return {"the subtraction of a zero point from s32 overflows", 0.01};
  if (isOfOtherOrder(with.exact, element, theirs))
    return {"rounded differently: scales and sum in another order, or fused", 0.11};
  return {};
}

} // namespace quern::cases::reorder
