//===- SupportTest.cpp - Errors, digests, bytes, stages, checked sums -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the basic value types that all other code uses.
//
//===----------------------------------------------------------------------===//
#include "Support/Bytes.h"
#include "Support/CheckedMath.h"
#include "Support/Digest.h"
#include "Support/Error.h"
#include "Support/Stage.h"

#include <gtest/gtest.h>
#include <locale>

using namespace quern;

TEST(Error, NamesEveryStatus) {
  EXPECT_STREQ(toString(Status::Success), "success");
  EXPECT_STREQ(toString(Status::OutOfMemory), "out_of_memory");
  EXPECT_STREQ(toString(Status::InvalidArguments), "invalid_arguments");
  EXPECT_STREQ(toString(Status::Unimplemented), "unimplemented");
  EXPECT_STREQ(toString(Status::LastImplReached), "last_impl_reached");
  EXPECT_STREQ(toString(Status::RuntimeError), "runtime_error");
  EXPECT_STREQ(toString(Status::NotRequired), "not_required");
  EXPECT_STREQ(toString(Status::Internal), "internal_error");
  EXPECT_STREQ(toString(static_cast<Status>(77)), "unknown");
}

TEST(Error, ResultHoldsAValueOrAReason) {
  Result<int> value = 3;
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 3);
  Result<int> failed = invalidArguments("axis is ", 7, "; the largest is ", 2);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().status, Status::InvalidArguments);
  EXPECT_EQ(failed.error().message, "axis is 7; the largest is 2");
  EXPECT_TRUE(Result<void>());
  EXPECT_FALSE(Result<void>(unimplemented("no")));
}

// The value of XXH3-128 for empty input with seed 0, from its specification. Another build must find files by the same
// digest.
TEST(Digest, IsXxh3OfTheBytes) {
  EXPECT_EQ(digestOf("").hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(digestOf("quern"), digestOf("quern"));
  EXPECT_NE(digestOf("quern"), digestOf("quern "));
  EXPECT_EQ((Digest{0x0123456789abcdef, 0xfedcba9876543210}.hex()), "fedcba98765432100123456789abcdef");
}

TEST(Bytes, ReadBackWhatWasWritten) {
  ByteWriter out;
  out.put<int64_t>(-5);
  out.put<uint8_t>(7);
  out.putString("abc");
  out.put(1.5f);
  std::string bytes = out.take();
  ByteReader in(bytes);
  EXPECT_EQ(in.get<int64_t>(), -5);
  EXPECT_EQ(in.get<uint8_t>(), 7);
  EXPECT_EQ(in.getString(), "abc");
  EXPECT_EQ(in.get<float>(), 1.5f);
  EXPECT_TRUE(in.ok() && in.atEnd());
}

TEST(Bytes, AShortReadFailsPermanently) {
  ByteReader in(std::string_view("\x05\0\0\0ab", 6));
  EXPECT_EQ(in.getString(), "");
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.get<uint8_t>(), 0);
  EXPECT_FALSE(in.ok());
  ByteReader huge(std::string_view("\xff\xff\xff\xff", 4));
  EXPECT_EQ(huge.getBytes(UINT64_MAX), "");
  EXPECT_FALSE(huge.ok());
}

TEST(Stage, NamesRoundTrip) {
  for (std::string_view name : stageNames) {
    auto stage = stageFromName(name);
    ASSERT_TRUE(stage) << name;
    EXPECT_EQ(toString(*stage), name);
  }
  EXPECT_FALSE(stageFromName("optimise"));
  EXPECT_EQ(toString(static_cast<Stage>(99)), "unknown");
}

TEST(Concat, IgnoresTheGlobalLocale) {
  struct Grouped : std::numpunct<char> {
    std::string do_grouping() const override { return "\3"; }
    char do_thousands_sep() const override { return '.'; }
    char do_decimal_point() const override { return ','; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Grouped));
  const std::string text = concat(1234567, ' ', 0.5);
  std::locale::global(before);
  EXPECT_EQ(text, "1234567 0.5");
}

TEST(CheckedInt, AnOverflowPersists) {
  CheckedInt product = CheckedInt(INT64_MAX) * CheckedInt(2);
  EXPECT_TRUE(product.overflowed());
  EXPECT_TRUE((product + CheckedInt(1)).overflowed());
  EXPECT_TRUE((product * CheckedInt(0)).overflowed());
  EXPECT_EQ((CheckedInt(3) * CheckedInt(4) + CheckedInt(5)).value(), 17);
  EXPECT_EQ(roundUp(17, 16).value(), 32);
  EXPECT_EQ(roundUp(16, 16).value(), 16);
  EXPECT_EQ(roundUp(0, 16).value(), 0);
  EXPECT_TRUE(roundUp(INT64_MAX, 16).overflowed());
}
