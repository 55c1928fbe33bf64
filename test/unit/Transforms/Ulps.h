//===- Ulps.h - Errors in units of the last place --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_ULPS_H
#define QUERN_TEST_ULPS_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace quern {

template <typename T> struct FloatTraits;
template <> struct FloatTraits<float> {
  using Bits = uint32_t;
  using Wide = double;
  static constexpr const char *name = "f32";
};
template <> struct FloatTraits<double> {
  using Bits = uint64_t;
  using Wide = long double;
  static constexpr const char *name = "f64";
};

/// Returns the error of `got` in units in the last place of T at `exact`; infinite if only one of the two is special.
template <typename T, typename Wide> double ulps(T got, Wide exact) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(exact) || std::isnan(got))
    return std::isnan(exact) && std::isnan(got) ? 0 : INFINITY;
  T rounded = static_cast<T>(exact);
  if (std::isinf(rounded) || std::isinf(got)) // both are right within an ulp of the largest value
    return rounded == got || std::fabs(exact) <= static_cast<Wide>(Limits::max()) * (1 + Limits::epsilon())
               ? (std::signbit(got) == std::signbit(exact) ? 0 : INFINITY)
               : INFINITY;
  int exponent = exact == 0 ? Limits::min_exponent : std::max(std::ilogb(exact) + 1, Limits::min_exponent);
  return static_cast<double>(std::fabs(got - exact) / std::ldexp(Wide(1), exponent - Limits::digits));
}

} // namespace quern

#endif // QUERN_TEST_ULPS_H
