// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks softmax over every axis of tensors of 1 to 6 dims in plain, transposed, strided, blocked and padded layouts
// and in regions of a tensor; rows with infinities; empty tensors.
//
// REQUIRES: onednn-3.13
// RUN: %both --tolerance=1e-5 %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "values.hpp"

#include <limits>

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

namespace {

engine eng(engine::kind::cpu, 0);
stream strm(eng);
constexpr float infinity = std::numeric_limits<float>::infinity();

void overEveryAxis(const char *name, const memory::desc &data, const memory::desc &result) {
  memory input = makeTyped(strm, data, 1);
  for (int axis = 0; axis < data.get_ndims(); ++axis)
    for (algorithm alg : {algorithm::softmax_accurate, algorithm::softmax_log}) {
      softmax_forward::primitive_desc desc(eng, prop_kind::forward_inference, alg, data, result, axis, primitive_attr(),
                                           true);
      if (!desc) {
        std::printf("%s over %d: refused\n", name, axis);
        continue;
      }
      memory output(desc.dst_desc(), eng);
      softmax_forward(desc).execute(strm, {{DNNL_ARG_SRC, input}, {DNNL_ARG_DST, output}});
      std::printf("%s over %d", name, axis);
      print("", readPlain(strm, output));
    }
}

void overEveryAxis(const char *name, const memory::desc &data) { overEveryAxis(name, data, data); }

void gradients(const char *name, const memory::desc &data) {
  for (int axis = 0; axis < data.get_ndims(); ++axis) {
    softmax_forward::primitive_desc hint(eng, prop_kind::forward_training, algorithm::softmax_accurate, data, data,
                                         axis);
    softmax_backward::primitive_desc desc(eng, algorithm::softmax_accurate, data, data, data, axis, hint);
    memory src = makeTyped(strm, data, 2), dst(data, eng), diffDst = makeTyped(strm, data, 3), diffSrc(data, eng);
    softmax_forward(hint).execute(strm, {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}});
    softmax_backward(desc).execute(strm,
                                   {{DNNL_ARG_DST, dst}, {DNNL_ARG_DIFF_DST, diffDst}, {DNNL_ARG_DIFF_SRC, diffSrc}});
    std::printf("gradient of %s over %d", name, axis);
    print("", readPlain(strm, diffSrc));
  }
}

void layouts() {
  overEveryAxis("a", {{33}, type::f32, tag::a});
  overEveryAxis("ab", {{5, 7}, type::f32, tag::ab});
  overEveryAxis("ba", {{5, 7}, type::f32, tag::ba});
  overEveryAxis("bac", {{4, 3, 6}, type::f32, tag::bac});
  overEveryAxis("nchw", {{2, 19, 3, 2}, type::f32, tag::nchw});
  overEveryAxis("nhwc", {{2, 19, 3, 2}, type::f32, tag::nhwc});
  overEveryAxis("nChw8c", {{2, 19, 3, 2}, type::f32, tag::nChw8c});
  overEveryAxis("nChw16c", {{2, 19, 3, 2}, type::f32, tag::nChw16c});
  overEveryAxis("abcde", {{2, 3, 2, 3, 2}, type::f32, tag::abcde});
  overEveryAxis("abcdef", {{2, 3, 1, 2, 3, 2}, type::f32, tag::abcdef});
  overEveryAxis("one", {{1, 1}, type::f32, tag::ab});
  overEveryAxis("gaps", {{3, 5}, type::f32, memory::dims{11, 2}});
  overEveryAxis("turned", {{3, 5}, type::f32, tag::ab}, {{3, 5}, type::f32, tag::ba});
  overEveryAxis("blocked result", {{2, 19, 3, 2}, type::f32, tag::nchw}, {{2, 19, 3, 2}, type::f32, tag::nChw16c});
  overEveryAxis("any", {{2, 5, 3}, type::f32, tag::acb}, {{2, 5, 3}, type::f32, tag::any});
  gradients("ab", {{5, 7}, type::f32, tag::ab});
  gradients("nhwc", {{2, 5, 3, 2}, type::f32, tag::nhwc});
  gradients("nChw16c", {{2, 19, 3, 2}, type::f32, tag::nChw16c});
}

// Rows inside a larger tensor, whose other values do not change.
void region() {
  const memory::desc whole({6, 10}, type::f32, tag::ab), part = whole.submemory_desc({3, 5}, {2, 4});
  memory tensor = makeMemory(eng, whole, 4), window(part, eng, tensor.get_data_handle());
  softmax_forward::primitive_desc desc(eng, prop_kind::forward_inference, algorithm::softmax_accurate, part, part, 1);
  softmax_forward(desc).execute(strm, {{DNNL_ARG_SRC, window}, {DNNL_ARG_DST, window}});
  strm.wait();
  print("region", read<float>(tensor));
}

void infinities() {
  const memory::desc rows({4, 6}, type::f32, tag::ab);
  memory input(rows, eng), output(rows, eng);
  std::vector<float> values = someValues(24, 5);
  values[1] = values[8] = values[9] = -infinity; // two rows with masked elements; the third has a large one
  values[14] = 88;
  values[20] = -1e30f;
  fill(input, values);
  for (algorithm alg : {algorithm::softmax_accurate, algorithm::softmax_log}) {
    softmax_forward::primitive_desc desc(eng, prop_kind::forward_inference, alg, rows, rows, 1);
    softmax_forward(desc).execute(strm, {{DNNL_ARG_SRC, input}, {DNNL_ARG_DST, output}});
    strm.wait();
    print("masked", read<float>(output));
  }
}

void empty() {
  for (const memory::dims &dims : {memory::dims{0, 7}, memory::dims{7, 0}, memory::dims{3, 0, 2}}) {
    const memory::desc data(dims, type::f32, dims.size() == 2 ? tag::ab : tag::abc);
    memory input(data, eng), output(data, eng);
    softmax_forward::primitive_desc desc(eng, prop_kind::forward_training, algorithm::softmax_accurate, data, data, 1);
    softmax_forward(desc).execute(strm, {{DNNL_ARG_SRC, input}, {DNNL_ARG_DST, output}});
    softmax_backward::primitive_desc back(eng, algorithm::softmax_accurate, data, data, data, 1, desc);
    softmax_backward(back).execute(strm,
                                   {{DNNL_ARG_DST, output}, {DNNL_ARG_DIFF_DST, input}, {DNNL_ARG_DIFF_SRC, output}});
    strm.wait();
    std::printf("empty: %zu bytes\n", data.get_size());
  }
}

} // namespace

int main() {
  layouts();
  region();
  infinities();
  empty();
  return 0;
}
