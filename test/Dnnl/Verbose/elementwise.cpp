// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that lines about eltwise, binary, sum, concat and gemm equal oneDNN's, except for the implementation and the
// time.
//
// REQUIRES: onednn-3.13
// RUN: env ONEDNN_VERBOSE=profile %both --verbose %s %t | FileCheck %s
// CHECK: primitive,exec,cpu,eltwise,
// CHECK: primitive,exec,cpu,binary,
// CHECK: primitive,exec,cpu,sum,
// CHECK: primitive,exec,cpu,concat,
// CHECK: primitive,exec,cpu,gemm_api,
// CHECK: lines compared, 0 differ
#include "values.hpp"

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

namespace {

void eltwises(engine &eng, stream &order) {
  const memory::desc ab({4, 6}, type::f32, tag::ab), any({4, 6}, type::f32, tag::any),
      blocked({2, 17, 3, 3}, type::f32, tag::nChw16c);
  memory data = makeMemory(eng, ab, 1), other = makeMemory(eng, ab, 2);
  const eltwise_forward::primitive_desc forward(eng, prop_kind::forward_training, algorithm::eltwise_elu, ab, ab, 0.5f);
  eltwise_forward(forward).execute(order, {{DNNL_ARG_SRC, data}, {DNNL_ARG_DST, data}});
  const eltwise_backward::primitive_desc backward(eng, algorithm::eltwise_elu, ab, ab, ab, 0.5f, forward);
  eltwise_backward(backward).execute(order,
                                     {{DNNL_ARG_SRC, data}, {DNNL_ARG_DIFF_DST, other}, {DNNL_ARG_DIFF_SRC, other}});
  const eltwise_forward::primitive_desc logistic(eng, prop_kind::forward_training,
                                                 algorithm::eltwise_logistic_use_dst_for_bwd, ab, any);
  const eltwise_backward::primitive_desc fromDst(eng, algorithm::eltwise_logistic_use_dst_for_bwd, any, ab, ab,
                                                 logistic);
  eltwise_backward(fromDst).execute(order,
                                    {{DNNL_ARG_DST, data}, {DNNL_ARG_DIFF_DST, other}, {DNNL_ARG_DIFF_SRC, other}});
  eltwise_forward clip(eltwise_forward::primitive_desc(eng, prop_kind::forward_inference, algorithm::eltwise_clip,
                                                       blocked, blocked, -1, 0.25f));
  post_ops ops;
  ops.append_binary(algorithm::binary_max, memory::desc({1, 6}, type::f32, tag::ab));
  primitive_attr attr;
  attr.set_post_ops(ops);
  eltwise_forward fused(
      eltwise_forward::primitive_desc(eng, prop_kind::forward_inference, algorithm::eltwise_tanh, ab, ab, attr));
  const memory::desc bytes({4, 6}, type::s8, tag::ab);
  eltwise_forward relu(
      eltwise_forward::primitive_desc(eng, prop_kind::forward_inference, algorithm::eltwise_relu, bytes, bytes));
}

void binaries(engine &eng, stream &order) {
  const memory::desc ab({4, 6}, type::f32, tag::ab), row({1, 6}, type::f32, tag::ab), any({4, 6}, type::f32, tag::any);
  memory data = makeMemory(eng, ab, 1), bias = makeMemory(eng, row, 2);
  binary add(binary::primitive_desc(eng, algorithm::binary_add, ab, row, any));
  add.execute(order, {{DNNL_ARG_SRC_0, data}, {DNNL_ARG_SRC_1, bias}, {DNNL_ARG_DST, data}});
  primitive_attr attr;
  attr.set_scales_mask(DNNL_ARG_SRC_0, 0);
  attr.set_scales_mask(DNNL_ARG_SRC_1, 0);
  post_ops ops;
  ops.append_sum(1);
  ops.append_eltwise(algorithm::eltwise_relu, 0, 0);
  attr.set_post_ops(ops);
  const memory::desc bytes({4, 6}, type::s8, tag::ab);
  binary scaled(binary::primitive_desc(eng, algorithm::binary_mul, bytes, bytes, bytes, attr));
  binary compared(binary::primitive_desc(eng, algorithm::binary_ge, ab, ab, memory::desc({4, 6}, type::u8, tag::ab)));
}

void sums(engine &eng, stream &order) {
  const memory::desc ab({4, 6}, type::f32, tag::ab), ba({4, 6}, type::f32, tag::ba), bf16({4, 6}, type::bf16, tag::ab);
  memory one = makeMemory(eng, ab, 1), two = makeMemory(eng, ab, 2), result(ab, eng);
  sum plain(sum::primitive_desc(eng, ab, {1, 0.5f}, {ab, ab}));
  plain.execute(order, {{DNNL_ARG_MULTIPLE_SRC, one}, {DNNL_ARG_MULTIPLE_SRC + 1, two}, {DNNL_ARG_DST, result}});
  sum chosen(sum::primitive_desc(eng, {1, 2, -1}, {ab, ab, ab}));
  sum mixed(sum::primitive_desc(eng, ab, {1, 1}, {ba, ab}));
  sum narrow(sum::primitive_desc(eng, bf16, {1, 1}, {bf16, bf16}));
}

void concats(engine &eng, stream &order) {
  const memory::desc ab({4, 6}, type::f32, tag::ab), wide({4, 12}, type::f32, tag::ab),
      bytes({4, 6}, type::s8, tag::ab);
  memory one = makeMemory(eng, ab, 1), two = makeMemory(eng, ab, 2), result(wide, eng);
  concat columns(concat::primitive_desc(eng, wide, 1, {ab, ab}));
  columns.execute(order, {{DNNL_ARG_MULTIPLE_SRC, one}, {DNNL_ARG_MULTIPLE_SRC + 1, two}, {DNNL_ARG_DST, result}});
  concat rows(concat::primitive_desc(eng, 0, {ab, ab, ab}));
  const memory::desc blocked({2, 16, 3, 3}, type::f32, tag::nChw16c);
  concat channels(concat::primitive_desc(eng, 1, {blocked, blocked}));
  primitive_attr attr;
  attr.set_scales_mask(DNNL_ARG_MULTIPLE_SRC, 0);
  concat scaled(concat::primitive_desc(eng, 0, {bytes, bytes}, attr));
}

void gemms() {
  const std::vector<float> a(12, 1), b(20, 1);
  std::vector<float> c(15);
  dnnl_sgemm('N', 'N', 3, 5, 4, 1, a.data(), 4, b.data(), 5, 0, c.data(), 5);
  dnnl_sgemm('T', 't', 3, 5, 4, 2, a.data(), 3, b.data(), 4, -0.25f, c.data(), 5);
  dnnl_sgemm('N', 'N', 2, 4, 3, 1, a.data(), 4, b.data(), 5, 0, c.data(), 5);
  dnnl_sgemm('N', 'N', 0, 4, 3, 1, a.data(), 3, b.data(), 4, 0, c.data(), 4);
  const std::vector<uint8_t> u(12, 1);
  const std::vector<int8_t> s(20, 1);
  std::vector<int32_t> sums(15);
  const int32_t offset = 0;
  dnnl_gemm_u8s8s32('N', 'N', 'F', 3, 5, 4, 1, u.data(), 4, 1, s.data(), 5, 0, 0, sums.data(), 5, &offset);
}

} // namespace

int main() {
  engine eng(engine::kind::cpu, 0);
  stream order(eng);
  eltwises(eng, order);
  binaries(eng, order);
  sums(eng, order);
  concats(eng, order);
  gemms();
  order.wait();
  return 0;
}
