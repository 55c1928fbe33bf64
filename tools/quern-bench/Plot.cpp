//===- Plot.cpp - Measurements as pictures --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Plot.h"

#include "Api.h"
#include "Contestants/Contestant.h"
#include "Problems/ProblemKind.h"
#include "Roofs.h"
#include "Svg.h"
#include "TripCounts.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace quern::bench {

namespace {

constexpr double names = 190, width = 720, rowHeight = 18;

std::string picture(double height, const std::string &marks) {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + fixed(width, 0) + "\" height=\"" + fixed(height, 0) +
         "\" viewBox=\"0 0 " + fixed(width, 0) + " " + fixed(height, 0) + "\"><style>" + svgStyle +
         "</style><rect width=\"100%\" height=\"100%\" fill=\"#fdfdfc\"/>" + marks + "</svg>\n";
}

std::string dot(double x, double y, const std::string &series, const std::string &title) {
  return "<circle class=\"" + series + "\" cx=\"" + fixed(x) + "\" cy=\"" + fixed(y) + "\" r=\"4.5\"><title>" +
         escaped(title) + "</title></circle>";
}

std::string seriesOf(size_t at) { return "s" + std::to_string(at % 8); }

/// Returns vertical lines with their numbers.
std::string ticks(const LogAxes &axes, const std::vector<double> &at, const std::string &unit) {
  std::string svg;
  for (const double value : at)
    svg += lineFrom(axes.x(value), axes.top, axes.x(value), axes.bottom, value == 1 && unit.empty() ? "one" : "grid") +
           textAt(axes.x(value), axes.bottom + 14, shortly(value) + unit, "middle");
  return svg;
}

struct Spread {
  double logs = 0, min = 1e30, max = 0;
  int count = 0;
  void add(double ratio) {
    logs += std::log(ratio);
    min = std::min(min, ratio);
    max = std::max(max, ratio);
    ++count;
  }
  double mean() const { return std::exp(logs / count); }
};

/// Returns the spreads of each family by peer, in the order of the rows.
std::vector<std::pair<std::string, std::map<std::string, Spread>>> spreadsOf(const Report &report,
                                                                             const std::vector<std::string> &peers) {
  std::vector<std::pair<std::string, std::map<std::string, Spread>>> families;
  for (const Row &row : report.rows) {
    const std::string name = row.problem.kind().name() + ", " + row.problem.family();
    auto found = std::ranges::find(families, name, &decltype(families)::value_type::first);
    if (found == families.end())
      found = families.insert(families.end(), {name, {}});
    for (const std::string &peer : peers)
      if (const std::optional<Ratio> ratio = ratioTo(row, peer))
        found->second[peer].add(ratio->minimum);
  }
  return families;
}

/// Returns 1, 2 and 5 times the powers of ten within the axis; only the powers if it has more than four decades.
std::vector<double> ticksOf(const LogAxes &axes) {
  std::vector<double> values;
  for (const double power : decades(std::floor(axes.x0), std::floor(axes.x1)))
    for (const double value : {power, 2 * power, 5 * power})
      if (std::log10(value) >= axes.x0 && std::log10(value) <= axes.x1 && (value == power || axes.x1 - axes.x0 <= 4))
        values.push_back(value);
  return values;
}

double timeIn(const Overhead &overhead, double value) {
  return overhead.unit == "ns" ? value : overhead.unit == "µs" ? value * 1e3 : value * 1e6;
}

bool isRung(const Overhead &overhead) {
  const bool isTime = overhead.unit == "ns" || overhead.unit == "µs" || overhead.unit == "ms";
  return isTime && overhead.median > 0 && !overhead.name.starts_with("cold compile, ") &&
         !overhead.name.starts_with("execute, f") && !overhead.name.starts_with("execute, kernel included, ");
}

std::string duration(double ns) {
  return ns < 1e3 ? shortly(ns) + " ns" : ns < 1e6 ? shortly(ns / 1e3) + " µs" : shortly(ns / 1e6) + " ms";
}

} // namespace

