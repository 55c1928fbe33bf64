//===- PagePictures.cpp - The roofline and the launch program -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The SVG is inline, so its colors come from the page and its texts can be searched. The title of each mark explains
// it.
//
//===----------------------------------------------------------------------===//
#include "PageAbout.h"

#include "Svg.h"

#include <algorithm>
#include <map>
#include <set>

namespace quern {
namespace {

/// Returns a point of the roofline plot for the whole kernel, and one for each sweep that takes at least 1% of its
/// time.
std::vector<RoofPoint> pointsOf(const nlohmann::json &measured, const std::string &place) {
  std::vector<RoofPoint> points;
  const double ns = measured["minNs"], bytes = measured["bytes"],
               flops = measured["flops"].is_null() ? 0 : measured["flops"].get<double>();
  if (flops > 0 && bytes > 0)
    points.push_back({flops / bytes, flops / ns, "kernel",
                      "kernel: " + timeText(ns) + ", " + shortly(flops / ns) + " GFLOP/s, " + shortly(bytes / ns) +
                          " GB/s of reads and writes",
                      "", "whole"});
  for (const nlohmann::json &sweep : measured["sweeps"]) {
    const double sweepNs = sweep.value("ns", 0.0), moved = sweep.value("bytes", 0.0),
                 computed = sweep.value("flops", 0.0);
    if (sweepNs < 0.01 * ns || moved <= 0 || computed <= 0)
      continue;
    const std::string line = std::to_string(sweep["line"].get<int64_t>());
    points.push_back({computed / moved, computed / sweepNs, line,
                      "loop of line " + line + ": " + timeText(sweepNs) + ", " + shortly(computed / sweepNs) +
                          " GFLOP/s, " + shortly(moved / sweepNs) + " GB/s with its loads and stores",
                      "#" + place + line, ""});
  }
  return points;
}

/// The arguments that a kernel reads and writes.
struct Uses {
  std::vector<std::string> arguments;
  std::set<std::string> read, written;
};

std::map<std::string, Uses> usesOf(const nlohmann::json &trace) {
  std::map<std::string, Uses> all;
  for (const nlohmann::json &stage : trace["stages"]) {
    if (!stage.contains("loops"))
      continue;
    Uses *uses = nullptr;
    for (const nlohmann::json &loop : stage["loops"]) {
      if (loop.contains("kernel")) {
        uses = &all[loop["kernel"]];
        uses->arguments = loop["arguments"].get<std::vector<std::string>>();
      }
      for (const nlohmann::json &name : loop.value("read", nlohmann::json::array()))
        uses->read.insert(name);
      for (const nlohmann::json &name : loop.value("written", nlohmann::json::array()))
        uses->written.insert(name);
    }
  }
  return all;
}

/// One column per step, one row per buffer.
struct Grid {
  double names = 150, step = 84, row = 20, head;
  double x(size_t at) const { return names + step * (static_cast<double>(at) + 0.5); }
  double y(size_t buffer) const { return head + 62 + row * static_cast<double>(buffer); }
};

std::string loopsOfProgram(const nlohmann::json &program, const Grid &grid, double bottom) {
  std::string svg;
  std::vector<double> ends; // ends of the enclosing loops
  for (const nlohmann::json &loop : program["loops"]) {
    const double first = loop["first"], end = loop["end"];
    while (!ends.empty() && ends.back() <= first)
      ends.pop_back();
    const double depth = static_cast<double>(ends.size());
    ends.push_back(end);
    const double x = grid.names + grid.step * first + 2 + 3 * depth, y = 4 + 18 * depth;
    svg += "<rect class=\"loop\" x=\"" + fixed(x) + "\" y=\"" + fixed(y) + "\" width=\"" +
           fixed(grid.step * (end - first) - 4 - 6 * depth) + "\" height=\"" + fixed(bottom - y - 3 * depth) +
           "\" rx=\"5\"/>" + textAt(x + 6, y + 13, loop["trips"].get<std::string>() + " times");
  }
  return svg;
}

/// Returns marks for the accesses of a step to each buffer; one buffer may be several of its arguments.
std::string marksOfStep(const nlohmann::json &step, const Grid &grid, const Uses &uses, size_t at) {
  struct Mark {
    bool isRead = false, isWritten = false;
    std::string title;
  };
  std::map<size_t, Mark> marks;
  for (size_t i = 0; i < step["buffers"].size(); ++i) {
    const nlohmann::json &used = step["buffers"][i];
    const std::string name = i < uses.arguments.size() ? uses.arguments[i] : "", offset = used[1];
    const bool isWritten = uses.written.contains(name), isRead = uses.read.contains(name) || !isWritten;
    Mark &mark = marks[used[0]];
    mark.isRead |= isRead;
    mark.isWritten |= isWritten;
    mark.title += (mark.title.empty() ? "" : "; ") +
                  std::string(isRead && isWritten ? "read and written"
                              : isWritten         ? "written"
                                                  : "read") +
                  (name.empty() ? "" : " as " + name) + (offset == "0" ? "" : ", from byte " + offset);
  }
  std::string svg;
  for (const auto &[buffer, mark] : marks)
    svg += "<circle class=\"" + std::string(mark.isWritten ? "written" : "read") +
           (mark.isRead && mark.isWritten ? " read" : "") + "\" cx=\"" + fixed(grid.x(at)) + "\" cy=\"" +
           fixed(grid.y(buffer)) + "\" r=\"5\"><title>" + escaped(mark.title) + "</title></circle>";
  return svg;
}

std::string stepsOfProgram(const nlohmann::json &trace, const Grid &grid, size_t buffers) {
  const std::map<std::string, Uses> uses = usesOf(trace);
  std::string svg;
  for (size_t at = 0; at < trace["program"]["steps"].size(); ++at) {
    const nlohmann::json &step = trace["program"]["steps"][at];
    const std::string kernel = step["kernel"];
    std::string shown = kernel.ends_with("_kernel") ? kernel.substr(0, kernel.size() - 7) : kernel;
    svg += "<g><rect class=\"step\" x=\"" + fixed(grid.x(at) - 36) + "\" y=\"" + fixed(grid.head + 4) +
           "\" width=\"72\" height=\"34\" rx=\"4\"/>" +
           textAt(grid.x(at), grid.head + 18, shown.substr(0, 11), "middle") +
           textAt(grid.x(at), grid.head + 32, "x " + step["iterations"].get<std::string>().substr(0, 10), "middle") +
           "<title>" +
           escaped(kernel + ", " + step["iterations"].get<std::string>() + " iterations" +
                   (step["independent"] ? ", concurrent with the previous step" : "")) +
           "</title></g>" + lineFrom(grid.x(at), grid.head + 38, grid.x(at), grid.y(buffers) - 12, "life");
    svg += marksOfStep(step, grid, uses.contains(kernel) ? uses.at(kernel) : Uses(), at);
  }
  return svg;
}

} // namespace

std::string rooflineOf(const nlohmann::json &measured, const std::string &place) {
  const RoofLimits limits{measured["peakGflops"], measured["copyGbPerS"], measured["memoryGbPerS"]};
  return "<svg class=\"roofline\" viewBox=\"0 0 480 284\" role=\"img\" aria-label=\"Roofline\">" +
         rooflineMarks(limits, pointsOf(measured, place)) + "</svg>";
}

std::string programPictureOf(const nlohmann::json &trace) {
  const nlohmann::json &program = trace["program"];
  const size_t steps = program["steps"].size(), buffers = program["buffers"].size();
  if (steps < 2 && program["loops"].empty())
    return "";
  size_t depth = 0;
  for (const nlohmann::json &loop : program["loops"]) {
    size_t around = 1;
    for (const nlohmann::json &other : program["loops"])
      around += &other != &loop && other["first"] <= loop["first"] && other["end"] >= loop["end"] && &other < &loop;
    depth = std::max(depth, around);
  }
  const Grid grid{.head = 4 + 18 * static_cast<double>(depth)};
  const double width = grid.names + grid.step * static_cast<double>(steps) + 6, height = grid.y(buffers) + 4;
  std::string svg = "<svg class=\"program\" width=\"" + fixed(width, 0) + "\" height=\"" + fixed(height, 0) +
                    "\" viewBox=\"0 0 " + fixed(width, 0) + " " + fixed(height, 0) +
                    "\" role=\"img\" aria-label=\"Launch program\">" + loopsOfProgram(program, grid, height - 2);
  for (size_t at = 0; at < buffers; ++at) {
    const nlohmann::json &buffer = program["buffers"][at];
    const std::string bytes = buffer["bytes"];
    const bool isNumber = bytes.find_first_not_of("0123456789") == std::string::npos && !bytes.empty();
    svg += lineFrom(4, grid.y(at), width - 4, grid.y(at), buffer["kind"] == "region" ? "inner" : "buffer") +
           textAt(4, grid.y(at) - 4,
                  buffer["name"].get<std::string>() + ", " +
                      (isNumber ? bytesText(std::stod(bytes)) : bytes.substr(0, 14) + " bytes"));
  }
  return svg + stepsOfProgram(trace, grid, buffers) + "</svg>";
}

} // namespace quern
