//===- RnnTorchTest.cpp - The reference against PyTorch's numbers ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Inputs/torch_rnn.py wrote the numbers. Weights are brought into place by quern_rnn_weights.hpp, as a program that has a PyTorch model
// does.
//
//===----------------------------------------------------------------------===//
#include "Npy.h"
#include "Primitives/Arguments.h"
#include "Primitives/Elements.h"
#include "Primitives/Reference.h"
#include "Primitives/Registry.h"
#include "quern/quern_rnn_weights.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace quern;

namespace {

constexpr auto pytorch = rnn_weights_origin::pytorch;

struct Numbers {
  std::vector<int64_t> shape;
  std::vector<float> values;
};

class Model {
public:
  Model(std::string name, quern_alg_kind_t cell)
      : folder(std::string(QUERN_SOURCE_DIR) + "/test/unit/Primitives/Inputs/torch-" + name), cell(cell) {}

  /// A tensor of the model; empty if it has none of this name.
  Numbers read(const std::string &name) const {
    std::ifstream file(folder + "/" + name + ".npy", std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    std::string content = bytes.str();
    Numbers numbers;
    if (content.empty())
      return numbers;
    Result<NpyArray> array = parseNpy(content);
    EXPECT_TRUE(array) << name;
    numbers.shape = array->shape;
    TensorDesc desc = *TensorDesc::dense(array->shape, DataType::F32);
    numbers.values.resize(static_cast<size_t>(desc.elements()));
    EXPECT_TRUE(copyNpyTo(*array, desc, numbers.values.data()));
    return numbers;
  }

  /// [L, D, I, G, O] in the layout ldgoi.
  Numbers weights(const std::string &name) const {
    Numbers theirs = read(name), ours = theirs;
    int64_t gates = rnn_gates(cell), hidden = theirs.shape[2] / gates, inputs = theirs.shape[3];
    for (int64_t part = 0; part < theirs.shape[0] * theirs.shape[1]; ++part)
      convert_rnn_weights(pytorch, cell, &theirs.values[part * theirs.shape[2] * inputs], hidden, inputs,
                          &ours.values[part * theirs.shape[2] * inputs]);
    ours.shape = {theirs.shape[0], theirs.shape[1], inputs, gates, hidden};
    return ours;
  }

  Numbers bias() const {
    Numbers input = read("b_ih"), hiddenBias = read("b_hh"), ours;
    int64_t gates = rnn_gates(cell), hidden = input.shape[2] / gates, all = gates + (cell == quern_lbr_gru);
    ours.shape = {input.shape[0], input.shape[1], all, hidden};
    ours.values.resize(static_cast<size_t>(input.shape[0] * input.shape[1] * all * hidden));
    for (int64_t part = 0; part < input.shape[0] * input.shape[1]; ++part)
      convert_rnn_bias(pytorch, cell, &input.values[part * gates * hidden], &hiddenBias.values[part * gates * hidden], hidden,
                       &ours.values[part * all * hidden]);
    return ours;
  }

private:
  std::string folder;
  quern_alg_kind_t cell;
};

void expectTorchsNumbers(const std::string &name, quern_alg_kind_t cell, RnnDirection direction, Alg activation = Alg::Undef) {
  Model model(name, cell);
  std::map<int32_t, Numbers> inputs = {
      {arg::src, model.read("x")},           {arg::src1, model.read("h0")},          {arg::src2, model.read("c0")},
      {arg::weights, model.weights("w_ih")}, {arg::weights1, model.weights("w_hh")}, {arg::bias, model.bias()}};
  std::map<int32_t, Numbers> outputs = {{arg::dst, model.read("y")}, {arg::dst1, model.read("hn")}, {arg::dst2, model.read("cn")}};
  RnnDesc rnn;
  rnn.prop = PropKind::ForwardInference, rnn.cell = static_cast<Alg>(cell), rnn.direction = direction, rnn.activation = activation;
  rnn.flags = RnnStackConcatenated;
  auto describe = [](const Numbers &numbers, const char *tag) {
    return numbers.shape.empty() ? TensorDesc() : *TensorDesc::fromTag(numbers.shape, DataType::F32, tag);
  };
  rnn.srcLayer = describe(inputs[arg::src], "tnc"), rnn.srcIter = describe(inputs[arg::src1], "ldnc");
  rnn.srcIterC = describe(inputs[arg::src2], "ldnc"), rnn.bias = describe(inputs[arg::bias], "ldgo");
  rnn.weightsLayer = describe(inputs[arg::weights], "ldgoi"), rnn.weightsIter = describe(inputs[arg::weights1], "ldgoi");
  rnn.dstLayer = describe(outputs[arg::dst], "tnc"), rnn.dstIter = describe(outputs[arg::dst1], "ldnc");
  rnn.dstIterC = describe(outputs[arg::dst2], "ldnc");
  Result<VerifiedProblem> problem = verifyRnn({rnn, {}}, Target(), nullptr);
  ASSERT_TRUE(problem) << problem.error().message;
  ReferenceInputs buffers;
  for (const auto &[argument, numbers] : inputs)
    buffers[argument] = numbers.values.data();
  Result<std::vector<ReferenceOutput>> computed = computeReference(problem->desc, buffers);
  ASSERT_TRUE(computed) << computed.error().message;
  EXPECT_EQ(computed->size(), cell == quern_vanilla_lstm ? 3u : 2u);
  for (const ReferenceOutput &output : *computed) {
    const std::vector<float> &theirs = outputs[output.argument].values;
    ASSERT_EQ(output.exact.size(), theirs.size());
    for (size_t i = 0; i < theirs.size(); ++i)
      ASSERT_NEAR(output.exact[i], static_cast<double>(theirs[i]), 1e-6) << name << ", argument " << output.argument << ", element " << i;
  }
}

} // namespace

TEST(RnnTorch, Rnn) { expectTorchsNumbers("rnn", quern_vanilla_rnn, RnnDirection::Left2Right, Alg::EltwiseRelu); }
TEST(RnnTorch, Lstm) { expectTorchsNumbers("lstm", quern_vanilla_lstm, RnnDirection::Left2Right); }
TEST(RnnTorch, Gru) { expectTorchsNumbers("gru", quern_lbr_gru, RnnDirection::Left2Right); }
TEST(RnnTorch, TwoLayersInBothDirections) { expectTorchsNumbers("lstm-two-layers", quern_vanilla_lstm, RnnDirection::BidirectionalConcat); }

// Gates numbered as theirs come out in our order.
TEST(RnnTorch, GatesOfOnnx) {
  const float lstm[] = {0, 1, 2, 3}, recurrent[] = {10, 20, 30, 40}; // i, o, f, c
  float ours[4];
  convert_rnn_weights(rnn_weights_origin::onnx, quern_vanilla_lstm, lstm, 1, 1, ours);
  EXPECT_EQ(std::vector<float>(ours, ours + 4), (std::vector<float>{0, 2, 3, 1}));
  convert_rnn_bias(rnn_weights_origin::onnx, quern_vanilla_lstm, lstm, recurrent, 1, ours);
  EXPECT_EQ(std::vector<float>(ours, ours + 4), (std::vector<float>{10, 32, 43, 21}));
  convert_rnn_bias(rnn_weights_origin::onnx, quern_vanilla_gru, lstm, recurrent, 1, ours);
  EXPECT_EQ(std::vector<float>(ours, ours + 3), (std::vector<float>{10, 21, 32}));
  convert_rnn_bias(rnn_weights_origin::onnx, quern_lbr_gru, lstm, recurrent, 1, ours);
  EXPECT_EQ(std::vector<float>(ours, ours + 4), (std::vector<float>{10, 21, 2, 30}));
}
