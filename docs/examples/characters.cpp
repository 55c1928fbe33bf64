//===- characters.cpp - Training an RNN -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A character model: an RNN reads a text, and a matrix and softmax turn each state into the probabilities of the next
// character. It is trained once with each cell. Prints the loss per character during training, and fails if the final
// loss is not below `goal`. characters.hpp has the text and all parts that do not depend on Quern.
//
//   c++ -std=c++17 characters.cpp -lquern -o characters && ./characters
//
//===----------------------------------------------------------------------===//
#include "characters.hpp"

#include "quern/quern.hpp"

#include <cstdio>

using namespace lesson;
using namespace quern;

namespace {

constexpr int64_t lessons = 300;
constexpr float goal = 0.5f; ///< loss per character in nats; an untrained model has 3

struct Cell {
  const char *name;
  algorithm kind;
  int64_t gates, biases; ///< linear before reset has one more bias than gates
  float rate;            ///< learning rate
};

constexpr Cell cells[] = {
    {"rnn", algorithm::vanilla_rnn, 1, 1, 1.5f},  {"lstm", algorithm::vanilla_lstm, 4, 4, 6},
    {"gru", algorithm::vanilla_gru, 3, 3, 3},     {"lbr_gru", algorithm::lbr_gru, 3, 4, 3},
    {"augru", algorithm::vanilla_augru, 3, 3, 3}, {"lbr_augru", algorithm::lbr_augru, 3, 4, 3},
};

/// Returns the cell's tensors and their gradients. All layouts are plain, so that forward, backward and descent share
/// memory. With `any` weights would be packed, which is faster, but reordered after each lesson.
rnn_backward_parameters describe(const Cell &cell) {
  const auto plain = [](const memory::dims &dims, const char *tag) {
    return memory::desc(dims, memory::data_type::f32, tag);
  };
  rnn_backward_parameters rnn;
  rnn.cell_kind = cell.kind;
  rnn.flags = rnn_flags::diff_weights_overwrite; // otherwise the gradients are added to their old values
  rnn.src_layer = plain({steps, sequences, symbols}, "tnc");
  rnn.weights_layer = rnn.diff_weights_layer = plain({1, 1, symbols, cell.gates, channels}, "ldigo");
  rnn.weights_iter = rnn.diff_weights_iter = plain({1, 1, channels, cell.gates, channels}, "ldigo");
  rnn.bias = rnn.diff_bias = plain({1, 1, cell.biases, channels}, "ldgo");
  rnn.dst_layer = rnn.diff_dst_layer = plain({steps, sequences, channels}, "tnc");
  if (cell.kind == algorithm::vanilla_rnn)
    rnn.activation = algorithm::eltwise_tanh;
  if (cell.kind == algorithm::vanilla_augru || cell.kind == algorithm::lbr_augru)
    rnn.attention = plain({steps, sequences, 1}, "tnc");
  return rnn; // absent initial states are zeros; gradients that are not learned are absent
}

class Model {
public:
  Model(const engine &cpu, const Cell &cell)
      : cpu(cpu), order(cpu), cell(cell), weightsLayer(symbols * cell.gates * channels, 0.3f, 1),
        weightsIter(channels * cell.gates * channels, 0.2f, 2), bias(cell.biases * channels, 0.1f, 3),
        output(channels * symbols, 0.2f, 4) {
    rnn = describe(cell);
    const rnn_forward::primitive_desc forwardDesc(cpu, rnn);
    forward = rnn_forward(forwardDesc);
    backward = rnn_backward(rnn_backward::primitive_desc(cpu, rnn, forwardDesc));
    workspace = memory(forwardDesc.workspace_desc(), cpu); // written by forward, read by backward

    const softmax_forward::primitive_desc softmaxDesc(cpu, prop_kind::forward_training, algorithm::softmax_log, matrix,
                                                      matrix, 1);
    softmax = softmax_forward(softmaxDesc);
    softmaxBackward = softmax_backward(
        softmax_backward::primitive_desc(cpu, algorithm::softmax_log, matrix, matrix, matrix, 1, softmaxDesc));
  }

