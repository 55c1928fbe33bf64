//===- RnnModels.cpp - RNNs of other frameworks with their data -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads the files and converts them to Quern's shapes.
//
//===----------------------------------------------------------------------===//
#include "Reference/RnnModels.h"

#include "Npy.h"
#include "quern/quern_rnn_weights.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace quern::test {
namespace {

/// Returns a tensor of the model; empty if the model has none of this name.
Numbers readNumbers(const std::string &model, const std::string &name) {
  std::ifstream file(std::string(QUERN_SOURCE_DIR) + "/test/unit/Primitives/Inputs/" + model + "/" + name + ".npy",
                     std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  const std::string content = bytes.str();
  Numbers numbers;
  if (content.empty())
    return numbers;
  Result<NpyArray> array = parseNpy(content);
  EXPECT_TRUE(array) << model << " " << name;
  numbers.shape = array->shape;
  const bool isInteger = array->kind == 'i';
  const TensorDesc desc = *TensorDesc::dense(array->shape, isInteger ? DataType::S32 : DataType::F32);
  numbers.values.resize(static_cast<size_t>(desc.elements()));
  EXPECT_TRUE(copyNpyTo(*array, desc, numbers.values.data())) << model << " " << name;
  for (float &value : numbers.values)
    if (isInteger) {
      int32_t integer = 0;
      std::copy_n(reinterpret_cast<const char *>(&value), sizeof(integer), reinterpret_cast<char *>(&integer));
      value = static_cast<float>(integer);
    }
  return numbers;
}

/// Converts weights [L, D, G H, I] of a framework to [L, D, I, G, H] in layout ldgoi.
Numbers weightsOf(rnn_weights_origin origin, quern_alg_kind_t cell, const Numbers &theirs) {
  Numbers ours = theirs;
  const int64_t gates = rnn_gates(cell), rows = theirs.shape[2], inputs = theirs.shape[3];
  for (int64_t part = 0; part < theirs.shape[0] * theirs.shape[1]; ++part)
    convert_rnn_weights(origin, cell, &theirs.values[part * rows * inputs], rows / gates, inputs,
                        &ours.values[part * rows * inputs]);
  ours.shape = {theirs.shape[0], theirs.shape[1], inputs, gates, rows / gates};
  return ours;
}

/// Returns biases [L, D, G, H] of arrays [L, D, G H] in which parts are `step` elements apart.
Numbers biasOf(rnn_weights_origin origin, quern_alg_kind_t cell, const std::vector<int64_t> &stack, int64_t hidden,
               const float *input, const float *state, int64_t step) {
  const int64_t parts = stack[0] * stack[1], all = rnn_gates(cell) + (cell == quern_lbr_gru);
  Numbers ours{{stack[0], stack[1], all, hidden}, std::vector<float>(static_cast<size_t>(parts * all * hidden))};
  for (int64_t part = 0; part < parts; ++part)
    convert_rnn_bias(origin, cell, input + part * step, state + part * step, hidden, &ours.values[part * all * hidden]);
  return ours;
}

/// Reads the inputs of a model, or with the prefix "d_" their gradients.
std::map<int32_t, Numbers> readTorchInputs(const RnnModel &model, const std::string &prefix) {
  constexpr auto pytorch = rnn_weights_origin::pytorch;
  const auto read = [&](const char *name) { return readNumbers(model.name, prefix + name); };
  const Numbers input = read("b_ih");
  Numbers state = read("b_hh");
  const int64_t rows = input.shape[2], hidden = rows / rnn_gates(model.cell);
  // The gradient of a sum of two biases is the gradient of either, so one of them becomes 0. Only the last gate of
  // linear before reset uses both biases separately.
  const int64_t alike = model.cell == quern_lbr_gru ? rows - hidden : rows;
  for (size_t i = 0; i < state.values.size() && !prefix.empty(); ++i)
    state.values[i] = static_cast<int64_t>(i) % rows < alike ? 0 : state.values[i];
  std::map<int32_t, Numbers> inputs = {{QUERN_ARG_SRC_LAYER, read("x")},
                                       {QUERN_ARG_SRC_ITER, read("h0")},
                                       {QUERN_ARG_SRC_ITER_C, read("c0")},
                                       {QUERN_ARG_WEIGHTS_LAYER, weightsOf(pytorch, model.cell, read("w_ih"))},
                                       {QUERN_ARG_WEIGHTS_ITER, weightsOf(pytorch, model.cell, read("w_hh"))},
                                       {QUERN_ARG_BIAS, biasOf(pytorch, model.cell, input.shape, hidden,
                                                               input.values.data(), state.values.data(), rows)}};
  if (const Numbers theirs = read("w_hr"); !theirs.shape.empty()) {
    const int64_t projected = theirs.shape[2];
    Numbers ours{{theirs.shape[0], theirs.shape[1], hidden, projected}, theirs.values};
    for (int64_t part = 0; part < theirs.shape[0] * theirs.shape[1]; ++part)
      convert_rnn_projection(&theirs.values[part * projected * hidden], hidden, projected,
                             &ours.values[part * projected * hidden]);
    inputs[QUERN_ARG_WEIGHTS_PROJECTION] = ours;
  }
  return inputs;
}

/// Reads a model of PyTorch or JAX, whose files have the same shapes.
RnnModel readTorch(RnnModel model) {
  const auto read = [&](const char *name) { return readNumbers(model.name, name); };
  model.inputs = readTorchInputs(model, "");
  if (Numbers lengths = read("lengths"); !lengths.shape.empty())
    model.inputs[QUERN_ARG_SEQ_LENGTHS] = std::move(lengths);
  for (auto &[argument, numbers] : readTorchInputs(model, "d_"))
    model.diffInputs[128 + argument] = numbers;
  model.diffOutputs = {{QUERN_ARG_DIFF_DST_LAYER, read("d_y")},
                       {QUERN_ARG_DIFF_DST_ITER, read("d_hn")},
                       {QUERN_ARG_DIFF_DST_ITER_C, read("d_cn")}};
  model.outputs = {
      {QUERN_ARG_DST_LAYER, read("y")}, {QUERN_ARG_DST_ITER, read("hn")}, {QUERN_ARG_DST_ITER_C, read("cn")}};
  model.flags = quern_rnn_flags_stack_concatenated;
  return model;
}

/// Adds the dim of layers, which ONNX does not have.
Numbers withLayer(Numbers numbers) {
  if (!numbers.shape.empty())
    numbers.shape.insert(numbers.shape.begin(), 1);
  return numbers;
}

/// Converts T, D, N, H to T, N, D H.
Numbers joinedDirections(const Numbers &theirs) {
  const int64_t steps = theirs.shape[0], directions = theirs.shape[1], batch = theirs.shape[2],
                hidden = theirs.shape[3];
  Numbers ours{{steps, batch, directions * hidden}, theirs.values};
  for (int64_t t = 0; t < steps; ++t)
    for (int64_t d = 0; d < directions; ++d)
      for (int64_t n = 0; n < batch; ++n)
        std::copy_n(&theirs.values[((t * directions + d) * batch + n) * hidden], hidden,
                    &ours.values[((t * batch + n) * directions + d) * hidden]);
  return ours;
}

RnnModel readOnnx(RnnModel model) {
  constexpr auto onnx = rnn_weights_origin::onnx;
  const auto read = [&](const char *name) { return readNumbers(model.name, name); };
  const Numbers bias = withLayer(read("b"));
  const int64_t rows = bias.shape[2] / 2, hidden = rows / rnn_gates(model.cell);
  model.inputs = {
      {QUERN_ARG_SRC_LAYER, read("x")},
      {QUERN_ARG_SRC_ITER, withLayer(read("initial_h"))},
      {QUERN_ARG_SRC_ITER_C, withLayer(read("initial_c"))},
      {QUERN_ARG_SEQ_LENGTHS, read("sequence_lens")},
      {QUERN_ARG_WEIGHTS_LAYER, weightsOf(onnx, model.cell, withLayer(read("w")))},
      {QUERN_ARG_WEIGHTS_ITER, weightsOf(onnx, model.cell, withLayer(read("r")))},
      {QUERN_ARG_BIAS, biasOf(onnx, model.cell, bias.shape, hidden, bias.values.data(), &bias.values[rows], 2 * rows)}};
  if (const Numbers theirs = withLayer(read("p")); !theirs.shape.empty()) {
    Numbers ours{{1, theirs.shape[1], 3, hidden}, theirs.values};
    for (int64_t part = 0; part < theirs.shape[1]; ++part)
      convert_rnn_peephole(&theirs.values[part * 3 * hidden], hidden, &ours.values[part * 3 * hidden]);
    model.inputs[QUERN_ARG_WEIGHTS_PEEPHOLE] = ours;
  }
  model.outputs = {{QUERN_ARG_DST_LAYER, joinedDirections(read("y"))},
                   {QUERN_ARG_DST_ITER, withLayer(read("y_h"))},
                   {QUERN_ARG_DST_ITER_C, withLayer(read("y_c"))}};
  return model;
}

} // namespace

std::vector<RnnModel> rnnModels() {
  constexpr auto left2right = quern_unidirectional_left2right;
  constexpr auto both = quern_bidirectional_concat;
  return {readTorch({"torch-rnn", quern_vanilla_rnn, left2right, quern_eltwise_relu}),
          readTorch({"torch-lstm", quern_vanilla_lstm}),
          readTorch({"torch-lstm-projection", quern_vanilla_lstm}),
          readTorch({"torch-gru", quern_lbr_gru}),
          readTorch({"torch-lstm-two-layers", quern_vanilla_lstm, both}),
          readTorch({"torch-gru-reset-before", quern_vanilla_gru}),
          readTorch({"torch-gru-two-layers", quern_lbr_gru, both}),
          readTorch({"torch-lstm-lengths", quern_vanilla_lstm, both}),
          readTorch({"jax-lstm", quern_vanilla_lstm}),
          readTorch({"jax-gru", quern_lbr_gru}),
          readTorch({"jax-gru-reset-before", quern_vanilla_gru}),
          readTorch({"jax-lstm-lengths", quern_vanilla_lstm, both}),
          readTorch({"jax-gru-lengths", quern_lbr_gru, both}),
          readOnnx({"onnx-rnn", quern_vanilla_rnn, left2right, quern_eltwise_tanh}),
          readOnnx({"onnx-lstm-peepholes", quern_vanilla_lstm, both}),
          readOnnx({"onnx-lstm-lengths", quern_vanilla_lstm, both}),
          readOnnx({"onnx-gru", quern_vanilla_gru}),
          readOnnx({"onnx-gru-linear-before-reset", quern_lbr_gru})};
}

} // namespace quern::test
