// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks reorders through dnnl.hpp: layouts, types, scales, zero points, sum, regions of a tensor, refusals.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "values.hpp"

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

static void thereAndBack(engine &eng, stream &strm, const char *name, tag layout) {
  const memory::desc plain({2, 19, 3, 5}, type::f32, tag::abcd), other({2, 19, 3, 5}, type::f32, layout);
  memory src = makeMemory(eng, plain, 5), middle(other, eng), dst(plain, eng);
  reorder(src, middle).execute(strm, src, middle);
  reorder(middle, dst).execute(strm, middle, dst);
  strm.wait();
  print(name, read<float>(middle));
  std::printf("%s comes back: %d\n", name, read<float>(src) == read<float>(dst));
}

template <typename T> static void quantize(engine &eng, stream &strm, const char *name, type to, int mask) {
  const memory::desc from({4, 6}, type::f32, tag::ab), into({4, 6}, to, tag::ba);
  const memory::dim count = mask ? 6 : 1;
  primitive_attr attr;
  attr.set_scales_mask(DNNL_ARG_DST, mask);
  attr.set_zero_points_mask(DNNL_ARG_DST, 0);
  memory src = makeMemory(eng, from, 6), dst(into, eng), scales({{count}, type::f32, tag::a}, eng),
         zero({{1}, type::s32, tag::a}, eng);
  const std::vector<float> all = {0.125f, 0.25f, 0.5f, 0.0625f, 1, 2};
  fill<float>(scales, std::vector<float>(all.begin(), all.begin() + count));
  fill<int32_t>(zero, {3});
  reorder::primitive_desc desc(eng, from, eng, into, attr);
  reorder(desc).execute(strm, {{DNNL_ARG_FROM, src},
                               {DNNL_ARG_TO, dst},
                               {DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, scales},
                               {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_DST, zero}});
  strm.wait();
  print(name, read<T>(dst));
}

static void accumulate(engine &eng, stream &strm) {
  const memory::desc from({3, 8}, type::f32, tag::ab);
  post_ops ops;
  ops.append_sum(0.5f);
  primitive_attr attr;
  attr.set_post_ops(ops);
  memory src = makeMemory(eng, from, 7), dst = makeMemory(eng, from, 8);
  reorder(reorder::primitive_desc(src, dst, attr)).execute(strm, src, dst);
  strm.wait();
  print("sum", read<float>(dst));
}

static void region(engine &eng, stream &strm) {
  const memory::desc whole({6, 8}, type::f32, tag::ab), part = whole.submemory_desc({3, 4}, {2, 1}),
                                                        small({3, 4}, type::f32, tag::ba);
  memory src = makeMemory(eng, whole, 9), dst(small, eng);
  memory window(part, eng, src.get_data_handle());
  reorder(window, dst).execute(strm, window, dst);
  strm.wait();
  print("region", read<float>(dst));
}

int main() {
  engine eng(engine::kind::cpu, 0);
  stream strm(eng);
  thereAndBack(eng, strm, "nhwc", tag::nhwc);
  thereAndBack(eng, strm, "nChw16c", tag::nChw16c);
  thereAndBack(eng, strm, "nChw8c", tag::nChw8c);
  thereAndBack(eng, strm, "chwn", tag::chwn);
  thereAndBack(eng, strm, "OIhw4i16o4i", tag::OIhw4i16o4i);
  quantize<int8_t>(eng, strm, "s8", type::s8, 0);
  quantize<uint8_t>(eng, strm, "u8", type::u8, 0);
  quantize<int8_t>(eng, strm, "s8 by column", type::s8, 2);
  accumulate(eng, strm);
  region(eng, strm);
  const memory::desc a({4, 6}, type::f32, tag::ab), b({6, 4}, type::f32, tag::ab), any({4, 6}, type::f32, tag::any);
  attempt("shapes", [&] { reorder::primitive_desc(eng, a, eng, b); });
  attempt("any", [&] { reorder::primitive_desc(eng, a, eng, any); });
  return 0;
}
