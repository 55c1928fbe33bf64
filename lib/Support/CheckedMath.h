//===- CheckedMath.h - int64 arithmetic that records overflow -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tensor sizes come from callers. A CheckedInt carries an overflow through a whole expression, so that it is checked
// once, at the end.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SUPPORT_CHECKEDMATH_H
#define QUERN_SUPPORT_CHECKEDMATH_H

#include <cstdint>

namespace quern {

class CheckedInt {
public:
  constexpr CheckedInt(int64_t value) : number(value) {}
  friend constexpr CheckedInt operator*(CheckedInt a, CheckedInt b) {
    CheckedInt result(0);
    result.bad = __builtin_mul_overflow(a.number, b.number, &result.number) || a.bad || b.bad;
    return result;
  }
  friend constexpr CheckedInt operator+(CheckedInt a, CheckedInt b) {
    CheckedInt result(0);
    result.bad = __builtin_add_overflow(a.number, b.number, &result.number) || a.bad || b.bad;
    return result;
  }
  constexpr CheckedInt &operator*=(CheckedInt other) { return *this = *this * other; }
  constexpr CheckedInt &operator+=(CheckedInt other) { return *this = *this + other; }
  constexpr bool overflowed() const { return bad; }
  /// Returns the result, which is meaningful only without overflow.
  constexpr int64_t value() const { return number; }

private:
  int64_t number;
  bool bad = false;
};

/// Returns the quotient, rounded up. `value` must be at least 0, and `divisor` positive.
constexpr int64_t ceilDivide(int64_t value, int64_t divisor) { return value / divisor + (value % divisor != 0); }

/// Returns the smallest multiple of `multiple` (> 0) that is ≥ value (≥ 0).
constexpr CheckedInt roundUp(int64_t value, int64_t multiple) {
  int64_t rest = value % multiple;
  return rest == 0 ? CheckedInt(value) : CheckedInt(value) + CheckedInt(multiple - rest);
}

} // namespace quern

#endif // QUERN_SUPPORT_CHECKEDMATH_H
