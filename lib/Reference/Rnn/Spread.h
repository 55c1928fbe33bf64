//===- Spread.h - How far roundings move what follows --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A state near the midpoint of two values may be kept as either. What a step makes of states that are so far from those
// of the reference is bounded by the slopes of its equations.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_RNN_SPREAD_H
#define QUERN_REFERENCE_RNN_SPREAD_H

#include "Reference/Rnn/Cells.h"

namespace quern::rnn {

/// How far each number that a step reads may be from that of CellInputs, 0 or more.
struct InputSpread {
  std::span<const double> x, h, c; ///< c is empty but of an LSTM
};

/// How far what it makes may be from CellOutputs, arithmetic left out: elements as there.
struct CellSpread {
  std::vector<double> h, c, gates, hiddenSums, unprojected;
};

/// A bound for any inputs within `off` of `in`, of which the cell makes `out`, and any rounding within the step.
CellSpread spreadOf(const RnnDesc &rnn, const Shape &shape, const StateType &state, const CellWeights &weights,
                    const CellInputs &in, const CellOutputs &out, const InputSpread &off);

} // namespace quern::rnn

#endif // QUERN_REFERENCE_RNN_SPREAD_H
