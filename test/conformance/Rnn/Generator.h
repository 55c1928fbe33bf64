//===- Generator.h - Random RNN problems ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Problems iterate over the cells of Cells.h. The generator draws the rest: sizes around every vector width, layers,
// sequence lengths, types of tensors that support several, quantization, modes, data.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_RNN_GENERATOR_H
#define QUERN_CONFORMANCE_RNN_GENERATOR_H

#include "Cases.h"
#include "Rnn/Cells.h"

namespace quern::cases::rnn {

/// Returns case `number` of a seed. Packed weights have the layout for `target`.
Case drawCase(uint64_t seed, int64_t number, const Target &target, Pass pass = Pass::Forward);

std::span<const Mistake> mistakes();
std::span<const Mistake> mistakesOfBackward();

/// Adds a bias and all gradients, which oneDNN requires, and removes lengths, which it does not support.
void adaptToPeer(Case &drawn);
/// Returns a known difference of oneDNN; empty for any other.
Difference knownDifference(const PeerComparison &with);
std::optional<Difference> expectOfPeer(const PeerComparison &with, const ReferenceInputs &inputs,
                                       std::vector<ReferenceOutput> &theirs);
Difference knownDifferenceOfGradients(const PeerComparison &with);
/// Like PrimitiveCases::expectOfPeer(): adds the gradients that follow from the different gates of the peer's forward.
std::optional<Difference> expectGradientsOfPeer(const PeerComparison &with, const ReferenceInputs &inputs,
                                                std::vector<ReferenceOutput> &theirs);

} // namespace quern::cases::rnn

#endif // QUERN_CONFORMANCE_RNN_GENERATOR_H
