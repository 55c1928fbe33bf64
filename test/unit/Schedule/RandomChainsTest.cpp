//===- RandomChainsTest.cpp - The rows recipe against naive loops ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compiles the same random IR twice: with the recipe, for every instruction set of this machine and a random strategy,
// and with MLIR's linalg to scalar loops, with f32 extended to f64. Outputs must agree, gaps and guards must not
// change, in place or not, however the iteration space is split. QUERN_TEST_SEED and QUERN_TEST_COUNT select the
// chains; a failure prints the seed and the IR.
//
//===----------------------------------------------------------------------===//
#include "Crash.h"
#include "RandomRows.h"
#include "ScheduledKernel.h"

#include "Schedule/Rows/Rows.h"
#include "Targets/Cpu/Strategy.h"

#include "gtest/gtest.h"

#include <map>
#include <random>

using namespace quern;
using namespace quern::test;

namespace {

/// Returns the target's own strategy, or one with random unrolling and blocks, and sometimes with little scratch.
RowsStrategy randomStrategy(const Target &target, std::mt19937_64 &random) {
  RowsStrategy strategy = rowsStrategyFor(target);
  auto pick = [&](int64_t from, int64_t to) {
    return from + static_cast<int64_t>(random() % static_cast<uint64_t>(to - from + 1));
  };
  if (pick(0, 1))
    return strategy;
  strategy.unroll = pick(1, 6);
  strategy.sweepOps = pick(1, 80);
  strategy.blockSteps = pick(1, 40);
  strategy.maxColumns = pick(1, 6);
  strategy.recomputeOps = pick(0, 40);
  strategy.scratchBytes = pick(0, 1) ? pick(0, 4000) : strategy.scratchBytes;
  strategy.l2Bytes = pick(0, 1) ? 1024 : strategy.l2Bytes;
  strategy.streamBytes = pick(0, 1) ? 0 : strategy.streamBytes;
  strategy.splitRows = pick(0, 1) ? 1000 : strategy.splitRows;
  strategy.splitElements = pick(1, 40);
  strategy.maxChunks = pick(2, 9);
  return strategy;
}

constexpr CpuIsa otherLevels[] = {CpuIsa::Avx512Vnni,  CpuIsa::Avx512Bf16, CpuIsa::Avx512Fp16,
                                  CpuIsa::NeonDotprod, CpuIsa::NeonBf16,   CpuIsa::SveBf16};

TEST(RandomChains, RecipeEqualsNaiveLoops) {
  KernelCompiler compiler;
  const std::vector<Target> wholes = targetsOfMachine(wholeLevels);
  std::vector<Target> targets = wholes;
  llvm::append_range(targets, targetsOfMachine(otherLevels));
  uint64_t first = fromEnvironment("QUERN_TEST_SEED", 1), count = fromEnvironment("QUERN_TEST_COUNT", 60);
  std::map<std::string, int> seen;
  for (uint64_t seed = first; seed < first + count && !::testing::Test::HasFailure(); ++seed) {
    RandomChain chain = makeRandomChain(seed);
    const std::string about = "QUERN_TEST_SEED=" + std::to_string(seed) + " QUERN_TEST_COUNT=1\n" + chain.text;
    SCOPED_TRACE(about);
    const RunningCase running(about);
    Buffers start = makeBuffers(chain.arguments, seed), want = start;
    ScheduledKernel naive = compiler.compileNaively(chain.text, wholes.back(), /*widen=*/true);
    ASSERT_TRUE(naive.code);
    run(naive, chain.arguments, want, false);
    std::mt19937_64 random(seed);
    for (const Target &target : targets) {
      // The other levels differ little, so a few chains in each run suffice.
      if (llvm::is_contained(otherLevels, target.isa) && (seed + static_cast<uint64_t>(target.isa)) % 3)
        continue;
      RowsStrategy strategy = randomStrategy(target, random);
      auto recipe = [&](mlir::func::FuncOp problem, std::string &whyNot) {
        return emitPreferred(matchRows(problem, strategy, whyNot), whyNot);
      };
      ScheduledKernel kernel = compiler.compile(chain.text, target, recipe);
      ASSERT_TRUE(kernel.code);
      SCOPED_TRACE(target.text() + ": " + kernel.plan);
      for (bool aliased : {false, true})
        checkKernel(kernel, chain.arguments, chain.tolerance, start, want, aliased);
      for (const char *feature :
           {"along the row", "across rows", "destination", "a value in scratch", "operand in scratch", "one by one",
            "streams", "chunks", "rows share a vector", "a row is one vector"})
        seen[feature] += kernel.plan.find(feature) != std::string::npos;
    }
  }
  for (const auto &[feature, times] : seen) // a full run covers every way of scheduling
    EXPECT_TRUE(times > 0 || count < 60) << "no chain met: " << feature;
}

constexpr CpuIsa byteLevels[] = {CpuIsa::Sse42,      CpuIsa::Avx2, CpuIsa::Avx512,
                                 CpuIsa::Avx512Vnni, CpuIsa::Neon, CpuIsa::NeonDotprod,
                                 CpuIsa::NeonBf16,   CpuIsa::Sve,  CpuIsa::SveBf16};

// Sums are exact. Each level has code for four contiguous elements of a row, four across rows, and 16-bit sums.
TEST(RandomChains, SumsOfBytesEqualNaiveLoops) {
  KernelCompiler compiler;
  const std::vector<Target> targets = targetsOfMachine(byteLevels);
  const uint64_t first = fromEnvironment("QUERN_TEST_SEED", 1), count = fromEnvironment("QUERN_TEST_COUNT", 60);
  std::map<std::string, int> seen;
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const RandomChain chain = makeRandomByteSum(seed);
    const std::string about = "QUERN_TEST_SEED=" + std::to_string(seed) + " QUERN_TEST_COUNT=1\n" + chain.text;
    SCOPED_TRACE(about);
    const RunningCase running(about);
    const Buffers start = makeBuffers(chain.arguments, seed);
    Buffers want = start;
    const ScheduledKernel naive = compiler.compileNaively(chain.text, targets.front(), /*widen=*/false);
    ASSERT_TRUE(naive.code);
    run(naive, chain.arguments, want, false);
    std::mt19937_64 random(seed);
    for (const Target &target : targets) {
      RowsStrategy strategy = randomStrategy(target, random);
      const ScheduledKernel kernel =
          compiler.compile(chain.text, target, [&](mlir::func::FuncOp problem, std::string &whyNot) {
            return emitPreferred(matchRows(problem, strategy, whyNot), whyNot);
          });
      ASSERT_TRUE(kernel.code);
      SCOPED_TRACE(target.text() + ": " + kernel.plan);
      checkKernel(kernel, chain.arguments, chain.tolerance, start, want, false);
      const bool isAlong = kernel.plan.find("along the row") != std::string::npos;
      const bool inFours = kernel.plan.find("of 4 neighbors") != std::string::npos;
      const std::string level(nameOfIsa(target.isa));
      seen[level + ": four of a row"] += isAlong && inFours;
      seen[level + ": four across rows"] += !isAlong && inFours;
      seen[level + ": 16 bits"] += kernel.plan.find("bytes summed in 16 bits") != std::string::npos;
      seen[level + ": one by one"] += !inFours;
    }
  }
  for (const auto &[feature, times] : seen)
    EXPECT_TRUE(times > 0 || count < 60) << "not reached by any sum: " << feature;
}

