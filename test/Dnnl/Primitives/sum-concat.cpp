// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks sums and concats through dnnl.hpp: given and chosen layouts, types, scales, a sum in place, queries, refusals.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "values.hpp"

#include <unordered_map>

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;
using descs = std::vector<memory::desc>;

static void printDesc(const char *name, const memory::desc &desc) {
  std::printf("%s: %d dims, type %d, %zu bytes, strides", name, desc.get_ndims(),
              static_cast<int>(desc.get_data_type()), desc.get_size());
  for (memory::dim stride : desc.get_strides())
    std::printf(" %d", static_cast<int>(stride));
  std::printf(", %d blocks\n", desc.get_inner_nblks());
}

static void run(engine &eng, stream &strm, const char *name, const primitive_desc_base &pd, const primitive &kernel,
                const descs &srcs, bool isScaled = false) {
  std::unordered_map<int, memory> args;
  for (size_t i = 0; i < srcs.size(); ++i) {
    memory src(srcs[i], eng),
        values =
            makeMemory(eng, {srcs[i].get_dims(), type::f32, srcs[i].get_ndims() == 2 ? tag::ab : tag::abcd}, 7 + i);
    reorder(values, src).execute(strm, values, src);
    args.insert({DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), src});
    if (!isScaled)
      continue;
    memory scale({{1}, type::f32, tag::a}, eng);
    fill<float>(scale, {0.5f * static_cast<float>(i + 1)});
    args.insert({DNNL_ARG_ATTR_SCALES | (DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i)), scale});
  }
  memory dst(pd.query_md(query::dst_md), eng),
      plain({dst.get_desc().get_dims(), type::f32, srcs[0].get_ndims() == 2 ? tag::ab : tag::abcd}, eng);
  args.insert({DNNL_ARG_DST, dst});
  kernel.execute(strm, args);
  reorder(dst, plain).execute(strm, dst, plain);
  strm.wait();
  printDesc(name, dst.get_desc());
  print(name, read<float>(plain));
}

static void sums(engine &eng, stream &strm) {
  const memory::dims dims = {2, 19, 3, 4};
  const memory::desc plain(dims, type::f32, tag::nchw), last(dims, type::f32, tag::nhwc),
      blocks(dims, type::f32, tag::nChw16c);
  const memory::desc bf16(dims, type::bf16, tag::nchw), bytes(dims, type::s8, tag::nchw);
  const std::pair<const char *, descs> all[] = {{"one", {plain}},
                                                {"two", {plain, plain}},
                                                {"layouts", {plain, last, last}},
                                                {"blocks", {plain, blocks}},
                                                {"types", {plain, bf16}},
                                                {"bytes", {bytes, bytes}},
                                                {"many", descs(20, plain)}};
  for (const auto &[name, srcs] : all) {
    std::vector<float> scales;
    for (size_t i = 0; i < srcs.size(); ++i)
      scales.push_back(i % 2 ? 0.5f : 1.0f);
    sum::primitive_desc chosen(eng, scales, srcs), given(eng, plain, scales, srcs);
    run(eng, strm, name, chosen, sum(chosen), srcs);
    run(eng, strm, name, given, sum(given), srcs);
  }
  sum::primitive_desc desc(eng, plain, {1, 2}, {plain, plain});
  memory first = makeMemory(eng, plain, 3), second = makeMemory(eng, plain, 4);
  sum(desc).execute(strm, {{DNNL_ARG_MULTIPLE_SRC, first}, {DNNL_ARG_MULTIPLE_SRC + 1, second}, {DNNL_ARG_DST, first}});
  strm.wait();
  print("in place", read<float>(first));
  std::printf("a sum takes %d, gives %d\n", dnnl_primitive_desc_query_s32(desc.get(), dnnl_query_num_of_inputs_s32, 0),
              dnnl_primitive_desc_query_s32(desc.get(), dnnl_query_num_of_outputs_s32, 0));
  attempt("shapes",
          [&] { sum::primitive_desc(eng, plain, {1, 1}, {plain, memory::desc({2, 19, 4, 3}, type::f32, tag::nchw)}); });
  attempt("counts", [&] { sum::primitive_desc(eng, plain, {1}, {plain, plain}); });
  attempt("none", [&] { sum::primitive_desc(eng, plain, {}, {}); });
}

static void concats(engine &eng, stream &strm) {
  auto image = [](memory::dim channels, tag layout, type t = type::f32) {
    return memory::desc({2, channels, 3, 4}, t, layout);
  };
  const std::pair<const char *, descs> all[] = {
      {"channels first", {image(5, tag::nchw), image(3, tag::nchw)}},
      {"channels last", {image(5, tag::nhwc), image(3, tag::nhwc), image(1, tag::nhwc)}},
      {"whole blocks", {image(16, tag::nChw16c), image(32, tag::nChw16c)}},
      {"the last not whole", {image(16, tag::nChw16c), image(5, tag::nchw)}},
      {"no whole blocks", {image(5, tag::nhwc), image(16, tag::nChw16c)}},
      {"bf16", {image(5, tag::nchw, type::bf16), image(3, tag::nchw, type::bf16)}},
      {"s8", {image(5, tag::nhwc, type::s8), image(3, tag::nhwc, type::s8)}}};
  for (const auto &[name, srcs] : all) {
    concat::primitive_desc chosen(eng, 1, srcs);
    run(eng, strm, name, chosen, concat(chosen), srcs);
    memory::dims whole = chosen.dst_desc().get_dims();
    concat::primitive_desc given(eng, {whole, type::f32, tag::nhwc}, 1, srcs);
    run(eng, strm, name, given, concat(given), srcs);
  }
  const memory::desc rows({3, 7}, type::s8, tag::ab);
  primitive_attr attr;
  attr.set_scales_mask(DNNL_ARG_MULTIPLE_SRC, 0);
  attr.set_scales_mask(DNNL_ARG_MULTIPLE_SRC + 1, 0);
  concat::primitive_desc scaled(eng, 0, {rows, rows}, attr);
  run(eng, strm, "scales", scaled, concat(scaled), {rows, rows}, true);
  std::printf("axis %d, a concat takes %d\n", dnnl_primitive_desc_query_s32(scaled.get(), dnnl_query_axis_s32, 0),
              dnnl_primitive_desc_query_s32(scaled.get(), dnnl_query_num_of_inputs_s32, 0));
  printDesc("source", scaled.src_desc(1));
  attempt("shapes", [&] { concat::primitive_desc(eng, 1, {rows, memory::desc({4, 7}, type::s8, tag::ab)}); });
  attempt("size of dst", [&] { concat::primitive_desc(eng, rows, 0, {rows, rows}); });
}

int main() {
  engine eng(engine::kind::cpu, 0);
  stream strm(eng);
  sums(eng, strm);
  concats(eng, strm);
  return 0;
}
