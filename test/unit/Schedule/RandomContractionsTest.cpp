//===- RandomContractionsTest.cpp - The contraction recipe against loops --===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Compiles the same random IR twice: with the recipe and a random strategy, for every instruction set of this machine
// and for AMX, which is emulated if missing; and with MLIR's linalg to scalar loops in f64. Gaps and guards must not
// change, in place or not, however the iteration space is split. QUERN_TEST_SEED and QUERN_TEST_COUNT select the
// problems; a failure prints the seed and the IR.
//
//===----------------------------------------------------------------------===//
#include "AmxEmulator.h"
#include "Crash.h"
#include "EmptyAccesses.h"
#include "RandomContraction.h"
#include "ScheduledKernel.h"

#include "Schedule/Contraction/Contraction.h"
#include "Targets/Cpu/Strategy.h"

#include "gtest/gtest.h"

#include <map>
#include <random>

using namespace quern;
using namespace quern::test;

namespace {

/// Returns the target's own strategy, or a random one: numbers of registers, rows and bytes, the epilogue in registers
/// or over scratch, sometimes without masks.
ContractionStrategy randomStrategy(const Target &target, std::mt19937_64 &random) {
  ContractionStrategy strategy = contractionStrategyFor(target);
  auto pick = [&](int64_t from, int64_t to) {
    return from + static_cast<int64_t>(random() % static_cast<uint64_t>(to - from + 1));
  };
  if (pick(0, 2) == 0)
    return strategy;
  strategy.registers = pick(12, strategy.registers);
  strategy.vectors = pick(1, 6);
  strategy.maxRows = pick(1, 14);
  strategy.chunkRows = pick(1, 64);
  strategy.inlineOps = pick(0, 1) ? 0 : 100;
  strategy.narrowestMask = pick(0, 2) ? strategy.narrowestMask : 0;
  strategy.aliasingStrideBytes = pick(0, 1) ? 64 : 4096;
  strategy.minCopyRows = pick(1, 40);
  strategy.sliceRows = pick(1, 80);
  strategy.sliceBytes = pick(0, 8) << 10;
  strategy.maxStreamStrideBytes = pick(0, 1) ? 0 : 1024;
  strategy.hasPairDots &= pick(0, 3) != 0;
  strategy.hasQuadDots &= pick(0, 3) != 0;
  strategy.l1Bytes = pick(0, 3) ? 0 : strategy.l1Bytes; // even small panels exceed L1
  std::mt19937_64 another = random;                     // keeps the rest of the random sequence
  strategy.indexedBytes = another() % 3 ? 0 : 16;
  strategy.indexedRegisters = static_cast<int64_t>(1 + another() % 8);
  strategy.patchBytes = another() % 4 ? 8 : 0;
  return strategy;
}

/// Problems, their buffers, the results of scalar loops, and how often each way of scheduling occurred.
class Contractions : public ::testing::Test {
protected:
  void draw(uint64_t newSeed) {
    seed = newSeed;
    problem = makeRandomContraction(seed);
    start = makeBuffers(problem.arguments, seed);
    want.clear();
  }
  std::string about() const {
    return "QUERN_TEST_SEED=" + std::to_string(seed) + " QUERN_TEST_COUNT=1\n" + problem.text;
  }
  void computeNaively() {
    ScheduledKernel naive = compiler.compileNaively(problem.text, targetsOfMachine(wholeLevels).back(), /*widen=*/true);
    ASSERT_TRUE(naive.code);
    want = start;
    run(naive, problem.arguments, want, false);
  }
  /// Tests known and open rows. Kernels whose plan does not contain `words` do not run.
  void check(const Target &target, const ContractionStrategy &strategy, const char *words = "") {
    auto recipe = [&](mlir::func::FuncOp function, std::string &whyNot) {
      return emitPreferred(matchContraction(function, strategy, whyNot), whyNot);
    };
    for (const std::string &text : {problem.text, problem.openText}) {
      if (text.empty())
        continue;
      ScheduledKernel kernel = compiler.compile(text, target, recipe, /*trapsEmpty=*/true);
      ASSERT_TRUE(kernel.code);
      if (kernel.plan.find(words) == std::string::npos)
        continue;
      if (want.empty())
        computeNaively();
      kernel.sizes.assign(problem.arguments.size(), problem.rows);
      SCOPED_TRACE(target.text() + ": " + kernel.plan);
      for (bool aliased : {false, true})
        checkKernel(kernel, problem.arguments, problem.tolerance, start, want, aliased);
      for (auto &[feature, times] : seen)
        times += kernel.plan.find(feature) != std::string::npos;
    }
  }
  void expectAllSeen() const {
    for (const auto &[feature, times] : seen)
      EXPECT_GT(times, 0) << "not reached by any contraction: " << feature;
  }

