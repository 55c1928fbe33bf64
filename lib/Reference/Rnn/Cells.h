//===- Cells.h - Reference of the RNN cells -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One step of one layer for one sequence, in double; docs/primitives/rnn.md has the same equations.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_RNN_CELLS_H
#define QUERN_REFERENCE_RNN_CELLS_H

#include "Desc/PrimitiveDesc.h"
#include "Primitives/Rnn/Shape.h"

#include <functional>
#include <span>
#include <vector>

namespace quern::rnn {

/// Products of a cell that a kernel may round independently of each other. The products of a gru's output gate are in a
/// separate kernel.
enum class Product { Layer, Iter, OutputLayer, OutputIter, Projection };

/// Products that round their factors to bf16. If the fpmath mode permits it for f32, each product may do so, depending
/// on the layout of its weights.
struct Operands {
  uint32_t rounded = 0; ///< one bit for each Product

  bool isRounded(Product product) const { return rounded >> static_cast<int>(product) & 1; }
  bool hasRounded() const { return rounded != 0; }
};

/// Known deviations of another library; none by default.
struct Variant {
  bool clampsStates = false; ///< true if negative integer states are stored as 0
  bool saturatesSums =
      false; ///< true if the sum of two directions saturates like a single state (integer states without a shift)
  bool roundsCells = false; ///< true if c is stored in the type of src_iter_c or dst_iter_c
};

/// Conversion of states to their stored form between steps: rounded to the type of src_layer, or quantized if it is an
/// integer.
class StateType {
public:
  StateType(const RnnDesc &rnn, const RnnQuantization &quantization, Operands operands, const Variant &variant);
  /// Returns the stored form of h; for integers q = RNE(sat(h s + shift)).
  double stored(double h) const;
  /// Returns the number that a stored value represents; for integers (q - shift) / s.
  double number(double stored) const { return isInteger ? (stored - shift) / scale : stored; }
  /// Returns h after a conversion to the stored form and back.
  double kept(double h) const { return number(stored(h)); }
  /// For integers: returns the stored form of h, rounded to the other of its two neighbors.
  double storedOtherwise(double h) const;
  /// For integers: returns the distance of h from the midpoint of its two neighbors, in steps; at most 1/2.
  double distanceFromMiddle(double h) const;
  /// Returns `x` as a product reads it.
  double operand(double x, Product product) const;
  /// Returns the permitted deviation of f32 arithmetic from h, whose terms have this magnitude. For integers at least a
  /// thousandth of a step.
  double toleranceOf(double h, double magnitude) const;
  /// Returns the greatest difference between two results within `tolerance` of h after they are stored and read; 0 if
  /// they all become the same value.
  double jumpAt(double h, double tolerance) const;
  /// Returns how far the value that the next step reads may be from the reference's, if a kernel stores a number within
  /// `tolerance` of h. `moved` is the part of the tolerance that is due to the inputs; f32 states deviate only if it or
  /// a rounding is not 0.
  double spreadAt(double h, double tolerance, double moved) const;
  /// Returns an empirical bound of the error of h if its inputs were rounded the other way; `typical` is the size of
  /// the numbers around it.
  double loosenessOf(double h, double typical) const;
  /// Returns the rounding error of adding h to another number in f32. For a quantized number it includes the rounding
  /// of the number that a stored 0 represents.
  double roundingOf(double h) const;

private:
  DataType type;
  bool isInteger;
  Operands operands;
  double scale, shift, least, threshold, floor;
};

/// Weights of one layer and direction as numbers: s8 weights divided by their scales.
struct CellWeights {
  /// Row-major [SLC, G, DHC], [SIC, G, DHC], [3, DHC], [DHC, DIC], [G (+1), DHC]; or empty.
  std::vector<double> layer, iter, peephole, projection, bias;
};

/// Inputs of a step, as numbers.
struct CellInputs {
  std::span<const double> x, h, c; ///< h of SIC, c of DHC channels
  double attention = 0;
  double (*sigmoid)(double) = nullptr; ///< null: the exact function; tests of the judge pass another
  /// Returns the stored form, as a number, of a value that is rounded within the step (one of DHC channels); empty:
  /// StateType::kept().
  std::function<double(double h, size_t channel)> kept{};
};

/// Return the product that gate `gate` has with x (layer) and with h (iter).
Product layerProductOf(const RnnDesc &rnn, int64_t gate);
Product iterProductOf(const RnnDesc &rnn, int64_t gate);

/// Results of a step, before rounding to the stored form. `Number` is double or Bounded.
template <typename Number> struct CellResults {
  std::vector<Number> h, c;
  std::vector<Number> gates;       ///< [G, DHC] as stored by training: activated unless keepsSums(); u before attention
  std::vector<Number> hiddenSums;  ///< linear before reset: U_o h + b_u'
  std::vector<Number> unprojected; ///< LSTM with projection
  /// Vanilla: the root of the sum of squares of the terms of h; at most 1 if h is bounded.
  std::vector<double> termNorms;
  /// Errors of h, and of the last gate of gru, if values within the step are rounded the other way; empty: none.
  std::vector<double> jumps, candidateJumps;
};
using CellOutputs = CellResults<double>;

/// Computes a step. The number of channels of `in.x` is the number of rows of `weights.layer`.
CellOutputs computeCell(const RnnDesc &rnn, const Shape &shape, const StateType &state, const CellWeights &weights,
                        const CellInputs &in);

} // namespace quern::rnn

#endif // QUERN_REFERENCE_RNN_CELLS_H
