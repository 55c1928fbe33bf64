//===- RnnModelsTest.cpp - The reference against other frameworks ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the reference against the results of PyTorch, JAX and ONNX Runtime for small models.
// API/Execution/RnnModelsTest.cpp runs the same models with kernels.
//
//===----------------------------------------------------------------------===//
#include "Reference/RnnModels.h"

#include "Primitives/Arguments.h"
#include "Primitives/Registry.h"
#include "Primitives/Rnn/Workspace.h"
#include "Reference/Elements.h"
#include "Reference/Reference.h"
#include "quern/quern_rnn_weights.hpp"

#include <gtest/gtest.h>

namespace quern {
namespace {

TensorDesc describe(const std::map<int32_t, test::Numbers> &tensors, int32_t argument) {
  const auto found = tensors.find(argument);
  if (found == tensors.end() || found->second.shape.empty())
    return {};
  return *TensorDesc::fromTag(found->second.shape, argument == arg::seqLengths ? DataType::S32 : DataType::F32,
                              test::tagOfRnnTensor(found->second));
}

RnnDesc descOf(const test::RnnModel &model) {
  RnnDesc rnn;
  rnn.prop = PropKind::ForwardInference, rnn.cell = static_cast<Alg>(model.cell),
  rnn.activation = static_cast<Alg>(model.activation);
  rnn.direction = static_cast<RnnDirection>(model.direction), rnn.flags = model.flags;
  const auto input = [&](int32_t argument) { return describe(model.inputs, argument); };
  rnn.srcLayer = input(arg::src), rnn.srcIter = input(arg::src1), rnn.srcIterC = input(arg::src2);
  rnn.seqLengths = input(arg::seqLengths), rnn.bias = input(arg::bias);
  rnn.weightsLayer = input(arg::weights), rnn.weightsIter = input(arg::weights1);
  rnn.weightsPeephole = input(arg::weights2), rnn.weightsProjection = input(arg::weights3);
  rnn.dstLayer = describe(model.outputs, arg::dst), rnn.dstIter = describe(model.outputs, arg::dst1);
  rnn.dstIterC = describe(model.outputs, arg::dst2);
  return rnn;
}

class RnnModels : public testing::TestWithParam<test::RnnModel> {};

TEST_P(RnnModels, ReferenceComputesTheirNumbers) {
  const test::RnnModel &model = GetParam();
  Result<VerifiedProblem> problem = verifyRnn({descOf(model), {}}, Target(), nullptr);
  ASSERT_TRUE(problem) << problem.error().message;
  ReferenceInputs buffers;
  std::vector<int32_t> lengths;
  for (const auto &[argument, numbers] : model.inputs)
    buffers[argument] = numbers.values.data();
  if (const auto found = model.inputs.find(arg::seqLengths); found != model.inputs.end()) {
    lengths.assign(found->second.values.begin(), found->second.values.end());
    buffers[arg::seqLengths] = lengths.data();
  }
  Result<std::vector<ReferenceOutput>> computed = computeReference(problem->desc, buffers);
  ASSERT_TRUE(computed) << computed.error().message;
  EXPECT_EQ(computed->size(), model.cell == quern_vanilla_lstm ? 3u : 2u);
  for (const ReferenceOutput &output : *computed) {
    const std::vector<float> &theirs = model.outputs.at(output.argument).values;
    ASSERT_EQ(output.exact.size(), theirs.size());
    for (size_t i = 0; i < theirs.size(); ++i)
      ASSERT_NEAR(output.exact[i], static_cast<double>(theirs[i]), 1e-6)
          << "argument " << output.argument << ", element " << i;
  }
}

/// Returns the gradients of a model as tensors, in the mode in which backward overwrites them.
RnnDesc backwardOf(const test::RnnModel &model) {
  RnnDesc rnn = descOf(model);
  rnn.prop = PropKind::Backward, rnn.flags |= RnnDiffWeightsOverwrite;
  const auto made = [&](int32_t argument) { return describe(model.diffInputs, argument); };
  rnn.diffSrcLayer = made(QUERN_ARG_DIFF_SRC_LAYER), rnn.diffSrcIter = made(QUERN_ARG_DIFF_SRC_ITER);
  rnn.diffSrcIterC = made(QUERN_ARG_DIFF_SRC_ITER_C), rnn.diffBias = made(QUERN_ARG_DIFF_BIAS);
  rnn.diffWeightsLayer = made(QUERN_ARG_DIFF_WEIGHTS_LAYER), rnn.diffWeightsIter = made(QUERN_ARG_DIFF_WEIGHTS_ITER);
  rnn.diffWeightsProjection = made(QUERN_ARG_DIFF_WEIGHTS_PROJECTION);
  const auto given = [&](int32_t argument) { return describe(model.diffOutputs, argument); };
  rnn.diffDstLayer = given(QUERN_ARG_DIFF_DST_LAYER), rnn.diffDstIter = given(QUERN_ARG_DIFF_DST_ITER);
  rnn.diffDstIterC = given(QUERN_ARG_DIFF_DST_ITER_C);
  return rnn;
}

// Uses the workspace that the reference of forward computes from the model's inputs.
TEST_P(RnnModels, ReferenceComputesTheirGradients) {
  const test::RnnModel &model = GetParam();
  if (model.diffInputs.empty())
    GTEST_SKIP() << "this model has only numbers of the forward pass";
  ReferenceInputs buffers;
  std::vector<int32_t> lengths;
  for (const auto *tensors : {&model.inputs, &model.diffOutputs})
    for (const auto &[argument, numbers] : *tensors)
      buffers[argument] = numbers.values.data();
  if (const auto found = model.inputs.find(arg::seqLengths); found != model.inputs.end()) {
    lengths.assign(found->second.values.begin(), found->second.values.end());
    buffers[arg::seqLengths] = lengths.data();
  }
  RnnDesc forward = descOf(model);
  forward.prop = PropKind::ForwardTraining;
  const Result<std::vector<ReferenceOutput>> kept = computeReference({forward, {}}, buffers);
  ASSERT_TRUE(kept) << kept.error().message;
  std::vector<char> workspace(static_cast<size_t>(rnn::workspaceOf(forward)->desc.bytes()));
  for (const ReferenceOutput &output : *kept)
    if (output.argument == arg::workspace)
      scatter(output.desc, workspace.data(), output.exact);
  buffers[arg::workspace] = workspace.data();
  const Result<std::vector<ReferenceOutput>> computed = computeReference({backwardOf(model), {}}, buffers);
  ASSERT_TRUE(computed) << computed.error().message;
  EXPECT_GE(computed->size(), 5u);
  for (const ReferenceOutput &output : *computed) {
    const std::vector<float> &theirs = model.diffInputs.at(output.argument).values;
    ASSERT_EQ(output.exact.size(), theirs.size());
    // the weights of layer and iter are ldgoi in the files
    std::vector<double> ours(theirs.size());
    forEachElement(output.desc, [&](int64_t position, int64_t offset) {
      ours[static_cast<size_t>(offset)] = output.exact[static_cast<size_t>(position)];
    });
    for (size_t i = 0; i < theirs.size(); ++i)
      ASSERT_NEAR(ours[i], static_cast<double>(theirs[i]), 4e-6) << "argument " << output.argument << ", element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, RnnModels, testing::ValuesIn(test::rnnModels()), [](const auto &info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// Gates in the order of ONNX are converted to Quern's order.
TEST(RnnWeights, ConvertsTheGatesOfOnnx) {
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

} // namespace
} // namespace quern
