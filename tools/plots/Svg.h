//===- Svg.h - Pictures as SVG --------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Marks have classes, to which a page's style or svgStyle assigns colors.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PLOTS_SVG_H
#define QUERN_PLOTS_SVG_H

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

/// Escapes text for HTML and XML.
std::string escaped(std::string_view text);
std::string fixed(double value, int digits = 1);
/// Returns three significant digits, or all digits of the integer part from 100: "0.25", "16", "1200".
std::string shortly(double value);
std::string textAt(double x, double y, const std::string &words, const char *anchor = "start");
std::string lineFrom(double x1, double y1, double x2, double y2, const char *kind);

/// Two logarithmic axes; x0 to y1 are exponents of ten.
struct LogAxes {
  double left, right, top, bottom;
  double x0, x1, y0, y1;
  double x(double value) const { return left + (std::log10(value) - x0) / (x1 - x0) * (right - left); }
  double y(double value) const { return bottom - (std::log10(value) - y0) / (y1 - y0) * (bottom - top); }
};

/// Returns the powers of ten from 10^from to 10^to.
std::vector<double> decades(double from, double to);

struct RoofPoint {
  double intensity, gflops;            ///< flops per byte, flops per nanosecond
  std::string name, title, link, kind; ///< `kind`: additional classes
};

struct RoofLimits {
  double peakGflops;
  double copyGbPerS;   ///< rate of a copy of the same size; 0: unknown
  double memoryGbPerS; ///< rate of a copy that exceeds the caches
};

/// Returns marks for an area of 480 x 284 units, which the caller puts into an svg element.
std::string rooflineMarks(const RoofLimits &limits, const std::vector<RoofPoint> &points);

/// The style of a standalone picture, as CSS.
extern const char *const svgStyle;

} // namespace quern

#endif // QUERN_PLOTS_SVG_H
