//===- Cells.cpp - Reference of the RNN cells -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Integer problems have the same equations: an integer state represents (q - shift) / s and a weight w / ws. A sum of
// products of the integers, less the sum of the weights times the shift, divided by ws s, is therefore the sum of
// products of the numbers. Only values stored between steps, between r and U_o and before a projection are rounded.
//
//===----------------------------------------------------------------------===//
#include "Reference/Rnn/Cells.h"

#include "Reference/Elements.h"
#include "Reference/Rnn/ErrorBounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quern::rnn {
namespace {

double exactSigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Returns u h + (1 - u) o.
double blendOf(double u, double h, double o) { return u * h + (1 - u) * o; }
/// The result changes by u dh + (h - o) du + (1 - u) do, and by products of these.
Bounded blendOf(const Bounded &u, const Bounded &h, const Bounded &o) {
  return {blendOf(u.value, h.value, o.value), std::fabs(u.value) * h.off + std::fabs(h.value - o.value) * u.off +
                                                  std::fabs(1 - u.value) * o.off + u.off * (h.off + o.off)};
}

/// Computes a step with `Number` double or Bounded.
template <typename Number> class Cell {
public:
  Cell(const RnnDesc &rnn, const Shape &shape, const StateType &state, const CellWeights &weights, const CellInputs &in,
       const std::vector<Number> &x, const std::vector<Number> &h, const std::vector<Number> &c)
      : rnn(rnn), s(shape), state(state), w(weights), in(in), h(h), c(c), channels(static_cast<size_t>(shape.dhc)) {
    for (size_t g = 0; g < static_cast<size_t>(shape.gates); ++g) {
      const auto gate = static_cast<int64_t>(g);
      xRead.push_back(readBy(layerProductOf(rnn, gate), x));
      hRead.push_back(readBy(iterProductOf(rnn, gate), h));
    }
    out.h.resize(channels);
    out.gates.resize(channels * static_cast<size_t>(shape.gates));
  }

  CellResults<Number> run() {
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
    for (size_t o = 0; o < channels; ++o) {
      const Number sum = W(0, o) + U(0, o) + B(0, o);
      out.h[o] = activation(sum);
      gate(0, o) = keepsSums(rnn) ? sum : out.h[o];
    }
    double bound = rnn.activation == Alg::EltwiseRelu ? std::numeric_limits<double>::infinity() : 1;
    for (size_t o = 0; o < channels; ++o) {
      const double bias = valueOf(B(0, o));
      out.termNorms.push_back(
          std::min(bound, std::sqrt(squares(w.layer, in.x, o) + squares(w.iter, in.h, o) + bias * bias)));
    }
  }

  /// i = sigma(W_i x + U_i h + P_i c + B_i)   f = sigma(W_f x + U_f h + P_f c + B_f)   c~ = tanh(W_c x + U_c h + B_c)
  /// c' = f c + i c~   o = sigma(W_o x + U_o h + P_o c' + B_o)   h' = o tanh(c')
  void lstm() {
    out.c.resize(channels);
    for (size_t o = 0; o < channels; ++o) {
      Number i = gate(0, o) = sigmoid(W(0, o) + U(0, o) + P(0, o, c[o]) + B(0, o));
      Number f = gate(1, o) = sigmoid(W(1, o) + U(1, o) + P(1, o, c[o]) + B(1, o));
      Number candidate = gate(2, o) = tanhOf(W(2, o) + U(2, o) + B(2, o));
      out.c[o] = f * c[o] + i * candidate;
      Number output = gate(3, o) = sigmoid(W(3, o) + U(3, o) + P(2, o, out.c[o]) + B(3, o));
      out.h[o] = output * tanhOf(out.c[o]);
    }
    if (!w.projection.empty())
      project();
  }

  /// h' = R h
  void project() {
    out.unprojected = std::move(out.h);
    auto width = static_cast<size_t>(s.dic);
    out.h.assign(width, {}), out.jumps.assign(width, 0);
    for (size_t i = 0; i < channels; ++i) {
      const Number read = readOf(out.unprojected[i], i, Product::Projection);
      const double jump = jumpAt(out.unprojected[i]);
      for (size_t o = 0; o < width; ++o) {
        out.h[o] = out.h[o] + read * w.projection[i * width + o];
        out.jumps[o] += jump > 0 ? jump * std::fabs(w.projection[i * width + o]) : 0;
      }
    }
  }

  /// u = sigma(W_u x + U_u h + B_u)   r = sigma(W_r x + U_r h + B_r)   o = tanh(W_o x + U_o (r h) + B_o)
  /// h' = u h + (1 - u) o   With attention a: u <- (1 - a) u.
  void gru() {
    std::vector<Number> resetStates(channels);
    std::vector<double> jumps(channels);
    for (size_t o = 0; o < channels; ++o) {
      gate(0, o) = sigmoid(W(0, o) + U(0, o) + B(0, o));
      Number r = gate(1, o) = sigmoid(W(1, o) + U(1, o) + B(1, o));
      resetStates[o] = readOf(r * h[o], o, iterProductOf(rnn, 2));
      jumps[o] = jumpAt(r * h[o]);
    }
    for (size_t o = 0; o < channels; ++o) {
      gate(2, o) = tanhOf(W(2, o) + dot(w.iter, resetStates, 2, o) + B(2, o));
      double jump = 0;
      for (size_t i = 0; i < channels; ++i)
        jump += jumps[i] > 0 ? jumps[i] * std::fabs(w.iter[(i * static_cast<size_t>(s.gates) + 2) * channels + o]) : 0;
      out.candidateJumps.push_back(jump);
      out.jumps.push_back(jump > 0 ? jump * std::fabs(1 - valueOf(updateAt(o))) : 0);
      blend(o);
    }
  }

  /// u and r as in gru()   o = tanh(W_o x + r (U_o h + B_u') + B_o)
  void linearBeforeReset() {
    out.hiddenSums.resize(channels);
    for (size_t o = 0; o < channels; ++o) {
      gate(0, o) = sigmoid(W(0, o) + U(0, o) + B(0, o));
      Number r = gate(1, o) = sigmoid(W(1, o) + U(1, o) + B(1, o));
      out.hiddenSums[o] = U(2, o) + B(3, o);
      gate(2, o) = tanhOf(W(2, o) + r * out.hiddenSums[o] + B(2, o));
      blend(o);
    }
  }

  Number updateAt(size_t o) { return hasAttention(rnn) ? gate(0, o) * (1 - in.attention) : gate(0, o); }
  void blend(size_t o) { out.h[o] = blendOf(updateAt(o), h[o], gate(2, o)); }

  double sigmoid(double x) const { return in.sigmoid ? in.sigmoid(x) : exactSigmoid(x); }
  Bounded sigmoid(const Bounded &x) const { return sigmoidOf(sigmoid(x.value), x.off); }
  static Number tanhOf(const Number &x) {
    using std::tanh;
    return tanh(x);
  }
  /// Returns a value that was stored within the step as a product reads it.
  double readOf(double h, size_t channel, Product product) const {
    return state.operand(in.kept ? in.kept(h, channel) : state.kept(h), product);
  }
  Bounded readOf(const Bounded &h, size_t channel, Product product) const {
    const double tolerance = state.toleranceOf(h.value, 1) + h.off;
    return {readOf(h.value, channel, product), state.spreadAt(h.value, tolerance, h.off)};
  }
  double operand(double x, Product product) const { return state.operand(x, product); }
  Bounded operand(const Bounded &x, Product product) const { return {state.operand(x.value, product), x.off}; }
  std::vector<Number> readBy(Product product, std::vector<Number> numbers) const {
    for (Number &number : numbers)
      number = operand(number, product);
    return numbers;
  }
  double jumpAt(const Number &h) const { return state.jumpAt(valueOf(h), state.toleranceOf(valueOf(h), 1)); }

  Number activation(const Number &x) const {
    if (rnn.activation == Alg::EltwiseRelu)
      return relu(x);
    return rnn.activation == Alg::EltwiseTanh ? tanhOf(x) : sigmoid(x);
  }
  double relu(double x) const { return x > 0 ? x : x * rnn.alpha; }
  Bounded relu(const Bounded &x) const {
    return {relu(x.value), x.off * std::max(1.0, std::fabs(static_cast<double>(rnn.alpha)))};
  }

  Number &gate(size_t g, size_t o) { return out.gates[g * channels + o]; }
  Number dot(const std::vector<double> &matrix, const std::vector<Number> &vector, size_t g, size_t o) const {
    Number sum{};
    auto gates = static_cast<size_t>(s.gates);
    for (size_t i = 0; i < vector.size(); ++i)
      sum = sum + vector[i] * matrix[(i * gates + g) * channels + o];
    return sum;
  }
  /// Returns the sum of squares of the terms of a vanilla cell's sum.
  double squares(const std::vector<double> &matrix, std::span<const double> vector, size_t o) const {
    double sum = 0;
    for (size_t i = 0; i < vector.size(); ++i)
      sum += std::pow(vector[i] * matrix[i * channels + o], 2);
    return sum;
  }
  Number W(size_t g, size_t o) const { return dot(w.layer, xRead[g], g, o); }
  Number U(size_t g, size_t o) const { return dot(w.iter, hRead[g], g, o); }
  /// Without peepholes the term is 0, even if the cell is infinite.
  Number P(size_t g, size_t o, const Number &c) const {
    return w.peephole.empty() ? Number{} : c * w.peephole[g * channels + o];
  }
  Number B(size_t g, size_t o) const { return w.bias.empty() ? Number{} : Number{w.bias[g * channels + o]}; }

  const RnnDesc &rnn;
  const Shape &s;
  const StateType &state;
  const CellWeights &w;
  const CellInputs &in;
  const std::vector<Number> &h, &c;
  size_t channels;
  std::vector<std::vector<Number>> xRead, hRead; ///< values that the products of each gate read
  CellResults<Number> out;
};

} // namespace

