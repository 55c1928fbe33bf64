// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks u8 states and s8 weights: the scale and shift of data, scales of weights per tensor and per gate and channel,
// reorders that quantize weights to the chosen layout, and results in u8 and f32.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lstm u8 left2right: one scale: dst_layer ok dst_iter ok dst_iter_c ok
// CHECK-NEXT: weights back ok
// CHECK: lines compared, 0 differ
#include "run_rnn.hpp"

using namespace dnnl;
using type = memory::data_type;

namespace {

constexpr float dataScale = 60, dataShift = 128;

double clampedRound(double x, double low, double high) { return std::nearbyint(std::min(std::max(x, low), high)); }
double quantized(double x) {
  return clampedRound(x * static_cast<double>(dataScale) + static_cast<double>(dataShift), 0, 255);
}
double kept(double x) { return (quantized(x) - static_cast<double>(dataShift)) / static_cast<double>(dataScale); }

/// Returns one scale for the tensor or, with a mask of gates and channels, one for each of these.
std::vector<float> scalesOf(size_t count) {
  std::vector<float> scales(count, 250);
  for (size_t i = 0; i < count && count > 1; ++i)
    scales[i] = 200 + static_cast<float>(i % 7) * 30;
  return scales;
}

/// Quantizes the values to `integers`; `values` become the dequantized integers.
void quantizeWeights(std::vector<float> &values, std::vector<float> &integers, const std::vector<float> &scales) {
  integers = values;
  for (size_t i = 0; i < values.size(); ++i) {
    const float scale = scales[i % scales.size()];
    integers[i] = static_cast<float>(clampedRound(static_cast<double>(values[i] * scale), -128, 127));
    values[i] = integers[i] / scale;
  }
}

std::string weightsBack(stream &order, const Rnn &rnn, const std::unordered_map<int, memory> &memories,
                        const Tensors &integers) {
  for (int argument : rnnWeights) {
    if (rnn.dims(argument).empty())
      continue;
    memory from = memories.at(argument), plain = plainMemory(order.get_engine(), rnn.dims(argument), type::s8);
    copy(order, from, plain);
    const std::vector<int8_t> found = read<int8_t>(plain);
    if (!std::equal(found.begin(), found.end(), integers.at(argument).begin()))
      return "weights come back changed";
  }
  return "weights back ok";
}

void run(stream &order, const Rnn &rnn, bool perChannel) {
  const std::string name = nameOf(rnn) + (perChannel ? " scales of channels:" : " one scale:");
  primitive_attr attr;
  attr.set_rnn_data_qparams(dataScale, dataShift);
  const auto channels = static_cast<size_t>(rnn.gates() * rnn.dhc);
  const std::vector<float> scales = scalesOf(perChannel ? channels : 1);
  const std::vector<float> projectionScales = scalesOf(perChannel ? static_cast<size_t>(rnn.dic) : 1);
  attr.set_rnn_weights_qparams(perChannel ? 24 : 0, scales);
  if (rnn.projection)
    attr.set_rnn_weights_projection_qparams(perChannel ? 8 : 0, projectionScales);
  MadeRnn made;
  try {
    made = makeRnn(order.get_engine(), rnn, attr);
  } catch (const error &refusal) {
    std::printf("%s%s\n", name.c_str(), isUnimplemented(refusal) ? " refused" : " failed");
    std::printf("and its weights: refused\n");
    return;
  }
  Tensors tensors = someTensors(rnn, 5), integers;
  std::unordered_map<int, memory> memories = placeTensors(order, rnn, made, tensors, attr);
  for (int argument : {DNNL_ARG_SRC_LAYER, DNNL_ARG_SRC_ITER})
    for (float &value : tensors[argument])
      value = static_cast<float>(kept(static_cast<double>(value)));
  for (int argument : rnnWeights)
    quantizeWeights(tensors[argument], integers[argument],
                    argument == DNNL_ARG_WEIGHTS_PROJECTION ? projectionScales : scales);
  made.primitive.execute(order, memories);
  order.wait();
  Tensors expected = RnnReference(rnn, tensors, kept).compute();
  for (int argument : {DNNL_ARG_DST_LAYER, DNNL_ARG_DST_ITER})
    for (float &value : expected[argument])
      value = typeOf(rnn, argument) == type::f32 ? value : static_cast<float>(quantized(static_cast<double>(value)));
  // A state that is rounded in the other direction changes later states.
  std::string line;
  const char *names[] = {"dst_layer", "dst_iter", "dst_iter_c"};
  for (int i = 0; i < 3; ++i)
    if (!rnn.dims(rnnOutputs[i]).empty())
      line += verdict(names[i], readPlain(order, memories.at(rnnOutputs[i])), expected.at(rnnOutputs[i]),
                      typeOf(rnn, rnnOutputs[i]) == type::u8 ? 2.0f : 2.0f / dataScale);
  std::printf("%s%s\n", name.c_str(), line.c_str());
  try {
    std::printf("%s\n", weightsBack(order, rnn, memories, integers).c_str());
  } catch (const error &) {
    std::printf("and its weights: refused\n");
  }
}

} // namespace

int main() {
  const engine cpu(engine::kind::cpu, 0);
  stream order(cpu);
  constexpr auto lstm = algorithm::vanilla_lstm;
  Rnn plain{"lstm", lstm}, stateless{"lstm without state", lstm}, wide{"lstm to f32", lstm},
      stacked{"lstm of two layers", lstm}, odd{"lstm of odd sizes", lstm}, projected{"lstm with projection", lstm},
      peeping{"lstm with peepholes", lstm};
  stateless.state = false;
  wide.isResultF32 = true;
  stacked.layers = 2, stacked.direction = rnn_direction::bidirectional_concat;
  odd.slc = 7, odd.dhc = odd.dic = 13, odd.batch = 5;
  projected.projection = true, projected.dic = 8;
  peeping.peephole = true;
  Rnn gru{"gru", algorithm::vanilla_gru}, lbr{"lbr_gru", algorithm::lbr_gru},
      simple{"rnn tanh", algorithm::vanilla_rnn, rnn_direction::unidirectional_right2left, algorithm::eltwise_tanh};
  for (Rnn rnn : {plain, stateless, wide, stacked, odd, projected, peeping, gru, lbr, simple})
    for (bool perChannel : {false, true}) {
      rnn.type = type::u8;
      run(order, rnn, perChannel);
    }
  return 0;
}
