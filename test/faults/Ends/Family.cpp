//===- Family.cpp - A short program whose kernels are being specialized ---===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Family MOST: a minimal program that creates one primitive of a family of the pack in QUERN_PACKS, executes it once,
// and returns from main after at most MOST ms, while the background thread compiles its first kernels. It does not use
// class Execution, which waits for the primitive's own kernel.
//
// family.sh creates the pack.
//
//===----------------------------------------------------------------------===//
#include "quern/quern.hpp"
#include "quern/quern_info.h"

#include <cstdlib>
#include <ctime>
#include <unistd.h>
#include <vector>

int main(int, char **arguments) {
  using namespace quern;
  const int most = std::atoi(arguments[1]) * 1000;
  engine cpu(engine::kind::cpu, 0);
  stream order(cpu);
  const memory::desc desc({8, 100}, memory::data_type::f32, "ab");
  softmax_forward softmax({cpu, prop_kind::forward_inference, algorithm::softmax_accurate, desc, desc, /*axis=*/1});
  std::vector<float> values(800, 1.0F), results(800);
  memory src(desc, cpu, values.data()), dst(desc, cpu, results.data());
  softmax.execute(order, {{QUERN_ARG_SRC, src}, {QUERN_ARG_DST, dst}});
  quern_primitive_info_t info;
  if (quern_primitive_get_info(softmax.get(), &info) != quern_success || info.origin != quern_origin_family)
    return 2;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (most > 0)
    usleep(static_cast<useconds_t>(now.tv_nsec % most));
  return results[0] == 0.01F ? 0 : 1;
}
