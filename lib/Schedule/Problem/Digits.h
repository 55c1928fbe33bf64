//===- Digits.h - Addresses along a loop, as digits of its index ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A blocked layout cuts a loop's index into digits, and the address is linear in the digits. A cut is a number of
// neighbouring indices that some digit counts: blocks of 16 have the cuts 1 and 16. Cuts nest if each divides the next;
// then the digits between them say everything.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_PROBLEM_DIGITS_H
#define QUERN_SCHEDULE_PROBLEM_DIGITS_H

#include "Schedule/Problem/Size.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/ArrayRef.h"

#include <optional>

namespace quern::rows {

/// The term stride · (((index + shift) floordiv unit) mod modulus) of an address, in elements; modulus 0
/// means that nothing is cut off.
struct Digit {
  int64_t unit = 1, modulus = 0, stride = 0, shift = 0;
  auto operator<=>(const Digit &) const = default;
  /// The first index that no longer counts; 0: every index does.
  int64_t end() const { return unit * modulus; }
};

/// The way of an operand along a loop, from index 0: a sum of digits, the fastest first, or a step that is open. Two
/// walks of one loop are equal if they are the same function and their cuts nest. A walk that begins within a block is
/// one of index + shift, the same for all its digits.
class Walk {
public:
  Walk() = default;
  /// In normal form, of a loop of `extent`. The digits have no shift, or all have the same.
  Walk(llvm::ArrayRef<Digit> sum, Size extent);
  /// From each index to the next by `step`.
  static Walk linear(Size step, Size extent);

  /// None of a walk whose step is open.
  llvm::ArrayRef<Digit> digits() const { return terms; }
  /// What is added to the index.
  int64_t shift() const { return terms.empty() ? 0 : terms[0].shift; }
  /// The sum of the digits at index 0, which a walk starts from.
  int64_t start() const;
  bool isStill() const { return terms.empty() && !openStep.isOpen(); }
  bool isLinear() const { return terms.empty() || (terms.size() == 1 && terms[0].unit == 1 && !terms[0].modulus); }
  /// From one index to the next within a run.
  Size step() const;
  /// Indices from one multiple of it to the next lie `step` apart; 0: all do.
  int64_t run() const;
  /// What the address grows by from any multiple of `align` to `by` indices further; nothing where that differs from
  /// one to another, or is open.
  std::optional<int64_t> advance(int64_t by, int64_t align) const;
  /// Every index of the loop has an address of its own, as far as this loop goes.
  bool tellsAllApart() const;
  auto operator<=>(const Walk &other) const {
    auto order = openStep <=> other.openStep;
    return order != 0 ? order
                      : std::lexicographical_compare_three_way(terms.begin(), terms.end(), other.terms.begin(),
                                                               other.terms.end());
  }
  bool operator==(const Walk &) const = default;

private:
  llvm::SmallVector<Digit, 2> terms;
  Size openStep; ///< in place of digits; a number: there is none
};

/// The sum that an affine expression times `stride` adds to an address: a constant, and digits of dims, or of dims plus
/// a constant. Fails where the expression is no such sum: a quotient of another sum, say, or blocks of 6 within blocks
/// of 16. `add` receives the dim and the digit.
llvm::LogicalResult readDigits(mlir::AffineExpr expr, int64_t stride, int64_t &offset,
                               llvm::function_ref<void(unsigned, Digit)> add);

/// Gives the digits of one loop of `extent` the same shift: each has it up to whole turns of its own, as simplified
/// maps leave it. Those that stay as they are from the loop's first index to its last, or grow with it, are no longer
/// digits. `offset` takes what that leaves. False where they are digits from different places.
bool alignShifts(llvm::MutableArrayRef<Digit> sum, Size extent, int64_t &offset);

/// Where the walks of one loop are cut, ascending, without 1: every cut divides the next. Cuts that do not nest are
/// replaced by the largest number that divides all of them, so that the dim beyond the last cut may still be walked in
/// digits. So are those that do not divide the shift of a walk.
Numbers commonCuts(llvm::ArrayRef<const Walk *> walks);

/// The part of a walk that starts at the cut `from`, as a walk along a dim of `extent` that counts runs of `from`
/// indices. Only the last dim, which goes on to the end of the loop, has the walk's shift. A walk whose step is open
/// has no part but the whole, from cut 1.
Walk walkFromCut(const Walk &walk, int64_t from, Size extent, bool isLast = true);

} // namespace quern::rows

#endif // QUERN_SCHEDULE_PROBLEM_DIGITS_H
