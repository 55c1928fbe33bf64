//===- Svg.cpp - Pictures as SVG ------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Svg.h"

#include <algorithm>
#include <cstdio>

namespace quern {

std::string escaped(std::string_view text) {
  std::string html;
  for (char c : text)
    switch (c) {
    case '&':
      html += "&amp;";
      break;
    case '<':
      html += "&lt;";
      break;
    case '>':
      html += "&gt;";
      break;
    case '"':
      html += "&quot;";
      break;
    default:
      html += c;
    }
  return html;
}

std::string fixed(double value, int digits) {
  char text[48];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

/// Returns three significant digits, or all digits of the integer part from 100: "0.25", "16", "1200".
std::string shortly(double value) {
  char text[48];
  std::snprintf(text, sizeof(text), value < 100 ? "%.3g" : "%.0f", value);
  return text;
}

std::string textAt(double x, double y, const std::string &words, const char *anchor) {
  return "<text x=\"" + fixed(x) + "\" y=\"" + fixed(y) + "\" text-anchor=\"" + anchor + "\">" + escaped(words) +
         "</text>";
}

std::string lineFrom(double x1, double y1, double x2, double y2, const char *kind) {
  return "<line class=\"" + std::string(kind) + "\" x1=\"" + fixed(x1) + "\" y1=\"" + fixed(y1) + "\" x2=\"" +
         fixed(x2) + "\" y2=\"" + fixed(y2) + "\"/>";
}

std::vector<double> decades(double from, double to) {
  std::vector<double> values;
  for (int exponent = static_cast<int>(from); exponent <= static_cast<int>(to); ++exponent)
    values.push_back(std::pow(10, exponent));
  return values;
}

namespace {

LogAxes axesFor(double peak, const std::vector<RoofPoint> &points) {
  double minIntensity = 0.1, maxIntensity = 16, minGflops = peak / 1000, maxGflops = peak;
  for (const RoofPoint &point : points) {
    minIntensity = std::min(minIntensity, point.intensity / 2);
    maxIntensity = std::max(maxIntensity, point.intensity * 2);
    minGflops = std::min(minGflops, point.gflops / 2);
    maxGflops = std::max(maxGflops, point.gflops);
  }
  LogAxes axes{44, 470, 14, 250, 0, 0, 0, 0};
  axes.x0 = std::floor(std::log10(minIntensity));
  axes.x1 = std::ceil(std::log10(maxIntensity));
  axes.y0 = std::floor(std::log10(minGflops));
  axes.y1 = std::ceil(std::log10(maxGflops * 1.2));
  return axes;
}

std::string gridOf(const LogAxes &axes) {
  std::string svg;
  for (double value : decades(axes.x0, axes.x1)) {
    const double x = axes.x(value);
    svg += lineFrom(x, axes.top, x, axes.bottom, "grid") +
           textAt(x, axes.bottom + 14, shortly(value), x < axes.right ? "middle" : "end");
  }
  for (double value : decades(axes.y0, axes.y1))
    svg += lineFrom(axes.left, axes.y(value), axes.right, axes.y(value), "grid") +
           textAt(axes.left - 4, axes.y(value) + 4, shortly(value), "end");
  return svg + textAt(axes.right, axes.bottom + 28, "flops per byte", "end") + textAt(4, axes.top - 4, "GFLOP/s");
}

/// Returns the line of a bandwidth, up to the peak.
std::string slopeOf(const LogAxes &axes, double gbPerS, double peak, const std::string &name) {
  const double from = std::max(std::pow(10, axes.x0), std::pow(10, axes.y0) / gbPerS), to = peak / gbPerS;
  const double end = std::min(to, std::pow(10, axes.x1));
  return "<g>" + lineFrom(axes.x(from), axes.y(from * gbPerS), axes.x(end), axes.y(end * gbPerS), "roof") + "<title>" +
         escaped(name + ": " + shortly(gbPerS) + " GB/s") + "</title></g>";
}

} // namespace

std::string rooflineMarks(const RoofLimits &limits, const std::vector<RoofPoint> &points) {
  const LogAxes axes = axesFor(limits.peakGflops, points);
  const double peak = limits.peakGflops, copy = limits.copyGbPerS, memory = limits.memoryGbPerS;
  std::string svg = gridOf(axes) + slopeOf(axes, memory, peak, "copy in memory");
  if (copy > 0)
    svg += slopeOf(axes, copy, peak, "copy of the same bytes");
  svg += "<g>" +
         lineFrom(axes.x(std::min(peak / std::max(copy, memory), std::pow(10, axes.x1))), axes.y(peak), axes.right,
                  axes.y(peak), "roof") +
         "<title>multiply-adds of f32: " + shortly(peak) + " GFLOP/s</title></g>" +
         textAt(axes.right - 2, axes.y(peak) - 4, "peak " + shortly(peak), "end");
  for (const RoofPoint &point : points) {
    const double x = axes.x(point.intensity), y = axes.y(point.gflops);
    svg += (point.link.empty() ? "" : "<a href=\"" + point.link + "\">") + "<g class=\"point " + point.kind +
           "\"><circle cx=\"" + fixed(x) + "\" cy=\"" + fixed(y) + "\" r=\"" + (point.kind == "whole" ? "6" : "4") +
           "\"/>" + (point.name.empty() ? "" : textAt(x + 8, y + 4, point.name)) + "<title>" + escaped(point.title) +
           "</title></g>" + (point.link.empty() ? "" : "</a>");
  }
  return svg;
}

const char *const svgStyle =
    "svg{font:11px system-ui,sans-serif;background:#fdfdfc}text{fill:#1c2024}line{stroke:#80868d}.grid{stroke:#e4e6e8}"
    ".roof{stroke:#a04300;stroke-width:2}.point circle{fill:#0b5cad;fill-opacity:.5;stroke:none}.one{stroke:#1c2024}"
    ".spread{stroke:#9aa1a8;stroke-width:3;stroke-opacity:.5}.bar{fill:#0b5cad}.head{font-weight:600}"
    ".s0{fill:#0b5cad}.s1{fill:#a04300}.s2{fill:#7a3e9d}.s3{fill:#2b7a3d}.s4{fill:#8a6d00}.s5{fill:#b3261e}"
    ".s6{fill:#1c2024}.s7{fill:#5f7f8f}.s0 circle,.s1 circle,.s2 circle,.s3 circle,.s4 circle,.s5 circle{fill:inherit}";

} // namespace quern
