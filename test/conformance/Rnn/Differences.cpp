//===- Differences.cpp - Known differences of oneDNN's RNNs ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// docs/primitives/rnn.md explains each of these, found by judging an installed oneDNN with the reference. A difference
// counts as known only if its cause is present.
//
//===----------------------------------------------------------------------===//
#include "Reference/Rnn/Run.h"
#include "Rnn/Generator.h"

namespace quern::cases::rnn {

namespace {

bool isNarrow(const TensorDesc &tensor) { return !tensor.isZero() && tensor.dataType != DataType::F32; }

} // namespace

std::optional<Difference> expectOfPeer(const PeerComparison &with, const ReferenceInputs &inputs,
                                       std::vector<ReferenceOutput> &theirs) {
  const RnnDesc &op = std::get<Boxed<RnnDesc>>(with.desc.op);
  quern::rnn::Variant variant;
  const bool isRef = with.implementation.starts_with("ref"), isLstm = op.cell == Alg::VanillaLstm;
  const bool isProjected = !op.weightsProjection.isZero(),
             hasNumbers = !isQuantized(op.srcIter.dataType) && !op.srcIter.isZero();
  variant.clampsStates = op.srcLayer.dataType == DataType::S8 && isRef && isLstm && !isProjected && !hasNumbers;
  variant.saturatesSums = variant.clampsStates && isFloating(op.dstLayer.dataType);
  variant.roundsCells = isLstm && (isNarrow(op.srcIterC) || isNarrow(op.dstIterC)) && !(isProjected && !isRef);
  if (!variant.clampsStates && !variant.roundsCells)
    return std::nullopt;
  Result<std::vector<ReferenceOutput>> made = quern::rnn::computeReference(with.desc, inputs, variant);
  if (!made)
    return std::nullopt;
  theirs = std::move(*made);
  return variant.clampsStates
             ? Difference{"without AMX, negative s8 states become 0", 0.09}
             : Difference{"c is rounded to the type of src_iter_c and dst_iter_c after each step", 0.02};
}

Difference knownDifference(const PeerComparison &with) {
  const RnnDesc &op = std::get<Boxed<RnnDesc>>(with.desc.op);
  const DataType src = op.srcLayer.dataType;
  bool isRef = with.implementation.starts_with("ref"), isSum = op.direction == RnnDirection::BidirectionalSum;
  if (src == DataType::S8 && isRef)
    return {"without AMX, negative s8 states are lost in a GRU, before a projection, and with an f32 src_iter", 0.18};
  if (src == DataType::U8 && isSum && op.dstLayer.dataType == DataType::F32)
    return {"the sum of two directions is saturated to u8 before it is converted to f32", 0.025};
  if (src == DataType::F16 && with.implementation == "ref+matmul" && !op.weightsProjection.isZero())
    return {"an f16 projection of 3.13 gives NaN", 0.05};
  if (src == DataType::BF16 && !isRef && !op.weightsProjection.isZero())
    return {"bf16 with a projection gives other results with packed weights than with plain ones", 0.02};
  if (src == DataType::BF16 && op.cell == Alg::LbrAugru && with.implementation.starts_with("brgemm"))
    return {"brgemm of a bf16 lbr_augru gives other results for some sizes", 0.005};
  bool isGru = op.cell == Alg::VanillaGru || op.cell == Alg::VanillaAugru;
  if (isNarrow(op.bias) && isGru && !isQuantized(src))
    return {"a bf16 or f16 bias of gru or augru is misread", 0.02};
  return {};
}

} // namespace quern::cases::rnn
