//===- TextReader.cpp - Floats and error messages of the text form --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A float that is printed and read again has the same bits. Input that a message echoes is made printable first, one
// character per byte, so that the caret is in the right column and a message always has three lines.
//
//===----------------------------------------------------------------------===//
#include "Desc/Text/TextReader.h"

#include "Support/FloatControl.h"

#include <bit>
#include <cmath>

namespace quern {

namespace {
constexpr uint32_t canonicalNan = 0x7fc00000;
constexpr size_t shownChars = 160; ///< maximum number of characters of a line in a message

std::string printable(std::string_view text) {
  std::string shown(text);
  for (char &c : shown)
    if (c < ' ' || c > '~')
      c = c == '\t' || c == '\n' || c == '\r' ? ' ' : '?';
  return shown;
}
} // namespace

void appendFloat(std::string &out, float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if (bits == canonicalNan) {
    out += "nan";
    return;
  }
  char text[32];
  char *end = text;
  if (std::isnan(value)) { // other NaNs are printed by their bits, always 8 digits
    out += "0x";
    end = std::to_chars(text, text + sizeof(text), bits, 16).ptr;
  } else {
    end = std::to_chars(text, text + sizeof(text), value).ptr;
  }
  out.append(text, end);
}

bool TextReader::readFloat(float &value, std::string_view what) {
  const char *first = line.data() + at, *last = line.data() + end;
  std::from_chars_result result{};
  if (line.substr(at, end - at).starts_with("0x")) {
    uint32_t bits = 0;
    result = std::from_chars(first + 2, last, bits, 16);
    value = std::bit_cast<float>(bits);
  } else {
    const DefaultFloatEnvironment environment; // otherwise the caller's rounding mode could change the last bit
    result = std::from_chars(first, last, value);
    if (result.ec == std::errc() && std::isnan(value))
      value = std::bit_cast<float>(canonicalNan);
  }
  if (result.ec == std::errc::result_out_of_range)
    return fail(what, " is '", ahead(), "', which is out of the range of f32");
  if (result.ec != std::errc())
    return fail(what, " must be a number, not '", ahead(), "'");
  at = static_cast<size_t>(result.ptr - line.data());
  return true;
}

Error TextReader::error() const {
  size_t place = std::min(failedAt, line.size());
  std::string shown;
  size_t column = place;
  if (line.size() <= shownChars) {
    shown = printable(line);
  } else {
    size_t from = place > shownChars / 2 ? place - shownChars / 2 : 0;
    size_t to = std::min(line.size(), from + shownChars);
    shown = (from > 0 ? "..." : "") + printable(line.substr(from, to - from)) + (to < line.size() ? "..." : "");
    column = place - from + (from > 0 ? 3 : 0);
  }
  return {Status::InvalidArguments, printable(reason) + "\n" + shown + "\n" + std::string(column, ' ') + "^"};
}

} // namespace quern
