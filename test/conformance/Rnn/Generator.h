//===- Generator.h - Random RNN problems ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Problems walk through the cells of Cells.h and draw the rest: sizes around every vector width, layers, sequence
// lengths, types of what may have several, quantization, modes, data.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_CONFORMANCE_RNN_GENERATOR_H
#define QUERN_CONFORMANCE_RNN_GENERATOR_H

#include "Cases.h"
#include "Rnn/Cells.h"

namespace quern::cases::rnn {

/// Case `number` of a seed. Packed weights are as `target` has them.
Case drawCase(uint64_t seed, int64_t number, const Target &target, Pass pass = Pass::Forward);

std::span<const Mistake> mistakes();
std::span<const Mistake> mistakesOfBackward();

/// Gives a bias and all gradients, and takes away lengths: oneDNN demands the ones and refuses the other.
void adaptToPeer(Case &drawn);
/// What oneDNN is known to do differently; empty for anything else.
Difference knownDifference(const PeerComparison &with);
std::optional<Difference> expectOfPeer(const PeerComparison &with, const ReferenceInputs &inputs,
                                       std::vector<ReferenceOutput> &theirs);
Difference knownDifferenceOfGradients(const PeerComparison &with);
/// The gradients of a forward that keeps its gates otherwise.
std::optional<Difference> expectGradientsOfPeer(const PeerComparison &with, const ReferenceInputs &inputs,
                                                std::vector<ReferenceOutput> &theirs);

} // namespace quern::cases::rnn

#endif // QUERN_CONFORMANCE_RNN_GENERATOR_H
