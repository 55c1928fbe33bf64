// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// docs/examples/characters.cpp for oneDNN: every cell learns a text with forward, backward and gradient descent;
// layouts are chosen by the library. Losses agree within 1e-4 of their size: they exceed 1, and 5e-5 + 5e-5 * loss is
// less. Two defects of oneDNN's backward (docs/primitives/rnn.md) are avoided: the initial states are passed, although
// they are zero, and the attention is 0.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t --tolerance=5e-5 | FileCheck %s
// CHECK: rnn step 0: 3.0
// CHECK: rnn step 49: 1.
// CHECK: lbr_augru step 49: 1.
// CHECK: 300 lines compared, 0 differ, 0 refused
#include "../../../docs/examples/characters.hpp"

#include "oneapi/dnnl/dnnl.hpp"

#include <cstdio>
#include <map>

using namespace dnnl;
using namespace lesson;

namespace {

using tag = memory::format_tag;
using Arguments = std::unordered_map<int, memory>;
constexpr auto f32 = memory::data_type::f32;
constexpr auto training = prop_kind::forward_training;
constexpr auto direction = rnn_direction::unidirectional_left2right;

struct Cell {
  const char *name;
  algorithm kind;
  int64_t gates, biases;
  float rate; ///< step size of gradient descent
};

constexpr Cell cells[] = {
    {"rnn", algorithm::vanilla_rnn, 1, 1, 1.5f},  {"lstm", algorithm::vanilla_lstm, 4, 4, 6},
    {"gru", algorithm::vanilla_gru, 3, 3, 3},     {"lbr_gru", algorithm::lbr_gru, 3, 4, 3},
    {"augru", algorithm::vanilla_augru, 3, 3, 3}, {"lbr_augru", algorithm::lbr_augru, 3, 4, 3},
};

/// Forward and backward of a cell.
struct Descs {
  primitive_desc forward, backward;
};

/// Tensors of a cell: inputs x, h and a, weights w, u and b, and output y; the library chooses the layouts of weights.
struct Tensors {
  memory::desc x, h, a, w, u, b, y;
};

template <typename Forward, typename Backward> Descs describeGru(const engine &cpu, const Tensors &t) {
  const typename Forward::primitive_desc forward(cpu, training, direction, t.x, t.h, t.w, t.u, t.b, t.y, {});
  return {forward, typename Backward::primitive_desc(cpu, prop_kind::backward, direction, t.x, t.h, t.w, t.u, t.b, t.y,
                                                     {}, t.x, t.h, t.w, t.u, t.b, t.y, {}, forward)};
}

template <typename Forward, typename Backward> Descs describeAugru(const engine &cpu, const Tensors &t) {
  const typename Forward::primitive_desc forward(cpu, training, direction, t.x, t.h, t.a, t.w, t.u, t.b, t.y, {});
  return {forward, typename Backward::primitive_desc(cpu, prop_kind::backward, direction, t.x, t.h, t.a, t.w, t.u, t.b,
                                                     t.y, {}, t.x, t.h, t.a, t.w, t.u, t.b, t.y, {}, forward)};
}

Descs describe(const engine &cpu, algorithm cell, const Tensors &t) {
  switch (cell) {
  case algorithm::vanilla_rnn: {
    const vanilla_rnn_forward::primitive_desc forward(cpu, training, algorithm::eltwise_tanh, direction, t.x, t.h, t.w,
                                                      t.u, t.b, t.y, {});
    return {forward,
            vanilla_rnn_backward::primitive_desc(cpu, prop_kind::backward, algorithm::eltwise_tanh, direction, t.x, t.h,
                                                 t.w, t.u, t.b, t.y, {}, t.x, t.h, t.w, t.u, t.b, t.y, {}, forward)};
  }
  case algorithm::vanilla_lstm: {
    const lstm_forward::primitive_desc forward(cpu, training, direction, t.x, t.h, t.h, t.w, t.u, t.b, t.y, {}, {});
    return {forward, lstm_backward::primitive_desc(cpu, prop_kind::backward, direction, t.x, t.h, t.h, t.w, t.u, t.b,
                                                   t.y, {}, {}, t.x, t.h, t.h, t.w, t.u, t.b, t.y, {}, {}, forward)};
  }
  case algorithm::vanilla_gru:
    return describeGru<gru_forward, gru_backward>(cpu, t);
  case algorithm::lbr_gru:
    return describeGru<lbr_gru_forward, lbr_gru_backward>(cpu, t);
  case algorithm::vanilla_augru:
    return describeAugru<augru_forward, augru_backward>(cpu, t);
  default:
    return describeAugru<lbr_augru_forward, lbr_augru_backward>(cpu, t);
  }
}

class Model {
public:
  Model(const engine &cpu, const Cell &cell)
      : cpu(cpu), order(cpu), cell(cell),
        parameters{{DNNL_ARG_WEIGHTS_LAYER, {symbols * cell.gates * channels, 0.3f, 1}},
                   {DNNL_ARG_WEIGHTS_ITER, {channels * cell.gates * channels, 0.2f, 2}},
                   {DNNL_ARG_BIAS, {cell.biases * channels, 0.1f, 3}}},
        output(channels * symbols, 0.2f, 4) {
    const auto any = [](const memory::dims &dims) { return memory::desc(dims, f32, tag::any); };
    const memory::dims gates{1, 1, symbols, cell.gates, channels}, hidden{1, 1, channels, cell.gates, channels};
    descs = describe(cpu, cell.kind,
                     {memory::desc({steps, sequences, symbols}, f32, tag::tnc),
                      memory::desc({1, 1, sequences, channels}, f32, tag::ldnc),
                      memory::desc({steps, sequences, 1}, f32, tag::tnc), any(gates), any(hidden),
                      any({1, 1, cell.biases, channels}), memory::desc({steps, sequences, channels}, f32, tag::tnc)});
    plain = {{DNNL_ARG_WEIGHTS_LAYER, {gates, f32, tag::ldigo}},
             {DNNL_ARG_WEIGHTS_ITER, {hidden, f32, tag::ldigo}},
             {DNNL_ARG_BIAS, {{1, 1, cell.biases, channels}, f32, tag::ldgo}}};
  }

