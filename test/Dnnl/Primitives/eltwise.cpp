// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks eltwise: every algorithm, forward and backward (from the source or the destination), types, layouts, `any`, in
// place, post-ops, empty tensors, queries and refusals.
//
// REQUIRES: onednn-3.13
// RUN: %both --tolerance=2e-5 %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "values.hpp"

#include "oneapi/dnnl/dnnl_debug.h"

#include <cmath>

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

namespace {

engine eng(engine::kind::cpu, 0);
stream strm(eng);
const memory::desc rows({3, 21}, type::f32, tag::ab);

const char *nameOf(algorithm alg) { return dnnl_alg_kind2str(convert_to_c(alg)); }

struct Function {
  algorithm alg;
  float alpha, beta;
};

/// Algorithms with a derivative in terms of their result are computed from the source and from the destination.
const Function functions[] = {{algorithm::eltwise_relu, 0, 0},
                              {algorithm::eltwise_relu, 0.25f, 0},
                              {algorithm::eltwise_tanh, 0, 0},
                              {algorithm::eltwise_elu, 0.5f, 0},
                              {algorithm::eltwise_square, 0, 0},
                              {algorithm::eltwise_abs, 0, 0},
                              {algorithm::eltwise_sqrt, 0, 0},
                              {algorithm::eltwise_linear, 1.5f, -0.5f},
                              {algorithm::eltwise_soft_relu, 1, 0},
                              {algorithm::eltwise_soft_relu, -2, 0},
                              {algorithm::eltwise_hardsigmoid, 0.2f, 0.5f},
                              {algorithm::eltwise_logistic, 0, 0},
                              {algorithm::eltwise_exp, 0, 0},
                              {algorithm::eltwise_gelu_tanh, 0, 0},
                              {algorithm::eltwise_gelu_erf, 0, 0},
                              {algorithm::eltwise_swish, 1.25f, 0},
                              {algorithm::eltwise_log, 0, 0},
                              {algorithm::eltwise_clip, -1, 2},
                              {algorithm::eltwise_clip_v2, -1, 2},
                              {algorithm::eltwise_pow, 2, 1.5f},
                              {algorithm::eltwise_mish, 0, 0},
                              {algorithm::eltwise_hardswish, 0.2f, 0.5f}};
const Function ofResults[] = {
    {algorithm::eltwise_relu_use_dst_for_bwd, 0.25f, 0}, {algorithm::eltwise_tanh_use_dst_for_bwd, 0, 0},
    {algorithm::eltwise_elu_use_dst_for_bwd, 0.5f, 0},   {algorithm::eltwise_sqrt_use_dst_for_bwd, 0, 0},
    {algorithm::eltwise_logistic_use_dst_for_bwd, 0, 0}, {algorithm::eltwise_exp_use_dst_for_bwd, 0, 0},
    {algorithm::eltwise_clip_v2_use_dst_for_bwd, -1, 2}};

bool needsPositive(algorithm alg) {
  return alg == algorithm::eltwise_sqrt || alg == algorithm::eltwise_log || alg == algorithm::eltwise_pow ||
         alg == algorithm::eltwise_sqrt_use_dst_for_bwd;
}

memory inputOf(const Function &function, const memory::desc &desc, unsigned seed) {
  memory plain(plainOf(desc), eng), memory(desc, eng);
  std::vector<float> values = someValues(plain.get_desc().get_size() / sizeof(float), seed);
  for (float &value : values)
    value = needsPositive(function.alg) ? std::abs(value) + 0.01f : value;
  fill(plain, values);
  copy(strm, plain, memory);
  return memory;
}

void forward(const Function &function, const memory::desc &src, const memory::desc &dst, bool inPlace = false) {
  eltwise_forward::primitive_desc desc(eng, prop_kind::forward_inference, function.alg, src, dst, function.alpha,
                                       function.beta, primitive_attr(), true);
  beginLine(dst.get_data_type());
  std::printf("%s", nameOf(function.alg));
  if (!desc) {
    std::printf(": refused\n");
    return;
  }
  memory input = inputOf(function, src, 1), output = inPlace ? input : memory(desc.dst_desc(), eng);
  eltwise_forward(desc).execute(strm, {{DNNL_ARG_SRC, input}, {DNNL_ARG_DST, output}});
  print("", readPlain(strm, output));
}

void backward(const Function &function, bool ofResult, const memory::desc &data) {
  eltwise_forward::primitive_desc hint(eng, prop_kind::forward_training, function.alg, data, data, function.alpha,
                                       function.beta, primitive_attr(), true);
  beginLine(data.get_data_type());
  std::printf("gradient of %s", nameOf(function.alg));
  if (!hint) {
    std::printf(": refused\n");
    return;
  }
  eltwise_backward::primitive_desc desc(eng, function.alg, data, data, data, function.alpha, function.beta, hint);
  memory src = inputOf(function, data, 2), dst(data, eng), diffDst = makeTyped(strm, data, 3), diffSrc(data, eng);
  eltwise_forward(hint).execute(strm, {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}});
  eltwise_backward(desc).execute(strm, {{ofResult ? DNNL_ARG_DST : DNNL_ARG_SRC, ofResult ? dst : src},
                                        {DNNL_ARG_DIFF_DST, diffDst},
                                        {DNNL_ARG_DIFF_SRC, diffSrc}});
  print("", readPlain(strm, diffSrc));
}