std::string plotRatios(const Report &report) {
  std::vector<std::string> peers = report.settings.peers;
  if (!report.settings.onDevice)
    peers.push_back(copyName);
  const auto families = spreadsOf(report, peers);
  LogAxes axes{names, width - 16, 48, 48 + rowHeight * static_cast<double>(families.size()), -1, 1, 0, 1};
  for (const auto &[family, spreads] : families)
    for (const auto &[peer, spread] : spreads) {
      axes.x0 = std::min(axes.x0, std::log10(spread.min));
      axes.x1 = std::max(axes.x1, std::log10(spread.max));
    }
  std::string svg =
      textAt(8, 18,
             "How many times as fast as peers Quern is: geometric means by family; lines are ranges of problems") +
      ticks(axes, ticksOf(axes), "");
  double x = names;
  for (size_t peer = 0; peer < peers.size(); ++peer, x += 88)
    svg += dot(x, 34, seriesOf(peer), peers[peer]) + textAt(x + 8, 38, peers[peer]);
  double y = axes.top + rowHeight / 2;
  for (const auto &[family, spreads] : families) {
    svg += textAt(names - 8, y + 4, family, "end");
    double shift = -2.0 * (static_cast<double>(peers.size()) - 1) / 2;
    for (size_t peer = 0; peer < peers.size(); ++peer, shift += 2)
      if (auto found = spreads.find(peers[peer]); found != spreads.end()) {
        const Spread &spread = found->second;
        svg += lineFrom(axes.x(spread.min), y + shift, axes.x(spread.max), y + shift, "spread") +
               dot(axes.x(spread.mean()), y + shift, seriesOf(peer),
                   family + ", " + peers[peer] + ": " + shortly(spread.mean()) + " (" + shortly(spread.min) + " to " +
                       shortly(spread.max) + ") of " + std::to_string(spread.count));
      }
    y += rowHeight;
  }
  return picture(axes.bottom + 24, svg);
}

std::string plotLadder(const std::vector<Overhead> &overheads) {
  std::vector<Overhead> rungs;
  std::ranges::copy_if(overheads, std::back_inserter(rungs), isRung);
  std::ranges::sort(rungs, {}, [](const Overhead &rung) { return timeIn(rung, rung.median); });
  constexpr double left = 352;
  LogAxes axes{left, width - 70, 30, 30 + rowHeight * static_cast<double>(rungs.size()), 1, 8, 0, 1};
  std::string svg = textAt(8, 18, "From a hit in memory to a cold compile: medians; lines from the least to the most");
  for (double ns : decades(axes.x0, axes.x1))
    svg += lineFrom(axes.x(ns), axes.top, axes.x(ns), axes.bottom, "grid") +
           textAt(axes.x(ns), axes.bottom + 14, duration(ns), "middle");
  double y = axes.top + rowHeight / 2;
  for (const Overhead &rung : rungs) {
    const double median = timeIn(rung, rung.median);
    const auto clamped = [](double ns) { return std::clamp(ns, 10.0, 1e8); };
    svg += textAt(left - 8, y + 4, rung.name, "end") +
           lineFrom(axes.x(clamped(timeIn(rung, rung.minimum))), y, axes.x(clamped(timeIn(rung, rung.maximum))), y,
                    "spread") +
           dot(axes.x(clamped(median)), y, "s0", rung.name + ": " + duration(median)) +
           textAt(axes.x(clamped(timeIn(rung, rung.maximum))) + 8, y + 4, duration(median));
    y += rowHeight;
  }
  return picture(axes.bottom + 24, svg);
}

std::string plotRoofline(const Report &report) {
  std::vector<RoofPoint> points;
  std::vector<std::string> groups;
  for (const Row &row : report.rows) {
    const auto ours = row.results.find(quernName);
    const double bytes = static_cast<double>(row.problem.trafficBytes());
    if (ours == row.results.end() || !ours->second.done() || bytes <= 0)
      continue;
    const std::string trace = compileFor(row.problem.verified.desc.text(), Target::host().text(), quern_form_trace);
    const std::optional<double> flops = flopsOf(nlohmann::json::parse(trace));
    if (!flops || *flops <= 0)
      continue;
    const std::string group = row.problem.group();
    if (std::ranges::find(groups, group) == groups.end())
      groups.push_back(group);
    const size_t series = static_cast<size_t>(std::ranges::find(groups, group) - groups.begin());
    const double ns = ours->second.minimum();
    points.push_back({*flops / bytes, *flops / ns, "",
                      row.problem.title() + ": " + shortly(*flops / ns) + " GFLOP/s, " + shortly(bytes / ns) + " GB/s",
                      "", seriesOf(series)});
  }
  constexpr int64_t memoryBytes = int64_t(256) << 20;
  const RoofLimits limits{peakGflops(), 0, copyGbPerS(memoryBytes)};
  std::string legend;
  double x = 80;
  for (size_t group = 0; group < groups.size(); ++group, x += 110)
    legend += dot(x, 30, seriesOf(group), groups[group]) + textAt(x + 8, 34, groups[group]);
  return picture(
      470, textAt(8, 18, "Quern's problems under a copy in memory and the peak of multiply-adds in f32, one thread") +
               legend + "<g transform=\"translate(0 36) scale(1.5)\">" + rooflineMarks(limits, points) + "</g>");
}

} // namespace quern::bench
