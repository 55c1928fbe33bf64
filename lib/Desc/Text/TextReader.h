//===- TextReader.h - A cursor over one line of text ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The parsers of the text form are functions on this cursor that return false after an error; the first failure and its
// position are kept. No parser goes back by more than a word, so reading is linear in the length of the line.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_DESC_TEXT_TEXTREADER_H
#define QUERN_DESC_TEXT_TEXTREADER_H

#include "Support/Error.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

namespace quern {

class TextReader {
public:
  explicit TextReader(std::string_view line) : line(line), end(line.size()) {}

  size_t position() const { return at; }
  bool ok() const { return !failed; }
  bool atEnd() const { return at >= end; }
  char peek() const { return at < end ? line[at] : '\0'; }
  /// Restricts reading to [from, to) of the line.
  void setRange(size_t from, size_t to) {
    at = from;
    end = to;
  }
  /// Moves to a position within the range.
  void setPosition(size_t place) { at = place; }
  bool take(char c) {
    bool found = at < end && line[at] == c;
    at += found;
    return found;
  }
  template <typename Predicate> std::string_view takeWhile(Predicate accepts) {
    size_t from = at;
    while (at < end && accepts(line[at]))
      ++at;
    return line.substr(from, at - from);
  }
  /// Reads up to the next character that separates parts of a value.
  std::string_view takeWord() {
    return takeWhile([](char c) { return c != ':' && c != ',' && c != '(' && c != ')' && c != '=' && c != '@'; });
  }
  /// Returns at most 40 characters from the cursor on, for messages.
  std::string_view ahead() const { return line.substr(at, std::min<size_t>(end - at, 40)); }

  /// Records a failure at `place`. Returns false, so that a parser can return the result.
  template <typename... Parts> bool failAt(size_t place, const Parts &...parts) {
    if (!failed) {
      failed = true;
      failedAt = place;
      reason = concat(parts...);
    }
    return false;
  }
  template <typename... Parts> bool fail(const Parts &...parts) { return failAt(at, parts...); }

  /// Reads a decimal integer that fits the type.
  template <typename Int> bool readInteger(Int &value, std::string_view what) {
    auto [next, error] = std::from_chars(line.data() + at, line.data() + end, value);
    if (error == std::errc::result_out_of_range)
      return fail(what, " is out of range: between ", +std::numeric_limits<Int>::min(), " and ",
                  +std::numeric_limits<Int>::max(), " is possible");
    if (error != std::errc())
      return fail(what, " must be a whole number, not '", ahead(), "'");
    at = static_cast<size_t>(next - line.data());
    return true;
  }
  /// Reads a decimal float, "inf", "nan", or "0x" and the 8 digits of its bits.
  bool readFloat(float &value, std::string_view what);

  /// Returns the failure as three lines: the reason, the line (shortened if long), and a caret under the position.
  Error error() const;

private:
  std::string_view line;
  size_t at = 0, end;
  bool failed = false;
  size_t failedAt = 0;
  std::string reason;
};

/// Appends the shortest text that readFloat() converts to the same bits.
void appendFloat(std::string &out, float value);

template <typename Int> void appendInteger(std::string &out, Int value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

} // namespace quern

#endif // QUERN_DESC_TEXT_TEXTREADER_H
