// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks descriptors of backward RNNs through oneDNN's six functions: tensors by role and by argument, counts, kinds,
// and the statuses of refusals. The layouts of weights and workspaces are specific to each library.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "run_rnn.hpp"

#include "oneapi/dnnl/dnnl_debug.h"

using namespace dnnl;

namespace {

std::vector<int> arguments() {
  std::vector<int> all(std::begin(rnnInputs), std::end(rnnInputs));
  all.insert(all.end(), std::begin(rnnOutputs), std::end(rnnOutputs));
  return all;
}

constexpr int ofGradient = DNNL_ARG_DIFF_SRC_LAYER - DNNL_ARG_SRC_LAYER;

/// The tensors of a problem; gradients are f32.
struct Backward {
  Rnn rnn;
  std::map<int, memory::desc> tensors;
  unsigned flags = 0;

  explicit Backward(const Rnn &rnn) : rnn(rnn) {
    for (int argument : arguments()) {
      tensors[argument] = anyOf(rnn, argument);
      const memory::dims dims = rnn.dims(argument);
      if (!dims.empty())
        tensors[argument + ofGradient] = memory::desc(dims, memory::data_type::f32, memory::format_tag::any);
    }
  }
  const_dnnl_memory_desc_t of(int argument) const {
    const auto found = tensors.find(argument);
    return found == tensors.end() ? nullptr : found->second.get(true);
  }
  const_dnnl_memory_desc_t diff(int argument) const { return of(argument + ofGradient); }

  dnnl_status_t create(const engine &cpu, dnnl_primitive_desc_t *desc, const_dnnl_primitive_desc_t hint,
                       dnnl_prop_kind_t prop = dnnl_backward) const {
    const dnnl_rnn_direction_t direction = convert_to_c(rnn.direction);
    const auto l = of(DNNL_ARG_SRC_LAYER), s = of(DNNL_ARG_SRC_ITER), a = of(DNNL_ARG_AUGRU_ATTENTION);
    const auto w = of(DNNL_ARG_WEIGHTS_LAYER), u = of(DNNL_ARG_WEIGHTS_ITER), b = of(DNNL_ARG_BIAS);
    const auto y = of(DNNL_ARG_DST_LAYER), e = of(DNNL_ARG_DST_ITER);
    const auto dl = diff(DNNL_ARG_SRC_LAYER), ds = diff(DNNL_ARG_SRC_ITER), da = diff(DNNL_ARG_AUGRU_ATTENTION);
    const auto dw = diff(DNNL_ARG_WEIGHTS_LAYER), du = diff(DNNL_ARG_WEIGHTS_ITER), db = diff(DNNL_ARG_BIAS);
    const auto dy = diff(DNNL_ARG_DST_LAYER), de = diff(DNNL_ARG_DST_ITER);
    const dnnl_engine_t on = cpu.get();
    switch (rnn.cell) {
    case algorithm::vanilla_rnn:
      return dnnl_vanilla_rnn_backward_primitive_desc_create(desc, on, prop, convert_to_c(rnn.activation), direction, l,
                                                             s, w, u, b, y, e, dl, ds, dw, du, db, dy, de, flags,
                                                             rnn.alpha, 0, hint, nullptr);
    case algorithm::vanilla_lstm:
      return dnnl_lstm_backward_primitive_desc_create(
          desc, on, prop, direction, l, s, of(DNNL_ARG_SRC_ITER_C), w, u, of(DNNL_ARG_WEIGHTS_PEEPHOLE),
          of(DNNL_ARG_WEIGHTS_PROJECTION), b, y, e, of(DNNL_ARG_DST_ITER_C), dl, ds, diff(DNNL_ARG_SRC_ITER_C), dw, du,
          diff(DNNL_ARG_WEIGHTS_PEEPHOLE), diff(DNNL_ARG_WEIGHTS_PROJECTION), db, dy, de, diff(DNNL_ARG_DST_ITER_C),
          flags, hint, nullptr);
    case algorithm::vanilla_gru:
      return dnnl_gru_backward_primitive_desc_create(desc, on, prop, direction, l, s, w, u, b, y, e, dl, ds, dw, du, db,
                                                     dy, de, flags, hint, nullptr);
    case algorithm::lbr_gru:
      return dnnl_lbr_gru_backward_primitive_desc_create(desc, on, prop, direction, l, s, w, u, b, y, e, dl, ds, dw, du,
                                                         db, dy, de, flags, hint, nullptr);
    case algorithm::vanilla_augru:
      return dnnl_augru_backward_primitive_desc_create(desc, on, prop, direction, l, s, a, w, u, b, y, e, dl, ds, da,
                                                       dw, du, db, dy, de, flags, hint, nullptr);
    default:
      return dnnl_lbr_augru_backward_primitive_desc_create(desc, on, prop, direction, l, s, a, w, u, b, y, e, dl, ds,
                                                           da, dw, du, db, dy, de, flags, hint, nullptr);
    }
  }
};

void show(const char *name, int index, const memory::desc &desc, bool hasOwnLayout) {
  std::printf("%s %d: %s", name, index, dnnl_dt2str(memory::convert_to_c(desc.get_data_type())));
  for (memory::dim dim : desc.get_dims())
    std::printf(" %lld", static_cast<long long>(dim));
  if (!hasOwnLayout && desc.get_format_kind() == memory::format_kind::blocked)
    for (memory::dim stride : desc.get_strides())
      std::printf(" /%lld", static_cast<long long>(stride));
  std::printf("\n");
}

void answer(const primitive_desc_base &desc) {
  for (int index = 0; index < 4; ++index) {
    show("src", index, desc.query_md(query::src_md, index), false);
    show("dst", index, desc.query_md(query::dst_md, index), false);
    show("weights", index, desc.query_md(query::weights_md, index), true);
    show("diff src", index, desc.query_md(query::diff_src_md, index), false);
    show("diff dst", index, desc.query_md(query::diff_dst_md, index), false);
    show("diff weights", index, desc.query_md(query::diff_weights_md, index), true);
  }
  for (int argument : arguments())
    show("gradient of", argument, desc.query_md(query::exec_arg_md, argument + ofGradient), true);
  const memory::desc workspace = desc.workspace_desc();
  std::printf("workspace %d %d\n", workspace.get_ndims(),
              workspace == desc.query_md(query::exec_arg_md, DNNL_ARG_WORKSPACE));
  std::printf("inputs %d, outputs %d\n", dnnl_primitive_desc_query_s32(desc.get(), dnnl_query_num_of_inputs_s32, 0),
              dnnl_primitive_desc_query_s32(desc.get(), dnnl_query_num_of_outputs_s32, 0));
  for (dnnl_query_t what : {dnnl_query_primitive_kind, dnnl_query_prop_kind, dnnl_query_cell_kind, dnnl_query_direction,
                            dnnl_query_activation_kind}) {
    int value = 0;
    const dnnl_status_t status = dnnl_primitive_desc_query(desc.get(), what, 0, &value);
    std::printf("query %d: %s %d\n", static_cast<int>(what), dnnl_status2str(status), value);
  }
}

} // namespace

