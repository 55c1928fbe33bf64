//===- Compensation.h - Compensation buffers of reordered weights ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A reorder of weights may append sums of the stored elements to the destination's buffer. An int8 product with a
// shifted source uses them for its correction.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_REORDER_COMPENSATION_H
#define QUERN_PRIMITIVES_REORDER_COMPENSATION_H

#include "Desc/PrimitiveDesc.h"

#include <vector>

namespace quern::reorder {

/// One buffer: dense, row-major over the padded dims in `mask`; value[masked indices] = factor · Σ dst over the other
/// dims, in 32-bit integers that wrap; 0 for an index in the padding.
struct Compensation {
  uint64_t flag = 0; ///< one of ExtraFlags
  int32_t mask = 0;
  DataType type = DataType::S32; ///< F32: the complete sum is converted
  int32_t factor = 1;
  int64_t byteOffset = 0; ///< from the start of dst's buffer, a multiple of 4
  int64_t elements = 0;
};

/// Returns the buffers of a tensor in memory order: s8s8 (−128 · Σ), then rnn_u8s8 (Σ, as f32), then asymmetric source
/// (−Σ). `desc` is valid and has no runtime dims.
std::vector<Compensation> compensationsOf(const TensorDesc &desc);

/// Effect of the RNN quantization attributes on a reorder.
enum class RnnRole {
  None,    ///< the attributes are not set
  Data,    ///< q = scale · x + shift
  Weights, ///< q = scale[masked indices] · x; an integer x is stored unchanged
};
RnnRole rnnRoleOf(const ReorderDesc &reorder, const Attributes &attr);

/// Scales for weights of dst's rank (4: projection, otherwise layer and iteration) and their mask.
struct RnnWeightsScales {
  int32_t mask;
  const std::vector<float> &values; ///< row-major over the masked dims; empty: not set
};
RnnWeightsScales rnnWeightsScalesOf(const ReorderDesc &reorder, const Attributes &attr);

} // namespace quern::reorder

#endif // QUERN_PRIMITIVES_REORDER_COMPENSATION_H