  /// Learns from a batch; returns its loss before the update.
  float learn(Batch &batch) {
    Arguments forward = arguments(descs.forward, batch);
    forward.emplace(DNNL_ARG_WORKSPACE, memory(of(descs.forward, DNNL_ARG_WORKSPACE), cpu));
    primitive(descs.forward).execute(order, forward);
    order.wait();

    Arguments backward = arguments(descs.backward, batch);
    backward.insert_or_assign(DNNL_ARG_DST_LAYER, forward.at(DNNL_ARG_DST_LAYER));
    backward.emplace(DNNL_ARG_WORKSPACE, forward.at(DNNL_ARG_WORKSPACE));
    for (int argument :
         {DNNL_ARG_DIFF_SRC_LAYER, DNNL_ARG_DIFF_SRC_ITER, DNNL_ARG_DIFF_SRC_ITER_C, DNNL_ARG_DIFF_AUGRU_ATTENTION,
          DNNL_ARG_DIFF_DST_LAYER, DNNL_ARG_DIFF_WEIGHTS_LAYER, DNNL_ARG_DIFF_WEIGHTS_ITER, DNNL_ARG_DIFF_BIAS})
      if (const memory::desc desc = of(descs.backward, argument); desc.get_ndims())
        backward.emplace(argument, zeros(desc)); // gradients of weights are accumulated
    const float loss = predict(batch, static_cast<float *>(forward.at(DNNL_ARG_DST_LAYER).get_data_handle()),
                               static_cast<float *>(backward.at(DNNL_ARG_DIFF_DST_LAYER).get_data_handle()));
    primitive(descs.backward).execute(order, backward);
    for (auto &[argument, parameter] : parameters)
      copy(backward.at(argument - DNNL_ARG_WEIGHTS + DNNL_ARG_DIFF_WEIGHTS),
           memory(plain.at(argument), cpu, parameter.gradient.data()));
    order.wait();

    for (auto &[argument, parameter] : parameters)
      parameter.descend(cell.rate);
    output.descend(cell.rate);
    return loss;
  }

private:
  static memory::desc of(const primitive_desc &desc, int argument) {
    return desc.query_md(query::exec_arg_md, argument);
  }
  void copy(memory from, memory to) { reorder(from, to).execute(order, from, to); }
  memory zeros(const memory::desc &desc) {
    memory made(desc, cpu);
    std::fill_n(static_cast<char *>(made.get_data_handle()), desc.get_size(), char(0));
    return made;
  }

