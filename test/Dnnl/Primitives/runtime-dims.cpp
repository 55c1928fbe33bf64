// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks problems with open dims and strides: one primitive serves tensors of several sizes. oneDNN supports them for
// reorders of plain layouts, but not for softmax.
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
constexpr memory::dim open = DNNL_RUNTIME_DIM_VAL;

void describe() {
  const memory::desc desc({open, 8}, type::f32, tag::ab), both({open, open}, type::f32, memory::dims{open, 1});
  std::printf("size known: %d %d\n", desc.get_size() != DNNL_RUNTIME_SIZE_VAL,
              both.get_size() != DNNL_RUNTIME_SIZE_VAL);
  std::printf("dims %d %d, strides %d %d\n", desc.get_dims()[0] == open, desc.get_dims()[1] == open,
              both.get_strides()[0] == open, both.get_strides()[1] == open);
  attempt("memory", [&] { memory(desc, eng); });
  attempt("part", [&] { desc.submemory_desc({1, 8}, {0, 0}); });
  attempt("tag", [&] { memory::desc({open, 8}, type::f32, tag::any); });
}

void reorders() {
  const memory::desc from({open, open}, type::f32, tag::ab), to({open, open}, type::f32, tag::ba);
  reorder::primitive_desc desc(eng, from, eng, to, primitive_attr(), true);
  if (!desc) {
    for (int line = 0; line < 3; ++line)
      std::printf("turned: refused\n");
    return;
  }
  const reorder change(desc);
  for (const memory::dims &dims : {memory::dims{3, 5}, memory::dims{17, 2}, memory::dims{1, 40}}) {
    memory src = makeMemory(eng, {dims, type::f32, tag::ab}, 1), dst({dims, type::f32, tag::ba}, eng);
    change.execute(strm, src, dst);
    strm.wait();
    print("turned", read<float>(dst));
  }
}

void quantize() {
  const memory::desc from({open, open}, type::f32, tag::ab), to({open, open}, type::s8, tag::ab);
  primitive_attr attr;
  attr.set_scales_mask(DNNL_ARG_DST, 0);
  reorder::primitive_desc desc(eng, from, eng, to, attr, true);
  if (!desc) {
    std::printf("quantized: refused\nquantized: refused\n");
    return;
  }
  const reorder change(desc);
  memory scale({{1}, type::f32, tag::a}, eng);
  fill<float>(scale, {0.03125f});
  for (const memory::dims &dims : {memory::dims{6, 7}, memory::dims{2, 33}}) {
    memory src = makeMemory(eng, {dims, type::f32, tag::ab}, 2), dst({dims, type::s8, tag::ab}, eng);
    change.execute(strm, {{DNNL_ARG_FROM, src}, {DNNL_ARG_TO, dst}, {DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, scale}});
    strm.wait();
    print("quantized", read<int8_t>(dst));
  }
}

void softmax() {
  const memory::desc rows({open, 12}, type::f32, tag::ab);
  softmax_forward::primitive_desc desc(eng, prop_kind::forward_inference, algorithm::softmax_accurate, rows, rows, 1,
                                       primitive_attr(), true);
  if (!desc) {
    std::printf("softmax: refused\nsoftmax: refused\n");
    return;
  }
  const softmax_forward primitive(desc);
  for (memory::dim count : {1, 9}) {
    memory data = makeMemory(eng, {{count, 12}, type::f32, tag::ab}, 3);
    primitive.execute(strm, {{DNNL_ARG_SRC, data}, {DNNL_ARG_DST, data}});
    strm.wait();
    print("softmax", read<float>(data));
  }
}

} // namespace

int main() {
  describe();
  reorders();
  quantize();
  softmax();
  return 0;
}
