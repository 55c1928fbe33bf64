//===- Differences.cpp - What oneDNN does differently ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// docs/primitives/reorder.md explains each of these, found by running the same problems in both libraries. A difference counts as known
// only where its cause is present.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Primitives/Elements.h"
#include "Reorder/Generator.h"

#include <algorithm>
#include <cmath>

namespace quern::cases::reorder {
namespace {

/// Scales or zero points of an argument; null if there are none.
const QuantParams *find(const std::map<int32_t, QuantParams> &all, int32_t argument) {
  auto found = all.find(argument);
  return found == all.end() ? nullptr : &found->second;
}

bool hasMask(const QuantParams *params) { return params && params->mask != 0; }

/// Whether the dims of a mask do not follow each other.
bool isScattered(const QuantParams *params) {
  if (!params || params->mask == 0)
    return false;
  int32_t shifted = params->mask / (params->mask & -params->mask);
  return (shifted & (shifted + 1)) != 0;
}

/// Neighbours in the type, or near 0.
bool isRoundedOtherwise(DataType type, double ours, double theirs) {
  if (!isFloating(type))
    return std::fabs(ours - theirs) <= 1;
  double eps = 2 * epsilonOf(type);
  return std::fabs(ours - theirs) <= eps * std::max(std::fabs(ours), std::fabs(theirs)) + 1e-6;
}

} // namespace

std::string unsafeForPeer(const PrimitiveDesc &desc) {
  const ReorderDesc &op = std::get<ReorderDesc>(desc.op);
  if (op.src.ndims + std::max(op.src.innerBlockCount, op.dst.innerBlockCount) > maxDims)
    return "crashes where dims and inner blocks together are more than 12";
  return {};
}

std::string knownDifference(const PeerComparison &with, size_t, double ours, double theirs) {
  const ReorderDesc &op = std::get<ReorderDesc>(with.desc.op);
  const Attributes &attr = with.desc.attr;
  const QuantParams *srcScale = find(attr.scales, arg::src), *dstScale = find(attr.scales, arg::dst);
  const QuantParams *srcPoint = find(attr.zeroPoints, arg::src), *dstPoint = find(attr.zeroPoints, arg::dst);
  DataType to = op.dst.dataType;
  if (hasMask(srcPoint) || hasMask(dstPoint))
    return "zero points with a mask: only the first of them is used";
  if (isScattered(srcScale) || isScattered(dstScale))
    return "scales with a mask whose dims do not follow each other: the wrong ones are used";
  if (to == DataType::F8E4M3 && std::fabs(ours) == 448 && std::isnan(theirs))
    return "values beyond f8_e4m3 become NaN";
  if (isRoundedOtherwise(to, ours, theirs) && (srcScale || dstScale || !attr.postOps.empty() || !(attr.rnn == RnnQuantization())))
    return "rounded otherwise: scales and sum in another order, or fused";
  return {};
}

} // namespace quern::cases::reorder
