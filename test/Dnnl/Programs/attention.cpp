// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A complete program: attention with several heads over sequences of different lengths. Checks products by dnnl_sgemm,
// scale and mask by one binary primitive with a post-op, softmax over the keys, and heads that are written to adjacent
// regions of one tensor.
//
// REQUIRES: onednn-3.13
// RUN: %both --tolerance=2e-5 %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "values.hpp"

#include <cmath>

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

namespace {

constexpr memory::dim batch = 2, heads = 3, length = 12, width = 8;

engine eng(engine::kind::cpu, 0);
stream strm(eng);

/// Computes scores = queries · keysᵀ for each head, [batch, heads, length, length].
void multiplyKeys(const std::vector<float> &queries, const std::vector<float> &keys, float *scores) {
  for (memory::dim part = 0; part < batch * heads; ++part) {
    const size_t from = static_cast<size_t>(part * length * width), to = static_cast<size_t>(part * length * length);
    error::wrap_c_api(dnnl_sgemm('N', 'T', length, length, width, 1, &queries[from], width, &keys[from], width, 0,
                                 scores + to, length),
                      "could not multiply");
  }
}

void multiplyValues(const float *weights, const std::vector<float> &values, float *result) {
  for (memory::dim part = 0; part < batch * heads; ++part) {
    const size_t from = static_cast<size_t>(part * length * length), to = static_cast<size_t>(part * length * width);
    error::wrap_c_api(dnnl_sgemm('N', 'N', length, width, length, 1, weights + from, length, &values[to], width, 0,
                                 result + to, width),
                      "could not multiply");
  }
}

/// 0 if the key is within its sequence, a large negative number after its end.
memory maskOf(const std::vector<memory::dim> &lengths) {
  memory mask({{batch, 1, 1, length}, type::f32, tag::abcd}, eng);
  std::vector<float> values;
  for (memory::dim own : lengths)
    for (memory::dim key = 0; key < length; ++key)
      values.push_back(key < own ? 0.0f : -1e4f);
  fill(mask, values);
  return mask;
}

void attend(const std::vector<memory::dim> &lengths, unsigned seed) {
  const memory::desc square({batch, heads, length, length}, type::f32, tag::abcd),
      one({1, 1, 1, 1}, type::f32, tag::abcd);
  const size_t count = static_cast<size_t>(batch * heads * length * width);
  const std::vector<float> queries = someValues(count, seed), keys = someValues(count, seed + 1),
                           values = someValues(count, seed + 2);
  memory scores(square, eng), weights(square, eng), scale(one, eng), mask = maskOf(lengths);
  multiplyKeys(queries, keys, static_cast<float *>(scores.get_data_handle()));
  fill<float>(scale, {1 / std::sqrt(static_cast<float>(width))});

  post_ops ops;
  ops.append_binary(algorithm::binary_add, mask.get_desc());
  primitive_attr attr;
  attr.set_post_ops(ops);
  const binary::primitive_desc scaled(eng, algorithm::binary_mul, square, one, square, attr);
  binary(scaled).execute(strm, {{DNNL_ARG_SRC_0, scores},
                                {DNNL_ARG_SRC_1, scale},
                                {DNNL_ARG_DST, scores},
                                {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, mask}});
  const softmax_forward::primitive_desc overKeys(eng, prop_kind::forward_inference, algorithm::softmax_accurate, square,
                                                 square, 3);
  softmax_forward(overKeys).execute(strm, {{DNNL_ARG_SRC, scores}, {DNNL_ARG_DST, weights}});
  strm.wait();
  print("weights", read<float>(weights));

  // [batch, heads, length, width] becomes [batch, length, heads * width], head by head.
  memory separate({{batch, heads, length, width}, type::f32, tag::abcd}, eng),
      together({{batch, length, heads * width}, type::f32, tag::abc}, eng);
  multiplyValues(static_cast<const float *>(weights.get_data_handle()), values,
                 static_cast<float *>(separate.get_data_handle()));
  for (memory::dim head = 0; head < heads; ++head) {
    memory from(
        separate.get_desc().submemory_desc({batch, 1, length, width}, {0, head, 0, 0}).reshape({batch, length, width}),
        eng, separate.get_data_handle());
    memory to(together.get_desc().submemory_desc({batch, length, width}, {0, 0, head * width}), eng,
              together.get_data_handle());
    reorder(from, to).execute(strm, from, to);
  }
  strm.wait();
  print("result", read<float>(together));
}

} // namespace

int main() {
  attend({12, 5}, 1);
  attend({1, 12}, 4);
  return 0;
}
