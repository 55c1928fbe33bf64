// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks reorders with every attribute: scales of either side with each mask and in groups, their types, zero points,
// sums with a scale, and combinations, in both directions.
//
// REQUIRES: onednn-3.13
// RUN: %both --tolerance=1e-6 %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "values.hpp"

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

namespace {

engine eng(engine::kind::cpu, 0);
stream strm(eng);
constexpr int srcScales = DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC, dstScales = DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST;
constexpr int srcZeros = DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, dstZeros = DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_DST;
using Arguments = std::unordered_map<int, memory>;

/// Powers of two, and three times such powers: exact in every float type.
memory scales(memory::dim count, type of = type::f32) {
  memory plain({{count}, type::f32, tag::a}, eng), typed({{count}, of, tag::a}, eng);
  std::vector<float> values;
  for (memory::dim i = 0; i < count; ++i)
    values.push_back((i % 3 ? 1.0f : 1.5f) / static_cast<float>(1 << i % 5));
  fill(plain, values);
  copy(strm, plain, typed);
  return typed;
}

memory zeros(const std::vector<int32_t> &values) {
  memory points({{static_cast<memory::dim>(values.size())}, type::s32, tag::a}, eng);
  fill(points, values);
  return points;
}

void run(const char *name, const memory::desc &from, const memory::desc &to, const primitive_attr &attr,
         Arguments more = {}) {
  reorder::primitive_desc desc(eng, from, eng, to, attr, true);
  if (!desc) {
    std::printf("%s: refused\n", name);
    return;
  }
  memory src = makeTyped(strm, from, 1, 8), dst = makeTyped(strm, to, 2, 8);
  more.insert({{DNNL_ARG_FROM, src}, {DNNL_ARG_TO, dst}});
  reorder(desc).execute(strm, more);
  strm.wait();
  print(name, readPlain(strm, dst));
}

void masks() {
  const memory::desc plain({4, 6, 5}, type::f32, tag::abc), turned({4, 6, 5}, type::f32, tag::cab),
      ints({4, 6, 5}, type::s8, tag::acb);
  // If the dims of a mask are not contiguous, oneDNN uses the wrong scales.
  for (int mask : {0, 1, 2, 4, 3, 6, 7}) {
    memory::dim count = 1;
    for (int d = 0; d < 3; ++d)
      count *= mask >> d & 1 ? plain.get_dims()[d] : 1;
    primitive_attr src, dst;
    src.set_scales_mask(DNNL_ARG_SRC, mask);
    dst.set_scales_mask(DNNL_ARG_DST, mask);
    std::printf("mask %d\n", mask);
    run("src scales", plain, turned, src, {{srcScales, scales(count)}});
    run("dst scales", plain, turned, dst, {{dstScales, scales(count)}});
    run("dst scales of s8", plain, ints, dst, {{dstScales, scales(count)}});
    run("src scales of s8", ints, plain, src, {{srcScales, scales(count)}});
  }
}

void groups() {
  const memory::desc weights({8, 12}, type::f32, tag::ab), ints({8, 12}, type::s8, tag::ab);
  for (const memory::dims &group : {memory::dims{4, 1}, memory::dims{1, 3}, memory::dims{2, 6}}) {
    const memory::dim count = 8 / group[0] * (12 / group[1]);
    primitive_attr src, dst;
    src.set_scales(DNNL_ARG_SRC, 3, group, type::f32);
    dst.set_scales(DNNL_ARG_DST, 3, group, type::f32);
    std::printf("groups of %dx%d\n", static_cast<int>(group[0]), static_cast<int>(group[1]));
    run("dst", weights, ints, dst, {{dstScales, scales(count)}});
    run("src", ints, weights, src, {{srcScales, scales(count)}});
    primitive_attr half;
    half.set_scales(DNNL_ARG_SRC, 3, group, type::bf16);
    run("src, bf16 scales", ints, weights, half, {{srcScales, scales(count, type::bf16)}});
  }
}

void zeroPoints() {
  const memory::desc plain({4, 6}, type::f32, tag::ab), bytes({4, 6}, type::u8, tag::ba),
      ints({4, 6}, type::s8, tag::ab);
  primitive_attr src, dst, both;
  src.set_zero_points_mask(DNNL_ARG_SRC, 0);
  dst.set_zero_points_mask(DNNL_ARG_DST, 0);
  run("dst zero point", plain, bytes, dst, {{dstZeros, zeros({100})}});
  run("negative", plain, ints, dst, {{dstZeros, zeros({-7})}});
  run("src zero point", bytes, plain, src, {{srcZeros, zeros({3})}});
  both.set_zero_points_mask(DNNL_ARG_SRC, 0);
  both.set_zero_points_mask(DNNL_ARG_DST, 0);
  both.set_scales_mask(DNNL_ARG_SRC, 0);
  both.set_scales_mask(DNNL_ARG_DST, 0);
  memory half = scales(1);
  run("everything", ints, bytes, both,
      {{srcZeros, zeros({5})}, {dstZeros, zeros({128})}, {srcScales, half}, {dstScales, half}});
}

void sums() {
  const memory::desc plain({4, 6}, type::f32, tag::ab), turned({4, 6}, type::f32, tag::ba),
      ints({4, 6}, type::s8, tag::ab), half({4, 6}, type::bf16, tag::ab);
  for (float scale : {1.0f, 0.5f, -2.0f}) {
    post_ops ops;
    ops.append_sum(scale);
    primitive_attr attr, scaled;
    attr.set_post_ops(ops);
    run("sum", plain, plain, attr);
    run("sum, turned", plain, turned, attr);
    run("sum into s8", plain, ints, attr);
    run("sum from bf16", half, plain, attr);
    scaled.set_post_ops(ops);
    scaled.set_scales_mask(DNNL_ARG_SRC, 2);
    run("sum of scaled", plain, turned, scaled, {{srcScales, scales(6)}});
  }
}

} // namespace

int main() {
  masks();
  groups();
  zeroPoints();
  sums();
  return 0;
}
