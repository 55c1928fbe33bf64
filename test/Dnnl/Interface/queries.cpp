// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the queries of primitive descriptors: tensors by role and by argument, kinds, counts, engines, attributes, and
// the list of implementations.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "values.hpp"

#include "oneapi/dnnl/dnnl_debug.h"

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

static void show(const char *name, const memory::desc &desc) {
  std::printf("%s: %s", name, dnnl_dt2str(memory::convert_to_c(desc.get_data_type())));
  for (memory::dim dim : desc.get_dims())
    std::printf(" %lld", static_cast<long long>(dim));
  if (desc.get_format_kind() == memory::format_kind::blocked)
    for (memory::dim stride : desc.get_strides())
      std::printf(" /%lld", static_cast<long long>(stride));
  std::printf(" %zu\n", desc.get_size());
}

static void tensors(const primitive_desc_base &desc) {
  show("src", desc.src_desc());
  show("dst", desc.dst_desc());
  show("src 1", desc.src_desc(1));
  show("weights", desc.weights_desc());
  show("diff src", desc.diff_src_desc());
  show("diff dst", desc.diff_dst_desc());
  show("workspace", desc.workspace_desc());
  for (int argument : {DNNL_ARG_SRC, DNNL_ARG_DST, DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS,
                       DNNL_ARG_BIAS, DNNL_ARG_WORKSPACE})
    show("argument", desc.query_md(query::exec_arg_md, argument));
  std::printf("kind %s, prop %s\n", dnnl_prim_kind2str(static_cast<dnnl_primitive_kind_t>(desc.get_kind())),
              dnnl_prop_kind2str(static_cast<dnnl_prop_kind_t>(desc.get_prop_kind())));
  std::printf("inputs %d, outputs %d\n", dnnl_primitive_desc_query_s32(desc.get(), dnnl_query_num_of_inputs_s32, 0),
              dnnl_primitive_desc_query_s32(desc.get(), dnnl_query_num_of_outputs_s32, 0));
  std::printf("engine %d, named %d\n", desc.get_engine().get_kind() == engine::kind::cpu, desc.impl_info_str()[0] != 0);
}

int main() {
  engine eng(engine::kind::cpu, 0);
  const memory::desc data({4, 6, 5}, type::f32, tag::abc), other({4, 6, 5}, type::f32, tag::acb),
      half({4, 6, 5}, type::bf16, tag::abc);
  std::printf("cpus %zu\n", engine::get_count(engine::kind::cpu));

  softmax_forward::primitive_desc forward(eng, prop_kind::forward_training, algorithm::softmax_log, data, data, 2);
  tensors(forward);
  std::printf("axis %d, %s\n", forward.get_axis(),
              dnnl_alg_kind2str(static_cast<dnnl_alg_kind_t>(forward.get_algorithm())));
  softmax_backward::primitive_desc backward(eng, algorithm::softmax_log, data, data, data, 2, forward);
  tensors(backward);
  reorder::primitive_desc change(eng, data, eng, other);
  tensors(change);
  std::printf("reorder engines %d %d\n", change.get_src_engine() == eng, change.get_dst_engine() == eng);
  reorder::primitive_desc convert(eng, data, eng, half);
  tensors(convert);

  primitive_attr attr;
  attr.set_scratchpad_mode(scratchpad_mode::user);
  post_ops ops;
  ops.append_eltwise(algorithm::eltwise_relu, 0, 0);
  ops.append_binary(algorithm::binary_add, memory::desc({1, 6, 1}, type::f32, tag::abc));
  attr.set_post_ops(ops);
  softmax_forward::primitive_desc fused(eng, prop_kind::forward_inference, algorithm::softmax_accurate, data, data, 1,
                                        attr);
  std::printf("scratchpad %d, post-ops %d\n", fused.get_primitive_attr().get_scratchpad_mode() == scratchpad_mode::user,
              fused.get_primitive_attr().get_post_ops().len());
  show("binary", fused.query_md(query::exec_arg_md, DNNL_ARG_ATTR_MULTIPLE_POST_OP(1) | DNNL_ARG_SRC_1));

  while (forward.next_impl()) {}
  tensors(forward);
  softmax_forward made(forward);
  std::printf("primitive %d\n", made.get_kind() == primitive::kind::softmax);
  return 0;
}
