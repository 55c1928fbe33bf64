// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that lines about creations and executions equal oneDNN's, except for the implementation and the time: layouts,
// strides, padding, offsets, `any`, attributes, post-ops, dropout, open sizes, the filter.
//
// REQUIRES: onednn-3.13
// RUN: env ONEDNN_VERBOSE=profile %both --verbose %s %t | FileCheck %s
// RUN: env DNNL_VERBOSE=2 ONEDNN_VERBOSE_TIMESTAMP=1 %both --verbose %s %t | FileCheck %s
// RUN: env ONEDNN_VERBOSE=profile,filter=^soft %both --verbose %s %t | FileCheck --check-prefix=FILTER %s
// CHECK: template:
// CHECK: primitive,create:cache_miss,cpu,softmax,jit:{{[^,]*}},forward_inference,
// CHECK-SAME: {{^}}src:f32::blocked:ab::f0 dst:f32::blocked:ab::f0,,
// CHECK-SAME: alg:softmax_accurate axis:1,1x16,{{[0-9.e-]+$}}
// CHECK: create:cache_hit
// CHECK: primitive,exec,cpu,softmax,
// CHECK: lines compared, 0 differ
// FILTER: common,info,filter format is enabled, hit components: softmax
// FILTER-NOT: ,cpu,reorder
// FILTER: primitive,exec,cpu,softmax,
// FILTER-NOT: ,cpu,reorder
// FILTER: lines compared, 0 differ
#include "values.hpp"

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

