//===- Compensation.cpp - Compensation buffers of reordered weights -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The sizes agree with TensorDesc::bytes(), from which the offset of the first buffer is computed.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Reorder/Compensation.h"

namespace quern::reorder {

std::vector<Compensation> compensationsOf(const TensorDesc &desc) {
  const TensorExtras &extras = desc.extras;
  std::vector<Compensation> all;
  if (desc.hasZeroDim())
    return all;
  int64_t bytes = 0;
  auto add = [&](ExtraFlags flag, int32_t mask, DataType type, int32_t factor) {
    if (!(extras.flags & flag))
      return;
    int64_t elements = 1;
    for (int d = 0; d < desc.ndims; ++d)
      elements *= mask >> d & 1 ? desc.paddedDims[d] : 1;
    all.push_back({flag, mask, type, factor, bytes, elements});
    bytes += elements * 4;
  };
  add(ExtraS8S8, extras.compensationMask, DataType::S32, -128);
  // Signed activations (rnn_s8s8) have no shift and need no sum.
  add(ExtraRnnU8S8, extras.compensationMask, DataType::F32, 1);
  add(ExtraAsymmetricSource, extras.asymmetricCompensationMask, DataType::S32, -1);
  for (Compensation &compensation : all)
    compensation.byteOffset += desc.bytes() - bytes;
  return all;
}

static bool isForRnnWeights(const ReorderDesc &reorder) {
  return reorder.dst.extras.flags & (ExtraRnnU8S8 | ExtraRnnS8S8) || reorder.dst.ndims == 5;
}

RnnRole rnnRoleOf(const ReorderDesc &reorder, const Attributes &attr) {
  if (attr.rnn.isIdentity())
    return RnnRole::None;
  return isForRnnWeights(reorder) ? RnnRole::Weights : RnnRole::Data;
}

RnnWeightsScales rnnWeightsScalesOf(const ReorderDesc &reorder, const Attributes &attr) {
  if (reorder.dst.ndims == 4)
    return {attr.rnn.projectionMask, attr.rnn.projectionScales};
  return {attr.rnn.weightsMask, attr.rnn.weightsScales};
}

} // namespace quern::reorder
