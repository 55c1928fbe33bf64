//===- Differences.cpp - What oneDNN does differently ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// docs/primitives/rnn.md explains each of these, found by judging a genuine oneDNN by the reference. A difference counts as known only
// where its cause is present.
//
//===----------------------------------------------------------------------===//
#include "Rnn/Generator.h"

namespace quern::cases::rnn {

std::string knownDifference(const PeerComparison &with) {
  const RnnDesc &op = std::get<Boxed<RnnDesc>>(with.desc.op);
  const DataType src = op.srcLayer.dataType;
  bool isRef = with.implementation.starts_with("ref"), isSum = op.direction == RnnDirection::BidirectionalSum;
  if (src == DataType::S8 && isRef)
    return "without AMX states of s8 that are negative become 0";
  if (src == DataType::U8 && isSum && op.dstLayer.dataType == DataType::F32)
    return "the sum of two directions saturates as u8 before it becomes f32";
  if (src == DataType::BF16 && !isRef && !op.weightsProjection.isZero())
    return "bf16 with a projection and packed weights: other results than with plain ones";
  bool isGru = op.cell == Alg::VanillaGru || op.cell == Alg::VanillaAugru;
  if (src == DataType::BF16 && isGru && op.bias.dataType == DataType::BF16)
    return "a bf16 bias of gru or augru is misread";
  return {};
}

} // namespace quern::cases::rnn
