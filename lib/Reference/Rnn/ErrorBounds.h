//===- ErrorBounds.h - Propagation of rounding differences ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A state near the midpoint of two values may be stored as either. If the inputs of a step differ from the reference's
// by a bounded amount, the slopes of the step's equations bound the difference of its results.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_RNN_ERRORBOUNDS_H
#define QUERN_REFERENCE_RNN_ERRORBOUNDS_H

#include "Reference/Rnn/Cells.h"

namespace quern::rnn {

/// Greatest difference of each number that a step reads from CellInputs; not negative.
struct InputErrorBounds {
  std::span<const double> x, h, c; ///< c is empty unless the cell is an LSTM
};

/// Greatest difference of the results from CellOutputs, without arithmetic errors; elements as there.
struct CellErrorBounds {
  std::vector<double> h, c, gates, hiddenSums, unprojected;
};

/// Returns a bound for all inputs within `off` of `in`, for which the cell computes `out`, and any rounding within the
/// step.
CellErrorBounds errorBoundsOf(const RnnDesc &rnn, const Shape &shape, const StateType &state,
                              const CellWeights &weights, const CellInputs &in, const CellOutputs &out,
                              const InputErrorBounds &off);

} // namespace quern::rnn

#endif // QUERN_REFERENCE_RNN_ERRORBOUNDS_H
