// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks cache blobs, which oneDNN does not support on a CPU: a primitive is created from its blob and computes the
// same; damaged blobs are refused.
//
// REQUIRES: onednn-3.13
// RUN: %ours %s %t | FileCheck %s
// CHECK: same id 1
// CHECK-NEXT: same result 1
// CHECK-NEXT: damaged: status 2
// CHECK-NEXT: another problem: status 2
#include "values.hpp"

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

static std::vector<float> run(const primitive &softmax, engine &eng, const memory::desc &data) {
  stream strm(eng);
  memory src = makeMemory(eng, data, 1), dst(data, eng);
  softmax.execute(strm, {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}});
  strm.wait();
  return read<float>(dst);
}

int main() {
  engine eng(engine::kind::cpu, 0);
  const memory::desc data({5, 40}, type::f32, tag::ab), wider({5, 41}, type::f32, tag::ab);
  softmax_forward::primitive_desc desc(eng, prop_kind::forward_inference, algorithm::softmax_accurate, data, data, 1);
  softmax_forward::primitive_desc other(eng, prop_kind::forward_inference, algorithm::softmax_accurate, wider, wider,
                                        1);
  const softmax_forward first(desc);
  std::vector<uint8_t> blob = first.get_cache_blob();
  std::printf("same id %d\n", desc.get_cache_blob_id() == softmax_forward::primitive_desc(desc).get_cache_blob_id() &&
                                  desc.get_cache_blob_id() != other.get_cache_blob_id());
  const softmax_forward second(desc, blob);
  std::printf("same result %d\n", run(first, eng, data) == run(second, eng, data));
  blob[blob.size() / 2] ^= 1;
  attempt("damaged", [&] { softmax_forward(desc, blob); });
  blob[blob.size() / 2] ^= 1;
  attempt("another problem", [&] { softmax_forward(other, blob); });
  return 0;
}
