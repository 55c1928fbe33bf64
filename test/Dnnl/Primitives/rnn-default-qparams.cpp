// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that RNN quantization without effect (scales of 1 with any mask, a shift of 0 of either sign) counts as the
// default: every primitive accepts it, whatever its types.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: weights scale 1: lstm ok, with projection ok, softmax ok, eltwise ok, binary ok, reorder ok, sum ok, concat ok
// CHECK-NEXT: weights scale 2: lstm none, with projection none, softmax none, eltwise none, binary none,
// CHECK-SAME: reorder none, sum none, concat none
// CHECK: lines compared, 0 differ
#include "oneapi/dnnl/dnnl.hpp"

#include <cstdio>
#include <functional>
#include <string>

using namespace dnnl;
using tag = memory::format_tag;

namespace {

memory::desc any(const memory::dims &dims) { return {dims, memory::data_type::f32, tag::any}; }

/// Creates an LSTM; a projected one has half the channels in its recurrent state.
void makeLstm(const engine &cpu, const primitive_attr &attr, bool isProjected) {
  const memory::dim channels = 16, state = isProjected ? 8 : channels;
  lstm_forward(lstm_forward::primitive_desc(
      cpu, prop_kind::forward_inference, rnn_direction::unidirectional_left2right, any({5, 3, channels}),
      any({1, 1, 3, state}), any({1, 1, 3, channels}), any({1, 1, channels, 4, channels}),
      any({1, 1, state, 4, channels}), memory::desc(), isProjected ? any({1, 1, channels, state}) : memory::desc(),
      any({1, 1, 4, channels}), any({5, 3, state}), any({1, 1, 3, state}), any({1, 1, 3, channels}), attr));
}

std::string attempt(const std::function<void()> &create) {
  try {
    create();
    return " ok";
  } catch (const error &refusal) {
    return refusal.status == dnnl_unimplemented ? " none" : " wrong";
  }
}

void tryAll(const engine &cpu, const char *name, const primitive_attr &attr) {
  const memory::desc rows({3, 16}, memory::data_type::f32, tag::ab);
  const auto forward = prop_kind::forward_inference;
  const std::string lstm = attempt([&] { makeLstm(cpu, attr, false); }),
                    projected = attempt([&] { makeLstm(cpu, attr, true); });
  const std::string softmax =
      attempt([&] { softmax_forward::primitive_desc(cpu, forward, algorithm::softmax_accurate, rows, rows, 1, attr); });
  const std::string eltwise = attempt(
      [&] { eltwise_forward::primitive_desc(cpu, forward, algorithm::eltwise_relu, rows, rows, 0.0f, 0.0f, attr); });
  const std::string binary =
      attempt([&] { dnnl::binary::primitive_desc(cpu, algorithm::binary_add, rows, rows, rows, attr); });
  const std::string reorder = attempt([&] { dnnl::reorder::primitive_desc(cpu, rows, cpu, rows, attr); });
  const std::string sum = attempt([&] { dnnl::sum::primitive_desc(cpu, rows, {1, 2}, {rows, rows}, attr); });
  const std::string concat = attempt([&] { dnnl::concat::primitive_desc(cpu, 0, {rows, rows}, attr); });
  std::printf("%s: lstm%s, with projection%s, softmax%s, eltwise%s, binary%s, reorder%s, sum%s, concat%s\n", name,
              lstm.c_str(), projected.c_str(), softmax.c_str(), eltwise.c_str(), binary.c_str(), reorder.c_str(),
              sum.c_str(), concat.c_str());
}

} // namespace

int main() {
  const engine cpu(engine::kind::cpu, 0);
  const auto with = [&](const char *name, const std::function<void(primitive_attr &)> &set) {
    primitive_attr attr;
    set(attr);
    tryAll(cpu, name, attr);
  };
  with("weights scale 1", [](primitive_attr &attr) { attr.set_rnn_weights_qparams(0, {1}); });
  with("weights scale 2", [](primitive_attr &attr) { attr.set_rnn_weights_qparams(0, {2}); });
  with("weights scales of channels 1",
       [](primitive_attr &attr) { attr.set_rnn_weights_qparams(24, std::vector<float>(64, 1)); });
  with("weights scales of other dims 1",
       [](primitive_attr &attr) { attr.set_rnn_weights_qparams(4, std::vector<float>(3, 1)); });
  with("projection scale 1", [](primitive_attr &attr) { attr.set_rnn_weights_projection_qparams(0, {1}); });
  with("projection scale 2", [](primitive_attr &attr) { attr.set_rnn_weights_projection_qparams(0, {2}); });
  with("projection scales of channels 1",
       [](primitive_attr &attr) { attr.set_rnn_weights_projection_qparams(8, std::vector<float>(8, 1)); });
  with("data 1 and 0", [](primitive_attr &attr) { attr.set_rnn_data_qparams(1, 0); });
  with("data 1 and -0", [](primitive_attr &attr) { attr.set_rnn_data_qparams(1, -0.0f); });
  with("data 2 and 0", [](primitive_attr &attr) { attr.set_rnn_data_qparams(2, 0); });
  with("data 1 and 3", [](primitive_attr &attr) { attr.set_rnn_data_qparams(1, 3); });
  return 0;
}
