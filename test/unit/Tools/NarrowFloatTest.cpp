//===- NarrowFloatTest.cpp - Narrow floats against known bit patterns -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests ties, denormals, overflow, and the round trip of every bit pattern of every format.
//
//===----------------------------------------------------------------------===//
#include "Support/NarrowFloat.h"

#include <gtest/gtest.h>

using namespace quern;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(NarrowFloat, RoundsTiesToEven) {
  EXPECT_EQ(encodeNarrow(1.0, bf16Format), 0x3f80u);
  EXPECT_EQ(encodeNarrow(1.0 + 0x1p-8, bf16Format), 0x3f80u);     // tie, even below
  EXPECT_EQ(encodeNarrow(1.0 + 3 * 0x1p-8, bf16Format), 0x3f82u); // tie, even above
  // Rounding to f32 first would lose the last bit.
  EXPECT_EQ(encodeNarrow(1.0 + 0x1p-8 + 0x1p-50, bf16Format), 0x3f81u);
  EXPECT_EQ(encodeNarrow(-2.0, f16Format), 0xc000u);
  EXPECT_EQ(encodeNarrow(1.0 + 0x1p-11, f16Format), 0x3c00u);
}

TEST(NarrowFloat, KeepsDenormals) {
  EXPECT_EQ(encodeNarrow(0x1p-24, f16Format), 1u);
  EXPECT_EQ(encodeNarrow(0x1p-25, f16Format), 0u); // tie between 0 and the smallest denormal
  EXPECT_EQ(encodeNarrow(0x1.8p-25, f16Format), 1u);
  EXPECT_EQ(encodeNarrow(0x1p-133, bf16Format), 1u);
  EXPECT_EQ(encodeNarrow(0x1.ffcp-15, f16Format), 0x400u); // rounds up to a normal number
  EXPECT_EQ(encodeNarrow(-0.0, f16Format), 0x8000u);
  EXPECT_EQ(encodeNarrow(0x1p-1074, bf16Format), 0u);
}

TEST(NarrowFloat, Overflows) {
  EXPECT_EQ(encodeNarrow(65504, f16Format), 0x7bffu);
  EXPECT_EQ(encodeNarrow(65519.99, f16Format), 0x7bffu);
  EXPECT_EQ(encodeNarrow(65520, f16Format), 0x7c00u);
  EXPECT_EQ(encodeNarrow(-infinity, f16Format), 0xfc00u);
  EXPECT_EQ(encodeNarrow(1e300, bf16Format), 0x7f80u);
  // After 448, the largest number, the next would be 480; the tie between them rounds to 448. There is no infinity: it
  // becomes NaN.
  EXPECT_EQ(encodeNarrow(464, f8E4M3Format), 0x7eu);
  EXPECT_EQ(encodeNarrow(std::nextafter(464, 465), f8E4M3Format), 0x7fu);
  EXPECT_EQ(encodeNarrow(-480, f8E4M3Format), 0xffu);
  EXPECT_EQ(encodeNarrow(1e9, f8E4M3Format), 0x7fu);
  EXPECT_EQ(encodeNarrow(-infinity, f8E4M3Format), 0xffu);
  EXPECT_EQ(encodeNarrow(infinity, f8E5M2Format), 0x7cu);
  EXPECT_TRUE(std::isnan(decodeNarrow(encodeNarrow(std::nan(""), f8E4M3Format), f8E4M3Format)));
}

TEST(NarrowFloat, E2M1HasNumbersOnly) {
  const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (uint32_t bits = 0; bits < 8; ++bits) {
    EXPECT_EQ(decodeNarrow(bits, f4E2M1Format), values[bits]);
    EXPECT_EQ(decodeNarrow(bits | 8, f4E2M1Format), -values[bits]);
  }
  EXPECT_EQ(encodeNarrow(0.25, f4E2M1Format), 0u); // ties, to even
  EXPECT_EQ(encodeNarrow(0.75, f4E2M1Format), 2u);
  EXPECT_EQ(encodeNarrow(-1.25, f4E2M1Format), 10u);
  EXPECT_EQ(encodeNarrow(2.5, f4E2M1Format), 4u);
  EXPECT_EQ(encodeNarrow(5, f4E2M1Format), 6u);
  EXPECT_EQ(encodeNarrow(5.01, f4E2M1Format), 7u);
  EXPECT_EQ(encodeNarrow(1e9, f4E2M1Format), 7u);
  EXPECT_EQ(encodeNarrow(-infinity, f4E2M1Format), 15u);
  EXPECT_EQ(encodeNarrow(std::copysign(std::nan(""), 1.0), f4E2M1Format), 7u);
}

TEST(NarrowFloat, E8M0IsAnExponent) {
  EXPECT_EQ(encodeE8M0(1), 127);
  EXPECT_EQ(encodeE8M0(-1.99), 127);
  EXPECT_EQ(encodeE8M0(0), 0);
  EXPECT_EQ(encodeE8M0(1e-300), 0);
  EXPECT_EQ(encodeE8M0(0x1.8p-127), 0);
  EXPECT_EQ(encodeE8M0(0x1p-126), 1);
  EXPECT_EQ(encodeE8M0(1e300), 254);
  EXPECT_EQ(encodeE8M0(-infinity), 255);
  EXPECT_EQ(encodeE8M0(std::nan("")), 255);
  EXPECT_TRUE(std::isnan(decodeE8M0(255)));
  EXPECT_EQ(decodeE8M0(0), 0x1p-127);
  for (int bits = 0; bits < 255; ++bits)
    EXPECT_EQ(encodeE8M0(decodeE8M0(static_cast<uint8_t>(bits))), bits);
}

TEST(NarrowFloat, EveryPatternRoundTrips) {
  for (const NarrowFormat &format : {bf16Format, f16Format, f8E5M2Format, f8E4M3Format, f4E2M1Format})
    for (uint32_t bits = 0; bits < 2 * format.signBit(); ++bits) {
      double value = decodeNarrow(bits, format);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(decodeNarrow(encodeNarrow(value, format), format)));
      else
        ASSERT_EQ(encodeNarrow(value, format), bits);
    }
}

} // namespace
