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

#include "Primitives/Rnn/Shape.h"

namespace quern::cases::rnn {

std::string knownDifference(const PeerComparison &with) {
  const RnnDesc &op = std::get<Boxed<RnnDesc>>(with.desc.op);
  const quern::rnn::Shape s = quern::rnn::Shape::of(op);
  const DataType src = op.srcLayer.dataType;
  bool isRef = with.implementation.starts_with("ref"), isSum = op.direction == RnnDirection::BidirectionalSum;
  if (src == DataType::S8 && isRef)
    return "without AMX states of s8 that are negative become 0";
  if (src == DataType::U8 && isSum && op.dstLayer.dataType == DataType::F32)
    return "the sum of two directions saturates as u8 before it becomes f32";
  if (src == DataType::BF16 && !isRef && s.dhc % 32 != 0 && !op.weightsProjection.isZero())
    return "a projection of bf16 reads behind the channels where DHC is no multiple of 32";
  if (src == DataType::BF16 && isRef && op.cell == Alg::VanillaGru && op.bias.dataType == DataType::BF16)
    return "a bf16 bias of a gru is misread";
  return {};
}

} // namespace quern::cases::rnn
