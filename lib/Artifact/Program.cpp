//===- Program.cpp - The launch program of a kernel -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Artifact/Program.h"

#include <algorithm>

namespace quern {

std::optional<int64_t> Polynomial::constant() const {
  if (terms.empty())
    return 0;
  return terms.size() == 1 && terms[0].symbols.empty() ? std::optional(terms[0].coefficient) : std::nullopt;
}

bool Polynomial::dependsOnSizes() const {
  return std::any_of(terms.begin(), terms.end(), [](const Term &term) {
    return std::any_of(term.symbols.begin(), term.symbols.end(),
                       [](uint32_t symbol) { return symbol >= maxLoopDepth; });
  });
}

std::string Polynomial::text() const {
  std::string text;
  for (const Term &term : terms) {
    const bool isNegative = term.coefficient < 0;
    text += text.empty() ? (isNegative ? "-" : "") : isNegative ? " - " : " + ";
    std::string digits = std::to_string(term.coefficient).substr(isNegative ? 1 : 0);
    std::string product = digits == "1" && !term.symbols.empty() ? "" : digits;
    for (uint32_t symbol : term.symbols)
      product += (product.empty() ? "" : "*") +
                 (symbol < maxLoopDepth ? "d" + std::to_string(symbol) : "s" + std::to_string(symbol - maxLoopDepth));
    text += product;
  }
  return text.empty() ? "0" : text;
}

std::optional<SymbolRange> rangeOf(const Polynomial &polynomial, std::span<const SymbolRange> symbols) {
  SymbolRange sum;
  for (const Term &term : polynomial.terms) {
    SymbolRange product{term.coefficient, term.coefficient};
    for (uint32_t symbol : term.symbols) {
      const SymbolRange &other = symbols[symbol];
      int64_t ends[4];
      if (__builtin_mul_overflow(product.low, other.low, &ends[0]) ||
          __builtin_mul_overflow(product.low, other.high, &ends[1]) ||
          __builtin_mul_overflow(product.high, other.low, &ends[2]) ||
          __builtin_mul_overflow(product.high, other.high, &ends[3]))
        return std::nullopt;
      product = {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
    }
    if (__builtin_add_overflow(sum.low, product.low, &sum.low) ||
        __builtin_add_overflow(sum.high, product.high, &sum.high))
      return std::nullopt;
  }
  return sum;
}

} // namespace quern
