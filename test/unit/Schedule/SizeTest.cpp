//===- SizeTest.cpp - Known and open sizes --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Problem/Size.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <type_traits>

namespace quern::schedule {
namespace {

template <typename T>
concept IsAdded = requires(T size) { size + size; };
template <typename T>
concept IsBounded = requires(T size) { size < 2; };

TEST(Size, IsNotANumber) {
  static_assert(!std::is_convertible_v<Size, int64_t> && !std::is_constructible_v<int64_t, Size>);
  static_assert(!IsAdded<Size> && !IsBounded<Size>);
  static_assert(IsAdded<int64_t> && IsBounded<int64_t>);
  const Size number = 12, open = Size::open(7);
  EXPECT_FALSE(number.isOpen());
  EXPECT_EQ(number.known(), 12);
  EXPECT_EQ(Size().known(), 0);
  EXPECT_TRUE(open.isOpen() && !open.isUntold());
  EXPECT_EQ(open.openIndex(), 7);
  EXPECT_TRUE(Size::untold().isOpen() && Size::untold().isUntold());
#ifndef NDEBUG
  EXPECT_DEATH((void)open.known(), "an open size is not a number");
  EXPECT_DEATH((void)number.openIndex(), "no index in the list");
  EXPECT_DEATH((void)Size::untold().openIndex(), "no index in the list");
#endif
}

TEST(Size, KnowsProvableRelations) {
  const Size number = 12, open = Size::open(7);
  EXPECT_TRUE(number.isMultipleOf(4) && !number.isMultipleOf(5) && !open.isMultipleOf(1));
  EXPECT_TRUE(number.mayBeMultipleOf(4) && !number.mayBeMultipleOf(5) && open.mayBeMultipleOf(5));
  EXPECT_TRUE(number.isBelow(13) && !number.isBelow(12) && !open.isBelow(int64_t(1) << 62));
  EXPECT_TRUE(number.mayExceed(11) && !number.mayExceed(12) && open.mayExceed(int64_t(1) << 62));
  EXPECT_EQ(number.cappedAt(20), 12);
  EXPECT_EQ(number.cappedAt(8), 8);
  EXPECT_EQ(open.cappedAt(8), 8);
  EXPECT_EQ(number.knownOr(8), 12);
  EXPECT_EQ(open.knownOr(8), 8);
  EXPECT_EQ(number.typical(), 12);
  EXPECT_EQ(open.typical(), Size::open(0).typical());
  EXPECT_EQ(number.text(), "12");
  EXPECT_EQ(open.text(), "?");
  EXPECT_EQ(knownOf(Sizes{3, 4}), (Numbers{3, 4}));
}

TEST(Size, IsReplacedByAMoreSpecificOne) {
  const Size number = 12, open = Size::open(7);
  EXPECT_EQ(moreSpecific(number, open), number);
  EXPECT_EQ(moreSpecific(open, number), number);
  EXPECT_EQ(moreSpecific(open, Size::open(8)), open);
  EXPECT_EQ(moreSpecific(open, Size::untold()), open);
  EXPECT_EQ(moreSpecific(Size::untold(), open), open);
  EXPECT_EQ(moreSpecific(number, 13), number);
}

TEST(Size, IsMultipliedByNumbers) {
  EXPECT_EQ(Size(3) * 4, 12);
  EXPECT_EQ(Size::open(3) * 1, Size::open(3));
  EXPECT_EQ(Size::open(3) * 2 * 3, Size::open(3) * 6);
  EXPECT_NE(Size::open(3) * 2, Size::open(3));
  EXPECT_EQ(Size::open(3) * 0, 0);
  EXPECT_EQ((Size::open(3) * 2).openIndex(), 3);
  EXPECT_EQ((Size::open(3) * 2).openFactor(), 2);
}

TEST(Size, EqualsOnlyItself) {
  EXPECT_EQ(Size(3), 3);
  EXPECT_NE(Size(3), Size::open(3));
  EXPECT_EQ(Size::open(3), Size::open(3));
  EXPECT_NE(Size::open(3), Size::open(4));
  EXPECT_NE(Size::untold(), Size(-1));
}

TEST(Size, IsSortedAfterNumbersByItsIndexFromTheEnd) {
  Sizes sizes = {Size::open(0), 5, Size::open(2), -1, Size::open(1), int64_t(1) << 60};
  std::sort(sizes.begin(), sizes.end());
  EXPECT_EQ(sizes, (Sizes{-1, 5, int64_t(1) << 60, Size::open(2), Size::open(1), Size::open(0)}));
}

} // namespace
} // namespace quern::schedule
