//===- Strategy.cpp - What CPU targets contribute to the recipes ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Register file and masking per instruction set; budgets from the caches. Half of L2 goes to scratch, since the tensors pass through it; a
// destination of half the last level would push its source out.
//
//===----------------------------------------------------------------------===//
#include "Targets/Cpu/Strategy.h"

using namespace quern;

RowsStrategy quern::rowsStrategyFor(const Target &target) {
  RowsStrategy strategy;
  if (target.isa >= CpuIsa::Avx512) {
    strategy.vectorBytes = 64;
    strategy.registers = 32;
    strategy.narrowestMask = 8; // AVX-512 BW
  } else if (target.isa >= CpuIsa::Avx2) {
    strategy.vectorBytes = 32;
    strategy.registers = 16;
    strategy.narrowestMask = 32; // vmaskmovps and vmaskmovpd
  } else {
    strategy.vectorBytes = 16;
    strategy.registers = 16;
    strategy.narrowestMask = 0;
  }
  strategy.l1Bytes = int64_t(target.l1Kib) << 10;
  strategy.l2Bytes = int64_t(target.l2Kib) << 10;
  strategy.scratchBytes = strategy.l2Bytes / 2;
  strategy.streamBytes = int64_t(target.l3Kib) << 9;
  return strategy;
}
