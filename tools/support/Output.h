//===- Output.h - Tables, units and progress ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Formats numbers for people. Programs get JSON instead.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOLS_OUTPUT_H
#define QUERN_TOOLS_OUTPUT_H

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

/// Returns three significant digits with a suitable unit: "12.3 us", "4.56 ms".
std::string formatNs(double ns);
/// Returns "512 B", "1.50 KiB", ...
std::string formatBytes(int64_t bytes);
/// Returns the value with `digits` digits after the decimal point.
std::string formatFixed(double value, int digits);

/// A table whose columns are as wide as their widest cell. If a heading starts with '>' (not printed), its column is
/// right-aligned.
class Table {
public:
  explicit Table(std::vector<std::string> names);
  void addRow(std::vector<std::string> cells) { rows.push_back(std::move(cells)); }
  void print(std::ostream &os) const;

private:
  std::vector<std::string> headings;
  std::vector<bool> right;
  std::vector<std::vector<std::string>> rows;
};

/// A bar on standard error, drawn only if that is a terminal. Erased by the destructor.
class ProgressBar {
public:
  ProgressBar(std::string title, size_t total);
  ~ProgressBar();
  ProgressBar(const ProgressBar &) = delete;
  ProgressBar &operator=(const ProgressBar &) = delete;
  void advance();

private:
  void draw() const;
  std::string title;
  size_t total, done = 0;
  bool isTerminal;
};

} // namespace quern

#endif // QUERN_TOOLS_OUTPUT_H