int main() {
  const engine cpu(engine::kind::cpu, 0);
  Rnn peeping{"peepholes", algorithm::vanilla_lstm}, projected{"projection", algorithm::vanilla_lstm},
      stateless{"no state", algorithm::vanilla_lstm};
  peeping.peephole = true;
  projected.projection = true, projected.dic = 8;
  stateless.state = false, stateless.layers = 2;
  Rnn relu{"relu", algorithm::vanilla_rnn};
  relu.activation = algorithm::eltwise_relu, relu.alpha = 0.5f;
  for (Rnn rnn : {Rnn{"lstm", algorithm::vanilla_lstm}, peeping, projected, stateless, relu,
                  Rnn{"gru", algorithm::vanilla_gru}, Rnn{"lbr_gru", algorithm::lbr_gru},
                  Rnn{"augru", algorithm::vanilla_augru}, Rnn{"lbr_augru", algorithm::lbr_augru}}) {
    rnn.prop = prop_kind::forward_training;
    std::printf("%s\n", rnn.name);
    const primitive_desc forward = describeRnn(cpu, rnn);
    const Backward backward(rnn);
    dnnl_primitive_desc_t desc = nullptr;
    const dnnl_status_t status = backward.create(cpu, &desc, forward.get());
    std::printf("created: %s\n", dnnl_status2str(status));
    if (status == dnnl_success)
      answer(primitive_desc_base(desc));
    std::printf("forward: %s\n", dnnl_status2str(backward.create(cpu, &desc, forward.get(), dnnl_forward_training)));
    Backward wide(rnn);
    wide.tensors[DNNL_ARG_DIFF_SRC_LAYER] = memory::desc({5, 3, 17}, memory::data_type::f32, memory::format_tag::any);
    std::printf("too wide: %s\n", dnnl_status2str(wide.create(cpu, &desc, forward.get())));
  }
  return 0;
}
