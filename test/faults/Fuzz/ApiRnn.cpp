//===- ApiRnn.cpp - Random descriptors of recurrent networks -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "ApiRnn.h"

#include "ApiDraw.h"
#include "quern/quern_rnn.h"

#include <algorithm>
#include <initializer_list>

namespace quern::fuzz {
namespace {

class RnnCall {
public:
  explicit RnnCall(Input &input) : input(input), random(input.random) {}

  quern_primitive_desc_t describe() {
    const auto cell = random.pick({quern_vanilla_rnn, quern_vanilla_lstm, quern_vanilla_lstm, quern_vanilla_gru,
                                   quern_lbr_gru, quern_vanilla_augru, quern_lbr_augru});
    const bool isLstm = cell == quern_vanilla_lstm, isPlain = cell == quern_vanilla_rnn;
    const bool isLinear = cell == quern_lbr_gru || cell == quern_lbr_augru;
    const bool isAttended = cell == quern_vanilla_augru || cell == quern_lbr_augru;
    const int64_t gates = isPlain ? 1 : isLstm ? 4 : 3;
    const auto direction = random.pick({quern_unidirectional_left2right, quern_unidirectional_right2left,
                                        quern_bidirectional_concat, quern_bidirectional_sum});
    const bool isConcat = direction == quern_bidirectional_concat;
    const int64_t directions = isConcat || direction == quern_bidirectional_sum ? 2 : 1;
    const int64_t steps = random.between(1, 4), batch = random.between(1, 5), layers = random.oneIn(4) ? 2 : 1;
    const int64_t channels = random.pick<int64_t>({1, 3, 8, 16, 17});
    const int64_t projected = isLstm && random.oneIn(4) ? random.between(1, 9) : channels;
    // Layers above the first read the outputs of the layer below.
    const int64_t inputs = layers > 1 ? projected * (isConcat ? 2 : 1) : random.between(1, 18);
    const auto data = random.pick({quern_f32, quern_f32, quern_bf16, quern_f16, quern_u8, quern_s8});
    const auto weights = data == quern_u8 || data == quern_s8 ? quern_s8 : data;

    quern_rnn_forward_t rnn = {};
    rnn.size = random.oneIn(30) ? static_cast<size_t>(random.between(0, sizeof(rnn))) : sizeof(rnn);
    rnn.prop_kind = random.pick({quern_forward_inference, quern_forward_training});
    rnn.cell_kind = random.oneIn(40) ? static_cast<quern_alg_kind_t>(random.bits()) : cell;
    rnn.direction = direction;
    rnn.activation =
        isPlain ? random.pick({quern_eltwise_relu, quern_eltwise_tanh, quern_eltwise_logistic}) : quern_alg_kind_undef;
    rnn.alpha = random.pick({0.0F, 0.5F});
    rnn.flags = random.oneIn(30) ? static_cast<unsigned>(random.bits()) : 0;
    rnn.src_layer_desc = tensor(data, {steps, batch, inputs});
    const bool hasStates = random.oneIn(2);
    if (hasStates) {
      rnn.src_iter_desc = tensor(data, {layers, directions, batch, projected});
      rnn.src_iter_c_desc = isLstm ? tensor(quern_f32, {layers, directions, batch, channels}) : nullptr;
      rnn.dst_iter_desc = tensor(data, {layers, directions, batch, projected});
      rnn.dst_iter_c_desc = isLstm ? tensor(quern_f32, {layers, directions, batch, channels}) : nullptr;
    }
    rnn.attention_desc = isAttended ? tensor(data, {steps, batch, 1}) : nullptr;
    rnn.seq_lengths_desc = random.oneIn(4) ? tensor(quern_s32, {batch}) : nullptr;
    rnn.weights_layer_desc = tensor(weights, {layers, directions, inputs, gates, channels});
    rnn.weights_iter_desc = tensor(weights, {layers, directions, projected, gates, channels});
    rnn.weights_peephole_desc =
        isLstm && random.oneIn(4) ? tensor(quern_f32, {layers, directions, 3, channels}) : nullptr;
    rnn.weights_projection_desc =
        projected != channels ? tensor(weights, {layers, directions, channels, projected}) : nullptr;
    rnn.bias_desc =
        random.oneIn(3) ? nullptr : tensor(quern_f32, {layers, directions, gates + (isLinear ? 1 : 0), channels});
    rnn.dst_layer_desc = tensor(data, {steps, batch, projected * (isConcat ? 2 : 1)});
    input.note("rnn");
    quern_primitive_desc_t made = nullptr;
    const quern_status_t status = quern_rnn_forward_primitive_desc_create(&made, input.device.engine(), &rnn, nullptr);
    return succeeds(input, status) ? made : nullptr;
  }

private:
  const_quern_memory_desc_t tensor(quern_data_type_t type, std::initializer_list<int64_t> sizes) {
    ApiDims dims;
    dims.rank = static_cast<int>(sizes.size());
    std::ranges::copy(sizes, dims.values);
    if (random.oneIn(100))
      dims = drawApiDims(random);
    if (random.oneIn(60))
      type = drawApiType(random);
    quern_memory_desc_t made = nullptr;
    if (random.oneIn(8))
      descs.push_back(drawMemoryDesc(input, dims, type));
    else if (succeeds(input,
                      random.oneIn(2)
                          ? quern_memory_desc_create_with_strides(&made, dims.rank, dims.values, type, nullptr)
                          : quern_memory_desc_create_with_string_tag(&made, dims.rank, dims.values, type, "any")))
      descs.emplace_back(made);
    return descs.empty() ? nullptr : descs.back().get();
  }

  Input &input;
  Random &random;
  std::vector<OwnedMemoryDesc> descs;
};

} // namespace

quern_primitive_desc_t describeRnn(Input &input) { return RnnCall(input).describe(); }

} // namespace quern::fuzz
