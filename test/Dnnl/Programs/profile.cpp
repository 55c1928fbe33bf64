// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A complete program that measures: every implementation of a problem by its name, times of creation with and without a
// cache hit, the best of several runs, and the consumed memory. Checks that times can be measured and are positive;
// their values are not compared.
//
// REQUIRES: onednn-3.13
// RUN: %both %s %t | FileCheck %s
// CHECK: lines compared, 0 differ
#include "values.hpp"

#include <chrono>
#include <cmath>
#include <set>
#include <string>

using namespace dnnl;
using tag = memory::format_tag;
using type = memory::data_type;

namespace {

engine eng(engine::kind::cpu, 0);
stream strm(eng);

template <typename Body> double secondsOf(Body &&body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Runs every implementation of the list. The end of the list leaves the descriptor unchanged. The number of
/// implementations is specific to the library.
void measure(const char *name, softmax_forward::primitive_desc desc, memory &src, memory &dst) {
  std::set<std::string> names;
  std::vector<float> first;
  double best = 1e9, furthest = 0;
  int count = 0;
  do {
    ++count;
    names.insert(desc.impl_info_str());
    const softmax_forward primitive(desc);
    for (int round = 0; round < 5; ++round)
      best = std::min(best, secondsOf([&] {
                        primitive.execute(strm, {{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, dst}});
                        strm.wait();
                      }));
    const std::vector<float> values = read<float>(dst);
    first = first.empty() ? values : first;
    for (size_t i = 0; i < values.size(); ++i)
      furthest = std::max(furthest, std::abs(static_cast<double>(values[i] - first[i])));
  } while (desc.next_impl());
  std::printf("%s: different names %d, none empty %d, took time %d, consumes %d\n", name,
              names.size() == static_cast<size_t>(count), names.count("") == 0, best > 0,
              desc.query_s64(query::memory_consumption_s64) >= 0);
  std::printf("%s: agree %d, ended %d, still %d\n", name, furthest < 1e-4, !desc.next_impl(), desc.get_axis());
}

void cached() {
  const memory::desc rows({64, 333}, type::f32, tag::ab);
  const auto create = [&] {
    softmax_forward(
        softmax_forward::primitive_desc(eng, prop_kind::forward_inference, algorithm::softmax_log, rows, rows, 1));
  };
  set_primitive_cache_capacity(0);
  const double without = secondsOf(create);
  set_primitive_cache_capacity(16);
  create();
  double hit = 1e9;
  for (int round = 0; round < 20; ++round)
    hit = std::min(hit, secondsOf(create));
  std::printf("a hit is %s\n", hit < without ? "faster" : "not faster");
}

} // namespace

int main() {
  const memory::desc rows({128, 500}, type::f32, tag::ab), image({2, 32, 10, 10}, type::f32, tag::nchw);
  for (const memory::desc &data : {rows, image}) {
    memory src = makeMemory(eng, data, 1), dst(data, eng);
    for (algorithm alg : {algorithm::softmax_accurate, algorithm::softmax_log})
      measure("softmax", {eng, prop_kind::forward_inference, alg, data, data, 1}, src, dst);
  }
  cached();
  return 0;
}
