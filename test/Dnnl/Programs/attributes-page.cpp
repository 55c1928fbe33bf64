// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the samples of oneDNN's page on attributes with Quern's primitives: library-owned and caller-owned
// scratchpads, weights quantized per output channel, RNN parameters; then the getters of attributes, post-ops, kinds
// and queries. compat.test also compiles it without oneDNN's headers. dnnl.hpp lacks get_scales_mask(), which the page
// has.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: a user's scratchpad leaves 0 bytes
// CHECK: lines compared, 0 differ
#include "oneapi/dnnl/dnnl.hpp"

#include <cassert>
#include <cstdio>
#include <vector>

using namespace dnnl;

namespace {

softmax_forward::primitive_desc describeSoftmax(const engine &cpu, const primitive_attr &attr) {
  const memory::desc rows({17, 5003}, memory::data_type::f32, memory::format_tag::ab);
  return {cpu, prop_kind::forward_inference, algorithm::softmax_accurate, rows, rows, 1, attr};
}

/// The size of the library-owned scratchpad is not printed, because it depends on the implementation.
void scratchpads(const engine &cpu, stream &order) {
  const primitive_attr byLibrary;
  const auto libraryManaged = describeSoftmax(cpu, byLibrary);
  std::printf("known: %d\n", libraryManaged.query_s64(query::memory_consumption_s64) >= 0);
  std::printf("visible: %d\n", libraryManaged.scratchpad_desc() == memory::desc() ? 0 : 1);

  primitive_attr attr;
  std::printf("library: %d\n", attr.get_scratchpad_mode() == scratchpad_mode::library);
  attr.set_scratchpad_mode(scratchpad_mode::user);
  const auto desc = describeSoftmax(cpu, attr);
  const memory::desc scratchpad_md = desc.scratchpad_desc();
  std::printf("a user's scratchpad leaves %d bytes\n", static_cast<int>(desc.query_s64(query::memory_consumption_s64)));
  std::vector<char> bytes(scratchpad_md.get_size());
  memory scratchpad(scratchpad_md, cpu, bytes.data());
  std::vector<float> values(17 * 5003, 1);
  memory data(desc.src_desc(), cpu, values.data());
  softmax_forward(desc).execute(order, {{DNNL_ARG_SRC, data}, {DNNL_ARG_DST, data}, {DNNL_ARG_SCRATCHPAD, scratchpad}});
  order.wait();
  std::printf("softmax: %.6f\n", static_cast<double>(values[5002]));
}

/// One scale for each output channel.
void quantizedWeights(const engine &cpu, stream &order) {
  const int OC = 4, IC = 3, KH = 2, KW = 2;
  const memory::desc plain({OC, IC, KH, KW}, memory::data_type::f32, memory::format_tag::hwio);
  const memory::desc quantized({OC, IC, KH, KW}, memory::data_type::s8, memory::format_tag::oihw);
  std::vector<float> weights(OC * IC * KH * KW), wei_scales = {0.5f, 1, 2, 4};
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<float>(i) - 20;
  primitive_attr attr;
  const int quantization_mask = 0 | (1 << 0);
  attr.set_scales_mask(DNNL_ARG_DST, quantization_mask);
#ifdef QUERN_DNNL_COMPAT_HPP
  assert(attr.get_scales_mask(DNNL_ARG_DST) == quantization_mask && attr.get_scales_mask(DNNL_ARG_SRC) == 0);
#endif
  const auto wei_reorder_pd = reorder::primitive_desc(cpu, plain, cpu, quantized, attr);
  auto wei_reorder = reorder(wei_reorder_pd);
  std::vector<int8_t> result(weights.size());
  memory from(plain, cpu, weights.data()), to(quantized, cpu, result.data());
  memory scales({{OC}, memory::data_type::f32, memory::format_tag::x}, cpu, wei_scales.data());
  wei_reorder.execute(order, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}, {DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, scales}});
  order.wait();
  for (int8_t value : result)
    std::printf("%d ", value);
  std::printf("\n");
}

void settersAndGetters() {
  primitive_attr attr;
  attr.set_fpmath_mode(fpmath_mode::bf16, true);
  fpmath_mode mode = fpmath_mode::strict;
  bool applies = false;
  attr.get_fpmath_mode(mode, applies);
  std::printf("fpmath %d %d\n", mode == fpmath_mode::bf16, applies);
  attr.set_zero_points_mask(DNNL_ARG_SRC, 0);
  attr.set_scales(DNNL_ARG_WEIGHTS, 3, {1, 32}, memory::data_type::f16, false, quantization_mode::static_sazp);
  attr.set_rounding_mode(DNNL_ARG_DST, rounding_mode::stochastic);
  std::printf("rounding %d\n", attr.get_rounding_mode(DNNL_ARG_DST) == rounding_mode::stochastic);
  const memory::desc mask({3, 16}, memory::data_type::u8, memory::format_tag::ab);
  attr.set_dropout(mask, memory::data_type::s64, true, false);
  memory::desc found;
  memory::data_type seeds = memory::data_type::undef;
  bool usesOffset = false, usesHostScalars = true;
  attr.get_dropout(found, seeds, usesOffset, usesHostScalars);
  std::printf("dropout %d %d %d %d\n", found == mask, seeds == memory::data_type::s64, usesOffset, usesHostScalars);
  const float scale = 2.0f, shift = 0.5f;
  attr.set_rnn_data_qparams(scale, shift);
  attr.set_rnn_weights_qparams(0, {2});

  post_ops ops;
  ops.append_dw(memory::data_type::f32, memory::data_type::undef, memory::data_type::f32, 3, 2, 1);
  const memory::desc operand({3, 1}, memory::data_type::f32, memory::format_tag::ab);
  ops.append_binary(algorithm::binary_select, operand, mask);
  attr.set_post_ops(ops);
  memory::data_type types[3];
  memory::dim kernel = 0, stride = 0, padding = 0;
  attr.get_post_ops().get_params_dw(0, types[0], types[1], types[2], kernel, stride, padding);
  std::printf("dw %d %d %d\n", static_cast<int>(kernel), static_cast<int>(stride), static_cast<int>(padding));
  algorithm which = algorithm::undef;
  memory::desc first, second;
  attr.get_post_ops().get_params_binary(1, which, first, second);
  std::printf("select %d %d %d\n", which == algorithm::binary_select, first == operand, second == mask);
  std::printf("kinds %d %d\n", ops.kind(0) == primitive::kind::convolution, ops.kind(1) == primitive::kind::binary);
}

void kinds(const engine &cpu) {
  const memory::desc rows({3, 16}, memory::data_type::f32, memory::format_tag::ab);
  const concat::primitive_desc joined(cpu, 1, {rows, rows});
  std::printf("concat %d %d\n", joined.get_kind() == primitive::kind::concat,
              concat(joined).get_kind() == primitive::kind::concat);
  for (query what : {query::prop_kind, query::alg_kind, query::axis_s32, query::alpha_f32, query::scratchpad_engine,
                     query::ndims_s32})
    std::printf("%d ", static_cast<int>(what));
  std::printf("\n");
}

} // namespace

int main() {
  const engine cpu(engine::kind::cpu, 0);
  stream order(cpu);
  scratchpads(cpu, order);
  quantizedWeights(cpu, order);
  settersAndGetters();
  kinds(cpu);
  return 0;
}
