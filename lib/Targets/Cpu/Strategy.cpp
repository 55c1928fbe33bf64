//===- Strategy.cpp - What CPU targets contribute to the recipes ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Register file and masking per instruction set; budgets from the caches. Half of L2 goes to scratch, since the tensors
// pass through it; a destination of half the last level would push its source out, and so would a map that moves as
// much on one thread; several threads keep what fits.
//
//===----------------------------------------------------------------------===//
#include "Targets/Cpu/Strategy.h"

#include <algorithm>

using namespace quern;

namespace {

struct Registers {
  int64_t vectorBytes, count;
  int64_t narrowestMask; ///< bits
};

Registers registersOf(const Target &target) {
  if (target.has(CpuIsa::Avx512))
    return {64, 32, 8}; // masks of bytes by AVX-512 BW
  if (target.has(CpuIsa::Avx2))
    return {32, 16, 32}; // vmaskmovps and vmaskmovpd
  return {16, 16, 0};
}

/// From how many bytes on what is written passes the caches (docs/architecture.md, "Written past the caches").
struct StreamSizes {
  int64_t lines;      ///< read and written by lines, by one thread
  int64_t tiles;      ///< read and written by tiles, by one thread
  int64_t always;     ///< read and written, by several threads
  int64_t rows;       ///< written by rows, by one thread
  int64_t alwaysRows; ///< written by rows, by several threads
};

/// A cache that dozens of cores share keeps no more than about 64 MiB for a few of them, whatever its size.
StreamSizes streamSizesOf(const Target &target) {
  constexpr int64_t kept = 64 << 20;
  int64_t last = int64_t(target.l3Kib) << 10, half = last / 2;
  return {std::min(half, kept), std::min(half, kept / 2), std::min(last, kept), std::min(half, kept / 2),
          std::min(half, kept * 3 / 4)};
}

} // namespace

/// A block of sums for each register file: 6x4 on AVX-512, 6x2 on AVX2, 2x4 on SSE, which multiplies and
/// adds in two instructions.
ContractionStrategy quern::contractionStrategyFor(const Target &target) {
  Registers registers = registersOf(target);
  ContractionStrategy strategy;
  strategy.vectorBytes = registers.vectorBytes;
  strategy.registers = registers.count;
  strategy.narrowestMask = registers.narrowestMask;
  strategy.hasFma = target.has(CpuIsa::Avx2);
  strategy.vectors = target.isa == CpuIsa::Avx2 ? 2 : 4;
  strategy.leastRestSums = registers.count > 16 ? 12 : 8; // two dots of pairs begin in a cycle and take six
  strategy.hasQuadDots = target.has(CpuIsa::Avx512Vnni);
  strategy.hasPairDots = target.hasPairDots();
  strategy.hasMatrices = target.has(CpuIsa::Avx512Amx);
  if (target.hasPairDots()) // cores that are this new fetch ahead across pages: asking takes 2 to 15 % of the time
    strategy.aheadBytes = strategy.farAheadBytes = 0;
  strategy.nearestBytes = int64_t(target.l1Kib) << 10;
  strategy.nearBytes = int64_t(target.l2Kib) << 9;
  strategy.cutBytes = int64_t(target.l2Kib) << 7;
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
  StreamSizes sizes = streamSizesOf(target);
  strategy.streamBytes = sizes.lines;
  strategy.streamTilesBytes = sizes.tiles;
  strategy.streamAlwaysBytes = sizes.always;
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
  StreamSizes sizes = streamSizesOf(target);
  strategy.streamBytes = sizes.rows;
  strategy.streamAlwaysBytes = sizes.alwaysRows;
  return strategy;
}
