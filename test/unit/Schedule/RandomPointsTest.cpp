//===- RandomPointsTest.cpp - The points of a device against naive loops --===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Random chains, maps, sums of bytes and open sizes by the general schedule of devices. Its kernels run on the host, work-item by work-item
// (Device/WorkGroups.h); they agree with naive loops on memory that ends and begins at inaccessible pages. QUERN_TEST_SEED and
// QUERN_TEST_COUNT choose the problems.
//
//===----------------------------------------------------------------------===//
#include "Crash.h"
#include "RandomMap.h"
#include "RandomRows.h"
#include "ScheduledKernel.h"

#include "Device/WorkItems.h"
#include "Schedule/Points/Points.h"

#include "gtest/gtest.h"

#include <map>
#include <random>

using namespace mlir;
using namespace quern;
using namespace quern::test;

namespace {

class RandomPoints : public testing::Test {
protected:
  /// Nothing if the schedule does not take the problem.
  std::optional<ScheduledKernel> schedule(const std::string &text, std::mt19937_64 &random) {
    const PointsStrategy strategy{int64_t(1) << random() % 9, 0};
    std::string whyNot;
    std::optional<ScheduledKernel> kernel = compiler.tryCompile(
        text, target,
        [&](func::FuncOp problem, std::string &reason) {
          auto kernels = schedulePoints(problem, strategy, &reason);
          if (succeeded(kernels))
            llvm::for_each(*kernels, makeWorkItem);
          return success(succeeded(kernels));
        },
        whyNot);
    ++(kernel ? taken : refused)[kernel ? std::string("all") : whyNot];
    if (kernel)
      kernel->turns = random();
    return kernel;
  }
  void check(const RandomChain &chain, uint64_t seed, bool widens) {
    const std::string about = "QUERN_TEST_SEED=" + std::to_string(seed) + " QUERN_TEST_COUNT=1\n" + chain.text;
    SCOPED_TRACE(about);
    const RunningCase running(about);
    std::mt19937_64 random(seed);
    std::optional<ScheduledKernel> kernel = schedule(chain.text, random);
    if (!kernel)
      return;
    ASSERT_TRUE(kernel->code);
    SCOPED_TRACE(kernel->plan);
    const Buffers start = makeBuffers(chain.arguments, seed);
    Buffers want = start;
    const ScheduledKernel naive = compiler.compileNaively(chain.text, target, widens);
    ASSERT_TRUE(naive.code);
    run(naive, chain.arguments, want, false);
    checkKernel(*kernel, chain.arguments, chain.tolerance, start, want, false);
    note(*kernel);
  }
  void note(const ScheduledKernel &kernel) {
    for (const char *feature : {"loops in each", "x open"})
      taken[feature] += kernel.plan.find(feature) != std::string::npos;
    taken["several kernels"] += kernel.spaces.size() > 1;
  }
  /// Most problems are taken, for the others there are reasons that are known.
  void expectTaken(uint64_t least) {
    uint64_t others = 0;
    for (const auto &[reason, times] : refused) {
      others += static_cast<uint64_t>(times);
      EXPECT_TRUE(llvm::is_contained(known, reason)) << times << " times: " << reason;
    }
    EXPECT_TRUE(static_cast<uint64_t>(taken["all"]) >= least || count < 60) << taken["all"] << " taken, " << others << " not";
  }

  static constexpr const char *known[] = {"an intermediate is computed from what is overwritten afterwards",
                                          "a reduction would be done for each step of another",
                                          "an op writes an argument and an intermediate"};
  const uint64_t first = fromEnvironment("QUERN_TEST_SEED", 1), count = fromEnvironment("QUERN_TEST_COUNT", 60);
  const Target target{std::min(detectedIsa(), CpuIsa::Avx2)};
  KernelCompiler compiler;
  std::map<std::string, int> taken, refused;
};

TEST_F(RandomPoints, ChainsEqualNaiveLoops) {
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed)
    check(makeRandomChain(seed), seed, /*widens=*/true);
  expectTaken(30);
  EXPECT_TRUE((taken["loops in each"] && taken["several kernels"]) || count < 60);
}

TEST_F(RandomPoints, SumsOfBytesEqualNaiveLoops) {
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed)
    check(makeRandomByteSum(seed), seed, /*widens=*/false);
  expectTaken(60);
}

TEST_F(RandomPoints, MapsEqualNaiveLoops) {
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    RandomMap map = makeRandomMap(seed);
    check({map.text, map.arguments, 0}, seed, /*widens=*/false);
  }
  expectTaken(60);
}

TEST_F(RandomPoints, OpenSizesEqualNaiveLoops) {
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const std::string text = makeOpenChain(seed, 0).open.text;
    SCOPED_TRACE("QUERN_TEST_SEED=" + std::to_string(seed) + " QUERN_TEST_COUNT=1\n" + text);
    std::mt19937_64 random(seed);
    std::optional<ScheduledKernel> kernel = schedule(text, random);
    for (uint64_t execution = 0; kernel && execution < 3; ++execution) {
      const OpenChain chain = makeOpenChain(seed, execution);
      const Buffers start = makeBuffers(chain.open.arguments, seed);
      Buffers want = start;
      const ScheduledKernel naive = compiler.compileNaively(chain.closed.text, target, /*widen=*/true);
      ASSERT_TRUE(naive.code && kernel->code);
      run(naive, chain.closed.arguments, want, false);
      kernel->sizes = chain.sizes;
      checkKernel(*kernel, chain.open.arguments, chain.open.tolerance, start, want, false);
      note(*kernel);
    }
  }
  expectTaken(60);
  EXPECT_TRUE(taken["x open"] || count < 60);
}

} // namespace
