//===- DeviceRefusalsTest.cpp - Refusals that fail a device run -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests runs of quern-conformance --compile-only with planted refusals: in drawn problems, which the verifier refuses,
// and in place of the compiler, as if a schedule refused them.
//
//===----------------------------------------------------------------------===//
#include "Suite/Compile.h"

#include <gtest/gtest.h>
#include <sstream>

using namespace quern;

namespace {

/// Draws the line `usual`, and `rare` in one of `period` cases.
class PlantedCases : public PrimitiveCases {
public:
  PlantedCases(std::string_view usual, std::string_view rare, int64_t period)
      : usual(*PrimitiveDesc::parse(usual)), rare(*PrimitiveDesc::parse(rare)), period(period) {}
  std::string_view name() const override { return "softmax"; }
  int64_t firstRound() const override { return 100; }
  int64_t allRounds() const override { return 100; }
  Case draw(uint64_t, int64_t number) const override {
    Case drawn;
    drawn.number = number;
    drawn.desc = number % period == 0 ? rare : usual;
    return drawn;
  }
  std::span<const Mistake> mistakes() const override { return {}; }
  std::span<const DataType> refusedTypes() const override { return {}; }
  void count(const Case &, const PrimitiveDesc &, ProblemData *) override {}
  void print(std::ostream &) const override {}
  std::vector<std::string> missing(int64_t) const override { return {}; }

private:
  PrimitiveDesc usual, rare;
  int64_t period;
};

constexpr std::string_view legal = "softmax fwd_i src=f32:3x5:ab dst=f32:3x5:ab axis=1";
// Only half of the drawn devices have f64.
constexpr std::string_view ofF64 = "softmax fwd_i src=f64:3x5:ab dst=f64:3x5:ab axis=1";

/// Replaces the compiler: it accepts every problem except one in `period`, which it refuses with `words`.
class PlantedSuite : public CompileSuite {
public:
  PlantedSuite(PrimitiveCases &cases, std::string words, int64_t period)
      : CompileSuite({.count = 100}, cases), words(std::move(words)), period(period) {}

  /// Returns the exit code; `said` receives the output.
  int64_t runAll(std::string &said) {
    testing::internal::CaptureStdout();
    run();
    const int code = summarize();
    said = testing::internal::GetCapturedStdout();
    return code;
  }

protected:
  Result<void> make(const ParsedProblem &, const Target &) const override {
    return ++calls % period == 0 ? Result<void>(unimplemented(words)) : Result<void>();
  }

private:
  std::string words;
  int64_t period;
  mutable int64_t calls = 0;
};

constexpr int64_t never = 1000000;

} // namespace

TEST(DeviceRefusals, NothingRefusedPasses) {
  PlantedCases cases(legal, legal, 2);
  std::string said;
  EXPECT_EQ(PlantedSuite(cases, "", never).runAll(said), 0) << said;
  EXPECT_NE(said.find("100 passed, 0 failed"), said.npos) << said;
}

TEST(DeviceRefusals, ScheduleThatRefusesFails) {
  // The second message is allowed only from the verifier.
  for (const char *words : {"no schedule takes this problem", "src is of f64, which the device lacks"}) {
    PlantedCases cases(legal, legal, 2);
    std::string said;
    EXPECT_EQ(PlantedSuite(cases, words, 100).runAll(said), 1) << words;
    EXPECT_NE(said.find("FAILED: " + std::string(words)), said.npos) << said;
    EXPECT_NE(said.find("99 passed, 1 failed"), said.npos) << said;
  }
}

TEST(DeviceRefusals, VerifierThatRefusesForAnotherReasonFails) {
  PlantedCases cases(legal, "softmax fwd_i src=s32:3x5:ab dst=s32:3x5:ab axis=1", 50);
  std::string said;
  EXPECT_EQ(PlantedSuite(cases, "", never).runAll(said), 1);
  EXPECT_NE(said.find("98 passed, 2 failed"), said.npos) << said;
}

TEST(DeviceRefusals, ListedReasonIsSkippedBelowItsCeiling) {
  PlantedCases cases(legal, ofF64, 5);
  std::string said;
  EXPECT_EQ(PlantedSuite(cases, "", never).runAll(said), 0) << said;
  EXPECT_NE(said.find("skipped: a tensor or factor is of f64, which the device lacks: "), said.npos) << said;
}

TEST(DeviceRefusals, ListedReasonBeyondItsCeilingFails) {
  PlantedCases cases(ofF64, ofF64, 2);
  std::string said;
  EXPECT_EQ(PlantedSuite(cases, "", never).runAll(said), 1);
  EXPECT_NE(
      said.find(
          "of 100 problems skipped because something is of f64, which the device lacks, more than 24 of a hundred"),
      said.npos)
      << said;
}
