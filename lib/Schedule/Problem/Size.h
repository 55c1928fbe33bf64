//===- Size.h - Sizes that may be known only at run time ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An extent, stride or offset is a number, or it is open: known only at execution and stored in the kernel's list of
// sizes. The only arithmetic of a Size is multiplication by a number. Emitters compute with an Index (Build/Index.h).
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_PROBLEM_SIZE_H
#define QUERN_SCHEDULE_PROBLEM_SIZE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <cassert>
#include <compare>
#include <cstdint>
#include <string>

namespace quern::schedule {

/// Exclusive upper bound of the numbers of a problem. It exceeds 48-bit addresses, and sums and small multiples of
/// numbers below it do not overflow.
inline constexpr int64_t endOfNumbers = int64_t(1) << 50;

/// A number, or a multiple of an open size. KernelBuilder::index() turns either into a value.
class Size {
public:
  constexpr Size(int64_t number = 0) : number(number) {} // NOLINT(google-explicit-constructor): every number is a size
  /// Creates the open size with this index in the list of sizes.
  static constexpr Size open(int64_t index) { return Size(index, true); }
  /// Creates the extent of a loop that neither a number nor an argument determines. It is open, without an index.
  static constexpr Size untold() { return Size(-1, true); }

  constexpr bool isOpen() const { return atRunTime; }
  constexpr bool isUntold() const { return atRunTime && number < 0; }
  constexpr int64_t known() const {
    assert(!atRunTime && "an open size is not a number");
    return number;
  }
  /// Returns the number, or a replacement for an open size.
  constexpr int64_t knownOr(int64_t replacement) const { return atRunTime ? replacement : number; }
  constexpr int64_t openIndex() const {
    assert(atRunTime && number >= 0 && "a number has no index in the list of sizes");
    return number;
  }
  /// Returns the factor by which an open size is multiplied.
  constexpr int64_t openFactor() const { return factor; }
  constexpr Size operator*(int64_t by) const { return atRunTime && by ? Size(number, true, factor * by) : number * by; }
  /// Returns the number, or the value that cost estimates assume for an open extent.
  constexpr int64_t typical() const { return atRunTime ? 1000 : number; }

  // The predicates below are conservative: an open size is not a multiple of any number and not below any bound, and it
  // may exceed every bound.
  constexpr bool isMultipleOf(int64_t divisor) const { return !atRunTime && number % divisor == 0; }
  /// Unlike the others, this assumes that an open size is a multiple.
  constexpr bool mayBeMultipleOf(int64_t divisor) const { return atRunTime || number % divisor == 0; }
  constexpr bool isBelow(int64_t bound) const { return !atRunTime && number < bound; }
  constexpr bool mayExceed(int64_t bound) const { return atRunTime || number > bound; }
  /// Returns the number, but at most `most`, which also replaces an open size.
  constexpr int64_t cappedAt(int64_t most) const { return isBelow(most) ? number : most; }

  /// Returns the number, or "?" for an open size.
  std::string text() const { return atRunTime ? "?" : std::to_string(number); }

  /// An open size equals only itself.
  friend constexpr bool operator==(const Size &, const Size &) = default;
  /// An order for keys and for strides: open sizes come after all numbers, and lower indices after higher ones, because
  /// dims usually appear in the order of memory. Code that needs a bound handles open sizes explicitly.
  friend constexpr auto operator<=>(const Size &a, const Size &b) {
    return a.atRunTime != b.atRunTime            ? a.atRunTime <=> b.atRunTime
           : a.atRunTime && a.number != b.number ? b.number <=> a.number
           : a.atRunTime                         ? a.factor <=> b.factor
                                                 : a.number <=> b.number;
  }
  friend auto operator<=>(const Size &, int64_t) = delete;
  /// Returns the more specific of two sizes that are equal at execution: a number, else an open size with an index.
  friend constexpr Size moreSpecific(Size a, Size b) { return a.isOpen() && (!b.isOpen() || a.isUntold()) ? b : a; }

private:
  constexpr Size(int64_t number, bool isOpen, int64_t factor = 1) : number(number), factor(factor), atRunTime(isOpen) {}
  int64_t number;     ///< the size; if it is open, its index, or -1 if it has none
  int64_t factor = 1; ///< multiplies an open size; 1 for a number
  bool atRunTime = false;
};

using Sizes = llvm::SmallVector<Size, 6>;
using Numbers = llvm::SmallVector<int64_t, 6>;

/// Returns true if some size is open.
inline bool anyOpen(llvm::ArrayRef<Size> sizes) {
  return llvm::any_of(sizes, [](Size size) { return size.isOpen(); });
}

/// Returns the sizes, which must all be known, as numbers.
inline Numbers knownOf(llvm::ArrayRef<Size> sizes) {
  return llvm::map_to_vector<6>(sizes, [](Size size) { return size.known(); });
}

/// The sizes of the arguments of a problem. The list has, for each argument in order, its dynamic dims in order, then
/// its dynamic strides, then its dynamic offset. If the execution's list differs, the attribute `quern.size_indices` on
/// a problem gives the position of each entry in the execution's list.
class ArgumentSizes {
public:
  explicit ArgumentSizes(mlir::func::FuncOp problem);
  /// Returns the length of the list.
  int64_t count() const { return total; }
  /// Shape, strides and offset of a memref. Dynamic values are open for an argument. For an intermediate, dynamic
  /// extents are untold; its layout is not visible outside, so dynamic strides are numbers that distinguish its dims.
  struct Layout {
    Sizes shape, strides;
    Size offset;
    bool fits = true; ///< true if every number is below endOfNumbers
  };
  Layout layoutOf(mlir::Value memref) const;

private:
  Size open(int64_t own) const;
  llvm::SmallVector<int64_t> firstOf; ///< number of the first open size of each argument
  llvm::SmallVector<int64_t> indices; ///< positions in the execution's list; empty: the same as in this list
  int64_t total = 0;
};

} // namespace quern::schedule

#endif // QUERN_SCHEDULE_PROBLEM_SIZE_H
