//===- Strategy.cpp - Strategies of CPU targets for the recipes -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Register file, masking and instructions come from the architecture, budgets from the cache sizes. Half of L2 is for
// scratch, because the tensors pass through it. On one thread, a destination of half the last-level cache would evict
// its source, and so would a map that moves the same number of bytes; the thresholds for several threads are at least
// as high.
//
//===----------------------------------------------------------------------===//
#include "Targets/Cpu/Strategy.h"

#include "Desc/CpuTile.h"
#include "Targets/Cpu/Architecture.h"
#include "Transforms/Transforms.h"

#include <algorithm>

using namespace quern;

namespace {

/// Bytes from which results are written with non-temporal stores (see docs/architecture.md).
struct StreamSizes {
  int64_t lines;      ///< read and written by a map in lines, by one thread
  int64_t tiles;      ///< read and written by a map in tiles, by one thread
  int64_t always;     ///< read and written by a map, by several threads
  int64_t rows;       ///< written by rows, by one thread
  int64_t alwaysRows; ///< written by rows, by several threads
};

/// Returns the sizes for a target. A cache that dozens of cores share keeps at most about 64 MiB for a few of them,
/// whatever its size.
StreamSizes streamSizesOf(const Target &target) {
  constexpr int64_t kept = 64 << 20;
  int64_t last = int64_t(target.l3Kib) << 10, half = last / 2;
  return {std::min(half, kept), std::min(half, kept / 2), std::min(last, kept), std::min(half, kept / 2),
          std::min(half, kept * 3 / 4)};
}

/// Returns a strategy with the registers and the L1 cache of a target.
template <typename Strategy> Strategy strategyOf(const Target &target) {
  const VectorRegisters registers = architectureOf(target).registersOf(target);
  Strategy strategy;
  strategy.vectorBytes = registers.bytes;
  strategy.registers = registers.count;
  strategy.narrowestMask = registers.narrowestMask;
  strategy.l1Bytes = int64_t(target.l1Kib) << 10;
  return strategy;
}

} // namespace

ContractionStrategy quern::contractionStrategyFor(const Target &target) {
  auto strategy = strategyOf<ContractionStrategy>(target);
  strategy.minRestSums = strategy.registers > 16 ? 12 : 8; // two dots of pairs start in a cycle and take six cycles
  strategy.hasFma = hasFma(target);
  strategy.hasPairDots = target.hasPairDots();
  strategy.vectors = tileVectorsOf(target);
  architectureOf(target).refine(strategy, target);
  strategy.l2Bytes = int64_t(target.l2Kib) << 9;
  strategy.sliceBytes = int64_t(target.l2Kib) << 7;
  return strategy;
}

MapStrategy quern::mapStrategyFor(const Target &target) {
  auto strategy = strategyOf<MapStrategy>(target);
  strategy.l2Bytes = int64_t(target.l2Kib) << 10;
  StreamSizes sizes = streamSizesOf(target);
  strategy.streamBytes = sizes.lines;
  strategy.streamTilesBytes = sizes.tiles;
  strategy.streamAlwaysBytes = sizes.always;
  if (auto *refine = architectureOf(target).refineMap)
    refine(strategy);
  return strategy;
}

RowsStrategy quern::rowsStrategyFor(const Target &target) {
  auto strategy = strategyOf<RowsStrategy>(target);
  strategy.l2Bytes = int64_t(target.l2Kib) << 10;
  strategy.scratchBytes = strategy.l2Bytes / 2;
  StreamSizes sizes = streamSizesOf(target);
  strategy.streamBytes = sizes.rows;
  strategy.streamAlwaysBytes = sizes.alwaysRows;
  if (auto *refine = architectureOf(target).refineRows)
    refine(strategy);
  return strategy;
}
