// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program for oneDNN 3.2 and its dnnl.hpp: prints the release that it runs with, then transposes a matrix and
// computes softmax of its rows.
#include "oneapi/dnnl/dnnl.hpp"

#include <cstdio>
#include <vector>

using namespace dnnl;

int main() {
  std::printf("%d.%d:", version()->major, version()->minor);
  engine cpu(engine::kind::cpu, 0);
  stream order(cpu);
  const memory::desc columns({2, 3}, memory::data_type::f32, memory::format_tag::ba),
      rows({2, 3}, memory::data_type::f32, memory::format_tag::ab);
  std::vector<float> given = {1, 3, 2, 3, 3, 3}, taken(6);
  memory src(columns, cpu, given.data()), dst(rows, cpu, taken.data());
  reorder(src, dst).execute(order, src, dst);
  const softmax_forward::primitive_desc problem(cpu, prop_kind::forward_inference, algorithm::softmax_accurate, rows,
                                                rows, 1);
  softmax_forward(problem).execute(order, {{DNNL_ARG_SRC, dst}, {DNNL_ARG_DST, dst}});
  order.wait();
  for (float value : taken)
    std::printf(" %.4f", value);
  std::printf("\n");
}
