// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks that binary, sum and eltwise of s32 are computed in f32, like in oneDNN, with default attributes and others,
// and that the caller's attributes do not change.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "values.hpp"

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

static engine eng(engine::kind::cpu, 0);
static stream strm(eng);
static const memory::desc data({1, 4}, type::s32, tag::ab);

static memory of(const std::vector<int32_t> &values) {
  memory made(data, eng);
  fill(made, values);
  return made;
}

static void binaryOf(const char *name, algorithm alg, const primitive_attr &attr = {}) {
  binary::primitive_desc desc(eng, alg, data, data, data, attr, true);
  if (!desc) {
    std::printf("%s: refused\n", name);
    return;
  }
  memory dst(data, eng);
  binary(desc).execute(strm, {{DNNL_ARG_SRC_0, of({16777217, 16777219, 5, -16777217})},
                              {DNNL_ARG_SRC_1, of({16777216, 16777219, 7, -16777216})},
                              {DNNL_ARG_DST, dst}});
  strm.wait();
  print(name, read<int32_t>(dst));
}

static void eltwiseOf(const char *name, algorithm alg, float alpha, float beta) {
  eltwise_forward::primitive_desc desc(eng, prop_kind::forward_inference, alg, data, data, alpha, beta, {}, true);
  if (!desc) {
    std::printf("%s: refused\n", name);
    return;
  }
  memory dst(data, eng);
  eltwise_forward(desc).execute(strm, {{DNNL_ARG_SRC, of({16777217, -16777219, 5, 33554435})}, {DNNL_ARG_DST, dst}});
  strm.wait();
  print(name, read<int32_t>(dst));
}

static void sumOf(const char *name, const std::vector<float> &scales) {
  sum::primitive_desc desc(eng, scales, {data, data});
  memory dst(desc.dst_desc(), eng);
  sum(desc).execute(strm, {{DNNL_ARG_MULTIPLE_SRC, of({16777217, 16777219, 5, -16777217})},
                           {DNNL_ARG_MULTIPLE_SRC + 1, of({0, 2, -5, 0})},
                           {DNNL_ARG_DST, dst}});
  strm.wait();
  print(name, read<int32_t>(dst));
}

int main() {
  binaryOf("add", algorithm::binary_add);
  binaryOf("sub", algorithm::binary_sub);
  binaryOf("max", algorithm::binary_max);
  binaryOf("eq", algorithm::binary_eq);
  binaryOf("lt", algorithm::binary_lt);
  primitive_attr attr;
  attr.set_scratchpad_mode(scratchpad_mode::user);
  binaryOf("user", algorithm::binary_ne, attr);
  std::printf("modes: %d %d\n", static_cast<int>(attr.get_accumulation_mode()),
              static_cast<int>(attr.get_scratchpad_mode()));
  eltwiseOf("relu", algorithm::eltwise_relu, 0, 0);
  eltwiseOf("linear", algorithm::eltwise_linear, 1, 0);
  eltwiseOf("abs", algorithm::eltwise_abs, 0, 0);
  sumOf("sum", {1, 1});
  return 0;
}