void layouts() {
  const Function tanh = {algorithm::eltwise_tanh, 0, 0}, relu = {algorithm::eltwise_relu, 0.5f, 0},
                 linear = {algorithm::eltwise_linear, 2, 1};
  for (tag layout : {tag::nchw, tag::nhwc, tag::nChw16c, tag::nChw8c}) {
    const memory::desc image({2, 19, 3, 2}, type::f32, layout);
    forward(tanh, image, image);
    forward(linear, image, image); // not 0 at 0, but the padding must stay zero
    backward(tanh, false, image);
  }
  const memory::desc gaps({3, 5}, type::f32, memory::dims{11, 2}), deep({2, 3, 2, 2, 3}, type::f32, tag::abcde);
  forward(relu, gaps, gaps);
  forward(relu, deep, deep);
  forward(relu, rows, {{3, 21}, type::f32, tag::any});
  forward(relu, rows, rows, true);
  const memory::desc whole({6, 30}, type::f32, tag::ab), part = whole.submemory_desc({3, 21}, {1, 4});
  forward(relu, part, rows);
  const memory::desc empty({0, 21}, type::f32, tag::ab);
  forward(relu, empty, empty);
}

void types() {
  for (const Function &function : {Function{algorithm::eltwise_relu, 0, 0}, Function{algorithm::eltwise_linear, 2, 3},
                                   Function{algorithm::eltwise_logistic, 0, 0}})
    for (type of : {type::f32, type::bf16, type::f16, type::s32, type::s8, type::u8}) {
      const memory::desc data({3, 21}, of, tag::ab);
      forward(function, data, data);
    }
  backward({algorithm::eltwise_relu, 0, 0}, false, {{3, 21}, type::bf16, tag::ab});
}

void postOps() {
  const memory::desc row({1, 21}, type::f32, tag::ab);
  for (bool isChain : {false, true}) {
    post_ops ops;
    ops.append_binary(algorithm::binary_mul, row);
    if (isChain)
      ops.append_eltwise(algorithm::eltwise_linear, 2, 1);
    primitive_attr attr;
    attr.set_post_ops(ops);
    eltwise_forward::primitive_desc desc(eng, prop_kind::forward_inference, algorithm::eltwise_relu, rows, rows, 0.0f,
                                         0.0f, attr, true);
    if (!desc) {
      std::printf("post-ops: refused\n");
      continue;
    }
    memory src = makeMemory(eng, rows, 4), dst(rows, eng);
    eltwise_forward(desc).execute(strm,
                                  {{DNNL_ARG_SRC, src},
                                   {DNNL_ARG_DST, dst},
                                   {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, makeMemory(eng, row, 5)}});
    print("post-ops", readPlain(strm, dst));
  }
}

void queries() {
  eltwise_forward::primitive_desc desc(eng, prop_kind::forward_training, algorithm::eltwise_elu, rows, rows, 0.5f,
                                       0.25f);
  eltwise_backward::primitive_desc back(eng, algorithm::eltwise_elu, rows, rows, rows, 0.5f, 0.25f, desc);
  std::printf("%s %g %g, %d %d\n", nameOf(desc.get_algorithm()), desc.get_alpha(), desc.get_beta(),
              static_cast<int>(desc.get_prop_kind()), static_cast<int>(desc.get_kind()));
  std::printf("tensors: %d %d %d %d %d\n", desc.src_desc() == rows, desc.dst_desc() == rows,
              back.diff_src_desc() == rows, back.diff_dst_desc() == rows, back.src_desc() == rows);
  std::printf("inputs %d %d\n", dnnl_primitive_desc_query_s32(desc.get(), dnnl_query_num_of_inputs_s32, 0),
              dnnl_primitive_desc_query_s32(back.get(), dnnl_query_num_of_inputs_s32, 0));
  attempt("no algorithm", [] {
    eltwise_forward::primitive_desc(eng, prop_kind::forward_inference, algorithm::softmax_log, rows, rows, 0.0f, 0.0f);
  });
  attempt("bounds", [] {
    eltwise_forward::primitive_desc(eng, prop_kind::forward_inference, algorithm::eltwise_clip, rows, rows, 2.0f, 1.0f);
  });
  attempt("dims", [] {
    eltwise_forward::primitive_desc(eng, prop_kind::forward_inference, algorithm::eltwise_relu, rows,
                                    {{3, 20}, type::f32, tag::ab}, 0.0f, 0.0f);
  });
}

} // namespace

int main() {
  for (const Function &function : functions) {
    forward(function, rows, rows);
    backward(function, false, rows);
  }
  forward({algorithm::eltwise_round, 0, 0}, rows, rows);
  for (const Function &function : ofResults) {
    forward(function, rows, rows);
    backward(function, true, rows);
  }
  layouts();
  types();
  postOps();
  queries();
  return 0;
}
