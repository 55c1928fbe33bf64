//===- Svg.h - Pictures as SVG --------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What marks mean is in classes, which a page's style or svgStyle gives colours.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PLOTS_SVG_H
#define QUERN_PLOTS_SVG_H

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

/// For HTML and XML.
std::string escaped(std::string_view text);
std::string fixed(double value, int digits = 1);
/// "0.25", "16", "1200": three digits are enough.
std::string shortly(double value);
std::string textAt(double x, double y, const std::string &words, const char *anchor = "start");
std::string lineFrom(double x1, double y1, double x2, double y2, const char *kind);

/// Both axes logarithmic; x0 to y1 are exponents of ten.
struct LogAxes {
  double left, right, top, bottom;
  double x0, x1, y0, y1;
  double x(double value) const { return left + (std::log10(value) - x0) / (x1 - x0) * (right - left); }
  double y(double value) const { return bottom - (std::log10(value) - y0) / (y1 - y0) * (bottom - top); }
};

/// The powers of ten of an axis, by its exponents.
std::vector<double> decades(double from, double to);

struct RoofPoint {
  double intensity, gflops;            ///< flops a byte, flops a nanosecond
  std::string name, title, link, kind; ///< `kind`: more classes
};

struct RoofLimits {
  double peakGflops, copyGbPerS, memoryGbPerS; ///< a copy of the same bytes, or 0, and one that no cache holds
};

/// 480 units wide, 284 high; the caller puts it into an svg.
std::string rooflineMarks(const RoofLimits &limits, const std::vector<RoofPoint> &points);

/// Colours for a picture that stands alone.
extern const char *const svgStyle;

} // namespace quern

#endif // QUERN_PLOTS_SVG_H
