//===- Layouts.cpp - Layouts that an RNN chooses for `any` ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The width of a panel follows from the tile that a kernel keeps in registers (CpuTile.h), divided among the gates of a
// kernel. A device gets the panels for 16 lanes, the width of a sub-group.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Layouts.h"

#include "Desc/CpuTile.h"
#include "Primitives/Rnn/Shape.h"

#include <algorithm>

namespace quern::rnn {
namespace {

bool mayRound(FpmathMode fpmath) { return fpmath == FpmathMode::BF16 || fpmath == FpmathMode::Any; }

/// Returns the number of input channels that are stored together, for instructions that multiply and add them.
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

/// Returns the layout with outer dims `outer`, where `input` is in lower case, and blocks of dim `output` and, if kPack
/// exceeds 1, of dim `input`. If `sumMask` is not 0, s8 weights have sums appended.
Result<TensorDesc> packed(const TensorDesc &weights, std::string_view outer, char input, char output,
                          const Packing &packing, int32_t sumMask) {
  std::string tag(outer);
  if (packing.kPack > 1)
    std::replace(tag.begin(), tag.end(), input, static_cast<char>(input - 'a' + 'A'));
  tag += std::to_string(packing.block) + output;
  if (packing.kPack > 1)
    tag += std::to_string(packing.kPack) + input;
  Result<TensorDesc> desc = TensorDesc::fromTag(weights.shape(), weights.dataType, tag);
  if (desc && sumMask != 0 && weights.dataType == DataType::S8) {
    desc->extras.flags = ExtraRnnU8S8;
    desc->extras.compensationMask = sumMask;
  }
  return desc;
}

} // namespace

/// Returns the maximum number of vectors per panel if a kernel accumulates `gates` gates.
static int64_t maxVectorsOf(int64_t gates, const Target &target) {
  return std::max<int64_t>(tileVectorsOf(target) / gates, 1);
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
  return packed(weights, "abdEc", 'c', 'e', packingOf(weights.dataType, together, weights.dims[4], fpmath, target),
                weightsSumMask);
}

bool arePackedOfSomeWidth(const RnnDesc &rnn, const TensorDesc &weights, const Target &target) {
  const int64_t kPack = kPackOf(weights.dataType, FpmathMode::Strict, target);
  for (int64_t vectors = maxVectorsOf(gatesTogether(rnn), target); vectors; vectors /= 2) {
    Result<TensorDesc> one = packed(weights, "abdEc", 'c', 'e', {vectors * target.lanes32(), kPack}, weightsSumMask);
    if (one && weights.sameLayout(*one))
      return true;
  }
  return false;
}

Result<TensorDesc> packedProjection(const TensorDesc &weights, FpmathMode fpmath, const Target &target) {
  return packed(weights, "abDc", 'c', 'd', packingOf(weights.dataType, 1, weights.dims[3], fpmath, target),
                projectionSumMask);
}

Result<TensorDesc> packedTransposed(const TensorDesc &weights, FpmathMode fpmath, const Target &target) {
  const Packing packing = packingOf(weights.dataType, 1, weights.dims[2], fpmath, target);
  return weights.ndims == 5 ? packed(weights, "abCde", 'e', 'c', packing, 0)
                            : packed(weights, "abCd", 'd', 'c', packing, 0);
}

bool arePairsRounded(const RnnDesc &rnn, FpmathMode fpmath, const Target &target) {
  return rnn.weightsLayer.dataType == DataType::F32 && kPackOf(DataType::F32, fpmath, target) > 1;
}

Result<TensorDesc> packedLayout(const RnnDesc &rnn, const TensorDesc &weights, bool isForBackward, FpmathMode fpmath,
                                const Target &target) {
  return isForBackward        ? packedTransposed(weights, fpmath, target)
         : weights.ndims == 4 ? packedProjection(weights, fpmath, target)
                              : packedWeights(rnn, weights, fpmath, target);
}

Result<void> resolveLayouts(RnnDesc &rnn, FpmathMode fpmath, const Target &target) {
  Result<void> outcome;
  auto resolve = [&](std::string_view name, auto &field) {
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, TensorDesc>) {
      if (!outcome || !field.isAny())
        return;
      const std::string_view plain = std::string_view("abcde").substr(0, static_cast<size_t>(field.ndims));
      Result<TensorDesc> chosen = isPackable(name) ? packedLayout(rnn, field, isBackward(rnn), fpmath, target)
                                                   : TensorDesc::fromTag(field.shape(), field.dataType, plain);
      if (chosen)
        field = *chosen;
      else
        outcome = Error{chosen.error().status, concat(name, ": ", chosen.error().message)};
    }
  };
  RnnDesc::visitFields(rnn, resolve);
  return outcome;
}

} // namespace quern::rnn