  /// Returns the common arguments of forward and backward; weights have the layouts of `desc`.
  Arguments arguments(const primitive_desc &desc, Batch &batch) {
    Arguments all = {{DNNL_ARG_SRC_LAYER, memory(of(desc, DNNL_ARG_SRC_LAYER), cpu, batch.inputs.data())},
                     {DNNL_ARG_DST_LAYER, memory(of(desc, DNNL_ARG_DST_LAYER), cpu)}};
    for (int argument : {DNNL_ARG_SRC_ITER, DNNL_ARG_SRC_ITER_C, DNNL_ARG_AUGRU_ATTENTION})
      if (const memory::desc tensor = of(desc, argument); tensor.get_ndims())
        all.emplace(argument, zeros(tensor));
    for (auto &[argument, parameter] : parameters) {
      const memory placed = all.emplace(argument, memory(of(desc, argument), cpu)).first->second;
      copy(memory(plain.at(argument), cpu, parameter.values.data()), placed);
    }
    return all;
  }

  /// Runs the layer after the states: a product with `output`, then softmax. Computes the gradients of both from the
  /// loss.
  float predict(const Batch &batch, const float *states, float *stateGradient) {
    std::vector<float> logits(rows * symbols), logarithms(logits), gradient = batch.lossGradient();
    dnnl_sgemm('N', 'N', rows, symbols, channels, 1, states, channels, output.values.data(), symbols, 0, logits.data(),
               symbols);
    const memory::desc matrix({rows, symbols}, f32, tag::ab);
    const softmax_forward::primitive_desc softmax(cpu, training, algorithm::softmax_log, matrix, matrix, 1);
    const softmax_backward::primitive_desc back(cpu, algorithm::softmax_log, matrix, matrix, matrix, 1, softmax);
    memory src(matrix, cpu, logits.data()), dst(matrix, cpu, logarithms.data()), diff(matrix, cpu, gradient.data());
    softmax_forward(softmax).execute(order, {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}});
    softmax_backward(back).execute(order, {{DNNL_ARG_DST, dst}, {DNNL_ARG_DIFF_DST, diff}, {DNNL_ARG_DIFF_SRC, src}});
    order.wait();
    dnnl_sgemm('T', 'N', channels, symbols, rows, 1, states, channels, logits.data(), symbols, 0,
               output.gradient.data(), symbols);
    dnnl_sgemm('N', 'T', rows, channels, symbols, 1, logits.data(), symbols, output.values.data(), symbols, 0,
               stateGradient, channels);
    return batch.loss(logarithms);
  }

  engine cpu;
  stream order;
  Cell cell;
  std::map<int, Parameter> parameters;
  Parameter output;
  Descs descs;
  std::map<int, memory::desc> plain;
};

} // namespace

int main() {
  const engine cpu(engine::kind::cpu, 0);
  for (const Cell &cell : cells) {
    Model model(cpu, cell);
    for (int64_t number = 0; number < 50; ++number) {
      Batch batch(number);
      std::printf("%s step %d: %.7f\n", cell.name, static_cast<int>(number), model.learn(batch));
    }
  }
  return 0;
}
