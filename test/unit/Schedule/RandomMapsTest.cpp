//===- RandomMapsTest.cpp - The map recipe against naive loops ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compiles the same random IR twice: with the recipe, for every instruction set of this machine and a random strategy,
// and with MLIR's linalg to scalar loops. Outputs must be the same bits, gaps and guards must not change, in place or
// not, however the iteration space is split. QUERN_TEST_SEED and QUERN_TEST_COUNT select the maps; a failure prints the
// seed and the IR.
//
//===----------------------------------------------------------------------===//
#include "Crash.h"
#include "RandomMap.h"
#include "ScheduledKernel.h"

#include "Schedule/Map/Map.h"
#include "Targets/Cpu/Strategy.h"

#include "gtest/gtest.h"

#include <map>
#include <random>

using namespace quern;
using namespace quern::test;

namespace {

/// Returns the target's own strategy, or one with random unrolling and size of iterations, sometimes without masks or
/// with non-temporal stores everywhere.
MapStrategy randomStrategy(const Target &target, std::mt19937_64 &random) {
  MapStrategy strategy = mapStrategyFor(target);
  auto pick = [&](int64_t from, int64_t to) {
    return from + static_cast<int64_t>(random() % static_cast<uint64_t>(to - from + 1));
  };
  if (pick(0, 2) == 0)
    return strategy;
  strategy.unroll = pick(1, 6);
  strategy.stepOps = pick(1, 80);
  strategy.narrowestMask = pick(0, 3) ? strategy.narrowestMask : 0;
  strategy.streamBytes = pick(0, 1) ? 0 : strategy.streamBytes;
  strategy.nsPerByte = pick(0, 1) ? 0.06 : static_cast<double>(pick(1, 1000));
  return strategy;
}

TEST(RandomMaps, RecipeEqualsNaiveLoops) {
  KernelCompiler compiler;
  const std::vector<Target> targets = targetsOfMachine(wholeLevels);
  uint64_t first = fromEnvironment("QUERN_TEST_SEED", 1), count = fromEnvironment("QUERN_TEST_COUNT", 80);
  std::map<std::string, int> seen;
  for (uint64_t seed = first; seed < first + count && !::testing::Test::HasFailure(); ++seed) {
    RandomMap map = makeRandomMap(seed);
    const std::string about = "QUERN_TEST_SEED=" + std::to_string(seed) + " QUERN_TEST_COUNT=1\n" + map.text;
    SCOPED_TRACE(about);
    const RunningCase running(about);
    Buffers start = makeBuffers(map.arguments, seed), want = start;
    ScheduledKernel naive = compiler.compileNaively(map.text, targets.back(), /*widen=*/false);
    ASSERT_TRUE(naive.code);
    run(naive, map.arguments, want, false);
    std::mt19937_64 random(seed);
    for (const Target &target : targets) {
      MapStrategy strategy = randomStrategy(target, random);
      auto recipe = [&](mlir::func::FuncOp problem, std::string &whyNot) {
        return emitPreferred(matchMap(problem, strategy, whyNot), whyNot);
      };
      ScheduledKernel kernel = compiler.compile(map.text, target, recipe);
      ASSERT_TRUE(kernel.code);
      SCOPED_TRACE(target.text() + ": " + kernel.plan);
      for (bool aliased : {false, true})
        checkKernel(kernel, map.arguments, /*tolerance=*/0, start, want, aliased);
      for (const char *feature :
           {"lines", "tiles", "points", "collected", "scratch", "nonlinear", "limit", "padding", "streams", "boundary"})
        seen[feature] += kernel.plan.find(feature) != std::string::npos;
    }
  }
  for (const auto &[feature, times] : seen) // a full run covers every way of scheduling
    EXPECT_TRUE(times > 0 || count < 80) << "not reached by any map: " << feature;
}

} // namespace
