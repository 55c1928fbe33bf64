//===- RnnTest.cpp - RNN descriptors through the API ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the RNN API: the parameter struct, the cell classes, queries and error messages.
//
//===----------------------------------------------------------------------===//
#include "Runtime/TestSupport.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>

namespace quern {
namespace {

using dt = memory::data_type;

class RnnTest : public testing::Test {
protected:
  static memory::desc any(const memory::dims &dims, dt type = dt::f32) { return {dims, type, memory::format_tag::any}; }

  /// Returns an LSTM with two layers, 5 steps, 3 sequences and 8 channels.
  static rnn_parameters lstm() {
    rnn_parameters rnn;
    rnn.cell_kind = algorithm::vanilla_lstm;
    rnn.src_layer = rnn.dst_layer = any({5, 3, 8});
    rnn.src_iter = rnn.src_iter_c = rnn.dst_iter = rnn.dst_iter_c = any({2, 1, 3, 8});
    rnn.weights_layer = rnn.weights_iter = any({2, 1, 8, 4, 8});
    rnn.bias = any({2, 1, 4, 8});
    return rnn;
  }
  rnn_forward::primitive_desc describe(const rnn_parameters &rnn, const primitive_attr &attr = {}) {
    return {device, rnn, attr};
  }
  /// Returns the reason of a refused RNN.
  std::string refusal(const rnn_parameters &rnn, quern_status_t status = quern_invalid_arguments,
                      const primitive_attr &attr = {}) {
    EXPECT_EQ(test::statusOf([&] { describe(rnn, attr); }), status);
    return quern_get_last_error_message();
  }
  /// Like refusal() above, with the parameters of the C function.
  std::string refusal(const quern_rnn_forward_t *rnn, quern_status_t status) {
    quern_primitive_desc_t desc = reinterpret_cast<quern_primitive_desc_t>(&device);
    EXPECT_EQ(quern_rnn_forward_primitive_desc_create(&desc, device.get(), rnn, nullptr), status);
    EXPECT_EQ(desc, nullptr);
    return quern_get_last_error_message();
  }

