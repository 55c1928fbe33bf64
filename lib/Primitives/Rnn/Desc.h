//===- Desc.h - Descriptor of an RNN --------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_DESC_H
#define QUERN_PRIMITIVES_RNN_DESC_H

#include "Desc/Tensor/TensorDesc.h"

#include <array>

namespace quern {

/// Bits of `RnnDesc::flags`.
enum RnnFlags : uint32_t {
  RnnDiffWeightsOverwrite = 1, ///< backward overwrites the gradients of weights instead of adding to them
  /// Each layer of a bidirectional stack reads the states of both directions of the layer below, left to right first,
  /// as in PyTorch.
  RnnStackConcatenated = 0x10000,
};

/// Descriptor for all cells. Dims as in the specification: srcLayer [T, N, SLC], srcIter [L, D, N, SIC], weightsLayer
/// [L, D, SLC, G, DHC], …
struct RnnDesc {
  static constexpr PrimitiveKind kind = PrimitiveKind::Rnn;
  static constexpr std::array<std::string_view, 2> algFamilies = {"eltwise_", "vanilla_"};
  PropKind prop = PropKind::Undef;
  Alg cell = Alg::Undef;
  RnnDirection direction = RnnDirection::Undef;
  Alg activation = Alg::Undef; ///< vanilla RNN only
  float alpha = 0, beta = 0;   ///< parameters of the activation
  uint32_t flags = 0;
  TensorDesc srcLayer, srcIter, srcIterC, attention;
  TensorDesc seqLengths; ///< s32 [N]: number of steps of each sequence, up to T; absent: T for all
  TensorDesc weightsLayer, weightsIter, weightsPeephole, weightsProjection, bias, dstLayer, dstIter, dstIterC;
  TensorDesc diffSrcLayer, diffSrcIter, diffSrcIterC, diffAttention, diffWeightsLayer, diffWeightsIter,
      diffWeightsPeephole, diffWeightsProjection, diffBias, diffDstLayer, diffDstIter, diffDstIterC;
  template <typename Self, typename Visitor> static void visitFields(Self &self, Visitor &visit) {
    visit("prop", self.prop), visit("cell", self.cell), visit("direction", self.direction),
        visit("activation", self.activation), visit("alpha", self.alpha), visit("beta", self.beta),
        visit("flags", self.flags), visit("src_layer", self.srcLayer), visit("src_iter", self.srcIter),
        visit("src_iter_c", self.srcIterC), visit("attention", self.attention), visit("seq_lengths", self.seqLengths),
        visit("weights_layer", self.weightsLayer), visit("weights_iter", self.weightsIter),
        visit("weights_peephole", self.weightsPeephole), visit("weights_projection", self.weightsProjection),
        visit("bias", self.bias), visit("dst_layer", self.dstLayer), visit("dst_iter", self.dstIter),
        visit("dst_iter_c", self.dstIterC), visit("diff_src_layer", self.diffSrcLayer),
        visit("diff_src_iter", self.diffSrcIter), visit("diff_src_iter_c", self.diffSrcIterC),
        visit("diff_attention", self.diffAttention), visit("diff_weights_layer", self.diffWeightsLayer),
        visit("diff_weights_iter", self.diffWeightsIter), visit("diff_weights_peephole", self.diffWeightsPeephole),
        visit("diff_weights_projection", self.diffWeightsProjection), visit("diff_bias", self.diffBias),
        visit("diff_dst_layer", self.diffDstLayer), visit("diff_dst_iter", self.diffDstIter),
        visit("diff_dst_iter_c", self.diffDstIterC);
  }
  bool operator==(const RnnDesc &other) const;
};

} // namespace quern

#endif // QUERN_PRIMITIVES_RNN_DESC_H
