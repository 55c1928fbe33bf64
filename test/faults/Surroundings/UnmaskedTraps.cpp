//===- UnmaskedTraps.cpp - Executions while arithmetic traps ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks that a program may unmask every floating-point exception: the constructors of the compiler, compilation and
// execution raise no signal, and the masks stay as the program set them.
//
// FAULTS: float-traps-execute limit=60:
//
//===----------------------------------------------------------------------===//
#include "Execution.h"

#include <cfenv>
#include <cstdio>

using namespace quern::faults;

int main() {
  const Cpu cpu;
  require(quern_set_primitive_cache_capacity(0), "quern_set_primitive_cache_capacity");
  require(quern_set_disk_cache(nullptr), "quern_set_disk_cache"); // forces the compiler to be loaded
  int passed = 0;
  for (const char *line : {"eltwise fwd_i alg=pow alpha=0.3 beta=2.7 src=f32:777:a dst=f32:777:a",
                           "softmax fwd_i alg=log src=bf16:8x50:ab dst=f32:8x50:ab axis=1",
                           "eltwise fwd_i alg=clip alpha=-0.5 beta=2.5 src=s32:777:a dst=s8:777:a"}) {
    Execution execution;
    feenableexcept(FE_ALL_EXCEPT);
    require(execution.describe(cpu.engine, line), line);
    require(execution.create(), line);
    require(execution.bind(), line);
    const int unmasked = fegetexcept();
    fedisableexcept(FE_ALL_EXCEPT);
    require(unmasked == FE_ALL_EXCEPT, std::string("other exceptions are masked: ") + line);
    execution.fill();
    std::feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_ALL_EXCEPT);
    require(execution.run(cpu.stream), line);
    fedisableexcept(FE_ALL_EXCEPT);
    ++passed;
  }
  std::printf("%d passed, 0 failed\n", passed);
}