  KernelCompiler compiler;
  std::map<std::string, int> seen; ///< counts by words of a plan; the test sets the keys
  uint64_t seed = 0;
  RandomContraction problem;
  Buffers start, want;
};

constexpr CpuIsa levels[] = {CpuIsa::Sse42,       CpuIsa::Avx2,     CpuIsa::Avx512, CpuIsa::Avx512Bf16, CpuIsa::Neon,
                             CpuIsa::NeonDotprod, CpuIsa::NeonBf16, CpuIsa::Sve,    CpuIsa::SveBf16};

TEST_F(Contractions, RecipeEqualsNaiveLoops) {
  uint64_t first = fromEnvironment("QUERN_TEST_SEED", 1), count = fromEnvironment("QUERN_TEST_COUNT", 120);
  for (const char *feature :
       {"by fma", "by mul and add", "by dots of bf16 pairs", "by dots of four bytes", "by dots of bytes in 16 bits",
        "by patches of four bf16", "by patches of eight bytes", "rounded to bf16", "over scratch", "in registers",
        "masked tail", "separate tail", "and of ", "at a time", "2 products", "2 loops", "lower ones", "rhs copied",
        "factors copied"})
    seen[feature] = 0;
  for (uint64_t nextSeed = first; nextSeed < first + count && !HasFailure(); ++nextSeed) {
    draw(nextSeed);
    SCOPED_TRACE(about());
    const std::string origin = about();
    const RunningCase running(origin);
    explainTraps(origin.c_str());
    std::mt19937_64 random(seed);
    for (const Target &target : targetsOfMachine(levels))
      check(target, randomStrategy(target, random));
  }
  if (count >= 120 && includesIsa(detectedIsa(), CpuIsa::Avx512Bf16)) // a full run covers every way of scheduling
    expectAllSeen();
}

#ifdef __x86_64__
/// Emulates AMX instructions if the machine does not have them; it must have the others.
TEST_F(Contractions, MatricesEqualNaiveLoops) {
  if (detectedIsa() < CpuIsa::Avx512Bf16)
    GTEST_SKIP() << "other parts of such kernels need AVX-512 BF16";
  bool isEmulated = detectedIsa() < CpuIsa::Avx512Amx;
  if (isEmulated)
    emulateAmx();
  uint64_t first = fromEnvironment("QUERN_TEST_SEED", 1), count = fromEnvironment("QUERN_TEST_COUNT", 240);
  for (const char *feature : {"of bf16 pairs", "of bytes", "1x", "2x", "x1 matrices", "x2 matrices", "x4 matrices",
                              "up to 16 rows", "masked tail", "2 products", "2 loops"})
    seen[feature] = 0;
  for (uint64_t nextSeed = first; nextSeed < first + count && !HasFailure(); ++nextSeed) {
    draw(nextSeed);
    auto hasHalf = [](const ChainArgument &argument) { return argument.element == Element::F16; };
    bool mayTake =
        problem.text.find("arith.muli") != problem.text.npos || problem.text.find("bf16 to f32") != problem.text.npos;
    if (!mayTake || (isEmulated && std::any_of(problem.arguments.begin(), problem.arguments.end(), hasHalf)))
      continue; // AVX-512 FP16, which AMX includes, has its own conversions
    SCOPED_TRACE(about());
    const std::string origin = about();
    const RunningCase running(origin);
    explainTraps(origin.c_str());
    std::mt19937_64 random(seed);
    Target target;
    target.isa = CpuIsa::Avx512Amx;
    ContractionStrategy strategy = randomStrategy(target, random);
    strategy.narrowestMask = 8; // masks of 16-bit elements also need AVX-512 FP16
    strategy.minMatrixRows = static_cast<int64_t>(1 + random() % 4);
    strategy.minMatrixSteps = static_cast<int64_t>(1 + random() % 16);
    check(target, strategy, "by matrices");
    EXPECT_TRUE(isAmxReleased());
  }
  if (count >= 240)
    expectAllSeen();
  if (isEmulated && count >= 240) {
    EXPECT_GT(emulatedAmxInstructions(), 1000u);
  }
}
#endif

} // namespace