// Runs one kernel with three sets of sizes.
TEST(RandomChains, OpenSizesEqualNaiveLoops) {
  KernelCompiler compiler;
  const std::vector<Target> targets = targetsOfMachine(wholeLevels);
  const uint64_t first = fromEnvironment("QUERN_TEST_SEED", 1), count = fromEnvironment("QUERN_TEST_COUNT", 60);
  std::map<std::string, int> seen;
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const std::string text = makeOpenChain(seed, 0).open.text;
    const std::string about = "QUERN_TEST_SEED=" + std::to_string(seed) + " QUERN_TEST_COUNT=1\n" + text;
    SCOPED_TRACE(about);
    const RunningCase running(about);
    const Target &target = targets[seed % targets.size()];
    std::mt19937_64 random(seed);
    RowsStrategy strategy = randomStrategy(target, random);
    ScheduledKernel kernel = compiler.compile(text, target, [&](mlir::func::FuncOp problem, std::string &whyNot) {
      return emitPreferred(matchRows(problem, strategy, whyNot), whyNot);
    });
    ASSERT_TRUE(kernel.code);
    SCOPED_TRACE(target.text() + ": " + kernel.plan);
    for (uint64_t execution = 0; execution < 3; ++execution) {
      const OpenChain chain = makeOpenChain(seed, execution);
      ASSERT_EQ(chain.open.text, text);
      SCOPED_TRACE(chain.closed.text.substr(0, chain.closed.text.find('\n')));
      const Buffers start = makeBuffers(chain.open.arguments, seed);
      Buffers want = start;
      const ScheduledKernel naive = compiler.compileNaively(chain.closed.text, target, /*widen=*/true);
      ASSERT_TRUE(naive.code);
      run(naive, chain.closed.arguments, want, false);
      kernel.sizes = chain.sizes;
      checkKernel(kernel, chain.open.arguments, chain.open.tolerance, start, want, false);
    }
    const bool isAlong = kernel.plan.find("along the row") != std::string::npos;
    seen["rows along their open length"] += isAlong && text.find("x?x") != std::string::npos;
    seen["across rows"] += kernel.plan.find("across rows") != std::string::npos;
    seen["a space of open sizes"] += kernel.plan.find("ceil(size ") != std::string::npos;
    seen["a space of known sizes"] += kernel.plan.find("ceil(size ") == std::string::npos;
  }
  for (const auto &[feature, times] : seen)
    EXPECT_TRUE(times > 0 || count < 60) << "no chain met: " << feature;
}

} // namespace
