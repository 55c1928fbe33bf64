//===- ReferenceCells.cpp - The equations of the RNN cells ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// To be read beside the equations. Integer problems have the same ones: an integer state stands for (q - shift) / s and a weight for w /
// ws, so that a sum of products of the integers, less the sum of the weights times the shift, divided by ws s, is the sum of products of
// the numbers. Only what is kept between steps, between r and U_o and before a projection is rounded.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/ReferenceCells.h"

#include "Primitives/Elements.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quern::rnn {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

class Cell {
public:
  Cell(const RnnDesc &rnn, const Shape &shape, const StateType &state, const CellWeights &weights, const CellInputs &in)
      : rnn(rnn), s(shape), state(state), w(weights), in(in), channels(static_cast<size_t>(shape.dhc)) {
    out.h.resize(channels);
    out.gates.resize(channels * static_cast<size_t>(shape.gates));
  }

  CellOutputs run() {
    if (isLstm(rnn))
      lstm();
    else if (isLinearBeforeReset(rnn))
      linearBeforeReset();
    else if (isGru(rnn))
      gru();
    else
      vanilla();
    return std::move(out);
  }

private:
  /// h = activation(W x + U h + B)
  void vanilla() {
    for (size_t o = 0; o < channels; ++o)
      out.h[o] = gate(0, o) = activation(W(0, o) + U(0, o) + B(0, o));
    double bound = rnn.activation == Alg::EltwiseRelu ? std::numeric_limits<double>::infinity() : 1;
    for (size_t o = 0; o < channels; ++o)
      out.termNorms.push_back(std::min(bound, std::sqrt(squares(w.layer, in.x, o) + squares(w.iter, in.h, o) + B(0, o) * B(0, o))));
  }

  /// i = sigma(W_i x + U_i h + P_i c + B_i)   f = sigma(W_f x + U_f h + P_f c + B_f)   c~ = tanh(W_c x + U_c h + B_c)
  /// c' = f c + i c~   o = sigma(W_o x + U_o h + P_o c' + B_o)   h' = o tanh(c')
  void lstm() {
    out.c.resize(channels);
    for (size_t o = 0; o < channels; ++o) {
      double i = gate(0, o) = sigmoid(W(0, o) + U(0, o) + P(0, o) * in.c[o] + B(0, o));
      double f = gate(1, o) = sigmoid(W(1, o) + U(1, o) + P(1, o) * in.c[o] + B(1, o));
      double candidate = gate(2, o) = std::tanh(W(2, o) + U(2, o) + B(2, o));
      out.c[o] = f * in.c[o] + i * candidate;
      double output = gate(3, o) = sigmoid(W(3, o) + U(3, o) + P(2, o) * out.c[o] + B(3, o));
      out.h[o] = output * std::tanh(out.c[o]);
    }
    if (!w.projection.empty())
      project();
  }

  /// h' = R h
  void project() {
    out.unprojected = std::move(out.h);
    out.h.assign(static_cast<size_t>(s.dic), 0);
    for (size_t i = 0; i < channels; ++i) {
      out.unprojected[i] = state.kept(out.unprojected[i]);
      for (size_t o = 0; o < out.h.size(); ++o)
        out.h[o] += out.unprojected[i] * w.projection[i * out.h.size() + o];
    }
  }

  /// u = sigma(W_u x + U_u h + B_u)   r = sigma(W_r x + U_r h + B_r)   o = tanh(W_o x + U_o (r h) + B_o)   h' = u h + (1 - u) o
  /// With attention a: u <- (1 - a) u.
  void gru() {
    std::vector<double> resetStates(channels);
    for (size_t o = 0; o < channels; ++o) {
      gate(0, o) = sigmoid(W(0, o) + U(0, o) + B(0, o));
      double r = gate(1, o) = sigmoid(W(1, o) + U(1, o) + B(1, o));
      resetStates[o] = state.kept(r * in.h[o]);
    }
    for (size_t o = 0; o < channels; ++o) {
      gate(2, o) = std::tanh(W(2, o) + dot(w.iter, resetStates, 2, o) + B(2, o));
      blend(o);
    }
  }

  /// u and r as above   o = tanh(W_o x + r (U_o h + B_u') + B_o)
  void linearBeforeReset() {
    out.hiddenSums.resize(channels);
    for (size_t o = 0; o < channels; ++o) {
      gate(0, o) = sigmoid(W(0, o) + U(0, o) + B(0, o));
      double r = gate(1, o) = sigmoid(W(1, o) + U(1, o) + B(1, o));
      out.hiddenSums[o] = U(2, o) + B(3, o);
      gate(2, o) = std::tanh(W(2, o) + r * out.hiddenSums[o] + B(2, o));
      blend(o);
    }
  }

  void blend(size_t o) {
    double u = hasAttention(rnn) ? (1 - in.attention) * gate(0, o) : gate(0, o);
    out.h[o] = u * in.h[o] + (1 - u) * gate(2, o);
  }

  double activation(double x) const {
    if (rnn.activation == Alg::EltwiseRelu)
      return x > 0 ? x : x * rnn.alpha;
    return rnn.activation == Alg::EltwiseTanh ? std::tanh(x) : sigmoid(x);
  }

  double &gate(size_t g, size_t o) { return out.gates[g * channels + o]; }
  double dot(const std::vector<double> &matrix, std::span<const double> vector, size_t g, size_t o) const {
    double sum = 0;
    auto gates = static_cast<size_t>(s.gates);
    for (size_t i = 0; i < vector.size(); ++i)
      sum += vector[i] * matrix[(i * gates + g) * channels + o];
    return sum;
  }
  /// Of the terms of a vanilla cell's sum.
  double squares(const std::vector<double> &matrix, std::span<const double> vector, size_t o) const {
    double sum = 0;
    for (size_t i = 0; i < vector.size(); ++i)
      sum += std::pow(vector[i] * matrix[i * channels + o], 2);
    return sum;
  }
  double W(size_t g, size_t o) const { return dot(w.layer, in.x, g, o); }
  double U(size_t g, size_t o) const { return dot(w.iter, in.h, g, o); }
  double P(size_t g, size_t o) const { return w.peephole.empty() ? 0 : w.peephole[g * channels + o]; }
  double B(size_t g, size_t o) const { return w.bias.empty() ? 0 : w.bias[g * channels + o]; }

  const RnnDesc &rnn;
  const Shape &s;
  const StateType &state;
  const CellWeights &w;
  const CellInputs &in;
  size_t channels;
  CellOutputs out;
};

} // namespace

double StateType::stored(double h) const { return roundTo(type, isInteger ? h * scale + shift : h); }

CellOutputs computeCell(const RnnDesc &rnn, const Shape &shape, const StateType &state, const CellWeights &weights, const CellInputs &in) {
  return Cell(rnn, shape, state, weights, in).run();
}

} // namespace quern::rnn
