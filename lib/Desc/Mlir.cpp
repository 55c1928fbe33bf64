//===- Mlir.cpp - A function given as MLIR --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Desc/PrimitiveDesc.h"

#include <charconv>

namespace quern {
namespace {

template <typename Integer> bool readInteger(std::string_view text, Integer &value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

} // namespace

std::optional<std::vector<MlirNumber>> MlirNumber::parse(std::string_view text) {
  std::vector<MlirNumber> numbers;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view one = text.substr(0, comma);
    const size_t colon = std::min(one.find(':'), one.size());
    MlirNumber number;
    int32_t value = 0;
    if (comma + 1 == text.size() || !readInteger(one.substr(0, colon), number.argument) ||
        (!numbers.empty() && number.argument <= numbers.back().argument) ||
        (colon < one.size() && !readInteger(one.substr(colon + 1), value)))
      return std::nullopt;
    if (colon < one.size())
      number.value = value;
    numbers.push_back(number);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return numbers;
}

std::string MlirNumber::textOf(const std::vector<MlirNumber> &numbers) {
  std::string text;
  for (const MlirNumber &number : numbers)
    text += concat(text.empty() ? "" : ",", number.argument, number.value ? concat(":", *number.value) : "");
  return text;
}

} // namespace quern
