//===- PeerDifferences.cpp - Known differences of peers -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "PeerDifferences.h"

#include "Reference/Elements.h"

#include <algorithm>
#include <cmath>

namespace quern {

bool isRoundedOtherwise(DataType type, double ours, double theirs) {
  double difference = std::fabs(ours - theirs), largest = std::max(std::fabs(ours), std::fabs(theirs));
  if (!isFloating(type))
    return difference <= std::max(1.0, largest * 0x1p-22);
  return difference <= 2 * epsilonOf(type) * largest + 1e-6;
}

bool isOfOtherOrder(const ReferenceOutput &exact, size_t element, double theirs) {
  constexpr double few = 0x1p-22;
  const auto &results = exact.range ? exact.range : exact.ending;
  if (!results)
    return false;
  const double start = exact.beforeAttributes[element], terms = exact.magnitude.empty() ? 0 : exact.magnitude[element];
  const Interval image =
      results(static_cast<int64_t>(element), Interval::around(start, few * std::max(std::fabs(start), terms)));
  if (std::isnan(theirs) || image.isEmpty())
    return std::isnan(theirs) && image.mayBeNan;
  const auto low = static_cast<double>(image.low), high = static_cast<double>(image.high);
  return low - few * std::fabs(low) <= theirs && theirs <= high + few * std::fabs(high);
}

bool areOppositeEnds(DataType type, double ours, double theirs) {
  const double low = roundTo(type, -0x1p40), high = roundTo(type, 0x1p40), near = type == DataType::S32 ? 0x1p12 : 0;
  auto isLow = [&](double value) { return value <= low + near; };
  auto isHigh = [&](double value) { return value >= high - near; };
  return !isFloating(type) && ((isLow(ours) && isHigh(theirs)) || (isHigh(ours) && isLow(theirs)));
}

bool isRoundedTwice(DataType type, double ours, double theirs) {
  if (type != DataType::F8E4M3 && type != DataType::F8E5M2)
    return false;
  if (type == DataType::F8E4M3 && std::isnan(ours) && std::fabs(theirs) == 448)
    return true;
  const double minNormal = type == DataType::F8E4M3 ? 0x1p-6 : 0x1p-14;
  return std::fabs(ours - theirs) <= epsilonOf(type) * std::max({std::fabs(ours), std::fabs(theirs), minNormal});
}

bool isNanAtDomainEdge(const PeerComparison &with, size_t element, double ours, double theirs) {
  const std::vector<PostOp> &postOps = with.desc.attr.postOps;
  auto hasDomain = [](const PostOp &post) {
    return post.alg == Alg::EltwiseSqrt || post.alg == Alg::EltwiseLog || post.alg == Alg::EltwisePow;
  };
  // An eltwise is inaccurate itself, so its first post-op counts.
  const std::ptrdiff_t behindOther = with.desc.kind() == PrimitiveKind::Eltwise ? 0 : 1;
  if (static_cast<std::ptrdiff_t>(postOps.size()) <= behindOther ||
      std::none_of(postOps.begin() + behindOther, postOps.end(), hasDomain))
    return false;
  const bool isNanOfInteger = !isFloating(with.exact.desc.dataType) && std::isnan(with.exact.exact[element]);
  return isNanOfInteger || std::isnan(ours) != std::isnan(theirs);
}

static bool hasEltwise(const PeerComparison &with, Alg alg) {
  return std::ranges::any_of(with.desc.attr.postOps, [&](const PostOp &post) { return post.alg == alg; });
}

bool isLogisticOfNan(const PeerComparison &with, double ours, double theirs) {
  return std::isnan(ours) && !std::isnan(theirs) && with.implementation.starts_with("ref") &&
         hasEltwise(with, Alg::EltwiseLogistic);
}

bool isExpOfNan(const PeerComparison &with, double ours, double theirs) {
  return std::isnan(ours) && std::isinf(theirs) && with.implementation.starts_with("jit") &&
         hasEltwise(with, Alg::EltwiseExp);
}

bool isReluOfInfinity(const PeerComparison &with, double ours, double theirs) {
  auto isRelu = [](const PostOp &post) { return post.alg == Alg::EltwiseRelu && post.alpha == 0; };
  return std::isnan(theirs) && !std::isnan(ours) && with.implementation.starts_with("ref") &&
         std::ranges::any_of(with.desc.attr.postOps, isRelu);
}

bool hasGaps(const TensorDesc &desc) {
  TensorDesc dense = desc;
  dense.offset0 = 0;
  return dense.bytes() > (dense.paddedElements() * bitsOf(desc.dataType) + 7) / 8;
}

bool isOldPeer(std::string_view peer) { return peer.find(" 3.2.") != peer.npos; }

bool isOldPeer(const PeerComparison &with) { return isOldPeer(with.peer); }

bool isF64Misread(const PeerComparison &with) {
  const std::vector<PostOp> &postOps = with.desc.attr.postOps;
  return isOldPeer(with) && std::any_of(postOps.begin(), postOps.end(), [](const PostOp &post) {
           return post.kind == PostOp::Kind::Binary && post.src1.dataType == DataType::F64;
         });
}

Difference differenceOfConversion(DataType from, DataType to, double ours, double theirs) {
  if (isRoundedTwice(to, ours, theirs))
    return {"f8 is rounded twice, first to f16", 0.05};
  if (from == DataType::BF16 && !isFloating(to) && ours == roundTo(to, 0x1p40) && theirs == roundTo(to, -0x1p40))
    return {"bf16 values above the range of s32 become the lowest value", 0.04};
  return {};
}

} // namespace quern
