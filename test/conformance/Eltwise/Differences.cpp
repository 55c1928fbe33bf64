//===- Differences.cpp - Known differences of oneDNN's eltwise ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// docs/primitives/eltwise.md explains each of these, found by running the same problems in both libraries. A difference
// counts as known only if its cause is present.
//
//===----------------------------------------------------------------------===//
#include "Eltwise/Generator.h"
#include "PeerDifferences.h"
#include "Reference/Elements.h"

#include <algorithm>
#include <cmath>

namespace quern::cases::eltwise {

std::string unsafeForPeer(const PrimitiveDesc &desc, std::string_view) {
  const EltwiseDesc &op = std::get<EltwiseDesc>(desc.op);
  const bool forward = isForward(op.prop);
  const TensorDesc &out = forward ? op.dst : op.diffSrc, &in = forward ? op.src : op.diffDst;
  const TensorDesc &data = forward ? op.src : usesDst(op.alg) ? op.dst : op.src;
  const bool isDense = !hasGaps(out) && !out.hasPadding() && in.samePlaces(out) && data.samePlaces(out);
  if (out.ndims > 5 && (!isDense || !desc.attr.postOps.empty()))
    return "accesses wrong places with more than 5 dims and post-ops, or if the layouts are not dense and equal";
  return {};
}

Difference knownDifference(const PeerComparison &with, size_t element, double ours, double theirs) {
  const std::vector<PostOp> &postOps = with.desc.attr.postOps;
  auto isClip = [](const PostOp &post) { return post.alg == Alg::EltwiseClip || post.alg == Alg::EltwiseClipV2; };
  if (std::isnan(ours) && std::any_of(postOps.begin(), postOps.end(), isClip))
    return {"a following clip changes NaN to one of its limits", 0.005};
  const DataType to = with.exact.desc.dataType;
  if (!isFloating(to) && ours == 0 && std::isnan(with.exact.exact[element]) && theirs == roundTo(to, -0x1p40))
    return {"NaN becomes the lowest integer", 0.005};
  if (isNanAtDomainEdge(with, element, ours, theirs))
    return {"the argument of sqrt, log or pow is 0 or has the opposite sign, because the post-op before is less exact",
            0.005};
  if (isRoundedTwice(with.exact.desc.dataType, ours, theirs))
    return {"f8 is rounded twice, first to f16", 0.015};
  if (isF64Misread(with))
    return {"3.2 accepts f64 in a post-op, but misreads it", 0.005};
  return {};
}

} // namespace quern::cases::eltwise
