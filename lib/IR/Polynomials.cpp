//===- Polynomials.cpp - Affine expressions as sums of products -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expressions are expanded, and terms with the same symbols are combined.
//
//===----------------------------------------------------------------------===//
#include "IR/Polynomials.h"

#include <map>

using namespace mlir;
using namespace quern;

namespace {

/// Coefficients by symbols.
using Sum = std::map<std::vector<uint32_t>, int64_t>;

class Expander {
public:
  Expander(unsigned depth, std::string &whyNot) : depth(depth), whyNot(whyNot) {}

  FailureOr<Sum> expand(AffineExpr expression) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expression))
      return Sum{{{}, constant.getValue()}};
    if (auto dim = dyn_cast<AffineDimExpr>(expression)) {
      if (dim.getPosition() >= depth)
        return refuse("depends on loop " + std::to_string(dim.getPosition()) + "; " + std::to_string(depth) +
                      " are around it");
      return Sum{{{dim.getPosition()}, 1}};
    }
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
      return Sum{{{symbolOfSize(symbol.getPosition())}, 1}};
    auto binary = cast<AffineBinaryOpExpr>(expression);
    bool adds = expression.getKind() == AffineExprKind::Add;
    if (!adds && expression.getKind() != AffineExprKind::Mul)
      return refuse("divides: it must be a polynomial");
    FailureOr<Sum> left = expand(binary.getLHS());
    FailureOr<Sum> right = failed(left) ? FailureOr<Sum>(failure()) : expand(binary.getRHS());
    if (failed(right))
      return failure();
    return adds ? sum(std::move(*left), *right) : product(*left, *right);
  }

private:
  LogicalResult refuse(const Twine &why) {
    whyNot = why.str();
    return failure();
  }
  LogicalResult add(Sum &to, const std::vector<uint32_t> &symbols, int64_t coefficient) {
    int64_t &old = to[symbols];
    if (__builtin_add_overflow(old, coefficient, &old))
      return refuse("is beyond int64");
    if (to.size() > maxTerms || symbols.size() > maxTermSymbols)
      return refuse("has more than " + std::to_string(maxTerms) + " terms of " + std::to_string(maxTermSymbols) +
                    " factors");
    return success();
  }
  FailureOr<Sum> sum(Sum left, const Sum &right) {
    for (const auto &[symbols, coefficient] : right)
      if (failed(add(left, symbols, coefficient)))
        return failure();
    return left;
  }
  FailureOr<Sum> product(const Sum &left, const Sum &right) {
    Sum result;
    for (const auto &[a, first] : left)
      for (const auto &[b, second] : right) {
        std::vector<uint32_t> symbols(a);
        symbols.insert(symbols.end(), b.begin(), b.end());
        llvm::sort(symbols);
        int64_t coefficient;
        if (__builtin_mul_overflow(first, second, &coefficient))
          return refuse("is beyond int64");
        if (failed(add(result, symbols, coefficient)))
          return failure();
      }
    return result;
  }

  unsigned depth;
  std::string &whyNot;
};

} // namespace

FailureOr<Polynomial> quern::polynomialOf(AffineExpr expression, unsigned depth, std::string &whyNot) {
  FailureOr<Sum> sum = Expander(depth, whyNot).expand(expression);
  if (failed(sum))
    return failure();
  Polynomial polynomial;
  for (const auto &[symbols, coefficient] : *sum)
    if (coefficient)
      polynomial.terms.push_back({coefficient, symbols});
  return polynomial;
}

std::optional<int64_t> quern::valueOf(const Polynomial &polynomial, ArrayRef<int64_t> indices,
                                      ArrayRef<int64_t> sizes) {
  SmallVector<SymbolRange> symbols(maxLoopDepth);
  for (auto [symbol, index] : llvm::zip(symbols, indices))
    symbol = {index, index};
  for (int64_t size : sizes)
    symbols.push_back({size, size});
  for (const Term &term : polynomial.terms)
    if (!term.symbols.empty() && term.symbols.back() >= symbols.size())
      return std::nullopt;
  std::optional<SymbolRange> range = rangeOf(polynomial, symbols);
  return range ? std::optional(range->low) : std::nullopt;
}
