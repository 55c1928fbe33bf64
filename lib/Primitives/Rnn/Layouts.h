//===- Layouts.h - Layouts that an RNN chooses for `any` ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Activations become tnc, states ldnc. Weights are packed in panels: `block` adjacent output channels of one gate for
// all input channels, with `kPack` input channels stored together if the target's instructions multiply pairs, quads or
// octets:
//   [L][D][gate][O / block][K / kPack][block][kPack]
// There is one stride between panels, one between steps of K and one between gates. It is an ordinary blocked layout,
// padded with zeros in O and K, and independent of batch size and sequence length; a reorder converts it from and to
// plain. Packed s8 weights include the sums of their columns (rnn_u8s8), which shifted activations need and signed ones
// ignore.
//
// Backward multiplies by the transposed matrices: their columns are the input channels, and K covers all gates and
// channels:
//   [L][D][I / block][gate][O / kPack][block][kPack]
//   [L][D][O / block][P / kPack][block][kPack]   for a projection
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_LAYOUTS_H
#define QUERN_PRIMITIVES_RNN_LAYOUTS_H

#include "Desc/PrimitiveDesc.h"
#include "Desc/Target.h"

namespace quern::rnn {

/// Shape of a panel.
struct Packing {
  int64_t block = 0; ///< output channels, a multiple of the target's 32-bit lanes
  int64_t kPack = 1; ///< input channels that are stored together: 1, 2, 4 or 8
};

/// Returns the packing for weights of this type with `channels` output channels. A kernel accumulates `gates` gates
/// together.
Packing packingOf(DataType weights, int64_t gates, int64_t channels, FpmathMode fpmath, const Target &target);

/// Returns the packed layout of weights_layer or weights_iter; `weights` specifies dims and type.
Result<TensorDesc> packedWeights(const RnnDesc &rnn, const TensorDesc &weights, FpmathMode fpmath,
                                 const Target &target);
/// Returns true if these weights, whose channels are open, are packed as `any` packs weights of some width.
bool arePackedOfSomeWidth(const RnnDesc &rnn, const TensorDesc &weights, const Target &target);
/// Returns the packed layout of weights_projection.
Result<TensorDesc> packedProjection(const TensorDesc &weights, FpmathMode fpmath, const Target &target);
/// Returns the layout of weights_layer, weights_iter or weights_projection packed for backward.
Result<TensorDesc> packedTransposed(const TensorDesc &weights, FpmathMode fpmath, const Target &target);

/// Returns true for the tensors that `any` packs.
inline bool isPackable(std::string_view name) {
  return name == "weights_layer" || name == "weights_iter" || name == "weights_projection";
}
/// Returns the packed layout of a tensor for which isPackable() is true.
Result<TensorDesc> packedLayout(const RnnDesc &rnn, const TensorDesc &weights, bool isForBackward, FpmathMode fpmath,
                                const Target &target);

/// Dims that the sums of s8 weights depend on: all except the input channel.
inline constexpr int32_t weightsSumMask = 27, projectionSumMask = 11;

/// Returns true if products of f32 may use pairs that are rounded to bf16.
bool arePairsRounded(const RnnDesc &rnn, FpmathMode fpmath, const Target &target);

/// Resolves the layout of every tensor that is `any`.
Result<void> resolveLayouts(RnnDesc &rnn, FpmathMode fpmath, const Target &target);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_LAYOUTS_H
