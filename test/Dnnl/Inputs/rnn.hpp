// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RNNs in plain C++ from the equations, in double precision. Both libraries are compared with them. Tensors are
// row-major, in oneDNN's order of dims.
#ifndef RNN_HPP
#define RNN_HPP

#include "values.hpp"

#include <cmath>
#include <functional>
#include <map>

/// Parameters of an RNN. The states that a step reads and writes have the same number of channels.
struct Rnn {
  const char *name;
  dnnl::algorithm cell;
  dnnl::rnn_direction direction = dnnl::rnn_direction::unidirectional_left2right;
  dnnl::algorithm activation = dnnl::algorithm::undef;
  float alpha = 0;
  bool peephole = false, projection = false, state = true;
  dnnl::memory::dim layers = 1, steps = 5, batch = 3, slc = 16, dhc = 16, dic = 16;
  dnnl::memory::data_type type = dnnl::memory::data_type::f32; ///< type of src_layer
  bool isResultF32 = false;                                    ///< true if dst_layer is f32 with u8 states
  dnnl::prop_kind prop = dnnl::prop_kind::forward_inference;

  bool isLstm() const { return cell == dnnl::algorithm::vanilla_lstm; }
  bool isGru() const { return !isLstm() && cell != dnnl::algorithm::vanilla_rnn; }
  bool isLbr() const { return cell == dnnl::algorithm::lbr_gru || cell == dnnl::algorithm::lbr_augru; }
  bool hasAttention() const { return cell == dnnl::algorithm::vanilla_augru || cell == dnnl::algorithm::lbr_augru; }
  bool isConcat() const { return direction == dnnl::rnn_direction::bidirectional_concat; }
  bool isReversed(int d) const { return d == 1 || direction == dnnl::rnn_direction::unidirectional_right2left; }
  dnnl::memory::dim directions() const {
    return isConcat() || direction == dnnl::rnn_direction::bidirectional_sum ? 2 : 1;
  }
  dnnl::memory::dim gates() const { return isLstm() ? 4 : isGru() ? 3 : 1; }

  /// Returns the dims of an argument's tensor; empty if the RNN does not have it.
  dnnl::memory::dims dims(int argument) const {
    using dims = dnnl::memory::dims;
    const dnnl::memory::dim d = directions(), g = gates();
    switch (argument) {
    case DNNL_ARG_SRC_LAYER:
      return {steps, batch, slc};
    case DNNL_ARG_SRC_ITER:
    case DNNL_ARG_DST_ITER:
      return state ? dims{layers, d, batch, dic} : dims{};
    case DNNL_ARG_SRC_ITER_C:
    case DNNL_ARG_DST_ITER_C:
      return state && isLstm() ? dims{layers, d, batch, dhc} : dims{};
    case DNNL_ARG_AUGRU_ATTENTION:
      return hasAttention() ? dims{steps, batch, 1} : dims{};
    case DNNL_ARG_WEIGHTS_LAYER:
      return {layers, d, slc, g, dhc};
    case DNNL_ARG_WEIGHTS_ITER:
      return {layers, d, dic, g, dhc};
    case DNNL_ARG_WEIGHTS_PEEPHOLE:
      return peephole ? dims{layers, d, 3, dhc} : dims{};
    case DNNL_ARG_WEIGHTS_PROJECTION:
      return projection ? dims{layers, d, dhc, dic} : dims{};
    case DNNL_ARG_BIAS:
      return {layers, d, g + isLbr(), dhc};
    default: // DNNL_ARG_DST_LAYER
      return {steps, batch, isConcat() ? 2 * dic : dic};
    }
  }
};

/// The elements of each tensor, by argument.
using Tensors = std::map<int, std::vector<float>>;

class RnnReference {
public:
  /// `keep` rounds a computed state to its type, as the next step reads it.
  RnnReference(const Rnn &rnn, const Tensors &tensors, std::function<double(double)> keep)
      : rnn(rnn), given(tensors), keep(keep) {}

