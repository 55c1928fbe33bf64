// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks softmax forward and backward for every pair of types that oneDNN supports on this kind of CPU.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "values.hpp"

#include "oneapi/dnnl/dnnl_debug.h"

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

static const char *nameOf(type of) { return dnnl_dt2str(memory::convert_to_c(of)); }

static void forward(engine &eng, stream &strm, algorithm alg, type from, type to) {
  const memory::desc src({3, 21}, from, tag::ab), dst({3, 21}, to, tag::ab);
  beginLine(to);
  std::printf("%s to %s, %s", nameOf(from), nameOf(to), dnnl_alg_kind2str(static_cast<dnnl_alg_kind_t>(alg)));
  softmax_forward::primitive_desc desc(eng, prop_kind::forward_inference, alg, src, dst, 1, primitive_attr(), true);
  if (!desc) {
    std::printf(": refused\n");
    return;
  }
  memory input = makeTyped(strm, src, 1), output(dst, eng);
  softmax_forward(desc).execute(strm, {{DNNL_ARG_SRC, input}, {DNNL_ARG_DST, output}});
  print("", readPlain(strm, output));
}

static void backward(engine &eng, stream &strm, algorithm alg, type of) {
  const memory::desc data({3, 21}, of, tag::ab);
  beginLine(of);
  std::printf("gradient of %s, %s", nameOf(of), dnnl_alg_kind2str(static_cast<dnnl_alg_kind_t>(alg)));
  softmax_forward::primitive_desc hint(eng, prop_kind::forward_training, alg, data, data, 1, primitive_attr(), true);
  if (!hint) {
    std::printf(": refused\n");
    return;
  }
  softmax_backward::primitive_desc desc(eng, alg, data, data, data, 1, hint);
  memory src = makeTyped(strm, data, 2), dst(data, eng), diffDst = makeTyped(strm, data, 3), diffSrc(data, eng);
  softmax_forward(hint).execute(strm, {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}});
  softmax_backward(desc).execute(strm,
                                 {{DNNL_ARG_DST, dst}, {DNNL_ARG_DIFF_DST, diffDst}, {DNNL_ARG_DIFF_SRC, diffSrc}});
  print("", readPlain(strm, diffSrc));
}

int main() {
  engine eng(engine::kind::cpu, 0);
  stream strm(eng);
  for (algorithm alg : {algorithm::softmax_accurate, algorithm::softmax_log}) {
    for (type from : {type::f32, type::bf16})
      for (type to : {type::f32, type::bf16, type::s8, type::u8})
        forward(eng, strm, alg, from, to);
    for (type of : {type::f32, type::bf16})
      backward(eng, strm, alg, of);
  }
  return 0;
}
