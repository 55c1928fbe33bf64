//===- PeerDifferences.cpp - What peers do differently --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// See PeerDifferences.h.
//
//===----------------------------------------------------------------------===//
#include "PeerDifferences.h"

#include "Primitives/Elements.h"

#include <algorithm>
#include <cmath>

namespace quern {

bool isRoundedOtherwise(DataType type, double ours, double theirs) {
  double difference = std::fabs(ours - theirs), largest = std::max(std::fabs(ours), std::fabs(theirs));
  if (!isFloating(type))
    return difference <= std::max(1.0, largest * 0x1p-22);
  return difference <= 2 * epsilonOf(type) * largest + 1e-6;
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

std::string differenceOfConversion(DataType from, DataType to, double ours, double theirs) {
  bool isPastTheLast = to == DataType::F8E4M3 && std::isnan(ours) && std::fabs(theirs) == 448;
  if ((to == DataType::F8E4M3 || to == DataType::F8E5M2) && (isPastTheLast || isRoundedOtherwise(to, ours, theirs)))
    return "f8 is rounded twice, by way of f16";
  if (from == DataType::BF16 && !isFloating(to) && ours == roundTo(to, 0x1p40) && theirs == roundTo(to, -0x1p40))
    return "values beyond s32 from bf16 become the lowest";
  return {};
}

} // namespace quern