namespace {

void softmaxes(engine &eng, stream &order) {
  const memory::desc ab({1, 16}, type::f32, tag::ab), any({1, 16}, type::f32, tag::any),
      none({0, 16}, type::f32, tag::ab);
  const softmax_forward::primitive_desc forward(eng, prop_kind::forward_inference, algorithm::softmax_accurate, ab, ab,
                                                1);
  softmax_forward first(forward), again(forward);
  memory data = makeMemory(eng, ab, 1);
  first.execute(order, {{DNNL_ARG_SRC, data}, {DNNL_ARG_DST, data}});
  softmax_backward::primitive_desc backward(eng, algorithm::softmax_accurate, any, ab, ab, 1, forward);
  softmax_backward(backward).execute(order,
                                     {{DNNL_ARG_DIFF_SRC, data}, {DNNL_ARG_DIFF_DST, data}, {DNNL_ARG_DST, data}});
  primitive_attr attr;
  attr.set_scratchpad_mode(scratchpad_mode::user);
  attr.set_fpmath_mode(fpmath_mode::bf16);
  attr.set_accumulation_mode(accumulation_mode::relaxed);
  attr.set_deterministic(true);
  softmax_forward all(
      softmax_forward::primitive_desc(eng, prop_kind::forward_inference, algorithm::softmax_log, ab, any, 0, attr));
  primitive_attr scaling;
  scaling.set_scales_mask(DNNL_ARG_DST, 0);
  const memory::desc narrow({1, 16}, type::s8, tag::ab);
  const softmax_forward::primitive_desc scaled(eng, prop_kind::forward_inference, algorithm::softmax_log, ab, narrow, 1,
                                               scaling);
  softmax_forward made(scaled);
  post_ops ops;
  ops.append_eltwise(algorithm::eltwise_clip, -1, 0.5f);
  ops.append_eltwise(algorithm::eltwise_relu, 0.25f, 0);
  ops.append_eltwise(algorithm::eltwise_tanh, 0, 0);
  ops.append_binary(algorithm::binary_mul, memory::desc({1, 1}, type::f32, tag::ab));
  ops.append_binary(algorithm::binary_add, memory::desc({1, 16}, type::f32, tag::ab));
  primitive_attr fusing;
  fusing.set_post_ops(ops);
  softmax_forward fused(
      softmax_forward::primitive_desc(eng, prop_kind::forward_inference, algorithm::softmax_log, ab, ab, 0, fusing));
  softmax_forward empty(
      softmax_forward::primitive_desc(eng, prop_kind::forward_inference, algorithm::softmax_accurate, none, none, 1));
}

/// Dropout is printed after post-ops: the mask's tag or none, the type of seeds, and whether there is an offset.
void dropouts(engine &eng) {
  const memory::desc rows({5, 16}, type::f32, tag::ab);
  post_ops ops;
  ops.append_eltwise(algorithm::eltwise_linear, 1, 5);
  primitive_attr masked, plain;
  masked.set_post_ops(ops);
  masked.set_deterministic(true);
  masked.set_dropout(memory::desc({5, 16}, type::u8, tag::ab));
  plain.set_dropout(memory::desc(), type::s64, true, false);
  for (const primitive_attr &attr : {masked, plain}) {
    const softmax_forward::primitive_desc desc(eng, prop_kind::forward_training, algorithm::softmax_accurate, rows,
                                               rows, 1, attr);
    softmax_forward made(desc);
  }
}

void create(engine &eng, const memory::desc &src, const memory::desc &dst, const primitive_attr &attr = {}) {
  reorder made(reorder::primitive_desc(eng, src, eng, dst, attr));
}

void layouts(engine &eng, stream &order) {
  const memory::desc images({2, 17, 3, 4}, type::f32, tag::nchw), blocked({2, 17, 3, 4}, type::bf16, tag::nChw16c);
  memory from = makeMemory(eng, images, 2), to(blocked, eng);
  reorder(from, to).execute(order, from, to);
  create(eng, memory::desc({2, 3}, type::f32, memory::dims{7, 1}), memory::desc({2, 3}, type::f32, memory::dims{1, 5}));
  const memory::desc whole({4, 6}, type::f32, tag::ab), planes({2, 32, 4}, type::f32, tag::aBc16b);
  create(eng, whole.submemory_desc({2, 3}, {1, 1}), memory::desc({2, 3}, type::f32, tag::ab));
  create(eng, planes.submemory_desc({2, 16, 4}, {0, 16, 0}), memory::desc({2, 16, 4}, type::f32, tag::abc));
  create(eng, memory::desc({2, 3, 4}, type::f32, memory::dims{0, 4, 1}), memory::desc({2, 3, 4}, type::f32, tag::abc));
  create(eng, memory::desc({1, 3, 1, 1}, type::f32, tag::acdb), memory::desc({1, 3, 1, 1}, type::f32, tag::abcd));
  create(eng, memory::desc({5}, type::f32, tag::a), memory::desc({5}, type::s32, tag::a));
}

void openSizes(engine &eng, stream &order) {
  const memory::dim open = DNNL_RUNTIME_DIM_VAL;
  create(eng, memory::desc({open, 3}, type::f32, tag::ab), memory::desc({open, 3}, type::f32, tag::ab));
  create(eng, memory::desc({3, open}, type::f32, memory::dims{open, 1}), memory::desc({3, open}, type::f32, tag::ba));
  const memory::desc rows({open, open}, type::f32, memory::dims{open, open}), actual({1, 16}, type::f32, tag::ab);
  memory from = makeMemory(eng, actual, 3), to(actual, eng);
  reorder(reorder::primitive_desc(eng, rows, eng, rows)).execute(order, from, to);
}

void attributes(engine &eng) {
  const memory::desc wide({32, 6}, type::f32, tag::ab), narrow({32, 6}, type::s8, tag::ab);
  primitive_attr quantize, groups;
  quantize.set_scales_mask(DNNL_ARG_SRC, 0);
  quantize.set_scales(DNNL_ARG_DST, 1 << 1, {}, type::f32);
  quantize.set_zero_points_mask(DNNL_ARG_DST, 0);
  post_ops ops;
  ops.append_sum(0.5f);
  quantize.set_post_ops(ops);
  create(eng, wide, narrow, quantize);
  groups.set_scales(DNNL_ARG_SRC, 3, {16, 1}, type::f32);
  groups.set_zero_points(DNNL_ARG_SRC, 3, {16, 1}, type::s8);
  create(eng, narrow, wide, groups);
}

} // namespace

int main() {
  engine eng(engine::kind::cpu, 0);
  stream order(eng);
  softmaxes(eng, order);
  dropouts(eng);
  layouts(eng, order);
  openSizes(eng, order);
  attributes(eng);
  order.wait();
  return 0;
}
