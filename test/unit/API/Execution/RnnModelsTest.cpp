//===- RnnModelsTest.cpp - RNNs of other frameworks through kernels -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the models of Reference/RnnModelsTest.cpp through the API: weights are converted and reordered into the layout
// that `any` selected, and the primitive runs on memory that starts or ends at inaccessible pages; then backward runs
// on the workspace of forward. Also tests that executions refuse tensors that were created for another primitive.
//
//===----------------------------------------------------------------------===//
#include "Reference/RnnModels.h"
#include "GuardedBuffer.h"
#include "Runtime/TestSupport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>

namespace quern {
namespace {

using dt = memory::data_type;
using test::RnnModel;

memory::desc plainOf(const test::Numbers &numbers, bool isInteger) {
  return numbers.shape.empty()
             ? memory::desc()
             : memory::desc(numbers.shape, isInteger ? dt::s32 : dt::f32, test::tagOfRnnTensor(numbers));
}
bool isPacked(int argument) {
  return argument == QUERN_ARG_WEIGHTS_LAYER || argument == QUERN_ARG_WEIGHTS_ITER ||
         argument == QUERN_ARG_WEIGHTS_PROJECTION;
}
memory::desc anyOf(const memory::desc &desc) {
  return desc.get_ndims() ? memory::desc(desc.get_dims(), desc.get_data_type(), memory::format_tag::any) : desc;
}

class RnnKernels : public testing::TestWithParam<RnnModel> {
protected:
  /// Returns the parameters of the model, with plain weights or with a layout that the primitive chooses.
  static rnn_parameters parametersOf(const RnnModel &model, bool packs) {
    const auto find = [&](int argument) {
      for (const auto *tensors : {&model.inputs, &model.outputs})
        if (const auto found = tensors->find(argument); found != tensors->end()) {
          const memory::desc plain = plainOf(found->second, argument == QUERN_ARG_SEQ_LENGTHS);
          return packs && isPacked(argument) ? anyOf(plain) : plain;
        }
      return memory::desc();
    };
    rnn_parameters rnn;
    rnn.cell_kind = static_cast<algorithm>(model.cell), rnn.activation = static_cast<algorithm>(model.activation);
    rnn.direction = static_cast<rnn_direction>(model.direction), rnn.flags = static_cast<rnn_flags>(model.flags);
    rnn.src_layer = find(QUERN_ARG_SRC_LAYER), rnn.src_iter = find(QUERN_ARG_SRC_ITER),
    rnn.src_iter_c = find(QUERN_ARG_SRC_ITER_C);
    rnn.seq_lengths = find(QUERN_ARG_SEQ_LENGTHS), rnn.bias = find(QUERN_ARG_BIAS);
    rnn.weights_layer = find(QUERN_ARG_WEIGHTS_LAYER), rnn.weights_iter = find(QUERN_ARG_WEIGHTS_ITER);
    rnn.weights_peephole = find(QUERN_ARG_WEIGHTS_PEEPHOLE),
    rnn.weights_projection = find(QUERN_ARG_WEIGHTS_PROJECTION);
    rnn.dst_layer = find(QUERN_ARG_DST_LAYER), rnn.dst_iter = find(QUERN_ARG_DST_ITER),
    rnn.dst_iter_c = find(QUERN_ARG_DST_ITER_C);
    return rnn;
  }

  /// Returns memory with these numbers in the layout that the primitive requires.
  memory place(const primitive_desc &desc, int argument, const test::Numbers &numbers) {
    const bool isInteger = argument == QUERN_ARG_SEQ_LENGTHS;
    const memory::desc md = desc.query_md(query::exec_arg_md, argument);
    guarded.emplace_back(static_cast<int64_t>(md.get_size()), Placement{side});
    memory plain(plainOf(numbers, isInteger), device), placed(md, device, guarded.back().data());
    if (isInteger)
      std::copy(numbers.values.begin(), numbers.values.end(), static_cast<int32_t *>(plain.get_data_handle()));
    else
      std::copy(numbers.values.begin(), numbers.values.end(), static_cast<float *>(plain.get_data_handle()));
    if (plain.get_desc() == md)
      std::memcpy(placed.get_data_handle(), plain.get_data_handle(), md.get_size());
    else
      reorder(plain, placed).execute(order, plain, placed);
    return placed;
  }

