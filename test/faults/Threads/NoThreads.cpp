//===- NoThreads.cpp - Executions without a second thread -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks that the calling thread computes everything if the process cannot create threads: from the start, or from a
// moment at which some threads exist.
//
// FAULTS: no-threads-first limit=60: first
// FAULTS: no-threads-later limit=60: later
//
//===----------------------------------------------------------------------===//
#include "NoThreads.h"

#include "quern/quern_threadpool.h"

#include <cstring>

using namespace quern::faults;

static const char *const lines[] = {
    "softmax fwd_i src=f32:2048x1000:ab dst=f32:2048x1000:ab axis=1",
    "reorder src=f32:1024x1024:ab dst=f32:1024x1024:ba",
    ("rnn fwd_i cell=lstm direction=left2right src_layer=f32:5x16x64:tnc weights_layer=f32:1x1x64x4x64:ldigo "
     "weights_iter=f32:1x1x64x4x64:ldigo bias=f32:1x1x4x64:ldgo dst_layer=f32:5x16x64:tnc"),
};

int main(int, char **argv) {
  const bool isLater = argv[1] && std::strcmp(argv[1], "later") == 0;
  const Cpu cpu;
  require(quern_set_num_threads(1), "one thread");
  Execution alone[3], limited[3];
  for (int i = 0; i < 3; ++i)
    alone[i].all(cpu, lines[i]);
  if (isLater) {
    require(quern_set_num_threads(2), "two threads");
    require(alone[0].run(cpu.stream), "two threads");
  }
  forbidThreads();
  require(quern_set_num_threads(7), "seven threads");
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 3; ++i) {
      Execution fresh;
      fresh.all(cpu, lines[i]);
      require(fresh.outputs() == alone[i].outputs(), std::string("other results: ") + lines[i]);
    }
}