  /// Returns dst_layer, dst_iter and dst_iter_c.
  Tensors compute() {
    using dim = dnnl::memory::dim;
    const dim last = rnn.isConcat() ? 2 * rnn.dic : rnn.dic;
    results[DNNL_ARG_DST_LAYER].assign(static_cast<size_t>(rnn.steps * rnn.batch * last), 0);
    results[DNNL_ARG_DST_ITER].assign(static_cast<size_t>(rnn.layers * rnn.directions() * rnn.batch * rnn.dic), 0);
    results[DNNL_ARG_DST_ITER_C].assign(static_cast<size_t>(rnn.layers * rnn.directions() * rnn.batch * rnn.dhc), 0);
    for (int d = 0; d < rnn.directions(); ++d)
      for (dim n = 0; n < rnn.batch; ++n)
        runStack(d, n);
    return results;
  }

private:
  using State = std::vector<double>;

  /// Returns element `index` of a tensor; 0 if the tensor is absent.
  double at(int argument, dnnl::memory::dim index) const {
    const auto found = given.find(argument);
    return found == given.end() || found->second.empty()
               ? 0
               : static_cast<double>(found->second[static_cast<size_t>(index)]);
  }

  /// Runs all layers of a direction on one sequence.
  void runStack(int d, dnnl::memory::dim n) {
    std::vector<State> below(static_cast<size_t>(rnn.steps));
    for (size_t t = 0; t < below.size(); ++t)
      for (dnnl::memory::dim i = 0; i < rnn.slc; ++i)
        below[t].push_back(at(DNNL_ARG_SRC_LAYER, (static_cast<dnnl::memory::dim>(t) * rnn.batch + n) * rnn.slc + i));
    for (dnnl::memory::dim l = 0; l < rnn.layers; ++l) {
      const dnnl::memory::dim stack = l * rnn.directions() + d, row = stack * rnn.batch + n;
      State h, c;
      for (dnnl::memory::dim i = 0; i < rnn.dic; ++i)
        h.push_back(at(DNNL_ARG_SRC_ITER, row * rnn.dic + i));
      for (dnnl::memory::dim i = 0; i < rnn.dhc; ++i)
        c.push_back(at(DNNL_ARG_SRC_ITER_C, row * rnn.dhc + i));
      for (dnnl::memory::dim step = 0; step < rnn.steps; ++step) {
        const dnnl::memory::dim t = rnn.isReversed(d) ? rnn.steps - 1 - step : step;
        h = cell(stack, at(DNNL_ARG_AUGRU_ATTENTION, t * rnn.batch + n), below[static_cast<size_t>(t)], h, c);
        below[static_cast<size_t>(t)] = h;
      }
      for (size_t i = 0; i < h.size(); ++i)
        results[DNNL_ARG_DST_ITER][static_cast<size_t>(row * rnn.dic) + i] = static_cast<float>(h[i]);
      for (size_t i = 0; i < c.size(); ++i)
        results[DNNL_ARG_DST_ITER_C][static_cast<size_t>(row * rnn.dhc) + i] = static_cast<float>(c[i]);
    }
    const dnnl::memory::dim width = rnn.isConcat() ? 2 * rnn.dic : rnn.dic, first = rnn.isConcat() ? d * rnn.dic : 0;
    for (dnnl::memory::dim t = 0; t < rnn.steps; ++t)
      for (dnnl::memory::dim i = 0; i < rnn.dic; ++i)
        results[DNNL_ARG_DST_LAYER][static_cast<size_t>((t * rnn.batch + n) * width + first + i)] +=
            static_cast<float>(below[static_cast<size_t>(t)][static_cast<size_t>(i)]);
  }

  /// Multiplies row-major weights [stack, inputs, gates, dhc] with a vector, for one gate and channel.
  double product(int argument, dnnl::memory::dim stack, const State &x, dnnl::memory::dim gate,
                 dnnl::memory::dim o) const {
    double sum = 0;
    const auto inputs = static_cast<dnnl::memory::dim>(x.size());
    for (dnnl::memory::dim i = 0; i < inputs; ++i)
      sum += x[static_cast<size_t>(i)] * at(argument, ((stack * inputs + i) * rnn.gates() + gate) * rnn.dhc + o);
    return sum;
  }
  double bias(dnnl::memory::dim stack, dnnl::memory::dim gate, dnnl::memory::dim o) const {
    return at(DNNL_ARG_BIAS, (stack * (rnn.gates() + rnn.isLbr()) + gate) * rnn.dhc + o);
  }
  static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

