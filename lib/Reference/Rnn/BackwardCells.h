//===- BackwardCells.h - The gradients of the RNN cells -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One step of one layer for one sequence, backwards. docs/primitives/rnn.md has the same equations. `Number` is
// Uncertain in the oracle; float computes as a plain kernel would.
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

/// What a step kept, and the gradients of what it made.
template <typename Number> struct CellGradientInputs {
  std::span<const double> gates;      ///< [G, DHC] as training keeps them
  std::span<const double> c, cBefore; ///< lstm
  std::span<const double> hiddenSums; ///< linear before reset
  std::span<const double> peephole;   ///< [3, DHC], or empty
  double attention = 0;
  std::span<const Number> h;      ///< before the step
  std::span<const Number> dh, dc; ///< of what the cell made, before a projection
  /// gru: of r h, from the gradient of the output gate's sum.
  std::function<std::vector<Number>(const std::vector<Number> &)> throughOutputGate;
};

template <typename Number> struct CellGradients {
  std::vector<Number> layer;    ///< [G, DHC] of the sums of the gates
  std::vector<Number> iter;     ///< the same of what the products with h make; other than `layer` where r follows them
  std::vector<Number> dhBefore; ///< what reaches h otherwise than through U; of gru through U_o, too
  std::vector<Number> dcBefore; ///< lstm
  std::vector<Number> resetStates; ///< gru: r h
  Number attention{};
};

template <typename Number>
CellGradients<Number> cellGradients(const RnnDesc &rnn, const Shape &shape, const CellGradientInputs<Number> &in);

/// What a step of a cell made, from what it kept: h before it is rounded and projected.
template <typename Number>
std::vector<Number> remadeState(const RnnDesc &rnn, const Shape &shape, std::span<const double> gates,
                                std::span<const double> c, double attention, std::span<const Number> hBefore);

} // namespace quern::rnn

#endif // QUERN_REFERENCE_RNN_BACKWARDCELLS_H
