//===- NarrowFloat.h - Conversions of narrow floats to and from double ----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The formats, also used by the code generator, and conversions for the tools and the reference implementations, which
// are exact rather than fast: one rounding from double, to nearest even, independent of the caller's rounding mode;
// denormals are kept. Every narrow value is exact in double.
//===----------------------------------------------------------------------===//
#ifndef QUERN_SUPPORT_NARROWFLOAT_H
#define QUERN_SUPPORT_NARROWFLOAT_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace quern {

/// A sign bit, then the exponent, then the mantissa.
struct NarrowFormat {
  /// Treatment of non-finite values. IEEE: the largest exponent means infinity and NaN. AllOnesIsNan: only that pattern
  /// is NaN, and values that are too large (including infinity) become it. None: values that are too large, and NaN,
  /// become the largest value.
  enum class Special { Ieee, AllOnesIsNan, None };

  int exponentBits, mantissaBits;
  Special special;

  constexpr int bias() const { return (1 << (exponentBits - 1)) - 1; }
  constexpr uint32_t signBit() const { return 1u << (exponentBits + mantissaBits); }
  constexpr uint32_t infinity() const { return ((1u << exponentBits) - 1) << mantissaBits; }
  constexpr bool isIeee() const { return special == Special::Ieee; }
  /// Returns the result for numbers that round beyond the largest.
  constexpr uint32_t overflow() const { return isIeee() ? infinity() : signBit() - 1; }
  constexpr uint32_t quietNan() const { return isIeee() ? infinity() | 1u << (mantissaBits - 1) : signBit() - 1; }
  constexpr uint32_t largest() const {
    return isIeee() ? infinity() - 1 : signBit() - (special == Special::None ? 1 : 2);
  }
};

inline constexpr NarrowFormat bf16Format{8, 7, NarrowFormat::Special::Ieee},
    f16Format{5, 10, NarrowFormat::Special::Ieee}, f8E5M2Format{5, 2, NarrowFormat::Special::Ieee},
    f8E4M3Format{4, 3, NarrowFormat::Special::AllOnesIsNan}, f4E2M1Format{2, 1, NarrowFormat::Special::None};

/// Returns the bits of the nearest value of the format, ties to even.
inline uint32_t encodeNarrow(double value, const NarrowFormat &format) {
  uint32_t sign = std::signbit(value) ? format.signBit() : 0;
  if (std::isnan(value))
    return sign | format.quietNan();
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude))
    return sign | format.overflow();
  if (magnitude == 0)
    return sign;
  // Below the smallest normal exponent, the spacing is that of the denormals, which share the encoding of exponent 1.
  int exponent = std::max(std::ilogb(magnitude), 1 - format.bias());
  if (exponent > format.bias() + 1)
    return sign | format.overflow();
  double scaled = std::ldexp(magnitude, format.mantissaBits - exponent); // exact: only the exponent changes
  double whole = std::floor(scaled), rest = scaled - whole;              // both exact
  uint32_t digits = static_cast<uint32_t>(whole);
  if (rest > 0.5 || (rest == 0.5 && (digits & 1)))
    ++digits;
  // `digits` includes the hidden bit, and a carry out of it is a carry into the exponent.
  uint32_t bits = (static_cast<uint32_t>(exponent + format.bias() - 1) << format.mantissaBits) + digits;
  return sign | (bits > format.largest() ? format.overflow() : bits);
}

inline double decodeNarrow(uint32_t bits, const NarrowFormat &format) {
  bool negative = bits & format.signBit();
  uint32_t magnitude = bits & (format.signBit() - 1);
  double value;
  if (magnitude > format.largest())
    value = format.isIeee() && magnitude == format.infinity() ? std::numeric_limits<double>::infinity()
                                                              : std::numeric_limits<double>::quiet_NaN();
  else {
    uint32_t mantissa = magnitude & ((1u << format.mantissaBits) - 1);
    int exponent = static_cast<int>(magnitude >> format.mantissaBits);
    if (exponent == 0)
      exponent = 1;
    else
      mantissa |= 1u << format.mantissaBits;
    value = std::ldexp(mantissa, exponent - format.bias() - format.mantissaBits);
  }
  return negative ? -value : value;
}

/// Converts to e8m0, a type of scales that has only an exponent: 2^(bits - 127), or NaN. Returns the largest power of
/// two not above the magnitude, or the smallest power if the magnitude is below it (including 0). The sign is dropped;
/// infinity and NaN become NaN.
inline uint8_t encodeE8M0(double value) {
  if (!std::isfinite(value))
    return 0xff;
  return value == 0 ? 0 : static_cast<uint8_t>(std::clamp(std::ilogb(value) + 127, 0, 254));
}

inline double decodeE8M0(uint8_t bits) {
  return bits == 0xff ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, bits - 127);
}

} // namespace quern

#endif // QUERN_SUPPORT_NARROWFLOAT_H