  /// Returns h' of one step; `c` becomes c'.
  State cell(dnnl::memory::dim stack, double attention, const State &x, const State &h, State &c) const {
    const auto gate = [&](dnnl::memory::dim g, dnnl::memory::dim o, const State &recurrent) {
      return product(DNNL_ARG_WEIGHTS_LAYER, stack, x, g, o) + product(DNNL_ARG_WEIGHTS_ITER, stack, recurrent, g, o) +
             bias(stack, g, o);
    };
    State made(static_cast<size_t>(rnn.dhc));
    if (rnn.isLstm())
      return lstm(stack, gate, h, c);
    if (rnn.isGru())
      return gru(stack, attention, gate, x, h);
    for (dnnl::memory::dim o = 0; o < rnn.dhc; ++o) {
      const double a = gate(0, o, h);
      made[static_cast<size_t>(o)] = keep(rnn.activation == dnnl::algorithm::eltwise_tanh       ? std::tanh(a)
                                          : rnn.activation == dnnl::algorithm::eltwise_logistic ? sigmoid(a)
                                          : a > 0 ? a
                                                  : static_cast<double>(rnn.alpha) * a);
    }
    return made;
  }

  template <typename Gate> State lstm(dnnl::memory::dim stack, const Gate &gate, const State &h, State &c) const {
    State out;
    for (dnnl::memory::dim o = 0; o < rnn.dhc; ++o) {
      const auto peephole = [&](dnnl::memory::dim g) {
        return at(DNNL_ARG_WEIGHTS_PEEPHOLE, (stack * 3 + g) * rnn.dhc + o);
      };
      double &cell = c[static_cast<size_t>(o)];
      const double i = sigmoid(gate(0, o, h) + peephole(0) * cell), f = sigmoid(gate(1, o, h) + peephole(1) * cell);
      cell = f * cell + i * std::tanh(gate(2, o, h));
      out.push_back(keep(sigmoid(gate(3, o, h) + peephole(2) * cell) * std::tanh(cell)));
    }
    if (!rnn.projection)
      return out;
    State projected;
    for (dnnl::memory::dim p = 0; p < rnn.dic; ++p) {
      double sum = 0;
      for (dnnl::memory::dim o = 0; o < rnn.dhc; ++o)
        sum += out[static_cast<size_t>(o)] * at(DNNL_ARG_WEIGHTS_PROJECTION, (stack * rnn.dhc + o) * rnn.dic + p);
      projected.push_back(keep(sum));
    }
    return projected;
  }

  template <typename Gate>
  State gru(dnnl::memory::dim stack, double attention, const Gate &gate, const State &x, const State &h) const {
    State reset, out;
    for (dnnl::memory::dim o = 0; o < rnn.dhc; ++o) {
      const double r = sigmoid(gate(1, o, h));
      reset.push_back(rnn.isLbr() ? r : keep(r * h[static_cast<size_t>(o)]));
    }
    for (dnnl::memory::dim o = 0; o < rnn.dhc; ++o) {
      const double u = sigmoid(gate(0, o, h)) * (1 - attention);
      double sum = 0;
      if (rnn.isLbr()) {
        const double linear = product(DNNL_ARG_WEIGHTS_ITER, stack, h, 2, o) + bias(stack, 3, o);
        sum = product(DNNL_ARG_WEIGHTS_LAYER, stack, x, 2, o) + bias(stack, 2, o) +
              reset[static_cast<size_t>(o)] * linear;
      } else {
        sum = gate(2, o, reset);
      }
      const double candidate = std::tanh(sum);
      out.push_back(keep(u * h[static_cast<size_t>(o)] + (1 - u) * candidate));
    }
    return out;
  }

  const Rnn &rnn;
  const Tensors &given;
  std::function<double(double)> keep;
  Tensors results;
};

#endif // RNN_HPP
