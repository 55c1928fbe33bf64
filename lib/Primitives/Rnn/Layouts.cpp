//===- Layouts.cpp - Layouts that an RNN chooses for `any` ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The width of a panel follows from the tile that a kernel keeps in registers: two column vectors with AVX2, four
// otherwise, divided among the gates of a kernel. A device gets the panels for 16 lanes, the width of a sub-group.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Layouts.h"

#include "Primitives/Rnn/Shape.h"
#include "Support/CheckedMath.h"

#include <algorithm>

namespace quern::rnn {
namespace {

bool mayRound(FpmathMode fpmath) { return fpmath == FpmathMode::BF16 || fpmath == FpmathMode::Any; }

/// Returns the number of input channels that one instruction multiplies and adds.
int64_t kPackOf(DataType weights, FpmathMode fpmath, const Target &target) {
  switch (weights) {
  case DataType::S8:
    return target.hasPatchDots() ? 8 : 4; // without dot instructions they are widened and multiplied in pairs
  case DataType::BF16:
    return target.hasPatchDots() ? 4 : target.hasPairDots() ? 2 : 1;
  case DataType::F32: // rounded to bf16
    return target.hasPairDots() && mayRound(fpmath) ? 2 : 1;
  default:
    return 1;
  }
}

/// Returns the number of gates that a kernel accumulates together: the update and reset gates of a GRU whose output
/// gate follows separately, otherwise all gates.
int64_t gatesTogether(const RnnDesc &rnn) {
  int64_t gates = gatesOf(rnn.cell);
  return hasResetFirst(rnn) ? gates - 1 : gates;
}

Result<TensorDesc> packed(const TensorDesc &weights, std::string_view outer, const Packing &packing, int32_t sumMask) {
  constexpr char input = 'c';
  const char output = weights.ndims == 5 ? 'e' : 'd';
  std::string tag(outer);
  if (packing.kPack > 1)
    std::replace(tag.begin(), tag.end(), input, static_cast<char>(input - 'a' + 'A'));
  tag += std::to_string(packing.block) + output;
  if (packing.kPack > 1)
    tag += std::to_string(packing.kPack) + input;
  Result<TensorDesc> desc = TensorDesc::fromTag(weights.shape(), weights.dataType, tag);
  if (desc && weights.dataType == DataType::S8) {
    desc->extras.flags = ExtraRnnU8S8;
    desc->extras.compensationMask = sumMask;
  }
  return desc;
}

struct Choice {
  const char *name;
  TensorDesc &tensor;
  const char *tag;
};

} // namespace

/// Returns the maximum number of vectors per panel if a kernel accumulates `gates` gates.
static int64_t maxVectorsOf(int64_t gates, const Target &target) {
  const int64_t columns = target.isa == CpuIsa::Avx2 ? 2 : 4;
  return std::max<int64_t>(columns / gates, 1);
}

Packing packingOf(DataType weights, int64_t gates, int64_t channels, FpmathMode fpmath, const Target &target) {
  int64_t lanes = target.lanes32(), vectors = maxVectorsOf(gates, target);
  int64_t needed = std::max<int64_t>((channels + lanes - 1) / lanes, 1);
  auto padding = [&] { return (needed + vectors - 1) / vectors * vectors - needed; };
  while (vectors > 1 && padding() * 24 >= needed) // a 24th of the time would be spent on padding
    vectors /= 2;
  return {vectors * lanes, kPackOf(weights, fpmath, target)};
}

/// Each gate has separate panels, because steps may read some gates before the others, and a hardware prefetcher then
/// loads the data that is read next.
Result<TensorDesc> packedWeights(const RnnDesc &rnn, const TensorDesc &weights, FpmathMode fpmath,
                                 const Target &target) {
  const int64_t together = gatesTogether(rnn);
  return packed(weights, "abdEc", packingOf(weights.dataType, together, weights.dims[4], fpmath, target),
                weightsSumMask);
}

bool arePackedOfSomeWidth(const RnnDesc &rnn, const TensorDesc &weights, const Target &target) {
  const int64_t kPack = kPackOf(weights.dataType, FpmathMode::Strict, target);
  for (int64_t vectors = maxVectorsOf(gatesTogether(rnn), target); vectors; vectors /= 2) {
    Result<TensorDesc> one = packed(weights, "abdEc", {vectors * target.lanes32(), kPack}, weightsSumMask);
    if (one && weights.sameLayout(*one))
      return true;
  }
  return false;
}

Result<TensorDesc> packedProjection(const TensorDesc &weights, FpmathMode fpmath, const Target &target) {
  return packed(weights, "abDc", packingOf(weights.dataType, 1, weights.dims[3], fpmath, target), projectionSumMask);
}

Result<TensorDesc> packedTransposed(const TensorDesc &weights, FpmathMode fpmath, const Target &target) {
  const Packing packing = packingOf(weights.dataType, 1, weights.dims[2], fpmath, target);
  const char k = weights.ndims == 5 ? 'e' : 'd';
  std::string tag = weights.ndims == 5 ? "abCde" : "abCd";
  if (packing.kPack > 1)
    tag.back() = static_cast<char>(k - 'a' + 'A');
  tag += std::to_string(packing.block) + 'c';
  if (packing.kPack > 1)
    tag += std::to_string(packing.kPack) + k;
  return TensorDesc::fromTag(weights.shape(), weights.dataType, tag);
}

bool areReadTransposedInPlace(const RnnDesc &rnn, const TensorDesc &weights, FpmathMode fpmath, const Target &target) {
  constexpr int input = 2;
  return !weights.isPlain() || (weights.dataType == DataType::F32 && !arePairsRounded(rnn, fpmath, target) &&
                                weights.strides[input] == 1 && weights.dims[input] > 1);
}

bool areReadInPlace(const RnnDesc &rnn, const TensorDesc &weights, bool isOfLayer, FpmathMode fpmath,
                    const Target &target) {
  if (!weights.isPlain())
    return true;
  const int output = weights.ndims - 1;
  // A single column is not vectorized.
  const bool hasContiguousColumns = weights.strides[output] == 1 && weights.dims[output] > 1;
  constexpr int64_t fewSteps = 16; // too few to pay for packing, for one sequence
  // Rows of the product of all steps' inputs, which reads each part of the weights once for all rows.
  constexpr int64_t fewRows = 64;
  const int64_t steps = rnn.srcLayer.dims[0], batch = rnn.srcLayer.dims[1];
  const bool isReadOnce = isOfLayer && mergesInputs(rnn) && steps * batch <= fewRows;
  const bool fewReads = isReadOnce || steps == 1 || (batch == 1 && steps != runtimeDim && steps < fewSteps);
  return weights.dataType == DataType::F32 && !arePairsRounded(rnn, fpmath, target) && hasContiguousColumns && fewReads;
}

bool arePairsRounded(const RnnDesc &rnn, FpmathMode fpmath, const Target &target) {
  return rnn.weightsLayer.dataType == DataType::F32 && kPackOf(DataType::F32, fpmath, target) > 1;
}

bool areWeightsRounded(const RnnDesc &rnn, FpmathMode fpmath, const Target &target) {
  constexpr int64_t manySteps = 16, manyRows = 256; // enough to pay for rounding
  const int64_t steps = rnn.srcLayer.dims[0], batch = rnn.srcLayer.dims[1];
  const bool hasMany =
      steps == runtimeDim || steps >= manySteps || (steps > 1 && (batch == runtimeDim || steps * batch >= manyRows));
  return hasMany && arePairsRounded(rnn, fpmath, target);
}

bool weightsExceedCache(const RnnDesc &rnn) {
  constexpr int64_t nearBytes = int64_t(12) << 20; // part of a shared cache that is kept from step to step
  CheckedInt elements = 0;
  for (const TensorDesc *weights : {&rnn.weightsLayer, &rnn.weightsIter})
    elements += CheckedInt(weights->dims[2]) * weights->dims[3] * weights->dims[4];
  const CheckedInt bytes = elements * bytesOf(rnn.weightsLayer.dataType);
  return bytes.overflowed() || bytes.value() > nearBytes;
}

bool mergesInputs(const RnnDesc &rnn) {
  constexpr int64_t minSteps = 4;
  const int64_t fewRows = weightsExceedCache(rnn) ? 32 : 4;
  const TensorDesc &src = rnn.srcLayer;
  if (src.hasRuntimeDims() || !rnn.seqLengths.isZero()) // steps after the end of all sequences must not be computed
    return false;
  constexpr int64_t maxElements = int64_t(1) << 26; // limit of the sums, which are all in memory at once
  const CheckedInt sums = CheckedInt(src.dims[0]) * src.dims[1] * rnn.weightsLayer.dims[3] * rnn.weightsLayer.dims[4];
  if (sums.overflowed() || sums.value() > maxElements)
    return false;
  const bool hasEvenRows = src.dims[1] == 1 || src.strides[0] == src.dims[1] * src.strides[1];
  return hasEvenRows && src.dims[0] >= minSteps && src.dims[1] <= fewRows;
}

Result<void> resolveLayouts(RnnDesc &rnn, FpmathMode fpmath, const Target &target) {
  const Choice plain[] = {{"src_layer", rnn.srcLayer, "abc"},
                          {"src_iter", rnn.srcIter, "abcd"},
                          {"src_iter_c", rnn.srcIterC, "abcd"},
                          {"attention", rnn.attention, "abc"},
                          {"seq_lengths", rnn.seqLengths, "a"},
                          {"weights_peephole", rnn.weightsPeephole, "abcd"},
                          {"bias", rnn.bias, "abcd"},
                          {"dst_layer", rnn.dstLayer, "abc"},
                          {"dst_iter", rnn.dstIter, "abcd"},
                          {"dst_iter_c", rnn.dstIterC, "abcd"},
                          {"diff_src_layer", rnn.diffSrcLayer, "abc"},
                          {"diff_src_iter", rnn.diffSrcIter, "abcd"},
                          {"diff_src_iter_c", rnn.diffSrcIterC, "abcd"},
                          {"diff_attention", rnn.diffAttention, "abc"},
                          {"diff_weights_layer", rnn.diffWeightsLayer, "abcde"},
                          {"diff_weights_iter", rnn.diffWeightsIter, "abcde"},
                          {"diff_weights_peephole", rnn.diffWeightsPeephole, "abcd"},
                          {"diff_weights_projection", rnn.diffWeightsProjection, "abcd"},
                          {"diff_bias", rnn.diffBias, "abcd"},
                          {"diff_dst_layer", rnn.diffDstLayer, "abc"},
                          {"diff_dst_iter", rnn.diffDstIter, "abcd"},
                          {"diff_dst_iter_c", rnn.diffDstIterC, "abcd"}};
  auto settle = [](const char *name, TensorDesc &tensor, Result<TensorDesc> chosen) -> Result<void> {
    if (!chosen)
      return Error{chosen.error().status, concat(name, ": ", chosen.error().message)};
    tensor = *chosen;
    return {};
  };
  for (const Choice &choice : plain)
    if (choice.tensor.isAny())
      if (Result<void> ok = settle(choice.name, choice.tensor,
                                   TensorDesc::fromTag(choice.tensor.shape(), choice.tensor.dataType, choice.tag));
          !ok)
        return ok;
  if (rnn.prop == PropKind::Backward) {
    for (auto [name, tensor] :
         {std::pair{"weights_layer", &rnn.weightsLayer}, std::pair{"weights_iter", &rnn.weightsIter},
          std::pair{"weights_projection", &rnn.weightsProjection}})
      if (tensor->isAny())
        QUERN_RETURN_IF_ERROR(settle(name, *tensor, packedTransposed(*tensor, fpmath, target)));
    return {};
  }
  for (auto [name, tensor] :
       {std::pair{"weights_layer", &rnn.weightsLayer}, std::pair{"weights_iter", &rnn.weightsIter}})
    if (tensor->isAny())
      QUERN_RETURN_IF_ERROR(settle(name, *tensor, packedWeights(rnn, *tensor, fpmath, target)));
  if (rnn.weightsProjection.isAny())
    return settle("weights_projection", rnn.weightsProjection, packedProjection(rnn.weightsProjection, fpmath, target));
  return {};
}

} // namespace quern::rnn
