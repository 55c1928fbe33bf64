//===- Report.cpp - Tables of measurements --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Times are minimum / median in microseconds. A ratio is the peer's time divided by Quern's.
//
//===----------------------------------------------------------------------===//
#include "Report.h"

#include "quern/quern.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

namespace quern::bench {

namespace {

constexpr int64_t scalingBytes = int64_t(32) << 20;

template <typename... Args> std::string format(const char *pattern, Args... args) {
  char text[256];
  std::snprintf(text, sizeof(text), pattern, args...);
  return text;
}

std::string showTime(double ns) {
  return format(ns < 1e3 ? "%.3f" : ns < 100e3 ? "%.2f" : ns < 1e6 ? "%.1f" : "%.0f", ns / 1e3);
}

std::string showTimes(const Measurement &measurement) {
  if (!measurement.done())
    return "refused";
  return showTime(measurement.minimum()) + " / " + showTime(measurement.median()) +
         (measurement.isReference() ? " (ref)" : "");
}

std::string showRatio(const std::optional<Ratio> &ratio) {
  return ratio ? format("%.2f / %.2f", ratio->minimum, ratio->median) : "–";
}

class GeometricMean {
public:
  void add(const std::optional<Ratio> &ratio) {
    if (!ratio)
      return;
    logMinimum += std::log(ratio->minimum);
    logMedian += std::log(ratio->median);
    ++count;
  }
  std::optional<Ratio> value() const {
    if (count == 0)
      return std::nullopt;
    return Ratio{std::exp(logMinimum / count), std::exp(logMedian / count)};
  }

private:
  double logMinimum = 0, logMedian = 0;
  int count = 0;
};

const Measurement *find(const Row &row, const std::string &name) {
  auto found = row.results.find(name);
  return found != row.results.end() && found->second.done() ? &found->second : nullptr;
}

/// Returns true if `peer` is a oneDNN that used its reference code for the problem.
bool isLeftToReference(const Row &row, const std::string &peer) {
  const Measurement *theirs = peer.starts_with("onednn") ? find(row, peer) : nullptr;
  return theirs && theirs->isReference();
}

/// Returns true if every oneDNN that supports the problem used its reference code.
bool isLeftToReference(const Row &row, const Settings &settings) {
  bool any = false;
  for (const std::string &peer : settings.peers)
    if (peer.starts_with("onednn") && find(row, peer)) {
      any = true;
      if (!isLeftToReference(row, peer))
        return false;
    }
  return any;
}

/// The rows that a line of the table of means covers.
struct Selection {
  std::string title, family, group; ///< either `family` or `group` is empty
  /// True: only rows for which oneDNN uses its reference code; false: only others; absent: all. The column of a oneDNN
  /// considers only that one, all other columns consider every oneDNN.
  std::optional<bool> reference = std::nullopt;

  bool holds(const Row &row) const {
    return family.empty() ? row.problem.group() == group : row.problem.family() == family;
  }
  bool holdsFor(const Row &row, const std::string &peer, const Settings &settings) const {
    if (!reference)
      return true;
    return (peer.starts_with("onednn") && find(row, peer) ? isLeftToReference(row, peer)
                                                          : isLeftToReference(row, settings)) == *reference;
  }
};

std::string describeMeans(const Report &report, const Selection &selection) {
  const std::vector<std::string> &peers = report.settings.peers;
  int count = 0;
  GeometricMean best, copy;
  std::vector<GeometricMean> means(peers.size());
  std::optional<Ratio> lowest;
  for (const Row &row : report.rows) {
    if (!selection.holds(row))
      continue;
    for (size_t peer = 0; peer < peers.size(); ++peer)
      if (selection.holdsFor(row, peers[peer], report.settings))
        means[peer].add(ratioTo(row, peers[peer]));
    if (!selection.holdsFor(row, copyName, report.settings))
      continue;
    ++count;
    copy.add(ratioTo(row, copyName));
    std::optional<Ratio> ratio = ratioToBestOneDnn(row, report.settings);
    best.add(ratio);
    if (ratio && (!lowest || ratio->minimum < lowest->minimum))
      lowest = ratio;
  }
  if (count == 0)
    return "";
  std::string text = "| " + selection.title + " | " + std::to_string(count) + " | " + showRatio(copy.value()) + " |";
  for (const GeometricMean &mean : means)
    text += " " + showRatio(mean.value()) + " |";
  return text + " " + showRatio(best.value()) + " | " + showRatio(lowest) + " |\n";
}

/// Returns the distinct names of the rows, in the order of first occurrence.
template <typename NameOf> std::vector<std::string> distinct(const std::vector<Row> &rows, NameOf nameOf) {
  std::vector<std::string> names;
  for (const Row &row : rows)
    if (std::string name = nameOf(row.problem); std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  return names;
}

std::string describeFamilies(const Report &report) {
  std::string text = "| geometric mean of | problems | vs copy |", rule = "|---|---|---|";
  for (const std::string &peer : report.settings.peers)
    text += " vs " + peer + " |", rule += "---|";
  text += " vs the better oneDNN | lowest |\n" + rule + "---|---|\n";
  for (const std::string &family : distinct(report.rows, [](const BenchProblem &problem) { return problem.family(); }))
    text += describeMeans(report, {family, family, ""});
  for (const std::string &group : distinct(report.rows, [](const BenchProblem &problem) { return problem.group(); })) {
    text += describeMeans(report, {group + ", all others", "", group, false});
    text += describeMeans(report, {group + ", left to oneDNN's reference code", "", group, true});
  }
  return text;
}

} // namespace

std::optional<Ratio> ratioTo(const Row &row, const std::string &peer) {
  const Measurement *ours = find(row, quernName), *theirs = find(row, peer);
  if (!ours || !theirs)
    return std::nullopt;
  return Ratio{theirs->minimum() / ours->minimum(), theirs->median() / ours->median()};
}

std::optional<Ratio> ratioToBestOneDnn(const Row &row, const Settings &settings) {
  std::optional<Ratio> best;
  for (const std::string &peer : settings.peers) {
    std::optional<Ratio> ratio = peer.starts_with("onednn") ? ratioTo(row, peer) : std::nullopt;
    if (ratio)
      best = best ? Ratio{std::min(best->minimum, ratio->minimum), std::min(best->median, ratio->median)} : *ratio;
  }
  return best;
}

std::string describeMachine() {
  std::string cpu = "unknown CPU";
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name") && line.find(": ") != std::string::npos) {
      cpu = line.substr(line.find(": ") + 2);
      break;
    }
  const quern_version_t *version = quern_version();
  std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof(date), "%Y-%m-%d", std::gmtime(&now));
  return format("%s; Quern %d.%d.%d (%s); %s\n", cpu.c_str(), version->major, version->minor, version->patch,
                version->hash, date);
}

