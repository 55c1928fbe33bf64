//===- Cells.h - The equations of the RNN cells --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One step of one layer for one sequence, in double. docs/primitives/rnn.md has the same equations.
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

/// The products of a cell of which a kernel may round some and others not. Those of the output gate of gru are
/// of a kernel of their own.
enum class Product { Layer, Iter, OutputLayer, OutputIter, Projection };

/// The products that round what they read to bf16: of f32, where the fpmath mode allows it,
/// each may, as its weights lie.
struct Operands {
  uint32_t rounded = 0; ///< a bit for each Product

  bool areRounded(Product product) const { return rounded >> static_cast<int>(product) & 1; }
  bool areAnyRounded() const { return rounded != 0; }
};

/// What another library is known to do otherwise; as the page has it by default.
struct Variant {
  bool clampsStates = false;  ///< integer states are kept as 0 at least
  bool saturatesSums = false; ///< the sum of two directions saturates as one of them; of integers without a shift
  bool roundsCells = false;   ///< c is kept in the type of src_iter_c or dst_iter_c
};

/// How a state is kept between steps: rounded to the type of src_layer, quantized if that is an integer.
class StateType {
public:
  StateType(const RnnDesc &rnn, const RnnQuantization &quantization, Operands operands, const Variant &variant);
  /// What is kept of the number h: q = RNE(sat(h s + shift)) of an integer.
  double stored(double h) const;
  /// The number that it stands for: (q - shift) / s of an integer.
  double number(double stored) const { return isInteger ? (stored - shift) / scale : stored; }
  /// The number that is left of h when it has been kept.
  double kept(double h) const { return number(stored(h)); }
  /// What is kept of a number if it goes to the other of the two values that it lies between; of integers.
  double storedOtherwise(double h) const;
  /// How far a number is from the middle of the two values that it lies between, as a part of their distance:
  /// 1/2 at most; of integers.
  double distanceFromMiddle(double h) const;
  /// What a product reads of a number.
  double operand(double x, Product product) const;
  /// How far f32 arithmetic may be from the number h, whose terms are of this size: of an integer
  /// a thousandth of its step.
  double toleranceOf(double h, double magnitude) const;
  /// How far apart two results near h may be once they are kept and read: 0 where no two values of the type are so
  /// near.
  double jumpAt(double h, double tolerance) const;
  /// How far apart what the next step reads may be where a kernel keeps a number within `tolerance` of h: 0 where
  /// nothing that is `moved` from what the reference has is read.
  double spreadAt(double h, double tolerance, double moved) const;
  /// How far a number may be off that follows from others which were rounded the other way; beside it are
  /// numbers of the size `typical`.
  double loosenessOf(double h, double typical) const;
  /// Of adding the number h to another in f32; an integer that stands for it is off by as much of what stands for 0.
  double roundingOf(double h) const;

private:
  DataType type;
  bool isInteger;
  Operands operands;
  double scale, shift, least, threshold, floor;
};

/// The weights of one layer and direction as numbers: s8 weights divided by their scales.
struct CellWeights {
  /// Row-major [I, G, O], [I, G, O], [3, O], [H, O], [G (+1), O]; or empty.
  std::vector<double> layer, iter, peephole, projection, bias;
};

/// What a step reads, as numbers.
struct CellInputs {
  std::span<const double> x, h, c; ///< h of SIC, c of DHC channels
  double attention = 0;
  double (*sigmoid)(double) = nullptr; ///< null: the function of that name; tests of the judge give another
  /// What is kept, as a number, of one of DHC channels that is rounded within the step; none: StateType::kept().
  std::function<double(double h, size_t channel)> kept{};
};

/// Of the gate number `gate`.
Product layerProductOf(const RnnDesc &rnn, int64_t gate);
Product iterProductOf(const RnnDesc &rnn, int64_t gate);

/// What it makes, as numbers, not yet rounded to what is kept.
struct CellOutputs {
  std::vector<double> h, c;
  std::vector<double> gates;       ///< [G, DHC] as training keeps them: activated; u before attention
  std::vector<double> hiddenSums;  ///< linear before reset: U_o h + b_u'
  std::vector<double> unprojected; ///< LSTM with projection
  /// Vanilla: the root of the sum of squares of the terms whose sum h is of; 1 at most if h is bounded.
  std::vector<double> termNorms;
  /// How far h, and the last gate of gru, are off if what is rounded within the step is rounded the
  /// other way; empty: nothing is.
  std::vector<double> jumps, candidateJumps;
};

/// x has as many channels as there are rows in `weights.layer`.
CellOutputs computeCell(const RnnDesc &rnn, const Shape &shape, const StateType &state, const CellWeights &weights,
                        const CellInputs &in);

} // namespace quern::rnn

#endif // QUERN_REFERENCE_RNN_CELLS_H
