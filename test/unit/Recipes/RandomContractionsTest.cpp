//===- RandomContractionsTest.cpp - The contraction recipe against loops --===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The same random IR twice: by the recipe, for every instruction set of this machine and with a random strategy, and by upstream's linalg
// to scalar loops in f64. Gaps and guards stay untouched, in place or not, in whichever order the iteration space is cut. QUERN_TEST_SEED
// and QUERN_TEST_COUNT choose the problems; a failure prints seed and IR.
//
//===----------------------------------------------------------------------===//
#include "RandomContraction.h"
#include "ScheduledKernel.h"

#include "Recipes/Contraction.h"
#include "Targets/Cpu/Strategy.h"

#include "gtest/gtest.h"

#include <map>
#include <random>

using namespace quern;
using namespace quern::test;

namespace {

/// The target's own strategy, or one that stresses: few registers, no masks, small chunks, any epilogue in registers or over scratch.
ContractionStrategy randomStrategy(const Target &target, std::mt19937_64 &random) {
  ContractionStrategy strategy = contractionStrategyFor(target);
  auto pick = [&](int64_t from, int64_t to) { return from + static_cast<int64_t>(random() % static_cast<uint64_t>(to - from + 1)); };
  if (pick(0, 2) == 0)
    return strategy;
  strategy.registers = pick(12, strategy.registers);
  strategy.vectors = pick(1, 6);
  strategy.maxRows = pick(1, 14);
  strategy.chunkRows = pick(1, 64);
  strategy.inlineOps = pick(0, 1) ? 0 : 100;
  strategy.narrowestMask = pick(0, 2) ? strategy.narrowestMask : 0;
  strategy.nearStrideBytes = pick(0, 1) ? 64 : 4096;
  strategy.hasPairDots &= pick(0, 3) != 0;
  strategy.hasQuadDots &= pick(0, 3) != 0;
  return strategy;
}

TEST(RandomContractions, RecipeEqualsNaiveLoops) {
  KernelCompiler compiler;
  uint64_t first = fromEnvironment("QUERN_TEST_SEED", 1), count = fromEnvironment("QUERN_TEST_COUNT", 60);
  std::map<std::string, int> seen;
  for (uint64_t seed = first; seed < first + count && !::testing::Test::HasFailure(); ++seed) {
    RandomContraction problem = makeRandomContraction(seed);
    SCOPED_TRACE("QUERN_TEST_SEED=" + std::to_string(seed) + " QUERN_TEST_COUNT=1\n" + problem.text);
    Buffers start = makeBuffers(problem.arguments, seed), want = start;
    Target target;
    target.isa = std::min(detectedIsa(), CpuIsa::Avx512);
    ScheduledKernel naive = compiler.compileNaively(problem.text, target, /*widen=*/true);
    ASSERT_TRUE(naive.code);
    run(naive, problem.arguments, want, false);
    std::mt19937_64 random(seed);
    for (CpuIsa isa : {CpuIsa::Sse42, CpuIsa::Avx2, CpuIsa::Avx512, CpuIsa::Avx512Bf16}) {
      if (isa > detectedIsa())
        continue;
      target.isa = isa;
      ContractionStrategy strategy = randomStrategy(target, random);
      auto recipe = [&](mlir::func::FuncOp function, std::string &whyNot) {
        return mlir::success(succeeded(scheduleContraction(function, strategy, &whyNot)));
      };
      for (const std::string &text : {problem.text, problem.openText}) {
        if (text.empty())
          continue;
        ScheduledKernel kernel = compiler.compile(text, target, recipe);
        ASSERT_TRUE(kernel.code);
        kernel.sizes.assign(problem.arguments.size(), problem.rows);
        SCOPED_TRACE(std::string(nameOfIsa(isa)) + ": " + kernel.plan);
        for (bool aliased : {false, true})
          checkKernel(kernel, problem.arguments, problem.tolerance, start, want, aliased);
        for (const char *feature : {"by fma", "by mul and add", "by dots of bf16 pairs", "by dots of four bytes",
                                    "by dots of bytes in 16 bits", "rounded to bf16", "over scratch", "in registers", "masked tail",
                                    "tail apart", "a row less", "2 products", "2 loops", "lower ones"})
          seen[feature] += kernel.plan.find(feature) != std::string::npos;
      }
    }
  }
  bool hasAll = detectedIsa() >= CpuIsa::Avx512Bf16;
  for (const auto &[feature, times] : seen) // a full run meets every way of scheduling
    EXPECT_TRUE(times > 0 || count < 60 || !hasAll) << "no contraction met: " << feature;
}

} // namespace
