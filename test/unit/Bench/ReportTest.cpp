//===- ReportTest.cpp - Problems, ratios and tables of quern-bench --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the harness computes from times, on times that are made up.
//
//===----------------------------------------------------------------------===//
#include "Report.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <stdexcept>

namespace quern::bench {
namespace {

Problem makeProblem() { return {"the line", "softmax_accurate", 1, {8, 16}, {"f32", {16, 1}}, {"f32", {16, 1}}}; }

Row makeRow(double ours, double onednn313, double onednn32) {
  Row row;
  row.problem = makeProblem();
  row.results[quernName].ns = {3 * ours, ours, 2 * ours};
  row.results[copyName].ns = {1};
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

TEST(BenchProblem, EncodingLeadsBack) {
  Problem problem = makeProblem();
  problem.dst = {"bf16", {1, 8}};
  Problem again = Problem::decode(problem.encode());
  EXPECT_EQ(again.encode(), problem.encode());
  EXPECT_EQ(again.line, "the line");
  EXPECT_EQ(again.dst.strides, (std::vector<int64_t>{1, 8}));
  EXPECT_THROW(Problem::decode("run 1 1"), std::runtime_error);
}

TEST(BenchProblem, Families) {
  Problem problem = makeProblem();
  EXPECT_EQ(problem.family(), "last axis");
  problem.axis = 0;
  EXPECT_EQ(problem.family(), "strided axis");
  problem.algorithm = "softmax_log";
  EXPECT_EQ(problem.family(), "log");
  problem.src.type = "bf16";
  EXPECT_EQ(problem.family(), "narrow types");
}

TEST(BenchProblem, TitleNamesWhatIsUnusual) {
  Problem problem = makeProblem();
  EXPECT_EQ(problem.title(), "f32 8x16");
  problem.axis = 0;
  problem.algorithm = "softmax_log";
  problem.dst = {"bf16", {1, 8}};
  EXPECT_EQ(problem.title(), "f32→bf16 log 8x16 axis 0 dst 1x8");
}

TEST(BenchProblem, BytesCountElementsAndGaps) {
  Problem problem = makeProblem();
  problem.src.strides = {32, 1};
  EXPECT_EQ(problem.trafficBytes(), 8 * 16 * 8);
  EXPECT_EQ(problem.bytesOf(problem.src), (7 * 32 + 16) * 4);
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

TEST(BenchReport, WhoRefusedHasNoRatio) {
  Row row = makeRow(100, 0, 150);
  EXPECT_FALSE(ratioTo(row, "onednn-3.13"));
  EXPECT_FALSE(ratioTo(row, "jax"));
  EXPECT_TRUE(ratioToBestOneDnn(row, makeSettings()));
  Report report{makeSettings(), {row}};
  EXPECT_EQ(describeRefusals(report), "onednn-3.13 refused f32 8x16: no such thing\n");
}

TEST(BenchReport, FamiliesHaveGeometricMeans) {
  Report report{makeSettings(), {makeRow(100, 200, 400), makeRow(100, 800, 400)}};
  std::string text = describeComparison(report);
  EXPECT_NE(text.find("| last axis | 2 | 4.00 / 4.00 | 4.00 / 2.00 |"), std::string::npos) << text;
  EXPECT_NE(text.find("| f32 8x16 | 0.100 / 0.200 |"), std::string::npos) << text;
}

TEST(BenchReport, JsonHasEveryResult) {
  nlohmann::json json = toJson({makeSettings(), {makeRow(100, 0, 150)}});
  EXPECT_EQ(json["rows"][0]["results"]["quern"]["min_ns"], 100);
  EXPECT_EQ(json["rows"][0]["results"]["onednn-3.13"]["refused"], "no such thing");
  EXPECT_EQ(json["rows"][0]["same_bits"], true);
}

} // namespace
} // namespace quern::bench
