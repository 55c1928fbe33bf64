// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Complete programs like oneDNN's first examples: an activation on an image whose layout the library may choose, with
// reorders only where necessary; a residual block with a gate from eltwise, binary and sum, and two branches joined by
// concat; both forward, and the gradient of the activation.
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

engine eng(engine::kind::cpu, 0);
stream strm(eng);

/// Returns the memory itself if it has the required layout, else a copy that has it.
memory inLayout(memory given, const memory::desc &wanted) {
  if (given.get_desc() == wanted)
    return given;
  memory taken(wanted, eng);
  reorder(given, taken).execute(strm, given, taken);
  return taken;
}

/// Computes relu on an image [N, H, W, C], as programs store it, in the layout of the descriptor.
void firstSteps() {
  const memory::dim n = 1, height = 5, width = 4, channels = 3;
  std::vector<float> image(static_cast<size_t>(n * height * width * channels));
  for (size_t i = 0; i < image.size(); ++i)
    image[i] = std::cos(static_cast<float>(i) / 10.0f);
  const memory::desc data({n, channels, height, width}, type::f32, tag::nhwc);
  memory src(data, eng, image.data()), dst(data, eng);
  const eltwise_forward::primitive_desc desc(eng, prop_kind::forward_inference, algorithm::eltwise_relu, data, data,
                                             0.0f, 0.0f);
  const eltwise_forward relu(desc);
  relu.execute(strm, {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}});
  strm.wait();
  size_t wrong = 0;
  const std::vector<float> result = read<float>(dst);
  for (size_t i = 0; i < result.size(); ++i)
    wrong += result[i] != std::max(image[i], 0.0f);
  std::printf("first steps: %zu wrong\n", wrong);
}

/// Blocked in the middle, plain at both ends.
void propagation() {
  const memory::dims dims = {2, 19, 5, 4};
  const memory::desc plain(dims, type::f32, tag::nchw), blocked(dims, type::f32, tag::nChw16c),
      any(dims, type::f32, tag::any);
  memory user = makeMemory(eng, plain, 1);
  memory src = inLayout(user, blocked);
  const eltwise_forward::primitive_desc desc(eng, prop_kind::forward_training, algorithm::eltwise_tanh, blocked, any,
                                             0.0f, 0.0f);
  memory dst(desc.dst_desc(), eng);
  eltwise_forward(desc).execute(strm, {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}});
  memory result = inLayout(dst, plain);
  strm.wait();
  std::printf("propagated: %d\n", desc.dst_desc() == blocked);
  print("tanh", read<float>(result));

  const eltwise_backward::primitive_desc back(eng, algorithm::eltwise_tanh, any, blocked, blocked, 0.0f, 0.0f, desc);
  memory diffDst = inLayout(makeMemory(eng, plain, 2), back.diff_dst_desc()), diffSrc(back.diff_src_desc(), eng);
  eltwise_backward(back).execute(strm,
                                 {{DNNL_ARG_SRC, src}, {DNNL_ARG_DIFF_DST, diffDst}, {DNNL_ARG_DIFF_SRC, diffSrc}});
  memory gradient = inLayout(diffSrc, plain);
  strm.wait();
  print("gradient", read<float>(gradient));
}

/// Computes y = x + gate · gelu(x · weight), then [y, x] along the channels.
void block() {
  const memory::desc data({2, 6, 3, 3}, type::f32, tag::nhwc), channels({1, 6, 1, 1}, type::f32, tag::nchw);
  memory x = makeMemory(eng, data, 3), weight = makeMemory(eng, channels, 4), gate = makeMemory(eng, channels, 5),
         hidden(data, eng), y(data, eng);
  const binary::primitive_desc weighted(eng, algorithm::binary_mul, data, channels, data);
  binary(weighted).execute(strm, {{DNNL_ARG_SRC_0, x}, {DNNL_ARG_SRC_1, weight}, {DNNL_ARG_DST, hidden}});
  const eltwise_forward::primitive_desc activated(eng, prop_kind::forward_inference, algorithm::eltwise_gelu_erf, data,
                                                  data, 0.0f, 0.0f);
  eltwise_forward(activated).execute(strm, {{DNNL_ARG_SRC, hidden}, {DNNL_ARG_DST, hidden}});
  const binary::primitive_desc gated(eng, algorithm::binary_mul, data, channels, data);
  binary(gated).execute(strm, {{DNNL_ARG_SRC_0, hidden}, {DNNL_ARG_SRC_1, gate}, {DNNL_ARG_DST, hidden}});
  const sum::primitive_desc added(eng, {1, 1}, {data, data});
  sum(added).execute(strm, {{DNNL_ARG_MULTIPLE_SRC, x}, {DNNL_ARG_MULTIPLE_SRC + 1, hidden}, {DNNL_ARG_DST, y}});
  const concat::primitive_desc joined(eng, 1, {data, data});
  memory both(joined.dst_desc(), eng);
  concat(joined).execute(strm, {{DNNL_ARG_MULTIPLE_SRC, y}, {DNNL_ARG_MULTIPLE_SRC + 1, x}, {DNNL_ARG_DST, both}});
  strm.wait();
  print("block", readPlain(strm, both));
}

} // namespace

int main() {
  firstSteps();
  propagation();
  block();
  return 0;
}
