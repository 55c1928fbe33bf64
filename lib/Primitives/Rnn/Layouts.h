//===- Layouts.h - Layouts that an RNN chooses ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What `any` becomes. Activations are tnc, states ldnc. Weights are packed in panels: so many neighbouring output
// channels of all gates, one input channel after the other, `kPack` of them side by side where the target multiplies
// pairs or quads; of each gate on its own where a step reads some gates after others:
//   [L][D][O / block][K / kPack][gate][block][kPack],
//   of GRUs that are not linear before reset [L][D][gate][O / block][K / kPack][block][kPack]
// One stride leads from a panel to the next, one from a step of K to the next, one from gate to gate. It is an
// ordinary blocked layout, padded with zeros in O and K, which depends on neither batch nor sequence length; a
// reorder leads to plain and back. s8 weights carry the sums of their columns (rnn_u8s8) for shifted activations,
// which serve signed ones, too.
//
// Backward multiplies by the transposed matrices, whose columns are the input channels and whose K are all gates and
// channels: [L][D][I / block][gate][O / kPack][block][kPack], of a projection [L][D][O / block][P /
// kPack][block][kPack].
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_LAYOUTS_H
#define QUERN_PRIMITIVES_RNN_LAYOUTS_H

#include "Desc/PrimitiveDesc.h"
#include "Desc/Target.h"

namespace quern::rnn {

/// The shape of a panel.
struct Packing {
  int64_t block = 0; ///< output channels, a multiple of the target's 32-bit lanes
  int64_t kPack = 1; ///< input channels that one instruction multiplies and adds: 1, 2 or 4
};

/// `gates` of weights of this type that a kernel accumulates together, with `channels` outputs.
Packing packingOf(DataType weights, int64_t gates, int64_t channels, FpmathMode fpmath, const Target &target);

/// weights_layer or weights_iter packed; `weights` gives dims and type.
Result<TensorDesc> packedWeights(const RnnDesc &rnn, const TensorDesc &weights, FpmathMode fpmath,
                                 const Target &target);
/// Whether these weights, whose channels are given at execution, are packed as `any` packs those of some width.
bool arePackedOfSomeWidth(const RnnDesc &rnn, const TensorDesc &weights, const Target &target);
/// weights_projection packed.
Result<TensorDesc> packedProjection(const TensorDesc &weights, FpmathMode fpmath, const Target &target);
/// Weights of a layer, of states or of a projection packed for backward.
Result<TensorDesc> packedTransposed(const TensorDesc &weights, FpmathMode fpmath, const Target &target);

/// The dims that sums of s8 weights have an own value for: all but the input channel.
inline constexpr int32_t weightsSumMask = 27, projectionSumMask = 11;

/// Whether cells read these weights (`isOfLayer`: those of the layer's input) as they are: they are packed, or what
/// packing costs in each execution would not come back.
bool areReadInPlace(const RnnDesc &rnn, const TensorDesc &weights, bool isOfLayer, FpmathMode fpmath,
                    const Target &target);

/// Whether backward reads these weights as they are: they are packed, or their input channels are contiguous.
bool areReadTransposedInPlace(const RnnDesc &rnn, const TensorDesc &weights, FpmathMode fpmath, const Target &target);

/// Whether products of f32 may be made of pairs that are rounded to bf16.
bool arePairsRounded(const RnnDesc &rnn, FpmathMode fpmath, const Target &target);
/// Whether an execution then rounds the weights once; otherwise every step rounds what it reads.
bool areWeightsRounded(const RnnDesc &rnn, FpmathMode fpmath, const Target &target);

/// Whether what a step of one layer and direction reads of weights is gone from the caches when the
/// next step reads it again.
bool areWeightsFar(const RnnDesc &rnn);

/// Whether the products of a layer's inputs are made for all of time at once: rows that are too few to
/// share weights well then do.
bool areInputsMerged(const RnnDesc &rnn);

/// Gives every tensor that is `any` its layout.
Result<void> resolveLayouts(RnnDesc &rnn, FpmathMode fpmath, const Target &target);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_LAYOUTS_H
