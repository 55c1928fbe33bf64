//===- pack.cpp - A program with an embedded pack -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Executes one kernel and prints which pack it came from. With an argument, the program does not add its embedded pack.
//
//===----------------------------------------------------------------------===//
#include "use_pack_pack.h"

#include <cstdio>
#include <quern/quern.hpp>
#include <vector>

int main(int argc, char **) {
  using namespace quern;
  try {
    if (argc == 1)
      error::wrap_c_api(use_pack_add_pack(), "could not add the pack");
    engine cpu(engine::kind::cpu, 0);
    stream order(cpu);
    primitive_desc problem(cpu, "softmax fwd_i src=f32:6x50:ab dst=f32:6x50:ab axis=1");
    primitive softmax(problem);
    std::vector<float> x(6 * 50, 1.0f), y(x.size());
    softmax.execute(order, {{QUERN_ARG_SRC, memory(problem.src_desc(), cpu, x.data())},
                            {QUERN_ARG_DST, memory(problem.dst_desc(), cpu, y.data())}});
    std::printf("from %s\n", softmax.info().pack);
    return y[0] > 0.0199f && y[0] < 0.0201f ? 0 : 1;
  } catch (const error &failure) {
    std::printf("%s\n", failure.what());
    return 1;
  }
}
