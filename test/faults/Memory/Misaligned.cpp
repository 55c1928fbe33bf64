//===- Misaligned.cpp - Buffers with any alignment ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks that results do not depend on the offset of buffers from a multiple of 64 bytes, for elements of any size.
//
// FAULTS: misaligned-avx512 limit=60:
// FAULTS: misaligned-avx2 limit=60: QUERN_MAX_CPU_ISA=avx2
// FAULTS: misaligned-sse42 limit=60: QUERN_MAX_CPU_ISA=sse42
//
//===----------------------------------------------------------------------===//
#include "Execution.h"

#include <cstdio>

using namespace quern::faults;

static const char *const lines[] = {
    "softmax fwd_i src=f32:37x53:ab dst=f32:37x53:ab axis=1",
    "softmax fwd_i alg=log src=bf16:5x130:ab dst=f32:5x130:ab axis=0",
    "softmax bwd_d dst=f32:9x65:ab diff_src=f32:9x65:ab diff_dst=f32:9x65:ab axis=1",
    "reorder src=f32:33x17:ab dst=bf16:33x17:ba",
    "reorder src=f32:33x17:ab dst=f32:33x17:aB16b",
    "eltwise fwd_i alg=gelu_erf src=f32:1037:a dst=f32:1037:a",
    "binary alg=mul src=f32:21x30:ab src1=f32:1x30:ab dst=f32:21x30:ab",
    "sum scales=0.5,2 srcs=f32:130x3:ab,f32:130x3:ba dst=f32:130x3:ab",
    "concat srcs=f32:7x5:ab,f32:7x12:ab dst=f32:7x17:ab axis=1",
};

int main() {
  const Cpu cpu;
  int passed = 0;
  for (const char *line : lines) {
    Execution aligned;
    aligned.all(cpu, line, {.alignment = 64});
    for (int64_t misalignment : {1, 2, 3, 4, 8, 20, 60}) {
      Execution moved;
      moved.all(cpu, line, {.misalignment = misalignment});
      require(moved.outputs() == aligned.outputs(), std::string("other results: ") + line);
      require(moved.guardsIntact(), std::string("bytes next to a buffer were written: ") + line);
      ++passed;
    }
  }
  std::printf("%d passed, 0 failed\n", passed);
}
