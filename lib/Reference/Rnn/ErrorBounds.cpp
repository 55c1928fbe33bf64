//===- ErrorBounds.cpp - Propagation of rounding differences --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The steps are those of Cells.cpp.
//
//===----------------------------------------------------------------------===//
#include "Reference/Rnn/ErrorBounds.h"

#include <algorithm>
#include <cmath>

namespace quern::rnn {
namespace {

/// Returns the change of sigma(a), whose value is `g`, if a moves by `off`: the slope g (1 - g) is at most 1/4 and
/// grows by at most exp(off).
double ofSigmoid(double g, double off) { return std::min({off / 4, g * (1 - g) * std::expm1(off), 1.0}); }
/// Returns the change of tanh(a), whose value is `t`.
double ofTanh(double t, double off) { return std::min({off, (1 - t * t) * std::expm1(2 * off) / 2, 2.0}); }
/// Returns the change of a product.
double ofProduct(double a, double offA, double b, double offB) {
  return std::fabs(a) * offB + std::fabs(b) * offA + offA * offB;
}

class ErrorBounds {
public:
  ErrorBounds(const RnnDesc &rnn, const Shape &shape, const StateType &state, const CellWeights &weights,
              const CellInputs &in, const CellOutputs &out, const InputErrorBounds &off)
      : rnn(rnn), s(shape), state(state), w(weights), in(in), out(out), off(off),
        channels(static_cast<size_t>(shape.dhc)) {
    spread.h.resize(channels);
    spread.gates.resize(out.gates.size());
    fromX = sums(w.layer, off.x), fromH = sums(w.iter, off.h);
  }

  CellErrorBounds run() {
    if (isLstm(rnn))
      lstm();
    else if (isLinearBeforeReset(rnn))
      linearBeforeReset();
    else if (isGru(rnn))
      gru();
    else
      vanilla();
    return std::move(spread);
  }

private:
  void vanilla() {
    for (size_t o = 0; o < channels; ++o) {
      const double moved = fromX[o] + fromH[o], h = out.h[o];
      spread.h[o] = gate(0, o) = rnn.activation == Alg::EltwiseRelu
                                     ? moved * std::max(1.0, std::fabs(static_cast<double>(rnn.alpha)))
                                 : rnn.activation == Alg::EltwiseTanh ? ofTanh(h, moved)
                                                                      : ofSigmoid(h, moved);
      if (keepsSums(rnn))
        gate(0, o) = moved;
    }
  }

  void lstm() {
    spread.c.resize(channels);
    for (size_t o = 0; o < channels; ++o) {
      const double i = gate(0, o) = ofSigmoid(made(0, o), sum(0, o) + peephole(0, o) * off.c[o]);
      const double f = gate(1, o) = ofSigmoid(made(1, o), sum(1, o) + peephole(1, o) * off.c[o]);
      const double candidate = gate(2, o) = ofTanh(made(2, o), sum(2, o));
      const double c = spread.c[o] =
          ofProduct(made(1, o), f, in.c[o], off.c[o]) + ofProduct(made(0, o), i, made(2, o), candidate);
      const double output = gate(3, o) = ofSigmoid(made(3, o), sum(3, o) + peephole(2, o) * c), t = std::tanh(out.c[o]);
      spread.h[o] = ofProduct(made(3, o), output, t, ofTanh(t, c));
    }
    if (!w.projection.empty())
      project();
  }

  void project() {
    spread.unprojected = std::move(spread.h);
    const auto width = static_cast<size_t>(s.dic);
    spread.h.assign(width, 0);
    for (size_t i = 0; i < channels; ++i)
      if (const double move = keptMove(out.unprojected[i], spread.unprojected[i]); move > 0)
        for (size_t o = 0; o < width; ++o)
          spread.h[o] += move * std::fabs(w.projection[i * width + o]);
  }

  void gru() {
    std::vector<double> reset(channels);
    for (size_t o = 0; o < channels; ++o) {
      gate(0, o) = ofSigmoid(made(0, o), sum(0, o));
      gate(1, o) = ofSigmoid(made(1, o), sum(1, o));
      reset[o] = keptMove(made(1, o) * in.h[o], ofProduct(made(1, o), gate(1, o), in.h[o], off.h[o]));
    }
    const std::vector<double> fromReset = sums(w.iter, reset);
    for (size_t o = 0; o < channels; ++o) {
      gate(2, o) = ofTanh(made(2, o), fromX[2 * channels + o] + fromReset[2 * channels + o]);
      blend(o);
    }
  }

  void linearBeforeReset() {
    spread.hiddenSums.resize(channels);
    for (size_t o = 0; o < channels; ++o) {
      gate(0, o) = ofSigmoid(made(0, o), sum(0, o));
      gate(1, o) = ofSigmoid(made(1, o), sum(1, o));
      const double hidden = spread.hiddenSums[o] = fromH[2 * channels + o];
      gate(2, o) =
          ofTanh(made(2, o), fromX[2 * channels + o] + ofProduct(made(1, o), gate(1, o), out.hiddenSums[o], hidden));
      blend(o);
    }
  }

  /// h' = u h + (1 - u) o changes by u dh + (h - o) du + (1 - u) do, and by products of these.
  void blend(size_t o) {
    const double open = hasAttention(rnn) ? 1 - in.attention : 1, u = open * made(0, o),
                 du = std::fabs(open) * gate(0, o);
    spread.h[o] = std::fabs(u) * off.h[o] + std::fabs(in.h[o] - made(2, o)) * du + std::fabs(1 - u) * gate(2, o) +
                  du * (off.h[o] + gate(2, o));
  }

  /// Returns the change of a value stored within a step, near h.
  double keptMove(double h, double moved) const { return state.spreadAt(h, state.toleranceOf(h, 1) + moved, moved); }

  /// Returns, for each column, the sum of a vector's changes times the magnitudes of its weights.
  std::vector<double> sums(const std::vector<double> &matrix, std::span<const double> moves) const {
    const size_t columns = out.gates.size();
    std::vector<double> all(columns);
    for (size_t i = 0; i < moves.size(); ++i)
      for (size_t column = 0; column < columns && moves[i] > 0; ++column)
        all[column] += moves[i] * std::fabs(matrix[i * columns + column]);
    return all;
  }

  double &gate(size_t g, size_t o) { return spread.gates[g * channels + o]; }
  double made(size_t g, size_t o) const { return out.gates[g * channels + o]; }
  double sum(size_t g, size_t o) const { return fromX[g * channels + o] + fromH[g * channels + o]; }
  double peephole(size_t g, size_t o) const { return w.peephole.empty() ? 0 : std::fabs(w.peephole[g * channels + o]); }

  const RnnDesc &rnn;
  const Shape &s;
  const StateType &state;
  const CellWeights &w;
  const CellInputs &in;
  const CellOutputs &out;
  const InputErrorBounds &off;
  size_t channels;
  std::vector<double> fromX, fromH; ///< possible changes of W x and U h
  CellErrorBounds spread;
};

} // namespace

CellErrorBounds errorBoundsOf(const RnnDesc &rnn, const Shape &shape, const StateType &state,
                              const CellWeights &weights, const CellInputs &in, const CellOutputs &out,
                              const InputErrorBounds &off) {
  return ErrorBounds(rnn, shape, state, weights, in, out, off).run();
}

} // namespace quern::rnn
