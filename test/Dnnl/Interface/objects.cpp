// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the objects of dnnl.hpp: empty ones, copies and comparisons of handles, objects created from C handles,
// attributes and post-ops read back through the classes, and the messages of exceptions.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "values.hpp"

#include "oneapi/dnnl/dnnl_debug.h"

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

namespace {

void handles() {
  engine none, cpu(engine::kind::cpu, 0), same = cpu, other(engine::kind::cpu, 0);
  std::printf("engines: %d %d %d %d\n", static_cast<bool>(none), static_cast<bool>(cpu), same == cpu, other == cpu);
  std::printf("kind %d, count %zu %zu\n", static_cast<int>(cpu.get_kind()), engine::get_count(engine::kind::cpu),
              engine::get_count(engine::kind::gpu));
  stream strm(cpu), moved = std::move(strm);
  std::printf("stream of the engine: %d %d\n", moved.get_engine() == cpu, static_cast<bool>(moved));
  stream outOfOrder(cpu, stream::flags::out_of_order);
  outOfOrder.wait().wait();
  memory::desc empty;
  memory nothing;
  std::printf("nothing: %d %d %zu %d\n", empty.is_zero(), static_cast<bool>(nothing), empty.get_size(),
              empty == memory::desc());
  std::printf("%d dims, type %s, kind %d\n", empty.get_ndims(),
              dnnl_dt2str(memory::convert_to_c(empty.get_data_type())), static_cast<int>(empty.get_format_kind()));
  primitive no;
  std::printf("primitive: %d\n", static_cast<bool>(no));
  attempt("null handle", [&] { no.get(); });
  attempt("kind of none", [&] { no.get_kind(); });
  attempt("gpu", [] { engine(engine::kind::gpu, 0); });
}

void descriptors() {
  const memory::desc desc({3, 20, 4, 5}, type::bf16, tag::nChw16c);
  for (const memory::dims &list : {desc.get_dims(), desc.get_padded_dims(), desc.get_padded_offsets(),
                                   desc.get_strides(), desc.get_inner_blks(), desc.get_inner_idxs()}) {
    for (memory::dim value : list)
      std::printf(" %lld", static_cast<long long>(value));
    std::printf("\n");
  }
  std::printf("%d blocks, offset %lld, %zu bytes\n", desc.get_inner_nblks(),
              static_cast<long long>(desc.get_submemory_offset()), desc.get_size());
  const std::vector<uint8_t> bytes = memory::desc(desc).get_blob();
  std::printf("blob: %d %d\n", memory::desc(bytes) == desc, memory::desc(bytes) != desc);
  const memory::desc copy = desc, plain({3, 20, 4, 5}, type::bf16, tag::nchw);
  std::printf("equal: %d %d %d\n", copy == desc, plain == desc,
              memory::desc({3, 20}, type::f32, memory::dims()) == memory::desc({3, 20}, type::f32, tag::ab));
  std::printf("allowed: %d %d %d %d\n", static_cast<bool>(memory::desc({1, 2}, type::f32, tag::abc, true)),
              static_cast<bool>(plain.submemory_desc({4, 1, 1, 1}, {0, 0, 0, 0}, true)),
              static_cast<bool>(plain.reshape({7}, true)), static_cast<bool>(plain.permute_axes({0, 0, 1, 2}, true)));
  attempt("submemory", [&] { plain.submemory_desc({4, 1, 1, 1}, {0, 0, 0, 0}); });
  attempt("reshape", [&] { plain.reshape({7}); });
  attempt("permute", [&] { plain.permute_axes({0, 0, 1, 2}); });
  attempt("13 dims", [&] { memory::desc(memory::dims(13, 1), type::f32, tag::any); });
  attempt("strides", [&] { memory::desc({2, 3}, type::f32, memory::dims{1, 1}); });
  std::printf("type sizes: %zu %zu %zu\n", memory::data_type_size(type::f32), memory::data_type_size(type::bf16),
              memory::data_type_size(type::s8));
}

void attributes() {
  primitive_attr attr;
  std::printf("defaults: %d %d %d %d\n", static_cast<int>(attr.get_scratchpad_mode()),
              static_cast<int>(attr.get_fpmath_mode()), static_cast<int>(attr.get_accumulation_mode()),
              attr.get_deterministic());
  attr.set_scratchpad_mode(scratchpad_mode::user);
  attr.set_fpmath_mode(fpmath_mode::bf16, true);
  attr.set_accumulation_mode(accumulation_mode::any);
  attr.set_deterministic(true);
  fpmath_mode mode;
  bool toIntegers = false;
  attr.get_fpmath_mode(mode, toIntegers);
  std::printf("set: %d %d %d %d %d\n", static_cast<int>(attr.get_scratchpad_mode()), static_cast<int>(mode), toIntegers,
              static_cast<int>(attr.get_accumulation_mode()), attr.get_deterministic());
  attr.set_rnn_data_qparams(2, 3);
  attr.set_rnn_weights_qparams(8, {1, 2, 3});
  attr.set_rnn_weights_projection_qparams(0, {4});
  float scale = 0, shift = 0;
  int mask = -1;
  std::vector<float> scales;
  attr.get_rnn_data_qparams(scale, shift);
  attr.get_rnn_weights_qparams(mask, scales);
  std::printf("rnn: %g %g, %d", scale, shift, mask);
  print("", scales);
  attr.get_rnn_weights_projection_qparams(mask, scales);
  std::printf("%d", mask);
  print("", scales);
  attempt("mask", [&] { attr.set_scales_mask(DNNL_ARG_SRC, -1); });
  const primitive_attr copy = attr;
  std::printf("copy: %d\n", static_cast<int>(copy.get_scratchpad_mode()));
}

void postOps() {
  const memory::desc row({1, 8}, type::f32, tag::ab);
  post_ops ops;
  ops.append_sum(0.5f, 3, type::u8);
  ops.append_eltwise(algorithm::eltwise_clip, -1, 2);
  ops.append_binary(algorithm::binary_max, row);
  ops.append_prelu(2);
  primitive_attr attr;
  attr.set_post_ops(ops);
  const post_ops back = attr.get_post_ops();
  std::printf("%d post-ops:", back.len());
  for (int i = 0; i < back.len(); ++i)
    std::printf(" %s", dnnl_prim_kind2str(static_cast<dnnl_primitive_kind_t>(back.kind(i))));
  float scale = 0, alpha = 0, beta = 0;
  int32_t zeroPoint = 0;
  int mask = 0;
  type of = type::undef;
  algorithm alg = algorithm::undef;
  memory::desc other;
  back.get_params_sum(0, scale, zeroPoint, of);
  std::printf("\nsum %g %d %s\n", scale, zeroPoint, dnnl_dt2str(memory::convert_to_c(of)));
  back.get_params_eltwise(1, alg, alpha, beta);
  std::printf("eltwise %s %g %g\n", dnnl_alg_kind2str(convert_to_c(alg)), alpha, beta);
  back.get_params_binary(2, alg, other);
  std::printf("binary %s %d\n", dnnl_alg_kind2str(convert_to_c(alg)), other == row);
  back.get_params_prelu(3, mask);
  std::printf("prelu %d\n", mask);
  attempt("another kind", [&] { back.get_params_eltwise(0, alg, alpha, beta); });
  attempt("behind the end", [&] { back.get_params_eltwise(9, alg, alpha, beta); });
  attempt("no eltwise", [&] { ops.append_eltwise(algorithm::binary_add, 0, 0); });
  attempt("bounds", [&] { ops.append_eltwise(algorithm::eltwise_clip, 2, 1); });
  attempt("no binary", [&] { ops.append_binary(algorithm::eltwise_relu, row); });
  post_ops many;
  attempt("many", [&] {
    for (int i = 0; i < 100; ++i)
      many.append_sum();
  });
  std::printf("%d of them\n", many.len());
}

void primitives() {
  engine cpu(engine::kind::cpu, 0), elsewhere(engine::kind::cpu, 0);
  stream strm(cpu);
  const memory::desc rows({4, 6}, type::f32, tag::ab), turned({4, 6}, type::f32, tag::ba);
  const softmax_forward::primitive_desc desc(cpu, prop_kind::forward_inference, algorithm::softmax_log, rows, rows, 1);
  softmax_forward softmax(desc);
  std::printf("kind %d\n", static_cast<int>(softmax.get_kind()));
  dnnl_primitive_desc_t clone = nullptr;
  dnnl_primitive_desc_clone(&clone, softmax.get_primitive_desc());
  const softmax_forward::primitive_desc back(clone);
  std::printf("of a C handle: axis %d, %d %d\n", back.get_axis(), back.src_desc() == rows, back.get_engine() == cpu);
  dnnl_primitive_desc_clone(&clone, softmax.get_primitive_desc());
  attempt("a reorder of a softmax", [&] { reorder::primitive_desc wrong(clone); });
  attempt("no such problem", [&] {
    softmax_forward::primitive_desc(cpu, prop_kind::forward_inference, algorithm::softmax_log, rows, rows, 7);
  });
  const softmax_forward::primitive_desc refused(cpu, prop_kind::forward_inference, algorithm::softmax_log, rows, rows,
                                                7, primitive_attr(), true);
  std::printf("allowed to be empty: %d\n", static_cast<bool>(refused));
  memory a = makeMemory(cpu, rows, 1), b(turned, cpu);
  attempt("arguments", [&] { softmax.execute(strm, {{DNNL_ARG_SRC, a}}); });
  const reorder change(a, b);
  reorder(reorder::primitive_desc(cpu, rows, elsewhere, turned)).execute(strm, a, b);
  change.execute(strm, a, b);
  change.execute(strm, {{DNNL_ARG_FROM, a}, {DNNL_ARG_TO, b}});
  strm.wait();
  print("turned", read<float>(b));
  memory shared(rows, cpu, a.get_data_handle());
  shared.set_data_handle(b.get_data_handle());
  std::printf("handles: %d, engine %d, desc %d\n", shared.get_data_handle() == b.get_data_handle(),
              shared.get_engine() == cpu, shared.get_desc() == rows);
}

void settings() {
  set_primitive_cache_capacity(3);
  std::printf("capacity %d\n", get_primitive_cache_capacity());
  attempt("capacity", [] { set_primitive_cache_capacity(-3); });
  set_default_fpmath_mode(fpmath_mode::f16);
  std::printf("fpmath %d %d\n", static_cast<int>(get_default_fpmath_mode()),
              static_cast<int>(primitive_attr().get_fpmath_mode()));
  std::printf("hints %d, isa set late %d\n", static_cast<int>(get_cpu_isa_hints()),
              static_cast<int>(set_max_cpu_isa(cpu_isa::avx2)));
  std::printf("set hints %d\n", static_cast<int>(set_cpu_isa_hints(cpu_isa_hints::no_hints)));
  std::printf("version %d.%d\n", version()->major, version()->minor);
}

} // namespace

int main() {
  handles();
  descriptors();
  attributes();
  postOps();
  primitives();
  settings();
  return 0;
}
