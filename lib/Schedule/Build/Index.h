//===- Index.h - Numbers that may be computed by the kernel ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An Index lets an emitter be written once for known and open sizes. KernelBuilder has its arithmetic, which folds
// numbers: an expression of known sizes emits nothing.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_BUILD_INDEX_H
#define QUERN_SCHEDULE_BUILD_INDEX_H

#include "Schedule/Problem/Size.h"

#include "mlir/IR/Value.h"

#include <concepts>
#include <optional>

namespace quern {

/// A value of the kernel, or an op that stands for its result.
template <typename V>
concept IsValue = std::convertible_to<V, mlir::Value>;

/// A number that is known when the kernel is emitted, an open size, or a value of the kernel: an index, or an integer
/// that represents one. A constant value is a number.
class Index {
public:
  // NOLINTBEGIN(google-explicit-constructor): each of these is an index
  Index(int64_t number) : size(number) {}
  Index(schedule::Size size) : size(size) {}
  Index(mlir::Value value);
  Index(IsValue auto value) : Index(mlir::Value(value)) {}
  // NOLINTEND(google-explicit-constructor)

  bool isNumber() const { return !value && !size.isOpen(); }
  /// Returns the number, or nothing if the kernel computes it.
  std::optional<int64_t> number() const { return isNumber() ? std::optional(size.known()) : std::nullopt; }

  /// Returns true if both are the same number, open size or value.
  bool operator==(const Index &) const = default;

private:
  friend class KernelBuilder;
  schedule::Size size; ///< used if `value` is null
  mlir::Value value;
};

} // namespace quern

#endif // QUERN_SCHEDULE_BUILD_INDEX_H
