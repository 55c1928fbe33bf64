// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks every cell in f32 and bf16 with all layouts `any`: weights are reordered to the chosen layout and back, and
// results agree with the equations.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lstm f32 left2right: dst_layer ok dst_iter ok dst_iter_c ok, weights back ok
// CHECK: lbr_augru f32 left2right: dst_layer ok dst_iter ok, weights back ok
// CHECK: lines compared, 0 differ
#include "run_rnn.hpp"

using namespace dnnl;
using type = memory::data_type;

namespace {

constexpr auto left2right = rnn_direction::unidirectional_left2right;
constexpr auto right2left = rnn_direction::unidirectional_right2left;
constexpr auto concatenated = rnn_direction::bidirectional_concat;
constexpr auto summed = rnn_direction::bidirectional_sum;

/// Converts the weights from the chosen layouts back to plain ones and compares them.
std::string weightsBack(stream &order, const std::unordered_map<int, memory> &memories, const Tensors &tensors) {
  for (int argument : rnnWeights)
    if (memories.count(argument) && readPlain(order, memories.at(argument)) != tensors.at(argument))
      return ", weights come back changed";
  return ", weights back ok";
}

void run(stream &order, Rnn rnn) {
  const float tolerance = rnn.type == type::f32 ? 2e-6f * static_cast<float>(rnn.layers) : 3e-2f;
  MadeRnn made;
  try {
    made = makeRnn(order.get_engine(), rnn);
  } catch (const error &refusal) {
    std::printf("%s%s\n", nameOf(rnn).c_str(), isUnimplemented(refusal) ? " refused" : " failed");
    return;
  }
  Tensors tensors = someTensors(rnn, 17);
  std::unordered_map<int, memory> memories = placeTensors(order, rnn, made, tensors);
  made.primitive.execute(order, memories);
  order.wait();
  const auto roundedToBf16 = [](double x) {
    auto value = static_cast<float>(x);
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    std::memcpy(&value, &bits, sizeof(bits));
    return static_cast<double>(value);
  };
  RnnReference reference(rnn, tensors, [&](double x) { return rnn.type == type::f32 ? x : roundedToBf16(x); });
  std::printf("%s%s%s\n", nameOf(rnn).c_str(), judge(order, rnn, memories, reference.compute(), tolerance).c_str(),
              weightsBack(order, memories, tensors).c_str());
}

Rnn withState(Rnn rnn, bool state) {
  rnn.state = state;
  return rnn;
}

std::vector<Rnn> cells() {
  constexpr auto lstm = algorithm::vanilla_lstm, simple = algorithm::vanilla_rnn;
  Rnn projected{"lstm with projection", lstm};
  projected.projection = true, projected.dic = 8, projected.slc = 24;
  Rnn peeping{"lstm with peepholes", lstm};
  peeping.peephole = true;
  Rnn both = projected;
  both.name = "lstm with both", both.peephole = true;
  Rnn sloped{"rnn relu", simple, left2right, algorithm::eltwise_relu, 0.25f};
  Rnn odd{"lstm of odd sizes", lstm};
  odd.slc = 7, odd.dhc = odd.dic = 13, odd.batch = 5, odd.steps = 3;
  return {{"lstm", lstm},
          withState({"lstm without state", lstm}, false),
          peeping,
          projected,
          both,
          odd,
          sloped,
          {"rnn tanh", simple, left2right, algorithm::eltwise_tanh},
          {"rnn logistic", simple, left2right, algorithm::eltwise_logistic},
          {"gru", algorithm::vanilla_gru},
          withState({"gru without state", algorithm::vanilla_gru}, false),
          {"lbr_gru", algorithm::lbr_gru},
          {"augru", algorithm::vanilla_augru},
          {"lbr_augru", algorithm::lbr_augru}};
}

} // namespace

int main() {
  const engine cpu(engine::kind::cpu, 0);
  stream order(cpu);
  for (Rnn rnn : cells())
    for (type element : {type::f32, type::bf16})
      for (rnn_direction direction : {left2right, right2left, concatenated, summed}) {
        rnn.type = element, rnn.direction = direction;
        if (rnn.hasAttention() && direction != left2right)
          continue;
        // For these, oneDNN's results differ from the equations.
        if (rnn.projection && element == type::bf16)
          continue;
        run(order, rnn);
      }
  Rnn stacked{"lstm of two layers", algorithm::vanilla_lstm};
  stacked.layers = 2, stacked.steps = 7;
  for (rnn_direction direction : {left2right, right2left, concatenated, summed}) {
    stacked.direction = direction;
    run(order, stacked);
  }
  for (algorithm cell : {algorithm::vanilla_gru, algorithm::lbr_gru}) {
    Rnn gru{"gru of three layers", cell, concatenated};
    gru.layers = 3;
    run(order, gru);
  }
  for (Rnn rnn : cells()) {
    rnn.prop = prop_kind::forward_training;
    run(order, rnn);
  }
  return 0;
}
