// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks softmax with every attribute: scales of both sides, chains of post-ops, a caller-owned scratchpad, modes, and
// combinations.
//
// REQUIRES: onednn-3.13
// RUN: %both --tolerance=1e-5 %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "values.hpp"

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

namespace {

engine eng(engine::kind::cpu, 0);
stream strm(eng);
const memory::desc rows({6, 40}, type::f32, tag::ab);

memory scaleOf(float value) {
  memory scale({{1}, type::f32, tag::a}, eng);
  fill<float>(scale, {value});
  return scale;
}

/// Executes with src, dst and the arguments of the attributes.
void run(const char *name, const primitive_attr &attr, type to, std::unordered_map<int, memory> more = {},
         const memory::desc &src = rows) {
  const memory::desc dst(src.get_dims(), to, src.get_strides());
  softmax_forward::primitive_desc desc(eng, prop_kind::forward_inference, algorithm::softmax_accurate, src, dst, 1,
                                       attr, true);
  if (!desc) {
    std::printf("%s: refused\n", name);
    return;
  }
  memory input = makeTyped(strm, src, 11), output = makeTyped(strm, dst, 12);
  more.insert({{DNNL_ARG_SRC, input}, {DNNL_ARG_DST, output}});
  if (attr.get_scratchpad_mode() == scratchpad_mode::user) {
    memory scratchpad(desc.scratchpad_desc(), eng);
    more.insert({DNNL_ARG_SCRATCHPAD, scratchpad});
    std::printf("scratchpad is %s\n",
                desc.query_s64(query::memory_consumption_s64) == 0 ? "the caller's" : "the library's");
  }
  softmax_forward(desc).execute(strm, more);
  print(name, readPlain(strm, output));
}

void scales() {
  primitive_attr src, dst, both;
  src.set_scales_mask(DNNL_ARG_SRC, 0);
  run("src scale", src, type::f32, {{DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, scaleOf(3)}});
  dst.set_scales_mask(DNNL_ARG_DST, 0);
  for (type to : {type::f32, type::u8, type::s8})
    run("dst scale", dst, to, {{DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, scaleOf(1.0f / 256)}});
  both.set_scales_mask(DNNL_ARG_SRC, 0);
  both.set_scales_mask(DNNL_ARG_DST, 0);
  run("both scales", both, type::u8,
      {{DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, scaleOf(2)}, {DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, scaleOf(1.0f / 128)}});
}

void postOps() {
  const std::pair<const char *, algorithm> functions[] = {
      {"relu", algorithm::eltwise_relu},     {"linear", algorithm::eltwise_linear},
      {"tanh", algorithm::eltwise_tanh},     {"logistic", algorithm::eltwise_logistic},
      {"square", algorithm::eltwise_square}, {"sqrt", algorithm::eltwise_sqrt},
      {"exp", algorithm::eltwise_exp},       {"clip", algorithm::eltwise_clip},
      {"swish", algorithm::eltwise_swish},   {"gelu", algorithm::eltwise_gelu_erf},
      {"abs", algorithm::eltwise_abs},       {"elu", algorithm::eltwise_elu}};
  for (const auto &[name, function] : functions) {
    post_ops ops;
    ops.append_eltwise(function, 0.25f, 0.5f);
    primitive_attr attr;
    attr.set_post_ops(ops);
    run(name, attr, type::f32);
  }
  const std::pair<const char *, algorithm> operators[] = {
      {"add", algorithm::binary_add}, {"sub", algorithm::binary_sub}, {"mul", algorithm::binary_mul},
      {"div", algorithm::binary_div}, {"min", algorithm::binary_min}, {"max", algorithm::binary_max},
      {"ge", algorithm::binary_ge},   {"ne", algorithm::binary_ne}};
  for (const memory::dims &dims : {memory::dims{6, 40}, memory::dims{1, 40}, memory::dims{6, 1}, memory::dims{1, 1}})
    for (const auto &[name, op] : operators) {
      const memory::desc other(dims, type::f32, tag::ab);
      post_ops ops;
      ops.append_binary(op, other);
      primitive_attr attr;
      attr.set_post_ops(ops);
      run(name, attr, type::f32, {{DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, makeTyped(strm, other, 13)}});
    }
  post_ops chain;
  const memory::desc column({6, 1}, type::f32, tag::ab), row({1, 40}, type::f32, tag::ab);
  chain.append_eltwise(algorithm::eltwise_linear, 4, -1);
  chain.append_binary(algorithm::binary_mul, column);
  chain.append_eltwise(algorithm::eltwise_tanh, 0, 0);
  chain.append_binary(algorithm::binary_add, row);
  primitive_attr attr;
  attr.set_post_ops(chain);
  attr.set_scales_mask(DNNL_ARG_SRC, 0);
  attr.set_scales_mask(DNNL_ARG_DST, 0);
  for (type to : {type::f32, type::s8})
    run("chain", attr, to,
        {{DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, scaleOf(0.5f)},
         {DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, scaleOf(0.125f)},
         {DNNL_ARG_ATTR_MULTIPLE_POST_OP(1) | DNNL_ARG_SRC_1, makeTyped(strm, column, 14)},
         {DNNL_ARG_ATTR_MULTIPLE_POST_OP(3) | DNNL_ARG_SRC_1, makeTyped(strm, row, 15)}});
}

void modes() {
  primitive_attr user, relaxed, fast, deterministic;
  user.set_scratchpad_mode(scratchpad_mode::user);
  run("user", user, type::f32);
  run("user, by columns", user, type::f32, {}, memory::desc({6, 40}, type::f32, tag::ba));
  for (accumulation_mode mode :
       {accumulation_mode::strict, accumulation_mode::relaxed, accumulation_mode::any, accumulation_mode::f32}) {
    relaxed.set_accumulation_mode(mode);
    run("accumulation", relaxed, type::f32);
  }
  fast.set_fpmath_mode(fpmath_mode::strict);
  run("strict", fast, type::f32);
  deterministic.set_deterministic(true);
  run("deterministic", deterministic, type::f32);
}

} // namespace

int main() {
  scales();
  postOps();
  modes();
  return 0;
}