  void expectTheirNumbers(const RnnModel &model, bool packs) {
    const rnn_forward::primitive_desc desc(device, parametersOf(model, packs));
    std::unordered_map<int, memory> tensors;
    for (const auto *list : {&model.inputs, &model.outputs})
      for (const auto &[argument, numbers] : *list)
        if (!numbers.shape.empty())
          tensors.emplace(argument, place(desc, argument, list == &model.inputs ? numbers : blankOf(numbers)));
    rnn_forward(desc).execute(order, tensors);
    for (const auto &[argument, numbers] : model.outputs)
      for (size_t i = 0; i < numbers.values.size(); ++i)
        ASSERT_NEAR(static_cast<const float *>(tensors.at(argument).get_data_handle())[i], numbers.values[i], 2e-6)
            << model.name << ", argument " << argument << ", element " << i << (packs ? ", packed" : ", plain");
    for (const GuardedBuffer &buffer : guarded)
      ASSERT_TRUE(buffer.guardsIntact()) << model.name;
  }
  /// Runs forward with a workspace, then backward, which adds to its buffers or overwrites them.
  void expectTheirGradients(const RnnModel &model, bool packs, bool overwrites) {
    rnn_parameters training = parametersOf(model, packs);
    training.prop = prop_kind::forward_training;
    const rnn_forward::primitive_desc forward(device, training);
    const rnn_backward::primitive_desc backward(device, gradientsOf(model, packs, overwrites), forward);
    std::unordered_map<int, memory> made = tensorsOf(forward, {&model.inputs, &model.outputs});
    const memory workspace(forward.workspace_desc(), device);
    made.emplace(QUERN_ARG_WORKSPACE, workspace);
    rnn_forward(forward).execute(order, made);
    std::unordered_map<int, memory> tensors =
        tensorsOf(backward, {&model.inputs, &model.outputs, &model.diffOutputs, &model.diffInputs});
    tensors.emplace(QUERN_ARG_WORKSPACE, workspace);
    for (const auto &[argument, numbers] : model.outputs)
      if (!numbers.shape.empty())
        std::memcpy(tensors.at(argument).get_data_handle(), made.at(argument).get_data_handle(),
                    tensors.at(argument).get_desc().get_size());
    for (const auto &[argument, numbers] : model.diffInputs)
      for (size_t i = 0; i < numbers.values.size(); ++i)
        static_cast<float *>(tensors.at(argument).get_data_handle())[i] = old;
    rnn_backward(backward).execute(order, tensors);
    for (const auto &[argument, numbers] : model.diffInputs)
      for (size_t i = 0; i < numbers.values.size(); ++i)
        ASSERT_NEAR(static_cast<const float *>(tensors.at(argument).get_data_handle())[i],
                    numbers.values[i] + (!overwrites && argument >= QUERN_ARG_DIFF_WEIGHTS_LAYER ? old : 0), 1e-5)
            << "argument " << argument << ", element " << i;
    for (const GuardedBuffer &buffer : guarded)
      ASSERT_TRUE(buffer.guardsIntact());
  }
  static rnn_backward_parameters gradientsOf(const RnnModel &model, bool packs, bool overwrites) {
    rnn_backward_parameters rnn;
    static_cast<rnn_parameters &>(rnn) = parametersOf(model, packs);
    rnn.prop = prop_kind::forward_training;
    rnn.flags = static_cast<rnn_flags>(model.flags | (overwrites ? quern_rnn_flags_diff_weights_overwrite : 0));
    const auto find = [&](int argument) {
      for (const auto *tensors : {&model.diffInputs, &model.diffOutputs})
        if (const auto found = tensors->find(argument); found != tensors->end())
          return plainOf(found->second, /*isInteger=*/false);
      return memory::desc();
    };
    rnn.diff_src_layer = find(QUERN_ARG_DIFF_SRC_LAYER), rnn.diff_src_iter = find(QUERN_ARG_DIFF_SRC_ITER);
    rnn.diff_src_iter_c = find(QUERN_ARG_DIFF_SRC_ITER_C), rnn.diff_bias = find(QUERN_ARG_DIFF_BIAS);
    rnn.diff_weights_layer = find(QUERN_ARG_DIFF_WEIGHTS_LAYER);
    rnn.diff_weights_iter = find(QUERN_ARG_DIFF_WEIGHTS_ITER);
    rnn.diff_weights_projection = find(QUERN_ARG_DIFF_WEIGHTS_PROJECTION);
    rnn.diff_dst_layer = find(QUERN_ARG_DIFF_DST_LAYER), rnn.diff_dst_iter = find(QUERN_ARG_DIFF_DST_ITER);
    rnn.diff_dst_iter_c = find(QUERN_ARG_DIFF_DST_ITER_C);
    return rnn;
  }
  std::unordered_map<int, memory> tensorsOf(const primitive_desc &desc,
                                            std::initializer_list<const std::map<int32_t, test::Numbers> *> lists) {
    std::unordered_map<int, memory> tensors;
    for (const auto *list : lists)
      for (const auto &[argument, numbers] : *list)
        if (!numbers.shape.empty())
          tensors.emplace(argument, place(desc, argument, numbers));
    return tensors;
  }
  static test::Numbers blankOf(test::Numbers numbers) {
    std::fill(numbers.values.begin(), numbers.values.end(), -7.0f);
    return numbers;
  }

