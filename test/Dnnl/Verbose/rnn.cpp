// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that lines about RNNs equal oneDNN's, except for the implementation and the time: tensors, cell, direction,
// activation, attributes, sizes. Weights are plain, because each library packs them differently.
//
// REQUIRES: onednn-3.13
// RUN: env ONEDNN_VERBOSE=profile %both --verbose %s %t | FileCheck %s
// CHECK: primitive,exec,cpu,rnn,jit:{{[^,]*}},forward_inference,src_layer:f32:a:blocked:abc::f0
// CHECK: lines compared, 0 differ
#include "run_rnn.hpp"

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

namespace {

constexpr auto left2right = rnn_direction::unidirectional_left2right;

memory::desc any(const Rnn &rnn, int argument) { return anyOf(rnn, argument); }
memory::desc plain(const Rnn &rnn, int argument) {
  const memory::dims dims = rnn.dims(argument);
  return {dims, typeOf(rnn, argument), dims.size() == 5 ? tag::abcde : tag::abcd};
}

template <typename Cell> void show(stream &order, const typename Cell::primitive_desc &desc) {
  Cell primitive(desc);
  std::unordered_map<int, memory> memories;
  for (int argument : rnnInputs)
    if (desc.query_md(query::exec_arg_md, argument).get_ndims())
      memories.emplace(argument, makeTyped(order, desc.query_md(query::exec_arg_md, argument), 3, 0.1f));
  for (int argument : rnnOutputs)
    if (desc.query_md(query::exec_arg_md, argument).get_ndims())
      memories.emplace(argument, memory(desc.query_md(query::exec_arg_md, argument), order.get_engine()));
  memories.emplace(DNNL_ARG_WORKSPACE, memory(desc.workspace_desc(), order.get_engine()));
  primitive.execute(order, memories);
  order.wait();
}

void lstms(stream &order) {
  const engine cpu = order.get_engine();
  for (rnn_direction direction : {left2right, rnn_direction::unidirectional_right2left,
                                  rnn_direction::bidirectional_concat, rnn_direction::bidirectional_sum}) {
    Rnn rnn{"lstm", algorithm::vanilla_lstm, direction};
    rnn.layers = 2;
    const auto x = any(rnn, DNNL_ARG_SRC_LAYER), h = any(rnn, DNNL_ARG_SRC_ITER), c = any(rnn, DNNL_ARG_SRC_ITER_C),
               w = plain(rnn, DNNL_ARG_WEIGHTS_LAYER), u = plain(rnn, DNNL_ARG_WEIGHTS_ITER),
               b = any(rnn, DNNL_ARG_BIAS), y = any(rnn, DNNL_ARG_DST_LAYER);
    show<lstm_forward>(order, {cpu, prop_kind::forward_inference, direction, x, h, c, w, u, b, y, h, c});
  }
  Rnn rnn{"lstm", algorithm::vanilla_lstm};
  rnn.peephole = rnn.projection = true, rnn.dic = 8;
  const auto x = plainMemory(cpu, rnn.dims(DNNL_ARG_SRC_LAYER), type::f32).get_desc();
  const auto y = any(rnn, DNNL_ARG_DST_LAYER), w = plain(rnn, DNNL_ARG_WEIGHTS_LAYER),
             u = plain(rnn, DNNL_ARG_WEIGHTS_ITER), p = plain(rnn, DNNL_ARG_WEIGHTS_PEEPHOLE),
             r = plain(rnn, DNNL_ARG_WEIGHTS_PROJECTION), b = plain(rnn, DNNL_ARG_BIAS);
  primitive_attr attr;
  attr.set_scratchpad_mode(scratchpad_mode::user);
  const memory::desc none;
  lstm_forward created(lstm_forward::primitive_desc(cpu, prop_kind::forward_inference, left2right, x, none, none, w, u,
                                                    p, r, b, y, none, none, attr));
  rnn.projection = false, rnn.dic = 16;
  const auto wide = any(rnn, DNNL_ARG_DST_LAYER), recurrent = plain(rnn, DNNL_ARG_WEIGHTS_ITER);
  show<lstm_forward>(
      order, {cpu, prop_kind::forward_inference, left2right, x, none, none, w, recurrent, p, b, wide, none, none});
}

void otherCells(stream &order) {
  const engine cpu = order.get_engine();
  for (algorithm activation : {algorithm::eltwise_relu, algorithm::eltwise_tanh, algorithm::eltwise_logistic}) {
    const Rnn rnn{"rnn", algorithm::vanilla_rnn, left2right, activation};
    show<vanilla_rnn_forward>(
        order, {cpu, prop_kind::forward_inference, activation, left2right, any(rnn, DNNL_ARG_SRC_LAYER),
                any(rnn, DNNL_ARG_SRC_ITER), plain(rnn, DNNL_ARG_WEIGHTS_LAYER), plain(rnn, DNNL_ARG_WEIGHTS_ITER),
                any(rnn, DNNL_ARG_BIAS), any(rnn, DNNL_ARG_DST_LAYER), any(rnn, DNNL_ARG_DST_ITER)});
  }
  const Rnn gru{"gru", algorithm::vanilla_gru}, lbr{"lbr_gru", algorithm::lbr_gru},
      augru{"augru", algorithm::vanilla_augru};
  show<gru_forward>(order,
                    {cpu, prop_kind::forward_inference, left2right, any(gru, DNNL_ARG_SRC_LAYER),
                     any(gru, DNNL_ARG_SRC_ITER), plain(gru, DNNL_ARG_WEIGHTS_LAYER), plain(gru, DNNL_ARG_WEIGHTS_ITER),
                     any(gru, DNNL_ARG_BIAS), any(gru, DNNL_ARG_DST_LAYER), any(gru, DNNL_ARG_DST_ITER)});
  show<lbr_gru_forward>(order, {cpu, prop_kind::forward_inference, left2right, any(lbr, DNNL_ARG_SRC_LAYER),
                                any(lbr, DNNL_ARG_SRC_ITER), plain(lbr, DNNL_ARG_WEIGHTS_LAYER),
                                plain(lbr, DNNL_ARG_WEIGHTS_ITER), any(lbr, DNNL_ARG_BIAS),
                                any(lbr, DNNL_ARG_DST_LAYER), memory::desc()});
  show<augru_forward>(order,
                      {cpu, prop_kind::forward_training, left2right, any(augru, DNNL_ARG_SRC_LAYER),
                       any(augru, DNNL_ARG_SRC_ITER),
                       plainMemory(cpu, augru.dims(DNNL_ARG_AUGRU_ATTENTION), type::f32).get_desc(),
                       plain(augru, DNNL_ARG_WEIGHTS_LAYER), plain(augru, DNNL_ARG_WEIGHTS_ITER),
                       any(augru, DNNL_ARG_BIAS), any(augru, DNNL_ARG_DST_LAYER), any(augru, DNNL_ARG_DST_ITER)});
}

/// The quantization of data is also an attribute of reorders.
void integers(stream &order) {
  primitive_attr attr;
  attr.set_rnn_data_qparams(100, 128.5f);
  memory from = makeMemory(order.get_engine(), {{5, 3, 16}, type::f32, tag::abc}, 3),
         to({{5, 3, 16}, type::u8, tag::abc}, order.get_engine());
  reorder(from, to, attr).execute(order, from, to);
  order.wait();
}

} // namespace

int main() {
  const engine cpu(engine::kind::cpu, 0);
  stream order(cpu);
  lstms(order);
  otherCells(order);
  integers(order);
  return 0;
}
