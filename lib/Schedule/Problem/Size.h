//===- Size.h - Sizes that are known at run time only --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An extent, stride or offset is a number, or it is open: given at run time, in the kernel's list of sizes. Both are an int64_t, so that
// keys, comparisons and lists of sizes need not care: an open size equals itself alone. It is greater than any number, which suits what a
// long row and an outer stride ask for; arithmetic on it means nothing. KernelBuilder::index() turns either into a value.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_PROBLEM_SIZE_H
#define QUERN_SCHEDULE_PROBLEM_SIZE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

#include <cassert>
#include <cstdint>

namespace quern::rows {

/// Numbers are below this: beyond the addresses that x86-64 has.
inline constexpr int64_t leastOpenSize = int64_t(1) << 50;
inline constexpr int64_t maxOpenSizes = 2048;
/// Between two open sizes, so that arithmetic on one of them is noticed.
inline constexpr int64_t openSizeSpacing = int64_t(1) << 24;
/// What an open extent is taken for where costs are compared.
inline constexpr int64_t typicalExtent = 1000;

inline bool isOpen(int64_t size) { return size >= leastOpenSize; }

/// The open size with this index in the list of sizes. Sizes with a lower index are greater: dims come in the order of memory, mostly.
inline int64_t openSize(int64_t index) { return leastOpenSize + (maxOpenSizes - index) * openSizeSpacing; }

inline int64_t indexOfOpen(int64_t size) {
  assert(isOpen(size) && size % openSizeSpacing == 0 && "arithmetic on an open size");
  return maxOpenSizes - (size - leastOpenSize) / openSizeSpacing;
}

/// A number, or an open size that no arithmetic has been done on.
inline bool isIntact(int64_t size) { return !isOpen(size) || (size % openSizeSpacing == 0 && size > leastOpenSize && size <= openSize(0)); }

/// An extent for estimates.
inline int64_t typical(int64_t extent) { return isOpen(extent) ? typicalExtent : extent; }

/// The sizes of the arguments of a problem. The list has, for each argument in order, its dynamic dims in order, then its dynamic strides,
/// then its dynamic offset. `quern.size_indices` on a problem says which entries of the execution's list these are, where it has others.
class ArgumentSizes {
public:
  explicit ArgumentSizes(mlir::func::FuncOp problem);
  /// Of the list.
  int64_t count() const { return total; }
  /// Shape, strides and offset of a memref. What is dynamic is open for an argument; for an intermediate, whose layout nobody sees, strides
  /// are numbers that tell its dims apart.
  struct Layout {
    llvm::SmallVector<int64_t, 6> shape, strides;
    int64_t offset = 0;
    bool fits = true; ///< every number is below leastOpenSize
  };
  Layout layoutOf(mlir::Value memref) const;

private:
  int64_t indexOf(int64_t own) const;
  llvm::SmallVector<int64_t> firstOf; ///< by argument
  llvm::SmallVector<int64_t> indices; ///< in the execution's list; none: the own ones
  int64_t total = 0;
};

} // namespace quern::rows

#endif // QUERN_SCHEDULE_PROBLEM_SIZE_H
