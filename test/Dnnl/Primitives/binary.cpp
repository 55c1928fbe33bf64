// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks binary through dnnl.hpp: algorithms, broadcasts, layouts, `any`, scales, post-ops, select, in place, empty
// tensors, refusals.
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

static void run(const char *name, algorithm alg, const memory::desc &a, const memory::desc &b, const memory::desc &c) {
  binary::primitive_desc desc(eng, alg, a, b, c);
  memory src0 = makeMemory(eng, a, 1), src1 = makeMemory(eng, b, 2), dst(desc.dst_desc(), eng);
  binary(desc).execute(strm, {{DNNL_ARG_SRC_0, src0}, {DNNL_ARG_SRC_1, src1}, {DNNL_ARG_DST, dst}});
  strm.wait();
  print(name, read<float>(dst));
}

static void attributes(const memory::desc &data, const memory::desc &row) {
  primitive_attr attr;
  attr.set_scales_mask(DNNL_ARG_SRC_0, 0);
  attr.set_scales_mask(DNNL_ARG_SRC_1, 0);
  post_ops ops;
  ops.append_sum(0.5f);
  ops.append_eltwise(algorithm::eltwise_relu, 0.1f, 0);
  ops.append_binary(algorithm::binary_mul, row);
  attr.set_post_ops(ops);
  binary::primitive_desc desc(eng, algorithm::binary_sub, data, row, data, attr);
  memory src0 = makeMemory(eng, data, 3), src1 = makeMemory(eng, row, 4), dst = makeMemory(eng, data, 5),
         other = makeMemory(eng, row, 6);
  const memory::desc one({1}, type::f32, tag::a);
  memory scale0(one, eng), scale1(one, eng);
  fill<float>(scale0, {2});
  fill<float>(scale1, {0.25f});
  binary(desc).execute(strm, {{DNNL_ARG_SRC_0, src0},
                              {DNNL_ARG_SRC_1, src1},
                              {DNNL_ARG_DST, dst},
                              {DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC_0, scale0},
                              {DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC_1, scale1},
                              {DNNL_ARG_ATTR_MULTIPLE_POST_OP(2) | DNNL_ARG_SRC_1, other}});
  strm.wait();
  print("attributes", read<float>(dst));
}

static void select(const memory::desc &data) {
  const memory::desc flags(data.get_dims(), type::s8, tag::abcd);
  binary::primitive_desc desc(eng, algorithm::binary_select, data, data, flags, data);
  memory src0 = makeMemory(eng, data, 7), src1 = makeMemory(eng, data, 8), condition(flags, eng), dst(data, eng);
  auto *set = static_cast<int8_t *>(condition.get_data_handle());
  for (size_t i = 0; i < flags.get_size(); ++i)
    set[i] = static_cast<int8_t>(i % 3 == 1);
  binary(desc).execute(
      strm, {{DNNL_ARG_SRC_0, src0}, {DNNL_ARG_SRC_1, src1}, {DNNL_ARG_SRC_2, condition}, {DNNL_ARG_DST, dst}});
  strm.wait();
  print("select", read<float>(dst));
  std::printf("condition: %d\n", desc.src2_desc() == flags);
}

static void inPlace(const memory::desc &data) {
  memory src0 = makeMemory(eng, data, 9), src1 = makeMemory(eng, data, 10);
  binary(binary::primitive_desc(eng, algorithm::binary_max, data, data, data))
      .execute(strm, {{DNNL_ARG_SRC_0, src0}, {DNNL_ARG_SRC_1, src1}, {DNNL_ARG_DST, src0}});
  strm.wait();
  print("in place", read<float>(src0));
}

static void refused(const char *name, algorithm alg, const memory::desc &a, const memory::desc &b,
                    const memory::desc &c) {
  try {
    binary::primitive_desc desc(eng, alg, a, b, c);
    std::printf("%s: accepted\n", name);
  } catch (const error &e) {
    std::printf("%s: status %d\n", name, static_cast<int>(e.status));
  }
}

int main() {
  const memory::desc image({2, 5, 3, 4}, type::f32, tag::abcd), last({2, 5, 3, 4}, type::f32, tag::acdb),
      blocked({2, 16, 3, 4}, type::f32, tag::aBcd16b), sixteen({1, 16, 1, 1}, type::f32, tag::abcd),
      channels({1, 5, 1, 1}, type::f32, tag::abcd), one({1, 1, 1, 1}, type::f32, tag::abcd),
      any({2, 5, 3, 4}, type::f32, tag::any), row({1, 1, 1, 4}, type::f32, tag::abcd);
  const algorithm all[] = {algorithm::binary_add, algorithm::binary_mul, algorithm::binary_max, algorithm::binary_min,
                           algorithm::binary_div, algorithm::binary_sub, algorithm::binary_ge,  algorithm::binary_gt,
                           algorithm::binary_le,  algorithm::binary_lt,  algorithm::binary_eq,  algorithm::binary_ne};
  for (algorithm alg : all)
    run("algorithm", alg, image, image, image);
  run("channels", algorithm::binary_mul, image, channels, image);
  run("channels last", algorithm::binary_add, last, channels, last);
  run("channels blocked", algorithm::binary_mul, blocked, sixteen, blocked);
  run("one", algorithm::binary_sub, image, one, image);
  run("row", algorithm::binary_add, image, row, image);
  run("any", algorithm::binary_add, last, last, any);
  attributes(image, row);
  select(image);
  inPlace(image);
  binary::primitive_desc chosen(eng, algorithm::binary_add, last, any, any);
  std::printf("any: %d %d %d\n", chosen.src0_desc() == last, chosen.src1_desc() == last, chosen.dst_desc() == last);
  std::printf("kept: %d %d\n", chosen.get_algorithm() == algorithm::binary_add, chosen.src2_desc().get_ndims());

  const memory::desc empty({0, 5, 3, 4}, type::f32, tag::abcd), other({2, 5, 3, 7}, type::f32, tag::abcd),
      flat({2, 5}, type::f32, tag::ab);
  run("empty", algorithm::binary_add, empty, channels, empty);
  refused("another size", algorithm::binary_add, image, other, image);
  refused("another rank", algorithm::binary_add, image, flat, image);
  refused("dst of another size", algorithm::binary_add, image, image, other);
  refused("an eltwise", algorithm::eltwise_relu, image, image, image);
  refused("a select without condition", algorithm::binary_select, image, image, image);
  refused("src any", algorithm::binary_add, any, image, image);
  return 0;
}
