// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks eight threads that create and execute equal and different problems, each with its own stream.
//
// REQUIRES: onednn-3.13
// RUN: %both --tolerance=1e-5 %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "values.hpp"

#include <thread>

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

static std::vector<float> work(engine eng, int thread) {
  stream strm(eng);
  std::vector<float> result;
  for (int round = 0; round < 5; ++round) {
    const memory::desc data({4, 16 + thread % 3 * 5 + round}, type::f32, tag::ab),
        other(data.get_dims(), type::f32, tag::ba);
    memory src = makeMemory(eng, data, static_cast<unsigned>(thread)), middle(data, eng), dst(other, eng);
    softmax_forward::primitive_desc desc(eng, prop_kind::forward_inference, algorithm::softmax_accurate, data, data, 1);
    softmax_forward(desc).execute(strm, {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, middle}});
    reorder(middle, dst).execute(strm, middle, dst);
    strm.wait();
    const std::vector<float> part = read<float>(dst);
    result.insert(result.end(), part.begin(), part.end());
  }
  return result;
}

int main() {
  engine eng(engine::kind::cpu, 0);
  std::vector<float> results[8];
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] { results[i] = work(eng, i); });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::vector<float> &result : results)
    print("thread", result);
  return 0;
}
