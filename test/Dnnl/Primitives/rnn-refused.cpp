// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that both libraries refuse invalid RNNs with the same status.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "run_rnn.hpp"

#include "oneapi/dnnl/dnnl_debug.h"

using namespace dnnl;
using type = memory::data_type;

namespace {

/// The descriptors of an LSTM, one of which a test changes.
struct Lstm {
  std::map<int, memory::desc> tensors;
  prop_kind prop = prop_kind::forward_inference;
  rnn_direction direction = rnn_direction::unidirectional_left2right;
  primitive_attr attr;

  explicit Lstm(const Rnn &rnn = {"lstm", algorithm::vanilla_lstm}) {
    for (int argument : rnnInputs)
      tensors[argument] = anyOf(rnn, argument);
    for (int argument : rnnOutputs)
      tensors[argument] = anyOf(rnn, argument);
  }
  const_dnnl_memory_desc_t of(int argument) const { return tensors.at(argument).get(true); }

  dnnl_status_t create(const engine &cpu, dnnl_primitive_desc_t *desc, unsigned flags = 0) const {
    return dnnl_lstm_forward_primitive_desc_create(
        desc, cpu.get(), convert_to_c(prop), convert_to_c(direction), of(DNNL_ARG_SRC_LAYER), of(DNNL_ARG_SRC_ITER),
        of(DNNL_ARG_SRC_ITER_C), of(DNNL_ARG_WEIGHTS_LAYER), of(DNNL_ARG_WEIGHTS_ITER), of(DNNL_ARG_WEIGHTS_PEEPHOLE),
        of(DNNL_ARG_WEIGHTS_PROJECTION), of(DNNL_ARG_BIAS), of(DNNL_ARG_DST_LAYER), of(DNNL_ARG_DST_ITER),
        of(DNNL_ARG_DST_ITER_C), flags, attr.get());
  }
};

const engine &cpu() {
  static const engine device(engine::kind::cpu, 0);
  return device;
}

void attempt(const char *name, const Lstm &lstm, unsigned flags = 0) {
  dnnl_primitive_desc_t desc = nullptr;
  const dnnl_status_t status = lstm.create(cpu(), &desc, flags);
  std::printf("%s:%s%s\n", name, status == dnnl_unimplemented ? " refused" : " ",
              status == dnnl_unimplemented ? "" : dnnl_status2str(status));
  dnnl_primitive_desc_destroy(desc);
}

/// Replaces the descriptor of one tensor.
void with(const char *name, int argument, const memory::desc &desc) {
  Lstm lstm;
  lstm.tensors[argument] = desc;
  attempt(name, lstm);
}

memory::desc any(const memory::dims &dims, type element = type::f32) {
  return {dims, element, memory::format_tag::any};
}

void tensorsThatDoNotFit() {
  with("no src_layer", DNNL_ARG_SRC_LAYER, {});
  with("no weights_layer", DNNL_ARG_WEIGHTS_LAYER, {});
  with("no dst_layer", DNNL_ARG_DST_LAYER, {});
  with("a state without its cell", DNNL_ARG_SRC_ITER_C, {});
  with("a result without its cell", DNNL_ARG_DST_ITER_C, {});
  with("three gates", DNNL_ARG_WEIGHTS_LAYER, any({1, 1, 16, 3, 16}));
  with("other layers", DNNL_ARG_WEIGHTS_ITER, any({2, 1, 16, 4, 16}));
  with("other directions", DNNL_ARG_WEIGHTS_LAYER, any({1, 2, 16, 4, 16}));
  with("other channels of src_layer", DNNL_ARG_SRC_LAYER, any({5, 3, 17}));
  with("other channels of src_iter", DNNL_ARG_SRC_ITER, any({1, 1, 3, 17}));
  with("other channels of bias", DNNL_ARG_BIAS, any({1, 1, 4, 17}));
  with("other channels of dst_layer", DNNL_ARG_DST_LAYER, any({5, 3, 32}));
  with("other channels of dst_iter", DNNL_ARG_DST_ITER, any({1, 1, 3, 17}));
  with("other steps", DNNL_ARG_DST_LAYER, any({6, 3, 16}));
  with("another batch", DNNL_ARG_SRC_ITER, any({1, 1, 4, 16}));
  with("another rank", DNNL_ARG_SRC_LAYER, any({5, 48}));
}

void kindsThatAreNone() {
  Lstm lstm;
  lstm.direction = static_cast<rnn_direction>(7);
  attempt("another direction", lstm);
  Lstm deep(Rnn{"lstm", algorithm::vanilla_lstm, rnn_direction::unidirectional_left2right, algorithm::undef, 0, false,
                false, true, 2, 5, 3, 24});
  attempt("a second layer that reads other channels", deep);
  const auto simple = [](algorithm activation) {
    Lstm lstm;
    const Rnn rnn{"rnn", algorithm::vanilla_rnn};
    dnnl_primitive_desc_t desc = nullptr;
    const dnnl_status_t status = dnnl_vanilla_rnn_forward_primitive_desc_create(
        &desc, cpu().get(), dnnl_forward_inference, convert_to_c(activation), dnnl_unidirectional_left2right,
        lstm.of(DNNL_ARG_SRC_LAYER), lstm.of(DNNL_ARG_SRC_ITER), anyOf(rnn, DNNL_ARG_WEIGHTS_LAYER).get(),
        anyOf(rnn, DNNL_ARG_WEIGHTS_ITER).get(), anyOf(rnn, DNNL_ARG_BIAS).get(), lstm.of(DNNL_ARG_DST_LAYER),
        lstm.of(DNNL_ARG_DST_ITER), 0, 0, 0, nullptr);
    dnnl_primitive_desc_destroy(desc);
    return status;
  };
  std::printf("activation gelu: %s\n", dnnl_status2str(simple(algorithm::eltwise_gelu_erf)));
  std::printf("no engine: %s\n", dnnl_status2str(dnnl_gru_forward_primitive_desc_create(
                                     nullptr, nullptr, dnnl_forward_inference, dnnl_unidirectional_left2right, nullptr,
                                     nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0, nullptr)));
}

} // namespace

int main() {
  tensorsThatDoNotFit();
  kindsThatAreNone();
  return 0;
}
