//===- BackwardCells.h - Reference of the RNN cells' gradients ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One step of one layer for one sequence, backward; docs/primitives/rnn.md has the same equations. `Number` is
// Uncertain in the oracle; with float, every operation is rounded to f32.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_RNN_BACKWARDCELLS_H
#define QUERN_REFERENCE_RNN_BACKWARDCELLS_H

#include "Primitives/Rnn/Shape.h"
#include "Reference/Rnn/Uncertain.h"

#include <functional>
#include <span>
#include <vector>

namespace quern::rnn {

/// Stored values of a step, and the gradients of its results.
template <typename Number> struct CellGradientInputs {
  std::span<const double> gates;      ///< [G, DHC] as stored by training
  std::span<const double> c, cBefore; ///< lstm
  std::span<const double> hiddenSums; ///< linear before reset
  std::span<const double> peephole;   ///< [3, DHC], or empty
  double attention = 0;
  std::span<const Number> h;      ///< state before the step
  std::span<const Number> dh, dc; ///< gradients of the cell's results, before a projection
  /// gru: returns the gradient of r h from the gradient of the output gate's sum.
  std::function<std::vector<Number>(const std::vector<Number> &)> throughOutputGate;
};

template <typename Number> struct CellGradients {
  std::vector<Number> layer;       ///< [G, DHC] gradients of the sums of the gates
  std::vector<Number> iter;        ///< same for products with h; differs from `layer` if r is applied after them
  std::vector<Number> dhBefore;    ///< gradient of h that does not pass through U; for gru with the part through U_o
  std::vector<Number> dcBefore;    ///< lstm
  std::vector<Number> resetStates; ///< gru: r h
  Number attention{};
};

template <typename Number>
CellGradients<Number> cellGradients(const RnnDesc &rnn, const Shape &shape, const CellGradientInputs<Number> &in);

/// Recomputes the result of a cell's step from stored values: h before it is rounded and projected.
template <typename Number>
std::vector<Number> remadeState(const RnnDesc &rnn, const Shape &shape, std::span<const double> gates,
                                std::span<const double> c, double attention, std::span<const Number> hBefore);

} // namespace quern::rnn

#endif // QUERN_REFERENCE_RNN_BACKWARDCELLS_H
