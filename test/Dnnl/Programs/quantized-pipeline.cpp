// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A complete program, like the end of a quantized network in a service: int8 scores of an image classifier in
// channels-last order are dequantized, transposed and converted to u8 probabilities. Primitives are created once and
// run on many batches.
//
// REQUIRES: onednn-3.13
// RUN: %both --tolerance=1e-5 %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "values.hpp"

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

namespace {

constexpr memory::dim batch = 2, classes = 10, height = 4, width = 3;

class Head {
public:
  Head() {
    const memory::dims dims = {batch, classes, height, width};
    quantized = memory::desc(dims, type::s8, tag::nhwc);
    scores = memory::desc(dims, type::f32, tag::nchw);
    probabilities = memory::desc(dims, type::u8, tag::nchw);

    primitive_attr scaled;
    scaled.set_scales_mask(DNNL_ARG_SRC, 1 << 1);
    scaled.set_zero_points_mask(DNNL_ARG_SRC, 0);
    const reorder::primitive_desc toScores(eng, quantized, eng, scores, scaled);
    dequantize = reorder(toScores);

    primitive_attr narrowed;
    narrowed.set_scales_mask(DNNL_ARG_DST, 0);
    narrowed.set_scratchpad_mode(scratchpad_mode::user);
    const softmax_forward::primitive_desc overClasses(eng, prop_kind::forward_inference, algorithm::softmax_accurate,
                                                      scores, probabilities, 1, narrowed);
    softmax = softmax_forward(overClasses);
    scratchpad = memory(overClasses.scratchpad_desc(), eng);

    channelScales = memory({{classes}, type::f32, tag::a}, eng);
    zeroPoint = memory({{1}, type::s32, tag::a}, eng);
    outputScale = memory({{1}, type::f32, tag::a}, eng);
    std::vector<float> values;
    for (memory::dim i = 0; i < classes; ++i)
      values.push_back(1.0f / static_cast<float>(16 << i % 3));
    fill(channelScales, values);
    fill<int32_t>(zeroPoint, {4});
    fill<float>(outputScale, {1.0f / 255});
  }

  std::vector<uint8_t> run(const std::vector<int8_t> &input) {
    memory source(quantized, eng), middle(scores, eng), result(probabilities, eng);
    fill(source, input);
    dequantize.execute(strm, {{DNNL_ARG_FROM, source},
                              {DNNL_ARG_TO, middle},
                              {DNNL_ARG_ATTR_SCALES | DNNL_ARG_FROM, channelScales},
                              {DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_FROM, zeroPoint}});
    softmax.execute(strm, {{DNNL_ARG_SRC, middle},
                           {DNNL_ARG_DST, result},
                           {DNNL_ARG_SCRATCHPAD, scratchpad},
                           {DNNL_ARG_ATTR_SCALES | DNNL_ARG_DST, outputScale}});
    strm.wait();
    return read<uint8_t>(result);
  }

private:
  engine eng{engine::kind::cpu, 0};
  stream strm{eng};
  memory::desc quantized, scores, probabilities;
  reorder dequantize;
  softmax_forward softmax;
  memory scratchpad, channelScales, zeroPoint, outputScale;
};

} // namespace

int main() {
  Head head;
  for (unsigned round = 0; round < 3; ++round) {
    std::vector<int8_t> input;
    for (float value : someValues(batch * classes * height * width, round + 1))
      input.push_back(static_cast<int8_t>(value * 30));
    print("probabilities", head.run(input));
  }
  return 0;
}
