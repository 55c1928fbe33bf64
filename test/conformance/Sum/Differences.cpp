//===- Differences.cpp - Known differences of oneDNN's sum ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// docs/primitives/sum.md explains each of these, found by running the same problems in both libraries. A difference
// counts as known only if its cause is present.
//
//===----------------------------------------------------------------------===//
#include "PeerDifferences.h"
#include "Reference/Elements.h"
#include "SourceCases.h"

#include <algorithm>
#include <cmath>

namespace quern::cases::sum {
namespace {

/// Returns true if the tensor ends within a block, like a sub-memory.
bool endsWithinBlock(const TensorDesc &desc) {
  int64_t blocks[maxDims];
  desc.blockSizes(blocks);
  for (int d = 0; d < desc.ndims; ++d)
    if (desc.paddedDims[d] % blocks[d] != 0)
      return true;
  return false;
}

} // namespace

std::string unsafeForPeer(const SumDesc &op, std::string_view peer) {
  const bool isUneven = op.dst.hasPadding() || hasGaps(op.dst) || endsWithinBlock(op.dst);
  if (!isOldPeer(peer) && op.dst.dataType != DataType::F32 && op.dst.innerBlockCount > 0 && isUneven)
    return "3.13 writes outside of a blocked dst with padding or gaps that is not f32, or omits its end";
  return {};
}

Difference knownDifference(const PeerComparison &with, size_t element, double ours, double theirs) {
  const SumDesc &op = std::get<SumDesc>(with.desc.op);
  const DataType to = op.dst.dataType;
  for (const TensorDesc &src : op.srcs)
    if (Difference difference = differenceOfConversion(src.dataType, to, ours, theirs))
      return difference;
  const double largest = std::max(std::fabs(ours), std::fabs(theirs));
  const double ofTerms = 8 * epsilonOf(DataType::F32) * with.exact.magnitude[element];
  if (std::fabs(ours - theirs) <= ofTerms + (isFloating(to) ? 2 * epsilonOf(to) * largest : 1))
    return {"rounded differently: fused, or with an intermediate in dst", 0.005};
  if (to == DataType::E8M0 && std::isnan(theirs)) // the old value
    return {"its reorder does not write e8m0", 0.005};
  if (std::fabs(ours) < 0x1p-126 && theirs == 0)
    return {"a subnormal result becomes 0", 0.005};
  if (std::any_of(op.srcs.begin(), op.srcs.end(),
                  [](const TensorDesc &src) { return src.isPlain() && src.hasPadding(); }))
    return {"3.13 reads a plain source with padding from other places", 0.005};
  return {};
}

} // namespace quern::cases::sum
