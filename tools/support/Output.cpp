//===- Output.cpp - Tables, units and progress ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Output.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <unistd.h>

namespace quern {
namespace {

/// Returns three significant digits for values below 1000.
std::string withUnit(double value, const char *unit) {
  return formatFixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + " " + unit;
}

} // namespace

std::string formatFixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

std::string formatNs(double ns) {
  if (ns < 999.5)
    return withUnit(ns, "ns");
  if (ns < 999.5e3)
    return withUnit(ns / 1e3, "us");
  return ns < 999.5e6 ? withUnit(ns / 1e6, "ms") : withUnit(ns / 1e9, "s");
}

std::string formatBytes(int64_t bytes) {
  if (bytes < 1024)
    return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes) / 1024;
  const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  return withUnit(value, units[unit]);
}

Table::Table(std::vector<std::string> names) : headings(std::move(names)) {
  for (std::string &heading : headings) {
    right.push_back(heading.starts_with('>'));
    if (right.back())
      heading.erase(0, 1);
  }
}

void Table::print(std::ostream &os) const {
  std::vector<size_t> widths;
  for (size_t column = 0; column < headings.size(); ++column) {
    size_t width = headings[column].size();
    for (const std::vector<std::string> &row : rows)
      width = std::max(width, row[column].size());
    widths.push_back(width);
  }
  auto printRow = [&](const std::vector<std::string> &cells) {
    std::string line;
    for (size_t column = 0; column < cells.size(); ++column) {
      std::string fill(widths[column] - cells[column].size(), ' ');
      line += (column ? "  " : "") + (right[column] ? fill + cells[column] : cells[column] + fill);
    }
    os << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
  };
  printRow(headings);
  for (const std::vector<std::string> &row : rows)
    printRow(row);
}

ProgressBar::ProgressBar(std::string title, size_t total)
    : title(std::move(title)), total(total), isTerminal(isatty(STDERR_FILENO)) {
  draw();
}

ProgressBar::~ProgressBar() {
  if (isTerminal)
    std::cerr << "\r\033[K" << std::flush;
}

void ProgressBar::advance() {
  ++done;
  draw();
}

void ProgressBar::draw() const {
  if (!isTerminal || !total)
    return;
  constexpr size_t width = 32;
  size_t filled = width * done / total;
  std::cerr << '\r' << title << " [" << std::string(filled, '=') << std::string(width - filled, ' ') << "] " << done
            << '/' << total << std::flush;
}

} // namespace quern