  engine device{engine::kind::cpu, 0};
  stream order{device};
  GuardedSide side = GuardedSide::End;
  std::vector<GuardedBuffer> guarded; ///< buffers of place()
  static constexpr float old = 0.25f; ///< initial value of gradients
};

TEST_P(RnnKernels, ComputeTheirNumbers) {
  for (bool packs : {true, false})
    for (GuardedSide each : {GuardedSide::End, GuardedSide::Beginning}) {
      side = each;
      ASSERT_NO_FATAL_FAILURE(expectTheirNumbers(GetParam(), packs)) << nameOf(side);
    }
}

TEST_P(RnnKernels, ComputeTheirGradients) {
  if (GetParam().diffInputs.empty())
    GTEST_SKIP() << "this model has only numbers of the forward pass";
  for (bool packs : {true, false})
    for (bool overwrites : {true, false})
      ASSERT_NO_FATAL_FAILURE(expectTheirGradients(GetParam(), packs, overwrites))
          << (packs ? "packed, " : "plain, ") << (overwrites ? "overwritten" : "added");
}

INSTANTIATE_TEST_SUITE_P(All, RnnKernels, testing::ValuesIn(test::rnnModels()), [](const auto &info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

/// An LSTM whose tensors are replaced by those of another LSTM.
class RnnExecution : public testing::Test {
protected:
  static memory::desc any(const memory::dims &dims, dt type = dt::f32) { return {dims, type, memory::format_tag::any}; }
  rnn_forward::primitive_desc describe(memory::dim hidden, prop_kind prop = prop_kind::forward_inference,
                                       const primitive_attr &attr = {}) {
    rnn_parameters rnn;
    rnn.cell_kind = algorithm::vanilla_lstm, rnn.prop = prop;
    rnn.src_layer = rnn.dst_layer = any({4, 2, hidden});
    rnn.weights_layer = rnn.weights_iter = any({1, 1, hidden, 4, hidden}), rnn.bias = any({1, 1, 4, hidden});
    return {device, rnn, attr};
  }
  std::unordered_map<int, memory> tensorsOf(const primitive_desc &desc) {
    std::unordered_map<int, memory> tensors;
    for (int argument : {QUERN_ARG_SRC_LAYER, QUERN_ARG_WEIGHTS_LAYER, QUERN_ARG_WEIGHTS_ITER, QUERN_ARG_BIAS,
                         QUERN_ARG_DST_LAYER, QUERN_ARG_WORKSPACE, QUERN_ARG_SCRATCHPAD})
      if (const memory::desc md = desc.query_md(query::exec_arg_md, argument); md.get_ndims()) {
        memory tensor(md, device);
        std::memset(tensor.get_data_handle(), 0, md.get_size());
        tensors.emplace(argument, tensor);
      }
    return tensors;
  }
  void fillPacked(memory &tensor, int seed) {
    const memory::dims dims = tensor.get_desc().get_dims();
    memory plain({dims, dt::f32, "abcde"}, device);
    auto *values = static_cast<float *>(plain.get_data_handle());
    for (size_t i = 0; i < plain.get_desc().get_size() / sizeof(float); ++i)
      values[i] = static_cast<float>((i * 53 + static_cast<size_t>(seed)) % 97) / 200 - 0.25f;
    reorder(plain, tensor).execute(stream(device), plain, tensor);
  }
  /// Expects that an execution of `desc` refuses the descriptor of this tensor of `other`.
  void expectRefused(const primitive_desc &desc, const primitive_desc &other, int argument) {
    std::unordered_map<int, memory> tensors = tensorsOf(desc);
    const primitive made(desc);
    made.execute(order, tensors);
    tensors.at(argument) = tensorsOf(other).at(argument);
    EXPECT_EQ(test::statusOf([&] { made.execute(order, tensors); }), quern_invalid_arguments);
    EXPECT_NE(std::string(quern_get_last_error_message()).find("; the primitive takes "), std::string::npos);
  }

  engine device{engine::kind::cpu, 0};
  stream order{device};
};

TEST_F(RnnExecution, RefusesWorkspacesOfOtherPrimitives) {
  expectRefused(describe(16, prop_kind::forward_training), describe(24, prop_kind::forward_training),
                QUERN_ARG_WORKSPACE);
}

TEST_F(RnnExecution, RefusesScratchpadsOfOtherPrimitives) {
  primitive_attr attr;
  attr.set_scratchpad_mode(scratchpad_mode::user);
  const prop_kind inference = prop_kind::forward_inference;
  ASSERT_GT(describe(16, inference, attr).scratchpad_desc().get_size(), 0u);
  expectRefused(describe(16, inference, attr), describe(64, inference, attr), QUERN_ARG_SCRATCHPAD);
}

TEST_F(RnnExecution, RefusesPackedWeightsOfOtherPrimitives) {
  expectRefused(describe(16), describe(24), QUERN_ARG_WEIGHTS_LAYER);
  // Plain weights are refused as well.
  const rnn_forward::primitive_desc desc = describe(16);
  std::unordered_map<int, memory> tensors = tensorsOf(desc);
  tensors.at(QUERN_ARG_WEIGHTS_ITER) = memory({{1, 1, 16, 4, 16}, dt::f32, "abcde"}, device);
  EXPECT_EQ(test::statusOf([&] { primitive(desc).execute(order, tensors); }), quern_invalid_arguments);
}

// Each execution has its own scratch: a primitive computes the same on several threads at once as on one. Results do
// not depend on the number of threads of an execution, or on whether the kernel comes from a blob.
TEST_F(RnnExecution, AlwaysComputesTheSame) {
  const rnn_forward::primitive_desc desc = describe(40);
  const auto compute = [&](const primitive &made, int seed) {
    std::unordered_map<int, memory> tensors = tensorsOf(desc);
    for (auto &[argument, tensor] : tensors) {
      auto *values = static_cast<float *>(tensor.get_data_handle());
      if (!isPacked(argument)) // the padding of packed weights is zero
        for (size_t i = 0; i < tensor.get_desc().get_size() / sizeof(float); ++i)
          values[i] = static_cast<float>((i * 37 + static_cast<size_t>(seed)) % 101) / 50 - 1;
      else
        fillPacked(tensor, seed);
    }
    made.execute(stream(device), tensors);
    const memory &result = tensors.at(QUERN_ARG_DST_LAYER);
    const auto *values = static_cast<const float *>(result.get_data_handle());
    return std::vector<float>(values, values + result.get_desc().get_size() / sizeof(float));
  };
  const rnn_forward made(desc), fromBlob(desc, made.get_cache_blob());
  const int threads = get_num_threads();
  std::vector<std::vector<float>> expected, found(8);
  set_num_threads(1);
  for (int seed = 0; seed < 8; ++seed)
    expected.push_back(compute(made, seed));
  EXPECT_NE(expected[0], expected[1]);
  for (int count : {2, 3}) {
    set_num_threads(count);
    EXPECT_EQ(compute(made, 1), expected[1]) << count << " threads";
  }
  EXPECT_EQ(compute(fromBlob, 2), expected[2]);
  std::vector<std::thread> callers;
  for (size_t seed = 0; seed < found.size(); ++seed)
    callers.emplace_back([&, seed] { found[seed] = compute(made, static_cast<int>(seed)); });
  for (std::thread &caller : callers)
    caller.join();
  set_num_threads(threads);
  EXPECT_EQ(found, expected);
}

// Steps and batch may be open: one primitive serves all sizes, with the same packed weights.
TEST_F(RnnExecution, OpenSizesShareTheWeights) {
  constexpr memory::dim hidden = 24, open = QUERN_RUNTIME_DIM_VAL;
  const auto describeFor = [&](memory::dim steps, memory::dim batch) {
    rnn_parameters rnn;
    rnn.cell_kind = algorithm::vanilla_gru;
    rnn.src_layer = rnn.dst_layer = memory::desc({steps, batch, hidden}, dt::f32, "abc");
    rnn.weights_layer = rnn.weights_iter = any({1, 1, hidden, 3, hidden}), rnn.bias = any({1, 1, 3, hidden});
    return rnn_forward::primitive_desc(device, rnn);
  };
  const rnn_forward::primitive_desc desc = describeFor(open, open);
  const rnn_forward forAll(desc);
  memory weights(desc.weights_layer_desc(), device), bias(desc.bias_desc(), device);
  fillPacked(weights, 3);
  std::memset(bias.get_data_handle(), 0, desc.bias_desc().get_size());
  for (const auto &[steps, batch] : {std::pair<memory::dim, memory::dim>{1, 1}, {7, 2}, {3, 17}}) {
    const rnn_forward::primitive_desc fixed = describeFor(steps, batch);
    ASSERT_EQ(fixed.weights_layer_desc(), desc.weights_layer_desc());
    std::vector<float> source(static_cast<size_t>(steps * batch * hidden)), results[2] = {source, source};
    for (size_t i = 0; i < source.size(); ++i)
      source[i] = static_cast<float>(i % 19) / 9 - 1;
    for (size_t i = 0; i < 2; ++i)
      (i == 0 ? forAll : rnn_forward(fixed))
          .execute(order, {{QUERN_ARG_SRC_LAYER, memory(fixed.src_layer_desc(), device, source.data())},
                           {QUERN_ARG_WEIGHTS_LAYER, weights},
                           {QUERN_ARG_WEIGHTS_ITER, weights},
                           {QUERN_ARG_BIAS, bias},
                           {QUERN_ARG_DST_LAYER, memory(fixed.dst_layer_desc(), device, results[i].data())}});
    for (size_t i = 0; i < source.size(); ++i)
      ASSERT_NEAR(results[0][i], results[1][i], 1e-6) << steps << " steps, batch " << batch << ", element " << i;
  }
}

// The result of a sequence does not depend on the lengths of the others.
TEST_F(RnnExecution, LengthsEndEachSequence) {
  rnn_parameters rnn;
  rnn.cell_kind = algorithm::lbr_gru, rnn.direction = rnn_direction::bidirectional_concat;
  const memory::dim steps = 6, batch = 3, hidden = 8;
  rnn.weights_layer = memory::desc({1, 2, hidden, 3, hidden}, dt::f32, "abcde"), rnn.weights_iter = rnn.weights_layer;
  const auto withBatch = [&](memory::dim t, memory::dim n) {
    rnn.src_layer = memory::desc({t, n, hidden}, dt::f32, "abc"),
    rnn.dst_layer = memory::desc({t, n, 2 * hidden}, dt::f32, "abc");
    rnn.dst_iter = memory::desc({1, 2, n, hidden}, dt::f32, "abcd");
    return rnn;
  };
  std::vector<float> x(static_cast<size_t>(steps * batch * hidden)),
      weights(static_cast<size_t>(2 * hidden * 3 * hidden));
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i % 17) / 8 - 1;
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<float>(i * 7 % 23) / 44 - 0.25f;
  std::vector<int32_t> lengths = {2, 9, 0}; // at most 6, so 9 means all steps
  rnn_parameters all = withBatch(steps, batch);
  all.seq_lengths = memory::desc({batch}, dt::s32, "a");
  const auto run = [&](const rnn_parameters &what, std::vector<float> &source) {
    const rnn_forward::primitive_desc desc(device, what);
    std::vector<std::vector<float>> results = {std::vector<float>(what.dst_layer.get_size() / 4, -7.0f),
                                               std::vector<float>(what.dst_iter.get_size() / 4, -7.0f)};
    std::unordered_map<int, memory> tensors = {
        {QUERN_ARG_SRC_LAYER, memory(what.src_layer, device, source.data())},
        {QUERN_ARG_WEIGHTS_LAYER, memory(what.weights_layer, device, weights.data())},
        {QUERN_ARG_WEIGHTS_ITER, memory(what.weights_iter, device, weights.data())},
        {QUERN_ARG_DST_LAYER, memory(what.dst_layer, device, results[0].data())},
        {QUERN_ARG_DST_ITER, memory(what.dst_iter, device, results[1].data())},
        {QUERN_ARG_SEQ_LENGTHS, memory(memory::desc({batch}, dt::s32, "a"), device, lengths.data())}};
    rnn_forward(desc).execute(order, tensors);
    return results;
  };
  const std::vector<std::vector<float>> batched = run(all, x);
  for (memory::dim n = 0; n < batch; ++n) {
    const memory::dim length = std::min<memory::dim>(lengths[static_cast<size_t>(n)], steps);
    std::vector<float> sequence;
    for (memory::dim t = 0; t < length; ++t)
      sequence.insert(sequence.end(), &x[static_cast<size_t>((t * batch + n) * hidden)],
                      &x[static_cast<size_t>((t * batch + n) * hidden)] + hidden);
    // The result is zero without a step.
    std::vector<std::vector<float>> single = {{}, std::vector<float>(static_cast<size_t>(2 * hidden))};
    if (length > 0)
      single = run(withBatch(length, 1), sequence);
    for (memory::dim t = 0; t < steps; ++t)
      for (memory::dim c = 0; c < 2 * hidden; ++c)
        ASSERT_NEAR(batched[0][static_cast<size_t>((t * batch + n) * 2 * hidden + c)],
                    t < length ? single[0][static_cast<size_t>(t * 2 * hidden + c)] : 0, 1e-6)
            << "sequence " << n << ", step " << t << ", channel " << c;
    for (memory::dim d = 0; d < 2; ++d)
      for (memory::dim c = 0; c < hidden; ++c)
        ASSERT_NEAR(batched[1][static_cast<size_t>((d * batch + n) * hidden + c)],
                    single[1][static_cast<size_t>(d * hidden + c)], 1e-6)
            << "sequence " << n << ", direction " << d;
  }
}

} // namespace
} // namespace quern