  engine device{engine::kind::cpu, 0};
};

TEST_F(RnnTest, AnswersQueries) {
  rnn_parameters rnn = lstm();
  rnn.direction = rnn_direction::unidirectional_right2left;
  rnn.seq_lengths = memory::desc({3}, dt::s32, memory::format_tag::a);
  rnn_forward::primitive_desc desc = describe(rnn);
  EXPECT_EQ(desc.get_kind(), primitive::kind::rnn);
  EXPECT_EQ(desc.get_prop_kind(), prop_kind::forward_inference);
  EXPECT_EQ(desc.get_cell_kind(), algorithm::vanilla_lstm);
  EXPECT_EQ(desc.get_activation_kind(), algorithm::undef);
  EXPECT_EQ(desc.get_direction(), rnn_direction::unidirectional_right2left);
  EXPECT_EQ(desc.get_flags(), rnn_flags::undef);
  EXPECT_EQ(desc.src_layer_desc(), memory::desc({5, 3, 8}, dt::f32, memory::format_tag::abc));
  EXPECT_EQ(desc.dst_iter_c_desc(), memory::desc({2, 1, 3, 8}, dt::f32, memory::format_tag::abcd));
  EXPECT_EQ(desc.seq_lengths_desc(), rnn.seq_lengths);
  EXPECT_EQ(desc.weights_desc(2), desc.bias_desc());
  EXPECT_EQ(desc.weights_peephole_desc().get_ndims(), 0);
  EXPECT_EQ(desc.workspace_desc().get_ndims(), 0);
  EXPECT_EQ(quern_primitive_desc_query_s32(desc.get(), quern_query_num_of_inputs_s32, 0), 7);
  EXPECT_EQ(quern_primitive_desc_query_s32(desc.get(), quern_query_num_of_outputs_s32, 0), 3);
  rnn.seq_lengths = {}, rnn.prop = prop_kind::forward_training;
  EXPECT_GT(describe(rnn).workspace_desc().get_size(), 0u);
}

TEST_F(RnnTest, ClassesOfCellsAreTheSame) {
  const rnn_parameters rnn = lstm();
  const lstm_forward::primitive_desc desc(device, rnn.prop, rnn.direction, rnn.src_layer, rnn.src_iter, rnn.src_iter_c,
                                          rnn.weights_layer, rnn.weights_iter, rnn.bias, rnn.dst_layer, rnn.dst_iter,
                                          rnn.dst_iter_c);
  EXPECT_EQ(desc.text(), describe(rnn).text());
  rnn_parameters peeping = rnn;
  peeping.weights_peephole = any({2, 1, 3, 8});
  const lstm_forward::primitive_desc second(
      device, rnn.prop, rnn.direction, rnn.src_layer, rnn.src_iter, rnn.src_iter_c, rnn.weights_layer, rnn.weights_iter,
      peeping.weights_peephole, rnn.bias, rnn.dst_layer, rnn.dst_iter, rnn.dst_iter_c);
  EXPECT_EQ(second.text(), describe(peeping).text());
  rnn_parameters simple;
  simple.cell_kind = algorithm::vanilla_rnn, simple.activation = algorithm::eltwise_relu, simple.alpha = 0.5f;
  simple.src_layer = simple.dst_layer = any({5, 3, 8});
  simple.weights_layer = simple.weights_iter = any({1, 1, 8, 1, 8});
  const vanilla_rnn_forward::primitive_desc third(device, simple.prop, simple.activation, simple.direction,
                                                  simple.src_layer, {}, simple.weights_layer, simple.weights_iter, {},
                                                  simple.dst_layer, {}, 0.5f);
  EXPECT_EQ(third.text(), describe(simple).text());
  EXPECT_EQ(third.get_alpha(), 0.5f);
  rnn_parameters attended = simple;
  attended.cell_kind = algorithm::lbr_augru, attended.activation = algorithm::undef, attended.alpha = 0;
  attended.weights_layer = attended.weights_iter = any({1, 1, 8, 3, 8});
  attended.attention = any({5, 3, 1});
  const lbr_augru_forward::primitive_desc fourth(device, attended.prop, attended.direction, attended.src_layer, {},
                                                 attended.attention, attended.weights_layer, attended.weights_iter, {},
                                                 attended.dst_layer, {});
  EXPECT_EQ(fourth.text(), describe(attended).text());
  EXPECT_EQ(fourth.attention_desc(), memory::desc({5, 3, 1}, dt::f32, memory::format_tag::abc));
}

TEST_F(RnnTest, StacksBothDirectionsAsPyTorch) {
  rnn_parameters rnn = lstm();
  rnn.direction = rnn_direction::bidirectional_concat, rnn.flags = rnn_flags::stack_concatenated;
  rnn.src_iter = rnn.src_iter_c = rnn.dst_iter = rnn.dst_iter_c = {};
  rnn.src_layer = rnn.dst_layer = any({5, 3, 16});
  rnn.weights_layer = any({2, 2, 16, 4, 8}), rnn.weights_iter = any({2, 2, 8, 4, 8}), rnn.bias = any({2, 2, 4, 8});
  EXPECT_EQ(describe(rnn).get_flags(), rnn_flags::stack_concatenated);
  rnn.flags = rnn_flags::undef;
  EXPECT_NE(refusal(rnn).find("(rnn C22)"), std::string::npos);
}

TEST_F(RnnTest, RefusesStructsOfUnknownSize) {
  quern_rnn_forward_t rnn = {};
  EXPECT_EQ(refusal(nullptr, quern_invalid_arguments), "rnn is null");
  EXPECT_NE(refusal(&rnn, quern_invalid_arguments).find("size is 0"), std::string::npos);
  rnn.size = offsetof(quern_rnn_forward_t, dst_layer_desc) + 4; // ends within a pointer
  EXPECT_NE(refusal(&rnn, quern_invalid_arguments).find("size is "), std::string::npos);
  struct {
    quern_rnn_forward_t known;
    uint64_t later;
  } wider = {};
  wider.known.size = sizeof(wider), wider.later = 1;
  EXPECT_NE(refusal(&wider.known, quern_unimplemented).find("bytes after the first "), std::string::npos);
  wider.later = 0; // zero: an absent tensor
  EXPECT_NE(refusal(&wider.known, quern_invalid_arguments).find("prop_kind is 0"), std::string::npos);
  // A struct of a program that was compiled before the last tensors were added.
  rnn.size = offsetof(quern_rnn_forward_t, dst_iter_desc), rnn.prop_kind = quern_forward_inference,
  rnn.cell_kind = quern_vanilla_gru;
  rnn.direction = quern_unidirectional_left2right, rnn.dst_iter_desc = reinterpret_cast<const_quern_memory_desc_t>(1);
  EXPECT_NE(refusal(&rnn, quern_invalid_arguments).find("needs src_layer, which is absent (rnn C7)"),
            std::string::npos);
}

TEST_F(RnnTest, RefusesOtherKinds) {
  rnn_parameters rnn = lstm();
  rnn.prop = prop_kind::backward;
  EXPECT_NE(refusal(rnn).find("forward rnn supports"), std::string::npos);
  rnn = lstm();
  rnn.cell_kind = algorithm::eltwise_relu;
  EXPECT_NE(refusal(rnn).find("(rnn C3)"), std::string::npos);
  rnn = lstm();
  rnn.direction = rnn_direction::undef;
  EXPECT_NE(refusal(rnn).find("(rnn C4)"), std::string::npos);
  rnn = lstm();
  rnn.seq_lengths = any({3}, dt::f32);
  EXPECT_NE(refusal(rnn, quern_unimplemented).find("(rnn C37)"), std::string::npos);
  primitive_attr attr;
  attr.set_rnn_data_qparams(10, 1);
  EXPECT_NE(refusal(lstm(), quern_unimplemented, attr).find("(rnn C43)"), std::string::npos);
  EXPECT_FALSE(rnn_forward::primitive_desc(device, rnn, {}, /*allow_empty=*/true));
}

/// Returns the parameters with all gradients; forward's descriptor is the hint.
rnn_backward_parameters gradientsOf(const rnn_parameters &forward) {
  rnn_backward_parameters rnn;
  static_cast<rnn_parameters &>(rnn) = forward;
  rnn.prop = prop_kind::forward_training;
  rnn.diff_src_layer = rnn.src_layer, rnn.diff_src_iter = rnn.src_iter, rnn.diff_src_iter_c = rnn.src_iter_c;
  rnn.diff_weights_layer = rnn.weights_layer, rnn.diff_weights_iter = rnn.weights_iter, rnn.diff_bias = rnn.bias;
  rnn.diff_dst_layer = rnn.dst_layer, rnn.diff_dst_iter = rnn.dst_iter, rnn.diff_dst_iter_c = rnn.dst_iter_c;
  return rnn;
}

TEST_F(RnnTest, AnswersQueriesOfBackward) {
  rnn_parameters rnn = lstm();
  rnn.prop = prop_kind::forward_training;
  const rnn_forward::primitive_desc forward = describe(rnn);
  rnn_backward_parameters given = gradientsOf(rnn);
  given.flags = rnn_flags::diff_weights_overwrite;
  const rnn_backward::primitive_desc desc(device, given, forward);
  EXPECT_EQ(desc.get_prop_kind(), prop_kind::backward);
  EXPECT_EQ(desc.get_cell_kind(), algorithm::vanilla_lstm);
  EXPECT_EQ(desc.get_flags(), rnn_flags::diff_weights_overwrite);
  EXPECT_EQ(desc.workspace_desc(), forward.workspace_desc());
  EXPECT_EQ(desc.diff_src_layer_desc(), memory::desc({5, 3, 8}, dt::f32, memory::format_tag::abc));
  EXPECT_EQ(desc.diff_dst_iter_c_desc(), memory::desc({2, 1, 3, 8}, dt::f32, memory::format_tag::abcd));
  EXPECT_EQ(desc.diff_weights_layer_desc(), memory::desc({2, 1, 8, 4, 8}, dt::f32, memory::format_tag::abcde));
  EXPECT_EQ(desc.diff_src_desc(1), desc.diff_src_iter_desc());
  EXPECT_EQ(desc.diff_dst_desc(2), desc.diff_dst_iter_c_desc());
  EXPECT_EQ(desc.diff_weights_desc(1), desc.diff_weights_iter_desc());
  EXPECT_EQ(desc.diff_weights_desc(2), desc.diff_bias_desc());
  EXPECT_EQ(desc.diff_weights_peephole_desc().get_ndims(), 0);
  EXPECT_NE(desc.weights_layer_desc(), forward.weights_layer_desc()) << "backward packs the transposed weights";
  EXPECT_EQ(quern_primitive_desc_query_s32(desc.get(), quern_query_num_of_inputs_s32, 0), 13);
  EXPECT_EQ(quern_primitive_desc_query_s32(desc.get(), quern_query_num_of_outputs_s32, 0), 6);
}

TEST_F(RnnTest, ClassesOfBackwardAreTheSame) {
  rnn_parameters rnn = lstm();
  rnn.prop = prop_kind::forward_training;
  const rnn_backward_parameters given = gradientsOf(rnn);
  const lstm_forward::primitive_desc forward(device, rnn.prop, rnn.direction, rnn.src_layer, rnn.src_iter,
                                             rnn.src_iter_c, rnn.weights_layer, rnn.weights_iter, rnn.bias,
                                             rnn.dst_layer, rnn.dst_iter, rnn.dst_iter_c);
  const lstm_backward::primitive_desc desc(
      device, prop_kind::backward, rnn.direction, rnn.src_layer, rnn.src_iter, rnn.src_iter_c, rnn.weights_layer,
      rnn.weights_iter, rnn.bias, rnn.dst_layer, rnn.dst_iter, rnn.dst_iter_c, given.diff_src_layer,
      given.diff_src_iter, given.diff_src_iter_c, given.diff_weights_layer, given.diff_weights_iter, given.diff_bias,
      given.diff_dst_layer, given.diff_dst_iter, given.diff_dst_iter_c, forward);
  EXPECT_EQ(desc.text(), rnn_backward::primitive_desc(device, given, forward).text());
  EXPECT_EQ(desc.text(), primitive_desc(device, desc.text()).text());
}

TEST_F(RnnTest, RefusesOtherBackward) {
  rnn_parameters rnn = lstm();
  rnn.prop = prop_kind::forward_training;
  const rnn_forward::primitive_desc forward = describe(rnn);
  const auto refusal = [&](const rnn_backward_parameters &given, const rnn_forward::primitive_desc &hint) {
    EXPECT_EQ(test::statusOf([&] { rnn_backward::primitive_desc(device, given, hint); }), quern_invalid_arguments);
    return std::string(quern_get_last_error_message());
  };
  rnn_backward_parameters given = gradientsOf(rnn);
  given.prop = prop_kind::backward;
  EXPECT_EQ(refusal(given, forward), "prop_kind of forward is 128; it must be forward_training (64)");
  rnn.prop = prop_kind::forward_inference;
  EXPECT_NE(refusal(gradientsOf(rnn), describe(rnn)).find("(rnn C49)"), std::string::npos);
  given = gradientsOf(rnn), given.diff_dst_layer = {};
  EXPECT_NE(refusal(given, forward).find("(rnn C46)"), std::string::npos);
  rnn.prop = prop_kind::forward_training;
  const lstm_forward::primitive_desc hint(device, rnn.prop, rnn.direction, rnn.src_layer, rnn.src_iter, rnn.src_iter_c,
                                          rnn.weights_layer, rnn.weights_iter, rnn.bias, rnn.dst_layer, rnn.dst_iter,
                                          rnn.dst_iter_c);
  const lstm_backward::primitive_desc empty(
      device, prop_kind::forward_training, rnn.direction, rnn.src_layer, rnn.src_iter, rnn.src_iter_c,
      rnn.weights_layer, rnn.weights_iter, rnn.bias, rnn.dst_layer, rnn.dst_iter, rnn.dst_iter_c, rnn.src_layer,
      rnn.src_iter, rnn.src_iter_c, rnn.weights_layer, rnn.weights_iter, rnn.bias, rnn.dst_layer, rnn.dst_iter,
      rnn.dst_iter_c, hint, {}, /*allow_empty=*/true);
  EXPECT_FALSE(empty) << "the kind is not backward";
}

/// Each of the two structures has a size.
TEST_F(RnnTest, ReadsBothStructsOfBackward) {
  const memory::desc x = any({5, 3, 8}), w = any({1, 1, 8, 3, 8});
  quern_rnn_forward_t forward = {};
  quern_rnn_backward_t rnn = {};
  struct {
    quern_rnn_backward_t known;
    uint64_t later;
  } wider = {};
  quern_primitive_desc_t desc = nullptr;
  const auto refusal = [&](const quern_rnn_backward_t *given, quern_status_t status = quern_invalid_arguments) {
    desc = reinterpret_cast<quern_primitive_desc_t>(&device);
    EXPECT_EQ(quern_rnn_backward_primitive_desc_create(&desc, device.get(), given, nullptr, nullptr), status);
    EXPECT_EQ(desc, nullptr);
    return std::string(quern_get_last_error_message());
  };
  EXPECT_EQ(refusal(nullptr), "rnn is null");
  EXPECT_NE(refusal(&rnn).find("size is 0; quern_rnn_backward_t has"), std::string::npos);
  rnn.size = sizeof(rnn);
  EXPECT_EQ(refusal(&rnn), "forward is null");
  rnn.forward = &forward;
  EXPECT_NE(refusal(&rnn).find("size is 0; quern_rnn_forward_t has"), std::string::npos);
  forward.size = sizeof(forward), forward.prop_kind = quern_forward_inference;
  EXPECT_EQ(refusal(&rnn), "prop_kind of forward is 96; it must be forward_training (64)");
  forward.prop_kind = quern_forward_training, forward.cell_kind = quern_vanilla_gru;
  forward.direction = quern_unidirectional_left2right;
  EXPECT_NE(refusal(&rnn).find("src_layer"), std::string::npos);
  forward.src_layer_desc = forward.dst_layer_desc = rnn.diff_dst_layer_desc = x.get();
  forward.weights_layer_desc = forward.weights_iter_desc = rnn.diff_weights_layer_desc = w.get();
  wider.known = rnn, wider.known.size = sizeof(wider), wider.later = 1;
  EXPECT_NE(refusal(&wider.known, quern_unimplemented).find("must be zero"), std::string::npos);
  wider.later = 0;
  for (const quern_rnn_backward_t *given : {&std::as_const(rnn), &std::as_const(wider.known)}) {
    EXPECT_EQ(quern_rnn_backward_primitive_desc_create(&desc, device.get(), given, nullptr, nullptr), quern_success)
        << quern_get_last_error_message();
    EXPECT_EQ(quern_primitive_desc_destroy(desc), quern_success);
  }
  rnn.size = offsetof(quern_rnn_backward_t, diff_dst_layer_desc); // a version without the later gradients
  EXPECT_NE(refusal(&rnn).find("(rnn C46)"), std::string::npos);
}

} // namespace
} // namespace quern
