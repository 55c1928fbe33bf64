// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks softmax forward and backward through dnnl.hpp: algorithms, axes, layouts, in place, scales, `any`, empty
// tensors.
//
// REQUIRES: onednn-3.13
// oneDNN's logarithm has an error of 4e-6.
// RUN: %both --tolerance=1e-5 %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "values.hpp"

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

static void forward(engine &eng, stream &strm, const char *name, algorithm alg, const memory::desc &src, int axis,
                    bool inPlace) {
  softmax_forward::primitive_desc desc(eng, prop_kind::forward_inference, alg, src, src, axis);
  memory input = makeMemory(eng, src, 1);
  memory output = inPlace ? input : memory(desc.dst_desc(), eng);
  softmax_forward(desc).execute(strm, {{DNNL_ARG_SRC, input}, {DNNL_ARG_DST, output}});
  strm.wait();
  print(name, read<float>(output));
}

static void backward(engine &eng, stream &strm, algorithm alg, const memory::desc &data, int axis) {
  softmax_forward::primitive_desc forwardDesc(eng, prop_kind::forward_training, alg, data, data, axis);
  softmax_backward::primitive_desc desc(eng, alg, data, data, data, axis, forwardDesc);
  memory src = makeMemory(eng, data, 2), dst(data, eng), diffDst = makeMemory(eng, data, 3), diffSrc(data, eng);
  softmax_forward(forwardDesc).execute(strm, {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}});
  softmax_backward(desc).execute(strm,
                                 {{DNNL_ARG_DST, dst}, {DNNL_ARG_DIFF_DST, diffDst}, {DNNL_ARG_DIFF_SRC, diffSrc}});
  strm.wait();
  print("gradient", read<float>(diffSrc));
}

static void scaled(engine &eng, stream &strm) {
  const memory::desc src({4, 20}, type::f32, tag::ab), dst({4, 20}, type::u8, tag::ab), one({1}, type::f32, tag::a);
  primitive_attr attr;
  attr.set_scales_mask(DNNL_ARG_DST, 0);
  softmax_forward::primitive_desc desc(eng, prop_kind::forward_inference, algorithm::softmax_accurate, src, dst, 1,
                                       attr);
  memory input = makeMemory(eng, src, 4), output(dst, eng), scale(one, eng);
  fill<float>(scale, {1.0f / 256});
  softmax_forward(desc).execute(
      strm, {{DNNL_ARG_SRC, input}, {DNNL_ARG_DST, output}, {DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, scale}});
  strm.wait();
  print("scaled", read<uint8_t>(output));
}

int main() {
  engine eng(engine::kind::cpu, 0);
  stream strm(eng);
  const memory::desc plain({3, 17}, type::f32, tag::ab), image({2, 5, 3, 4}, type::f32, tag::abcd),
      last({2, 5, 3, 4}, type::f32, tag::acdb);
  forward(eng, strm, "accurate", algorithm::softmax_accurate, plain, 1, false);
  forward(eng, strm, "log", algorithm::softmax_log, plain, 1, false);
  forward(eng, strm, "other axis", algorithm::softmax_accurate, plain, 0, false);
  forward(eng, strm, "in place", algorithm::softmax_accurate, plain, 1, true);
  forward(eng, strm, "channels", algorithm::softmax_accurate, image, 1, false);
  forward(eng, strm, "channels last", algorithm::softmax_log, last, 1, false);
  backward(eng, strm, algorithm::softmax_accurate, plain, 1);
  backward(eng, strm, algorithm::softmax_log, image, 1);
  scaled(eng, strm);

  const memory::desc any({3, 17}, type::f32, tag::any), empty({0, 17}, type::f32, tag::ab);
  softmax_forward::primitive_desc chosen(eng, prop_kind::forward_training, algorithm::softmax_log, plain, any, 1);
  std::printf("any: %d %d\n", chosen.dst_desc() == plain, chosen.src_desc() == plain);
  std::printf("kept: %d %d %d\n", chosen.get_axis(), chosen.get_algorithm() == algorithm::softmax_log,
              chosen.get_prop_kind() == prop_kind::forward_training);
  forward(eng, strm, "empty", algorithm::softmax_accurate, empty, 1, false);
  return 0;
}
