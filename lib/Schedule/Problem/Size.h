//===- Size.h - Sizes that are known at run time only --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An extent, stride or offset is a number, or it is open: given at run time, in the kernel's list of sizes. Nothing can
// be computed with a Size: who needs a number looks first whether it is one, and then asks for it by known().
//
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

namespace quern::rows {

/// Numbers of a problem are below this, beyond the addresses that x86-64 has: products of an extent and
/// a stride do not overflow.
inline constexpr int64_t endOfNumbers = int64_t(1) << 50;

/// A number, or an open size. KernelBuilder::index() turns either into a value.
class Size {
public:
  constexpr Size(int64_t number = 0) : number(number) {} // NOLINT(google-explicit-constructor): every number is a size
  /// The open size with this index in the list of sizes.
  static constexpr Size open(int64_t index) { return Size(index, true); }
  /// The extent of a loop that neither a number nor an argument tells. It is open, without an index.
  static constexpr Size untold() { return Size(-1, true); }

  constexpr bool isOpen() const { return atRunTime; }
  constexpr bool isUntold() const { return atRunTime && number < 0; }
  constexpr int64_t known() const {
    assert(!atRunTime && "an open size is no number");
    return number;
  }
  constexpr int64_t openIndex() const {
    assert(atRunTime && number >= 0 && "a number has no index in the list of sizes");
    return number;
  }
  /// For estimates: what an open extent is taken for where costs are compared.
  constexpr int64_t typical() const { return atRunTime ? 1000 : number; }

  /// What is surely so: an open size is no multiple of anything, below nothing, and may exceed everything.
  constexpr bool isMultipleOf(int64_t divisor) const { return !atRunTime && number % divisor == 0; }
  constexpr bool isBelow(int64_t bound) const { return !atRunTime && number < bound; }
  constexpr bool mayExceed(int64_t bound) const { return atRunTime || number > bound; }
  /// The number, but no more than `most`, which stands for an open size.
  constexpr int64_t cappedAt(int64_t most) const { return isBelow(most) ? number : most; }

  /// The number, or "?".
  std::string text() const { return atRunTime ? "?" : std::to_string(number); }

  /// An open size equals itself alone.
  friend constexpr bool operator==(const Size &, const Size &) = default;
  /// An order for keys and for strides: open sizes behind all numbers, and those of a lower index behind others, since
  /// dims come in the order of memory, mostly. Code that asks for a bound says what it takes an open size for.
  friend constexpr auto operator<=>(const Size &a, const Size &b) {
    return a.atRunTime != b.atRunTime ? a.atRunTime <=> b.atRunTime
           : a.atRunTime              ? b.number <=> a.number
                                      : a.number <=> b.number;
  }
  friend auto operator<=>(const Size &, int64_t) = delete;

private:
  constexpr Size(int64_t number, bool isOpen) : number(number), atRunTime(isOpen) {}
  int64_t number; ///< of an open size its index; -1: it has none
  bool atRunTime = false;
};

using Sizes = llvm::SmallVector<Size, 6>;
using Numbers = llvm::SmallVector<int64_t, 6>;

/// Of sizes none of which is open.
inline Numbers knownOf(llvm::ArrayRef<Size> sizes) {
  return llvm::map_to_vector<6>(sizes, [](Size size) { return size.known(); });
}

/// The sizes of the arguments of a problem. The list has, for each argument in order, its dynamic dims in order, then
/// its dynamic strides, then its dynamic offset. `quern.size_indices` on a problem says which entries of the
/// execution's list these are, where it has others.
class ArgumentSizes {
public:
  explicit ArgumentSizes(mlir::func::FuncOp problem);
  /// Of the list.
  int64_t count() const { return total; }
  /// Shape, strides and offset of a memref. What is dynamic is open for an argument; for an intermediate, whose layout
  /// nobody sees, strides are numbers that tell its dims apart.
  struct Layout {
    Sizes shape, strides;
    Size offset;
    bool fits = true; ///< every number is below endOfNumbers
  };
  Layout layoutOf(mlir::Value memref) const;

private:
  Size open(int64_t own) const;
  llvm::SmallVector<int64_t> firstOf; ///< by argument
  llvm::SmallVector<int64_t> indices; ///< in the execution's list; none: the own ones
  int64_t total = 0;
};

} // namespace quern::rows

#endif // QUERN_SCHEDULE_PROBLEM_SIZE_H
