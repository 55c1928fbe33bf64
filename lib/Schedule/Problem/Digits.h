//===- Digits.h - Addresses along a loop, as digits of its index ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A blocked layout splits a loop's index into digits, and the address is linear in the digits. A cut is the number of
// adjacent indices that share a value of some digit: blocks of 16 have the cuts 1 and 16. Cuts nest if each divides the
// next; then the digits between them describe the address completely.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_PROBLEM_DIGITS_H
#define QUERN_SCHEDULE_PROBLEM_DIGITS_H

#include "Schedule/Problem/Size.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/ArrayRef.h"

#include <optional>

namespace quern::schedule {

/// The term stride · (((index + shift) floordiv unit) mod modulus) of an address, in elements; modulus 0 means none.
struct Digit {
  int64_t unit = 1, modulus = 0, stride = 0, shift = 0;
  auto operator<=>(const Digit &) const = default;
  /// Number of indices after which the digit repeats; 0: it does not.
  int64_t end() const { return unit * modulus; }
};

/// The address of an operand as a function of one loop index, relative to index 0: a sum of digits, fastest first, or
/// an open step. Two such functions of a loop are equal if they agree everywhere and their cuts nest. If the operand
/// starts inside a block, all digits are of index + shift.
class AccessFunction {
public:
  AccessFunction() = default;
  /// Normalizes a sum of digits along a loop of `extent`. The digits have no shift, or all have the same.
  AccessFunction(llvm::ArrayRef<Digit> sum, Size extent);
  /// Creates the function that advances by `step` per index.
  static AccessFunction linear(Size step, Size extent);

  /// Returns the digits; none if the step is open.
  llvm::ArrayRef<Digit> digits() const { return terms; }
  /// Returns the constant that is added to the index.
  int64_t shift() const { return terms.empty() ? 0 : terms[0].shift; }
  /// Returns the sum of the digits at index 0. Addresses are relative to it.
  int64_t start() const;
  bool isStill() const { return terms.empty() && openStep == 0; }
  bool isLinear() const { return terms.empty() || (terms.size() == 1 && terms[0].unit == 1 && !terms[0].modulus); }
  /// Returns the distance between the addresses of adjacent indices within a run.
  Size step() const;
  /// Returns the number of indices of a run, in which adjacent indices are step() elements from each other; 0:
  /// unlimited.
  int64_t run() const;
  /// Returns the growth of the address from any multiple of `align` to `by` indices later, or nothing if it is open or
  /// may differ between such multiples.
  std::optional<int64_t> advance(int64_t by, int64_t align) const;
  /// Returns true if the digits together determine the index. Indices then have different addresses, provided that
  /// different digits do.
  bool tellsAllApart() const;
  auto operator<=>(const AccessFunction &other) const {
    auto order = openStep <=> other.openStep;
    return order != 0 ? order
                      : std::lexicographical_compare_three_way(terms.begin(), terms.end(), other.terms.begin(),
                                                               other.terms.end());
  }
  bool operator==(const AccessFunction &) const = default;

private:
  llvm::SmallVector<Digit, 2> terms;
  Size openStep; ///< replaces the digits; 0: none
};

/// Reads an affine expression times `stride` as a constant, added to `offset`, and digits of dims or of dims plus a
/// constant, passed to `add` with their dim. Fails for other expressions: a quotient of a sum of dims, for example, or
/// blocks of 6 within blocks of 16.
llvm::LogicalResult readDigits(mlir::AffineExpr expr, int64_t stride, int64_t &offset,
                               llvm::function_ref<void(unsigned, Digit)> add);

/// Gives the digits of one loop of `extent` the same shift: simplified maps reduce each shift modulo the period of its
/// digit. Digits that are constant or linear over the whole loop are replaced by constants or by simpler digits, and
/// `offset` is adjusted. Returns false if the digits have incompatible shifts.
bool alignShifts(llvm::MutableArrayRef<Digit> sum, Size extent, int64_t &offset);

/// Returns the cuts of a loop's functions, ascending, without 1: every cut divides the next. Cuts that do not nest, or
/// do not divide the shift of a function, are replaced by the largest number that divides all of them, so the dim
/// beyond the last cut may still have several digits.
Numbers commonCuts(llvm::ArrayRef<const AccessFunction *> functions);

/// Returns the part of a function that starts at the cut `from`, along a dim of `extent` that counts runs of `from`
/// indices. Only the last dim, which extends to the end of the loop, has the function's shift. If the step is open,
/// `from` must be 1.
AccessFunction functionFromCut(const AccessFunction &function, int64_t from, Size extent, bool isLast = true);

} // namespace quern::schedule

#endif // QUERN_SCHEDULE_PROBLEM_DIGITS_H
