//===- PageAbout.cpp - Problem and plan of a page in words ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// All content is text and links, visible without a script.
//
//===----------------------------------------------------------------------===//
#include "PageAbout.h"

#include "Measure.h"
#include "Svg.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace quern {
namespace {

std::string plural(int64_t count, const char *word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

std::string listOf(const nlohmann::json &names) {
  std::string text;
  for (const nlohmann::json &name : names)
    text += (text.empty() ? "%" : " and %") + name.get<std::string>();
  return text;
}

/// Returns the work of an iteration, such as "reads 192 bytes by 3 loads, 3 operations (48 flops)".
std::string workOf(const nlohmann::json &loop) {
  auto number = [&](const char *key) { return loop[key].get<int64_t>(); };
  std::string text;
  auto add = [&](const std::string &what) { text += (text.empty() ? "" : ", ") + what; };
  if (number("loads"))
    add("reads " + std::to_string(number("bytesRead")) + " bytes by " + plural(number("loads"), "load"));
  if (number("operations"))
    add(plural(number("operations"), "operation") + " (" + std::to_string(number("flops")) + " flops)");
  if (number("stores"))
    add("writes " + std::to_string(number("bytesWritten")) + " bytes by " + plural(number("stores"), "store"));
  return text;
}

/// Returns in words the number of values in registers, the arguments, and the bytes and flops of all iterations.
std::string keptOf(const nlohmann::json &loop) {
  std::string text;
  auto add = [&](const std::string &what) { text += (text.empty() ? "" : "; ") + what; };
  if (loop.contains("carried"))
    add("keeps " + plural(loop["carried"].get<int64_t>(), "value") + " in registers");
  if (loop.contains("read"))
    add("from " + listOf(loop["read"]));
  if (loop.contains("written"))
    add("to " + listOf(loop["written"]));
  const int64_t bytes = loop["bytesRead"].get<int64_t>() + loop["bytesWritten"].get<int64_t>();
  if (loop.contains("trips") && bytes)
    add(bytesText(static_cast<double>(loop["trips"].get<int64_t>() * bytes)) + " and " +
        std::to_string(loop["trips"].get<int64_t>() * loop["flops"].get<int64_t>()) + " flops in all iterations");
  return text;
}

std::string nameOfLoop(const nlohmann::json &loop, int64_t space) {
  if (loop.contains("kernel"))
    return loop["kernel"].get<std::string>() + ", " + plural(loop["space"].get<int64_t>(), "iteration");
  if (loop.contains("ofSpace")) {
    const int64_t iterations = loop["ofSpace"];
    return "each " + (iterations > 1 ? std::to_string(iterations) + " " : std::string()) + "of the " +
           std::to_string(space);
  }
  if (loop.contains("meanTrips")) {
    char text[64];
    std::snprintf(text, sizeof(text), "%.3g times on average", loop["meanTrips"].get<double>());
    return text;
  }
  return loop.contains("trips") ? plural(loop["trips"].get<int64_t>(), "time") : "counted at run time";
}

/// Returns a loop's share of the measured time, or "".
std::string shareOf(const nlohmann::json &trace, const nlohmann::json &loop) {
  if (!trace.contains("measured"))
    return "";
  for (const nlohmann::json &sweep : trace["measured"]["sweeps"])
    if (sweep["line"] == loop["line"] && sweep.contains("ns"))
      return timeText(sweep["ns"]) + " of the " + timeText(trace["measured"]["minNs"]);
  return "";
}

std::string linkTo(const std::string &place, int64_t line) { return "#" + place + std::to_string(line); }

/// Returns the loops of the schedule as a tree in words, each with a link to its line.
std::string loopsOf(const nlohmann::json &trace, const std::string &suffix) {
  std::string html;
  for (const nlohmann::json &stage : trace["stages"]) {
    if (!stage.contains("loops"))
      continue;
    html += "<h3>Loops, and the work of an iteration of each</h3><div class=\"loops\">";
    int64_t space = 0;
    for (const nlohmann::json &loop : stage["loops"]) {
      space = loop.value("space", space);
      const std::string work = workOf(loop), kept = keptOf(loop), share = shareOf(trace, loop);
      html += "<a style=\"padding-left:" + std::to_string(2 * loop["depth"].get<int64_t>()) + "em\" href=\"" +
              linkTo("schedule" + suffix, loop["line"]) + "\">" + escaped(nameOfLoop(loop, space)) +
              (work.empty() ? "" : ": " + work) + (kept.empty() ? "" : "<small>" + escaped(kept) + "</small>") +
              (share.empty() ? "" : "<b>" + share + "</b>") + "</a>";
    }
    html += "</div>";
  }
  return html;
}

int64_t countIn(const nlohmann::json &lines, const nlohmann::json &loop) {
  return std::count_if(lines.begin(), lines.end(),
                       [&](const nlohmann::json &line) { return loop["first"] <= line && line <= loop["last"]; });
}

std::string boundOf(const std::string &bound) {
  return bound == "latency"    ? "bound by latency"
         : bound == "dispatch" ? "bound by the number of micro-operations per cycle"
                               : "bound by port " + bound;
}

/// Returns one row of the table: a loop on one processor. Ports that are used less than half as much as the busiest are
/// omitted.
std::string estimateRow(const nlohmann::json &estimate, bool isHere) {
  std::string html = std::string("<tr") + (isHere ? " class=\"here\"" : "") + "><td>" +
                     escaped(estimate["machine"].get<std::string>()) + (isHere ? ", like this machine" : "") + "</td>";
  if (estimate.contains("whyNot"))
    return html + "<td colspan=\"3\">" + escaped(estimate["whyNot"].get<std::string>()) + "</td></tr>";
  double maxCycles = 0;
  for (const nlohmann::json &cycles : estimate["ports"])
    maxCycles = std::max(maxCycles, cycles.get<double>());
  std::string ports;
  for (const auto &[port, cycles] : estimate["ports"].items()) {
    char text[96];
    std::snprintf(text, sizeof(text), "%s %.1f", port.c_str(), cycles.get<double>());
    if (cycles >= maxCycles / 2)
      ports += (ports.empty() ? "" : ", ") + std::string(text);
  }
  char cycles[48];
  std::snprintf(cycles, sizeof(cycles), "%.1f cycles", estimate["cycles"].get<double>());
  return html + "<td>" + cycles + "</td><td>" + escaped(boundOf(estimate["boundBy"])) + "</td><td>" + escaped(ports) +
         "</td></tr>";
}

/// Returns the estimates of LLVM's processor models for the innermost loops of the assembly.
std::string estimatesOf(const nlohmann::json &trace, const std::string &suffix) {
  std::string html;
  const std::string here = processorName();
  for (const nlohmann::json &stage : trace["stages"]) {
    if (!stage.contains("innermost") || stage["innermost"].empty())
      continue;
    html += "<h3>Innermost loops of the assembly: cycles per iteration by LLVM's models (llvm-mca), with all data in "
            "L1</h3>";
    for (const nlohmann::json &loop : stage["innermost"]) {
      const nlohmann::json &marks = stage["marks"];
      html += "<table><caption><a href=\"" + linkTo("assembly" + suffix, loop["first"]) + "\">lines " +
              std::to_string(loop["first"].get<int64_t>()) + " to " + std::to_string(loop["last"].get<int64_t>()) +
              "</a>: " + plural(countIn(marks["spill"], loop), "spill") + ", " +
              plural(countIn(marks["reload"], loop), "reload") + ", " +
              std::to_string(countIn(marks["unaligned"], loop)) + " unaligned</caption>";
      for (const nlohmann::json &estimate : loop["estimates"])
        html += estimateRow(estimate, estimate["machine"] == here);
      html += "</table>";
    }
  }
  return html;
}

std::string recipesOf(const nlohmann::json &trace) {
  std::string html = "<h3>Results of the recipes, in the order in which they are tried</h3><dl>";
  for (const nlohmann::json &problem : trace["recipes"]) {
    if (trace["recipes"].size() > 1)
      html += "<dt class=\"problem\">" + escaped(problem["problem"].get<std::string>()) + "</dt>";
    bool isSupported = false;
    for (const nlohmann::json &opinion : problem["opinions"]) {
      const bool supports = opinion["takes"];
      html += "<dt>" + escaped(opinion["recipe"].get<std::string>()) +
              (!supports     ? " refuses"
               : isSupported ? " also supports it"
                             : " supports it") +
              "</dt><dd>" + escaped(opinion["why"].get<std::string>()) + "</dd>";
      isSupported |= supports;
    }
    if (!isSupported)
      html += "<dt>all refuse</dt><dd>so the recipes are tried again with their fallbacks</dd>";
  }
  return html + "</dl>";
}

std::string measuredOf(const nlohmann::json &trace, const std::string &suffix) {
  if (!trace.contains("measured"))
    return "";
  const nlohmann::json &measured = trace["measured"];
  const double ns = measured["minNs"], bytes = measured["bytes"],
               flops = measured["flops"].is_null() ? 0 : measured["flops"].get<double>(),
               copy = bytes / measured["copyGbPerS"].get<double>(), peak = flops / measured["peakGflops"].get<double>();
  char ofCopy[80], ofPeak[80] = "";
  std::snprintf(ofCopy, sizeof(ofCopy), "%.2f times as long as a copy of its bytes (%s)", ns / copy,
                timeText(copy).c_str());
  if (flops > 0)
    std::snprintf(ofPeak, sizeof(ofPeak), ", %.2f times as long as its flops at the peak (%s)", ns / peak,
                  timeText(peak).c_str());
  const nlohmann::json &samples = measured["samples"];
  const std::string sampled = samples.contains("whyNot") ? samples["whyNot"].get<std::string>()
                                                         : std::to_string(samples["inside"].get<int64_t>()) + " of " +
                                                               std::to_string(samples["all"].get<int64_t>()) +
                                                               " samples (" + samples["event"].get<std::string>() +
                                                               ") are in the kernels; the assembly shows their shares";
  return "<h3>Time on this machine, " + escaped(measured["processor"].get<std::string>()) + ", one thread</h3><p><b>" +
         timeText(ns) + "</b>, median " + timeText(measured["medianNs"]) + ": " + ofCopy + ofPeak + ". " +
         escaped(sampled) + ".</p>" + rooflineOf(measured, "schedule" + suffix);
}

} // namespace

std::string bytesText(double bytes) {
  const char *units[] = {"bytes", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit < 3; ++unit)
    bytes /= 1024;
  char text[48];
  std::snprintf(text, sizeof(text), "%.*f %s", unit && bytes < 100 ? 1 : 0, bytes, units[unit]);
  return text;
}

std::string timeText(double ns) {
  char text[48];
  std::snprintf(text, sizeof(text), "%.3g %s",
                ns < 1e3   ? ns
                : ns < 1e6 ? ns / 1e3
                           : ns / 1e6,
                ns < 1e3   ? "ns"
                : ns < 1e6 ? "us"
                           : "ms");
  return text;
}

std::string aboutOf(const PageKernel &kernel, size_t number) {
  const nlohmann::json &trace = kernel.trace;
  const std::string suffix = (number ? "." + std::to_string(number) : "") + "-", picture = programPictureOf(trace);
  return "<aside data-kernel=\"" + std::to_string(number) +
         "\"><h2>problem and plan</h2><div class=\"about\" tabindex=\"0\"><h1>" +
         escaped(trace["problem"].get<std::string>()) + "</h1><p>" + escaped(trace["target"].get<std::string>()) +
         "  key " + escaped(trace["key"].get<std::string>()) + "\n" + escaped(kernel.explanation) + "</p>" +
         measuredOf(trace, suffix) + loopsOf(trace, suffix) + estimatesOf(trace, suffix) +
         (picture.empty()
              ? ""
              : "<h3>Launch program: steps from left to right, and the buffers that they read and write</h3>") +
         picture + recipesOf(trace) + "</div></aside><div class=\"grip\"></div>\n";
}

} // namespace quern
