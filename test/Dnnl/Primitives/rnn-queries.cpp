// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the queries of RNNs: tensors by role and by argument, cell, direction, activation and counts. The layouts of
// weights, scratchpads and workspaces are specific to each library.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "run_rnn.hpp"

#include "oneapi/dnnl/dnnl_debug.h"

using namespace dnnl;
using type = memory::data_type;

namespace {

/// Prints dims and type, and the strides of tensors other than weights.
void show(const char *name, int index, const memory::desc &desc, bool isWeight = false) {
  std::printf("%s %d: %s", name, index, dnnl_dt2str(memory::convert_to_c(desc.get_data_type())));
  for (memory::dim dim : desc.get_dims())
    std::printf(" %lld", static_cast<long long>(dim));
  if (!isWeight && desc.get_format_kind() == memory::format_kind::blocked)
    for (memory::dim stride : desc.get_strides())
      std::printf(" /%lld", static_cast<long long>(stride));
  std::printf("\n");
}

void tensors(const primitive_desc_base &desc) {
  for (int index = -1; index < 5; ++index) {
    show("src", index, desc.query_md(query::src_md, index));
    show("dst", index, desc.query_md(query::dst_md, index));
    show("weights", index, desc.query_md(query::weights_md, index), true);
    show("diff src", index, desc.query_md(query::diff_src_md, index));
  }
  for (int argument : rnnInputs)
    show("argument", argument, desc.query_md(query::exec_arg_md, argument), isOneOf(argument, rnnWeights));
  for (int argument : rnnOutputs)
    show("argument", argument, desc.query_md(query::exec_arg_md, argument));
  const memory::desc workspace = desc.workspace_desc();
  std::printf("workspace %d %d\n", workspace.get_ndims(),
              workspace == desc.query_md(query::exec_arg_md, DNNL_ARG_WORKSPACE));
}

void kinds(const primitive_desc_base &desc) {
  std::printf("inputs %d, outputs %d\n", dnnl_primitive_desc_query_s32(desc.get(), dnnl_query_num_of_inputs_s32, 0),
              dnnl_primitive_desc_query_s32(desc.get(), dnnl_query_num_of_outputs_s32, 0));
  for (dnnl_query_t what :
       {dnnl_query_primitive_kind, dnnl_query_prop_kind, dnnl_query_alg_kind, dnnl_query_alpha_f32, dnnl_query_beta_f32,
        dnnl_query_axis_s32, dnnl_query_cell_kind, dnnl_query_direction, dnnl_query_activation_kind}) {
    int value = 0;
    const dnnl_status_t status = dnnl_primitive_desc_query(desc.get(), what, 0, &value);
    std::printf("query %d: %s %d\n", static_cast<int>(what), dnnl_status2str(status),
                status == dnnl_success ? value : -1);
  }
  std::printf("%s, named %d\n", dnnl_prim_kind2str(static_cast<dnnl_primitive_kind_t>(desc.get_kind())),
              desc.impl_info_str()[0] != 0);
}

void show(const engine &cpu, Rnn rnn, rnn_direction direction, prop_kind prop) {
  rnn.direction = direction, rnn.prop = prop;
  std::printf("%s\n", nameOf(rnn).c_str());
  const primitive_desc desc = describeRnn(cpu, rnn);
  tensors(desc);
  kinds(desc);
}

/// The class of a cell has queries by the names of its tensors.
void byName(const engine &cpu) {
  Rnn rnn{"lstm", algorithm::vanilla_lstm};
  rnn.peephole = true;
  const auto any = [&](int argument) { return anyOf(rnn, argument); };
  const lstm_forward::primitive_desc desc(cpu, prop_kind::forward_inference, rnn_direction::unidirectional_right2left,
                                          any(DNNL_ARG_SRC_LAYER), any(DNNL_ARG_SRC_ITER), any(DNNL_ARG_SRC_ITER_C),
                                          any(DNNL_ARG_WEIGHTS_LAYER), any(DNNL_ARG_WEIGHTS_ITER),
                                          any(DNNL_ARG_WEIGHTS_PEEPHOLE), any(DNNL_ARG_BIAS), any(DNNL_ARG_DST_LAYER),
                                          any(DNNL_ARG_DST_ITER), any(DNNL_ARG_DST_ITER_C));
  show("src_layer", 0, desc.src_layer_desc());
  show("src_iter_c", 0, desc.src_iter_c_desc());
  show("weights_iter", 0, desc.weights_iter_desc(), true);
  show("weights_peephole", 0, desc.weights_peephole_desc());
  show("weights_projection", 0, desc.weights_projection_desc());
  show("bias", 0, desc.bias_desc());
  show("dst_iter_c", 0, desc.dst_iter_c_desc());
  std::printf("%d %d %d\n", desc.get_cell_kind() == algorithm::vanilla_lstm,
              desc.get_direction() == rnn_direction::unidirectional_right2left,
              desc.get_prop_kind() == prop_kind::forward_inference);
  lstm_forward::primitive_desc again = desc;
  while (again.next_impl()) {}
  show("src_layer of the last", 0, again.src_layer_desc());
}

} // namespace

int main() {
  const engine cpu(engine::kind::cpu, 0);
  Rnn peeping{"peepholes", algorithm::vanilla_lstm}, projected{"projection", algorithm::vanilla_lstm},
      stateless{"no state", algorithm::vanilla_lstm};
  peeping.peephole = true;
  projected.projection = true, projected.dic = 8;
  stateless.state = false, stateless.layers = 2;
  const Rnn relu{"relu", algorithm::vanilla_rnn, rnn_direction::undef, algorithm::eltwise_relu, 0.5f};
  for (const Rnn &rnn : {Rnn{"lstm", algorithm::vanilla_lstm}, peeping, projected, stateless, relu,
                         Rnn{"gru", algorithm::vanilla_gru}, Rnn{"lbr_gru", algorithm::lbr_gru}})
    for (rnn_direction direction : {rnn_direction::unidirectional_left2right, rnn_direction::bidirectional_concat})
      for (prop_kind prop : {prop_kind::forward_inference, prop_kind::forward_training})
        show(cpu, rnn, direction, prop);
  for (algorithm cell : {algorithm::vanilla_augru, algorithm::lbr_augru})
    show(cpu, {"augru", cell}, rnn_direction::unidirectional_left2right, prop_kind::forward_inference);
  byName(cpu);
  return 0;
}