std::string describeComparison(const Report &report) {
  const Settings &settings = report.settings;
  std::string text =
      format("%d thread%s%s, times in µs (minimum / median of %d or more), ratios peer / Quern\n\n", settings.threads,
             settings.threads == 1 ? "" : "s", settings.onDevice ? " of a device, by its clock" : "", settings.runs);
  std::string rule = settings.onDevice ? "|---|---|---|" : "|---|---|---|---|---|";
  text += settings.onDevice ? "| problem | Quern | GB/s |" : "| problem | Quern | GB/s | copy | vs copy |";
  for (const std::string &peer : settings.peers)
    text += " " + peer + " |", rule += "---|";
  for (const std::string &peer : settings.peers)
    text += " vs " + peer + " |", rule += "---|";
  text += "\n" + rule + "\n";
  for (const Row &row : report.rows) {
    const Measurement *ours = find(row, quernName);
    double rate = ours ? static_cast<double>(row.problem.trafficBytes()) / ours->minimum() : 0;
    text += "| " + row.problem.title() + (row.sameBits ? "" : " (BITS DIFFER)") + " | " +
            showTimes(row.results.at(quernName)) + " | " + format("%.1f", rate) + " |";
    if (!settings.onDevice)
      text += " " + showTimes(row.results.at(copyName)) + " | " + showRatio(ratioTo(row, copyName)) + " |";
    for (const std::string &peer : settings.peers)
      text += " " + showTimes(row.results.at(peer)) + " |";
    for (const std::string &peer : settings.peers)
      text += " " + showRatio(ratioTo(row, peer)) + " |";
    text += "\n";
  }
  return text + "\n" + describeFamilies(report);
}

std::string describeRefusals(const Report &report) {
  std::string text;
  for (const Row &row : report.rows)
    for (const auto &[name, measurement] : row.results)
      if (!measurement.done())
        text += name + " refused " + row.problem.title() + ": " + measurement.refusal + "\n";
  return text;
}

std::string describeScaling(const Report &one, const Report &many) {
  std::string text =
      format("| %d over %d threads, tensors of 32 MiB and more | Quern | copy of the same bytes |\n|---|---|---|\n",
             many.settings.threads, one.settings.threads);
  for (size_t i = 0; i < one.rows.size(); ++i) {
    const BenchProblem &problem = one.rows[i].problem;
    if (problem.trafficBytes() < scalingBytes)
      continue;
    auto scaling = [&](const char *name) {
      const Measurement *before = find(one.rows[i], name), *after = find(many.rows[i], name);
      return before && after ? format("%.2f", before->minimum() / after->minimum()) : std::string("–");
    };
    text += "| " + problem.title() + " | " + scaling(quernName) + " | " + scaling(copyName) + " |\n";
  }
  return text;
}

nlohmann::json toJson(const Report &report) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Row &row : report.rows) {
    nlohmann::json results;
    for (const auto &[name, measurement] : row.results) {
      if (measurement.done())
        results[name] = {{"min_ns", measurement.minimum()},
                         {"median_ns", measurement.median()},
                         {"samples", measurement.ns.size()},
                         {"kernel", measurement.kernel}};
      else
        results[name] = {{"refused", measurement.refusal}};
    }
    rows.push_back({{"problem", row.problem.line},
                    {"family", row.problem.family()},
                    {"bytes", row.problem.trafficBytes()},
                    {"same_bits", row.sameBits},
                    {"results", results}});
  }
  return {{"threads", report.settings.threads}, {"cpus", report.settings.cpus}, {"rows", rows}};
}

} // namespace quern::bench
