//===- ReferenceCells.h - The equations of the RNN cells ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One step of one layer for one sequence, in double. docs/primitives/rnn.md has the same equations.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_REFERENCECELLS_H
#define QUERN_PRIMITIVES_RNN_REFERENCECELLS_H

#include "Desc/PrimitiveDesc.h"
#include "Primitives/Rnn/Shape.h"

#include <span>
#include <vector>

namespace quern::rnn {

/// How a state is kept between steps: rounded to the type of src_layer, quantized if that is an integer.
class StateType {
public:
  StateType(const RnnDesc &rnn, const RnnQuantization &quantization)
      : type(rnn.srcLayer.dataType), isInteger(isQuantized(rnn)), scale(quantization.dataScale), shift(quantization.dataShift) {}
  /// What is kept of the number h: q = RNE(sat(h s + shift)) of an integer.
  double stored(double h) const;
  /// The number that it stands for: (q - shift) / s of an integer.
  double number(double stored) const { return isInteger ? (stored - shift) / scale : stored; }
  /// The number that is left of h when it has been kept.
  double kept(double h) const { return number(stored(h)); }

private:
  DataType type;
  bool isInteger;
  double scale, shift;
};

/// The weights of one layer and direction as numbers: s8 weights divided by their scales.
struct CellWeights {
  std::vector<double> layer, iter, peephole, projection, bias; ///< row-major [I, G, O], [I, G, O], [3, O], [H, O], [G (+1), O]; or empty
};

/// What a step reads, as numbers.
struct CellInputs {
  std::span<const double> x, h, c; ///< h of SIC, c of DHC channels
  double attention = 0;
};

/// What it makes, as numbers.
struct CellOutputs {
  std::vector<double> h, c;
  std::vector<double> gates;       ///< [G, DHC] activated; u before attention
  std::vector<double> hiddenSums;  ///< linear before reset: U_o h + b_u'
  std::vector<double> unprojected; ///< LSTM with projection
  std::vector<double> termNorms;   ///< vanilla: the root of the sum of squares of the terms whose sum h is of; 1 at most if h is bounded
};

/// x has as many channels as there are rows in `weights.layer`.
CellOutputs computeCell(const RnnDesc &rnn, const Shape &shape, const StateType &state, const CellWeights &weights, const CellInputs &in);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_REFERENCECELLS_H
