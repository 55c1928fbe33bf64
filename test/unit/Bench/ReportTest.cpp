//===- ReportTest.cpp - Problems, ratios and tables of quern-bench --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the statistics that the harness computes from times, on synthetic times.
//
//===----------------------------------------------------------------------===//
#include "Report.h"
#include "Problems/ProblemKind.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <stdexcept>

namespace quern::bench {
namespace {

BenchProblem makeProblem() {
  return BenchProblem::parse("softmax fwd_i alg=accurate src=f32:8x160:ab dst=f32:8x160:ab axis=1");
}

Row makeRow(double ours, double onednn313, double onednn32) {
  Row row;
  row.problem = makeProblem();
  row.results[quernName].ns = {3 * ours, ours, 2 * ours};
  row.results[copyName].ns = {50};
  if (onednn313 > 0)
    row.results["onednn-3.13"].ns = {onednn313, onednn313 * 2, onednn313 * 4};
  else
    row.results["onednn-3.13"].refusal = "no such thing";
  row.results["onednn-3.2"].ns = {onednn32};
  return row;
}

Settings makeSettings() {
  Settings settings;
  settings.peers = {"onednn-3.13", "onednn-3.2"};
  return settings;
}

TEST(BenchProblem, EncodingRoundTrips) {
  BenchProblem problem = BenchProblem::parse("softmax fwd_i alg=log src=f32:8x16:ab dst=bf16:8x16:ba axis=1");
  BenchProblem again = BenchProblem::decode(problem.encode());
  EXPECT_EQ(again.encode(), problem.encode());
  EXPECT_EQ(again.line, problem.line);
  EXPECT_EQ(again.verified.arguments.back().desc.dataType, DataType::BF16);
  EXPECT_THROW(BenchProblem::decode("run 1 1"), std::runtime_error);
  EXPECT_THROW(BenchProblem::decode("problem {}"), std::runtime_error);
  EXPECT_THROW(BenchProblem::decode("problem {\"line\": \"softmax\"}"), std::runtime_error);
}

TEST(BenchProblem, Families) {
  auto family = [](const char *line) { return BenchProblem::parse(line).family(); };
  EXPECT_EQ(family("softmax fwd_i alg=accurate src=f32:8x160:ab dst=f32:8x160:ab axis=1"), "last axis");
  EXPECT_EQ(family("softmax fwd_i alg=accurate src=f32:8x16:ab dst=f32:8x16:ab axis=1"), "short axis");
  EXPECT_EQ(family("softmax fwd_i alg=accurate src=f32:8x160:ab dst=f32:8x160:ab axis=0"), "strided axis");
  EXPECT_EQ(family("softmax fwd_i alg=log src=f32:8x160:ab dst=f32:8x160:ab axis=0"), "log");
  EXPECT_EQ(family("softmax fwd_i alg=log src=bf16:8x160:ab dst=f32:8x160:ab axis=0"), "types");
  EXPECT_EQ(family("softmax fwd_i alg=log src=bf16:8x160:ab dst=f32:8x160:ba axis=0"), "layouts");
}

TEST(BenchProblem, TitleNamesUnusualProperties) {
  auto title = [](const char *line) { return BenchProblem::parse(line).title(); };
  EXPECT_EQ(title("softmax fwd_i alg=accurate src=f32:8x16:ab dst=f32:8x16:ab axis=1"), "f32 8x16");
  EXPECT_EQ(title("softmax fwd_i alg=log src=f32:8x16:ab dst=bf16:8x16:ba axis=0"), "f32→bf16 log 8x16 axis 0→ba");
  EXPECT_EQ(title("softmax fwd_i alg=accurate src=f32:8x16:s32x1 dst=f32:8x16:ab axis=1"), "f32 8x16 s32x1→ab");
}

TEST(BenchProblem, FamiliesOfReorders) {
  auto family = [](const char *line) { return BenchProblem::parse(line).family(); };
  EXPECT_EQ(family("reorder src=f32:64x64:ab dst=f32:64x64:ba"), "permute");
  EXPECT_EQ(family("reorder src=f32:8x64x8x8:abcd dst=f32:8x64x8x8:aBcd16b"), "blocked");
  EXPECT_EQ(family("reorder src=f32:64x64:ab dst=bf16:64x64:ba"), "convert");
  EXPECT_EQ(family("reorder src=f32:64x64:ab dst=s8:64x64:ba attr.scales=dst"), "quantize");
  EXPECT_EQ(family("reorder src=f32:64x64x3x3:abcd dst=s8:64x64x3x3:ABcd4b16a4b attr.scales=dst"), "weights");
  EXPECT_EQ(family("reorder src=f32:32x32:ab dst=f32:32x32:ba"), "tiny");
}

TEST(BenchProblem, TitlesOfReorders) {
  auto title = [](const char *line) { return BenchProblem::parse(line).title(); };
  EXPECT_EQ(title("reorder src=f32:64x64:ab dst=f32:64x64:ba"), "f32 64x64 ab→ba");
  EXPECT_EQ(title("reorder src=f32:64x64:ab dst=bf16:64x64:ab"), "f32→bf16 64x64");
  EXPECT_EQ(title("reorder src=f32:64x64:ba dst=s8:64x64:ba attr.scales=dst(mask=2) attr.post_ops=sum(scale=0.5)"),
            "f32→s8 64x64 ba + scales dst(2), sum");
}

TEST(BenchProblem, BoundsOfReordersFollowThePlan) {
  BenchProblem problem = BenchProblem::parse("reorder src=f32:64x64:ab dst=f32:64x64:ba");
  EXPECT_EQ(problem.kind().bounds(problem, "map: lines, space 1").compileMs, 2);
  EXPECT_EQ(problem.kind().bounds(problem, "map: tiles, space 1").compileMs, 4);
  EXPECT_EQ(problem.kind().bounds(problem, "map: tiles, space 1, 1 limit").compileMs, 6);
  EXPECT_EQ(problem.kind().bounds(problem, "map: lines, space 1 | map: lines, space 1").compileMs, 6);
  EXPECT_EQ(problem.kind().bounds(problem, "map: tiles, space 1").executeNs, 0);
  BenchProblem tiny = BenchProblem::parse("reorder src=f32:32x32:ab dst=bf16:32x32:ba");
  EXPECT_EQ(tiny.kind().bounds(tiny, "map: tiles, space 1").compileMs, 6);
  EXPECT_EQ(tiny.kind().bounds(tiny, "map: tiles, space 1").executeNs, 250);
}

TEST(BenchProblem, TrafficIncludesPaddingAndOldValuesOfSums) {
  auto traffic = [](const char *line) { return BenchProblem::parse(line).trafficBytes(); };
  EXPECT_EQ(traffic("reorder src=f32:8x17:ab dst=f32:8x17:aB16b"), (8 * 17 + 8 * 32) * 4);
  EXPECT_EQ(traffic("reorder src=f32:8x17:aB16b dst=f32:8x17:ab"), 2 * 8 * 17 * 4);
  EXPECT_EQ(traffic("reorder src=f32:8x16:ab dst=f32:8x16:ab attr.post_ops=sum"), 3 * 8 * 16 * 4);
}

TEST(BenchProblem, TrafficCountsElementsAndNotGaps) {
  BenchProblem problem = BenchProblem::parse("softmax fwd_i alg=accurate src=f32:8x16:s32x1 dst=bf16:8x16:ab axis=1");
  EXPECT_EQ(problem.trafficBytes(), 8 * 16 * 6);
}

TEST(BenchReport, RatioIsThePeersTimeOverOurs) {
  Row row = makeRow(100, 300, 150);
  std::optional<Ratio> ratio = ratioTo(row, "onednn-3.13");
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->minimum, 3);
  EXPECT_DOUBLE_EQ(ratio->median, 3);
  ratio = ratioToBestOneDnn(row, makeSettings());
  ASSERT_TRUE(ratio);
  EXPECT_DOUBLE_EQ(ratio->minimum, 1.5);
  EXPECT_DOUBLE_EQ(ratio->median, 0.75);
}

TEST(BenchReport, RefusedProblemsHaveNoRatio) {
  Row row = makeRow(100, 0, 150);
  EXPECT_FALSE(ratioTo(row, "onednn-3.13"));
  EXPECT_FALSE(ratioTo(row, "jax"));
  EXPECT_TRUE(ratioToBestOneDnn(row, makeSettings()));
  Report report{makeSettings(), {row}};
  EXPECT_EQ(describeRefusals(report), "onednn-3.13 refused f32 8x160: no such thing\n");
}

TEST(BenchReport, FamiliesHaveGeometricMeans) {
  Report report{makeSettings(), {makeRow(100, 200, 400), makeRow(100, 800, 400)}};
  std::string text = describeComparison(report);
  EXPECT_NE(text.find("| last axis | 2 | 0.50 / 0.25 | 4.00 / 4.00 | 4.00 / 2.00 | 2.83 / 2.00 | 2.00 / 2.00 |"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("| f32 8x160 | 0.100 / 0.200 | 102.4 | 0.050 / 0.050 | 0.50 / 0.25 |"), std::string::npos)
      << text;
}

TEST(BenchReport, ReferenceCodeOfPeersIsCountedSeparately) {
  Row optimized = makeRow(100, 200, 400), reference = makeRow(100, 3000, 4000);
  reference.results["onednn-3.13"].kernel = reference.results["onednn-3.2"].kernel = "ref:any";
  std::string text = describeComparison({makeSettings(), {optimized, reference}});
  EXPECT_NE(text.find("| forward, all others | 1 | 0.50 / 0.25 | 2.00 / 2.00 |"), std::string::npos) << text;
  EXPECT_NE(text.find("| forward, left to oneDNN's reference code | 1 | 0.50 / 0.25 | 30.00 / 30.00 |"),
            std::string::npos)
      << text;
}

TEST(BenchReport, MeansAgainstOnePeerUseItsImplementations) {
  Row row = makeRow(100, 200, 4000);
  row.results["onednn-3.2"].kernel = "simple:any";
  std::string text = describeComparison({makeSettings(), {row}});
  EXPECT_NE(text.find("| forward, all others | 1 | 0.50 / 0.25 | 2.00 / 2.00 | – | 2.00 / 2.00 |"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("| forward, left to oneDNN's reference code |"), std::string::npos) << text;
}

TEST(BenchReport, JsonHasEveryResult) {
  nlohmann::json json = toJson({makeSettings(), {makeRow(100, 0, 150)}});
  EXPECT_EQ(json["rows"][0]["results"]["quern"]["min_ns"], 100);
  EXPECT_EQ(json["rows"][0]["results"]["onednn-3.13"]["refused"], "no such thing");
  EXPECT_EQ(json["rows"][0]["same_bits"], true);
}

} // namespace
} // namespace quern::bench