  /// Learns from a batch. Returns the loss per character before this step.
  float learn(Batch &batch) {
    const auto at = [&](const memory::desc &desc, std::vector<float> &values) {
      return memory(desc, cpu, values.data());
    };
    std::unordered_map<int, memory> arguments = {{QUERN_ARG_SRC_LAYER, at(rnn.src_layer, batch.inputs)},
                                                 {QUERN_ARG_WEIGHTS_LAYER, at(rnn.weights_layer, weightsLayer.values)},
                                                 {QUERN_ARG_WEIGHTS_ITER, at(rnn.weights_iter, weightsIter.values)},
                                                 {QUERN_ARG_BIAS, at(rnn.bias, bias.values)},
                                                 {QUERN_ARG_DST_LAYER, at(rnn.dst_layer, states)},
                                                 {QUERN_ARG_WORKSPACE, workspace}};
    if (rnn.attention.get_ndims())
      arguments.emplace(QUERN_ARG_AUGRU_ATTENTION, at(rnn.attention, batch.attention));
    forward.execute(order, arguments);
    order.wait();

    const float loss = predict(batch);

    // Backward reads all arguments of forward.
    arguments.emplace(QUERN_ARG_DIFF_DST_LAYER, at(rnn.diff_dst_layer, stateGradient));
    arguments.emplace(QUERN_ARG_DIFF_WEIGHTS_LAYER, at(rnn.diff_weights_layer, weightsLayer.gradient));
    arguments.emplace(QUERN_ARG_DIFF_WEIGHTS_ITER, at(rnn.diff_weights_iter, weightsIter.gradient));
    arguments.emplace(QUERN_ARG_DIFF_BIAS, at(rnn.diff_bias, bias.gradient));
    backward.execute(order, arguments);
    order.wait();

    for (Parameter *one : {&weightsLayer, &weightsIter, &bias, &output})
      one->descend(cell.rate);
    return loss;
  }

private:
  /// Returns the loss, computed from log(softmax(states * output)). Computes its gradients by `states` and `output`.
  float predict(const Batch &batch) {
    std::vector<float> logits(rows * symbols), logarithms(rows * symbols), gradient = batch.lossGradient();
    multiply('N', 'N', rows, symbols, channels, states, output.values, logits);
    memory src(matrix, cpu, logits.data()), dst(matrix, cpu, logarithms.data()), diff(matrix, cpu, gradient.data());
    softmax.execute(order, {{QUERN_ARG_SRC, src}, {QUERN_ARG_DST, dst}});
    softmaxBackward.execute(order,
                            {{QUERN_ARG_DST, dst}, {QUERN_ARG_DIFF_DST, diff}, {QUERN_ARG_DIFF_SRC, diff}}); // in place
    order.wait();
    multiply('T', 'N', channels, symbols, rows, states, gradient, output.gradient);
    multiply('N', 'T', rows, channels, symbols, gradient, output.values, stateGradient);
    return batch.loss(logarithms);
  }

  /// Computes c = a * b for matrices of m x k and k x n; the letter T means that a matrix is stored transposed.
  static void multiply(char transA, char transB, int64_t m, int64_t n, int64_t k, const std::vector<float> &a,
                       const std::vector<float> &b, std::vector<float> &c) {
    error::wrap_c_api(quern_sgemm(transA, transB, m, n, k, 1, a.data(), transA == 'T' ? m : k, b.data(),
                                  transB == 'T' ? k : n, 0, c.data(), n),
                      "could not multiply");
  }

  engine cpu;
  stream order;
  Cell cell;
  Parameter weightsLayer, weightsIter, bias, output;
  std::vector<float> states = std::vector<float>(rows * channels), stateGradient = states;
  memory workspace;
  rnn_backward_parameters rnn;
  primitive forward, backward, softmax, softmaxBackward;
  const memory::desc matrix{{rows, symbols}, memory::data_type::f32, "ab"};
};

} // namespace

int main() {
  const engine cpu(engine::kind::cpu, 0);
  bool reached = true;
  for (const Cell &cell : cells) {
    Model model(cpu, cell);
    std::printf("%s:", cell.name);
    float loss = 0;
    for (int64_t number = 0; number < lessons; ++number) {
      Batch batch(number);
      loss = model.learn(batch);
      if (number % 50 == 0)
        std::printf(" %.3f", loss);
    }
    std::printf(" %.3f\n", loss);
    reached &= loss < goal;
  }
  return reached ? 0 : 1;
}