StateType::StateType(const RnnDesc &rnn, const RnnQuantization &quantization, Operands operands, const Variant &variant)
    : type(rnn.srcLayer.dataType), isInteger(isQuantized(rnn)), operands(operands), scale(quantization.dataScale),
      shift(quantization.dataShift),
      least(isInteger && variant.clampsStates ? 0 : -std::numeric_limits<double>::infinity()) {
  auto channels = static_cast<double>(rnn.weightsLayer.dims[2] + rnn.weightsIter.dims[2]);
  threshold = 4 *
              std::max(std::ceil(std::log2(std::max(channels * static_cast<double>(rnn.srcLayer.dims[0]), 1.0))), 1.0) *
              0x1p-23;
  floor = channels * 0x1p-126; // dot products of bf16 treat a denormal as 0
}

double StateType::stored(double h) const {
  const double value = roundTo(type, isInteger ? h * scale + shift : h);
  return value < least ? least : value;
}

double StateType::storedOtherwise(double h) const {
  const double value = h * scale + shift, near = stored(h);
  return std::max(least, roundTo(type, value > near ? near + 1 : near - 1));
}

double StateType::distanceFromMiddle(double h) const {
  const double value = h * scale + shift;
  return std::fabs(value - std::floor(value) - 0.5);
}

