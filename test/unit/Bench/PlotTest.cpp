//===- PlotTest.cpp - Plots of measurements -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests on synthetic times that each mark has the right label and position.
//
//===----------------------------------------------------------------------===//
#include "Plot.h"

#include "Svg.h"
#include "TripCounts.h"

#include <gtest/gtest.h>

namespace quern::bench {
namespace {

bool has(const std::string &svg, const std::string &part) { return svg.find(part) != std::string::npos; }

Report plottedReport() {
  Report report;
  report.settings.peers = {"onednn-3.2"};
  for (const double theirs : {200.0, 800.0}) {
    Row row;
    row.problem = BenchProblem::parse("softmax fwd_i alg=accurate src=f32:8x160:ab dst=f32:8x160:ab axis=1");
    row.results[quernName].ns = {100};
    row.results[copyName].ns = {50};
    row.results["onednn-3.2"].ns = {theirs};
    report.rows.push_back(row);
  }
  return report;
}

TEST(BenchPlot, RatiosByFamily) {
  const std::string svg = plotRatios(plottedReport());
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_TRUE(has(svg, ">softmax, last axis</text>"));
  EXPECT_TRUE(has(svg, "<title>softmax, last axis, onednn-3.2: 4 (2 to 8) of 2</title>"));
  EXPECT_TRUE(has(svg, "<title>softmax, last axis, copy: 0.5 (0.5 to 0.5) of 2</title>"));
}

TEST(BenchPlot, TheAxisFitsEveryRatio) {
  Report report = plottedReport();
  report.rows.front().results["onednn-3.2"].ns = {1e6};
  const std::string svg = plotRatios(report);
  EXPECT_TRUE(has(svg, ">10000</text>"));
  EXPECT_TRUE(has(svg, "x2=\"704.0\""));
}

TEST(BenchPlot, LadderIsSortedByTime) {
  const std::string svg = plotLadder({{"cold compile, over the problems", "ms", 1, 2, 3, 6},
                                      {"memory hit", "µs", 0.1, 0.2, 0.3, 1},
                                      {"code and constants", "KiB", 1, 2, 3, 4},
                                      {"cold compile, f32 8x16", "ms", 1, 2, 3, 6}});
  EXPECT_TRUE(has(svg, "<title>memory hit: 200 ns</title>"));
  EXPECT_LT(svg.find("memory hit"), svg.find("cold compile, over the problems"));
  EXPECT_FALSE(has(svg, "KiB") || has(svg, "code and constants") || has(svg, "f32 8x16"));
}

TEST(BenchPlot, LogAxes) {
  const LogAxes axes{10, 110, 0, 100, 0, 2, -1, 1};
  EXPECT_DOUBLE_EQ(axes.x(1), 10);
  EXPECT_DOUBLE_EQ(axes.x(10), 60);
  EXPECT_DOUBLE_EQ(axes.y(10), 0);
  EXPECT_DOUBLE_EQ(axes.y(1), 50);
}

TEST(BenchPlot, CountsTheIterationsOfATrace) {
  const auto traceOf = [](const char *trips) {
    return nlohmann::json::parse(std::string(R"({"program": {"steps": [{"kernel": "k", "iterations": "8"}],
      "loops": [{"trips": ")") + trips +
                                 R"(", "first": 0, "end": 1}]}, "stages": [{"loops": [
      {"kernel": "k", "space": 8, "depth": 0, "flops": 1}, {"ofSpace": 2, "depth": 1, "flops": 10},
      {"trips": 5, "depth": 2, "flops": 100}, {"meanTrips": 2.5, "depth": 2, "flops": 0}]}]})");
  };
  EXPECT_EQ(tripCountsOf(traceOf("3")), (std::vector<double>{3, 12, 60, 30}));
  EXPECT_EQ(flopsOf(traceOf("3")), 3 + 120 + 6000);
  EXPECT_EQ(flopsOf(traceOf("s0")), std::nullopt) << "a size that is known only at execution";
}

} // namespace
} // namespace quern::bench
