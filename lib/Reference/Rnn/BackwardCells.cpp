//===- BackwardCells.cpp - Reference of the RNN cells' gradients ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A name with prefix d is the gradient of that value; for a gate it is the gradient of its pre-activation sum.
//
//===----------------------------------------------------------------------===//
#include "Reference/Rnn/BackwardCells.h"

namespace quern::rnn {
namespace {

template <typename Number> class Gradients {
public:
  Gradients(const RnnDesc &rnn, const Shape &shape, const CellGradientInputs<Number> &in)
      : rnn(rnn), in(in), channels(static_cast<size_t>(shape.dhc)) {
    out.layer.resize(in.gates.size());
    out.dhBefore.resize(channels);
  }

  CellGradients<Number> run() {
    if (isLstm(rnn))
      lstm();
    else if (isGru(rnn))
      gru();
    else
      vanilla();
    if (out.iter.empty())
      out.iter = out.layer;
    return std::move(out);
  }

private:
  void vanilla() {
    for (size_t o = 0; o < channels; ++o) {
      const Number h = gate(0, o);
      if (rnn.activation == Alg::EltwiseRelu)
        d(0, o) = in.dh[o] * Number(in.gates[o] > 0 ? 1.0f : rnn.alpha);
      else
        d(0, o) = in.dh[o] * (rnn.activation == Alg::EltwiseTanh ? slopeOfTanh(h) : slopeOfSigmoid(h));
    }
  }

  /// do = dh tanh(c') o(1 - o)   dc += dh o (1 - tanh²(c')) + P_o do
  /// di = dc c~ i(1 - i)   df = dc c f(1 - f)   dc~ = dc i (1 - c~²)   dc_before = dc f + P_i di + P_f df
  void lstm() {
    out.dcBefore.resize(channels);
    for (size_t o = 0; o < channels; ++o) {
      const Number i = gate(0, o), f = gate(1, o), candidate = gate(2, o), output = gate(3, o);
      const Number t = tanhOf(Number(in.c[o])), dh = in.dh[o];
      const Number dOutput = d(3, o) = dh * t * slopeOfSigmoid(output);
      Number dc = in.dc[o] + dh * output * slopeOfTanh(t);
      if (hasPeephole())
        dc += P(2, o) * dOutput;
      const Number dInput = d(0, o) = dc * candidate * slopeOfSigmoid(i);
      const Number dForget = d(1, o) = dc * Number(in.cBefore[o]) * slopeOfSigmoid(f);
      d(2, o) = dc * i * slopeOfTanh(candidate);
      out.dcBefore[o] = dc * f;
      if (hasPeephole())
        out.dcBefore[o] += P(0, o) * dInput + P(1, o) * dForget;
    }
  }

  /// u' = (1 - a) u   do = dh (1 - u')(1 - o²)   du' = dh (h - o)   du = du' (1 - a) u(1 - u)   da = -sum du' u
  /// d(rh) = U_o do   dr = d(rh) h r(1 - r)   dh_before = dh u' + d(rh) r
  /// For linear before reset, s = U_o h + b_u': dr = do s r(1 - r), and the gradient of s is do r.
  void gru() {
    const Number open = hasAttention(rnn) ? one - Number(in.attention) : one;
    std::vector<Number> dOutput(channels);
    for (size_t o = 0; o < channels; ++o) {
      const Number u = gate(0, o), candidate = gate(2, o), dh = in.dh[o];
      const Number update = hasAttention(rnn) ? open * u : u;
      dOutput[o] = d(2, o) = dh * (one - update) * slopeOfTanh(candidate);
      const Number dUpdate = dh * (in.h[o] - candidate);
      d(0, o) = (hasAttention(rnn) ? dUpdate * open : dUpdate) * slopeOfSigmoid(u);
      if (hasAttention(rnn))
        out.attention = out.attention - dUpdate * u;
      out.dhBefore[o] = dh * update;
    }
    if (isLinearBeforeReset(rnn))
      resetBehind();
    else
      resetBefore(in.throughOutputGate(dOutput));
  }

  void resetBehind() {
    for (size_t o = 0; o < channels; ++o)
      d(1, o) = d(2, o) * Number(in.hiddenSums[o]) * slopeOfSigmoid(gate(1, o));
    out.iter = out.layer;
    for (size_t o = 0; o < channels; ++o)
      out.iter[2 * channels + o] = d(2, o) * gate(1, o);
  }

  void resetBefore(const std::vector<Number> &dResetState) {
    out.resetStates.resize(channels);
    for (size_t o = 0; o < channels; ++o) {
      const Number r = gate(1, o);
      d(1, o) = dResetState[o] * in.h[o] * slopeOfSigmoid(r);
      out.dhBefore[o] += dResetState[o] * r;
      out.resetStates[o] = r * in.h[o];
    }
  }

  static Number tanhOf(Number x) {
    using std::tanh;
    return tanh(x);
  }
  /// Derivatives, from the values of the functions.
  Number slopeOfSigmoid(Number g) const { return g * (one - g); }
  Number slopeOfTanh(Number t) const { return one - t * t; }
  bool hasPeephole() const { return !in.peephole.empty(); }
  Number P(size_t g, size_t o) const { return Number(in.peephole[g * channels + o]); }
  Number gate(size_t g, size_t o) const { return Number(in.gates[g * channels + o]); }
  Number &d(size_t g, size_t o) { return out.layer[g * channels + o]; }

  const RnnDesc &rnn;
  const CellGradientInputs<Number> &in;
  size_t channels;
  const Number one{1};
  CellGradients<Number> out;
};

} // namespace

template <typename Number>
CellGradients<Number> cellGradients(const RnnDesc &rnn, const Shape &shape, const CellGradientInputs<Number> &in) {
  return Gradients<Number>(rnn, shape, in).run();
}

template <typename Number>
std::vector<Number> remadeState(const RnnDesc &rnn, const Shape &shape, std::span<const double> gates,
                                std::span<const double> c, double attention, std::span<const Number> hBefore) {
  using std::tanh;
  const auto channels = static_cast<size_t>(shape.dhc);
  std::vector<Number> h;
  for (size_t o = 0; o < channels; ++o) {
    if (isLstm(rnn)) {
      h.push_back(Number(gates[3 * channels + o]) * tanh(Number(c[o])));
    } else if (isGru(rnn)) {
      const Number one(1), u(gates[o]), update = hasAttention(rnn) ? (one - Number(attention)) * u : u;
      h.push_back(update * hBefore[o] + (one - update) * Number(gates[2 * channels + o]));
    } else {
      const Number gate(gates[o]);
      h.push_back(keepsSums(rnn) && gates[o] <= 0 ? Number(rnn.alpha) * gate : gate);
    }
  }
  return h;
}

template CellGradients<Uncertain> cellGradients(const RnnDesc &, const Shape &, const CellGradientInputs<Uncertain> &);
template CellGradients<float> cellGradients(const RnnDesc &, const Shape &, const CellGradientInputs<float> &);
template std::vector<Uncertain> remadeState(const RnnDesc &, const Shape &, std::span<const double>,
                                            std::span<const double>, double, std::span<const Uncertain>);
template std::vector<float> remadeState(const RnnDesc &, const Shape &, std::span<const double>,
                                        std::span<const double>, double, std::span<const float>);
template std::vector<double> remadeState(const RnnDesc &, const Shape &, std::span<const double>,
                                         std::span<const double>, double, std::span<const double>);

} // namespace quern::rnn