double StateType::operand(double x, Product product) const {
  return operands.isRounded(product) ? roundTo(DataType::BF16, x) : x;
}

double StateType::toleranceOf(double h, double magnitude) const {
  const double ofSums = std::max(threshold * std::max(std::fabs(h), magnitude), floor);
  return isInteger ? std::max(1e-3 / std::fabs(scale), ofSums) : ofSums; // the second is greater for a cell far from 0
}

double StateType::jumpAt(double h, double tolerance) const {
  const bool isRead = operands.hasRounded();
  if (type == DataType::F32 && !isRead)
    return 0;
  auto readAt = [&](double x) { return isRead ? roundTo(DataType::BF16, kept(x)) : kept(x); };
  double low = readAt(h - tolerance), high = readAt(h + tolerance);
  return std::isfinite(low) && std::isfinite(high) ? std::fabs(high - low) : 0;
}

double StateType::spreadAt(double h, double tolerance, double moved) const {
  const double jump = jumpAt(h, tolerance);
  return type == DataType::F32 && (jump > 0 || moved > 0) ? jump + tolerance : jump;
}

double StateType::loosenessOf(double h, double typical) const {
  if (isInteger)
    return 4 / std::fabs(scale); // more than two steps occurred once in 5000 problems
  return 3 * epsilonOf(operands.hasRounded() ? DataType::BF16 : type) * std::max(std::fabs(h), typical);
}

double StateType::roundingOf(double h) const {
  return 4 * epsilonOf(DataType::F32) * (std::fabs(h) + (isInteger ? std::fabs(number(0)) : 0));
}

static bool isOutputOfGru(const RnnDesc &rnn, int64_t gate) { return hasResetFirst(rnn) && gate == 2; }
Product layerProductOf(const RnnDesc &rnn, int64_t gate) {
  return isOutputOfGru(rnn, gate) ? Product::OutputLayer : Product::Layer;
}
Product iterProductOf(const RnnDesc &rnn, int64_t gate) {
  return isOutputOfGru(rnn, gate) ? Product::OutputIter : Product::Iter;
}

CellOutputs computeCell(const RnnDesc &rnn, const Shape &shape, const StateType &state, const CellWeights &weights,
                        const CellInputs &in) {
  auto numbers = [](std::span<const double> values) { return std::vector<double>(values.begin(), values.end()); };
  const std::vector<double> x = numbers(in.x), h = numbers(in.h), c = numbers(in.c);
  return Cell<double>(rnn, shape, state, weights, in, x, h, c).run();
}

CellOutputs errorBoundsOf(const RnnDesc &rnn, const Shape &shape, const StateType &state, const CellWeights &weights,
                          const CellInputs &in, const InputErrorBounds &off) {
  auto bounded = [](std::span<const double> values, std::span<const double> offs) {
    std::vector<Bounded> numbers;
    for (size_t i = 0; i < values.size(); ++i)
      numbers.push_back({values[i], offs.empty() ? 0 : offs[i]});
    return numbers;
  };
  auto offsOf = [](const std::vector<Bounded> &numbers) {
    std::vector<double> offs;
    for (const Bounded &number : numbers)
      offs.push_back(number.off);
    return offs;
  };
  const std::vector<Bounded> x = bounded(in.x, off.x), h = bounded(in.h, off.h), c = bounded(in.c, off.c);
  const CellResults<Bounded> out = Cell<Bounded>(rnn, shape, state, weights, in, x, h, c).run();
  return {.h = offsOf(out.h),
          .c = offsOf(out.c),
          .gates = offsOf(out.gates),
          .hiddenSums = offsOf(out.hiddenSums),
          .unprojected = offsOf(out.unprojected)};
}

} // namespace quern::rnn
