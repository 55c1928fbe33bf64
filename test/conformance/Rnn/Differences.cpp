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

Difference knownDifference(const PeerComparison &with) {
  const RnnDesc &op = std::get<Boxed<RnnDesc>>(with.desc.op);
  const DataType src = op.srcLayer.dataType;
  bool isRef = with.implementation.starts_with("ref"), isSum = op.direction == RnnDirection::BidirectionalSum;
  if (src == DataType::S8 && isRef)
    return {"without AMX states of s8 that are negative become 0", 0.26};
  if (src == DataType::U8 && isSum && op.dstLayer.dataType == DataType::F32)
    return {"the sum of two directions saturates as u8 before it becomes f32", 0.025};
  auto isNarrow = [](const TensorDesc &cells) { return !cells.isZero() && cells.dataType != DataType::F32; };
  const bool hasNarrowCells = isNarrow(op.srcIterC) || isNarrow(op.dstIterC);
  if (op.cell == Alg::VanillaLstm && hasNarrowCells && op.srcLayer.dims[0] > 1)
    return {"c is rounded to the type of src_iter_c and dst_iter_c after each step", 0.02};
  if (src == DataType::F16 && with.implementation == "ref+matmul" && !op.weightsProjection.isZero())
    return {"3.13 makes NaN of a projection of f16", 0.05};
  if (src == DataType::BF16 && !isRef && !op.weightsProjection.isZero())
    return {"bf16 with a projection and packed weights: other results than with plain ones", 0.02};
  bool isGru = op.cell == Alg::VanillaGru || op.cell == Alg::VanillaAugru;
  if (isNarrow(op.bias) && isGru && !isQuantized(src))
    return {"a bf16 or f16 bias of gru or augru is misread", 0.02};
  return {};
}

} // namespace quern::cases::rnn
