//===- Strategy.cpp - What CPU targets contribute to the recipes ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Register file and masking per instruction set; budgets from the caches. Half of L2 goes to scratch, since the tensors pass through it; a
// destination of half the last level would push its source out, and so would a map that moves as much on one thread; the other half is left
// to what several threads move between them.
//
//===----------------------------------------------------------------------===//
#include "Targets/Cpu/Strategy.h"

using namespace quern;

namespace {

struct Registers {
  int64_t vectorBytes, count;
  int64_t narrowestMask; ///< bits
};

Registers registersOf(const Target &target) {
  if (target.isa >= CpuIsa::Avx512)
    return {64, 32, 8}; // masks of bytes by AVX-512 BW
  if (target.isa >= CpuIsa::Avx2)
    return {32, 16, 32}; // vmaskmovps and vmaskmovpd
  return {16, 16, 0};
}

} // namespace

/// A block of sums for each register file: 6x4 on AVX-512, 6x2 on AVX2, 2x4 on SSE, which multiplies and adds in two instructions.
ContractionStrategy quern::contractionStrategyFor(const Target &target) {
  Registers registers = registersOf(target);
  ContractionStrategy strategy;
  strategy.vectorBytes = registers.vectorBytes;
  strategy.registers = registers.count;
  strategy.narrowestMask = registers.narrowestMask;
  strategy.hasFma = target.isa >= CpuIsa::Avx2;
  strategy.vectors = target.isa == CpuIsa::Avx2 ? 2 : 4;
  strategy.hasQuadDots = target.isa >= CpuIsa::Avx512Vnni;
  strategy.hasPairDots = target.isa >= CpuIsa::Avx512Bf16;
  strategy.hasMatrices = target.isa >= CpuIsa::Avx512Amx;
  strategy.nearBytes = int64_t(target.l2Kib) << 9;
  strategy.cutBytes = int64_t(target.l2Kib) << 8;
  return strategy;
}

MapStrategy quern::mapStrategyFor(const Target &target) {
  Registers registers = registersOf(target);
  MapStrategy strategy;
  strategy.vectorBytes = registers.vectorBytes;
  strategy.registers = registers.count;
  strategy.narrowestMask = registers.narrowestMask;
  strategy.l1Bytes = int64_t(target.l1Kib) << 10;
  strategy.l2Bytes = int64_t(target.l2Kib) << 10;
  strategy.streamBytes = int64_t(target.l3Kib) << 9;
  strategy.streamAlwaysBytes = int64_t(target.l3Kib) * 3 << 8;
  return strategy;
}

RowsStrategy quern::rowsStrategyFor(const Target &target) {
  Registers registers = registersOf(target);
  RowsStrategy strategy;
  strategy.vectorBytes = registers.vectorBytes;
  strategy.registers = registers.count;
  strategy.narrowestMask = registers.narrowestMask;
  strategy.l1Bytes = int64_t(target.l1Kib) << 10;
  strategy.l2Bytes = int64_t(target.l2Kib) << 10;
  strategy.scratchBytes = strategy.l2Bytes / 2;
  strategy.streamBytes = int64_t(target.l3Kib) << 9;
  return strategy;
}
