//===- RoundTripTest.cpp - Text and bytes of random descriptors -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests that text and bytes preserve random valid descriptors, and that damaged ones are refused or are read as what
// they contain. A failure prints the seed.
//
//===----------------------------------------------------------------------===//
#include "Desc/Key.h"
#include "Desc/Text/TextForm.h"
#include "RandomDesc.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace quern;
using quern::test::RandomDesc;

namespace {
constexpr uint64_t firstSeed = 20240601;

/// Changes, inserts, removes or repeats some bytes.
std::string damaged(std::string text, RandomDesc &random, bool printable) {
  for (uint64_t count = 1 + random.below(3); count > 0 && !text.empty(); --count) {
    size_t at = random.below(text.size());
    char byte = static_cast<char>(printable ? ' ' + random.below(95) : random.below(256));
    switch (random.below(5)) {
    case 0:
      text.insert(at, 1, byte);
      break;
    case 1:
      text.erase(at, 1 + random.below(8));
      break;
    case 2:
      text.resize(at);
      break;
    case 3:
      text.insert(at, text.substr(random.below(text.size()), random.below(20)));
      break;
    default:
      text[at] = byte;
    }
  }
  return text;
}

void expectThreeLines(const std::string &message) {
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 2) << message;
}
} // namespace

TEST(RoundTrip, RandomTensors) {
  for (uint64_t seed = firstSeed; seed < firstSeed + 20000; ++seed) {
    TensorDesc desc = RandomDesc(seed).tensor();
    std::string text = textOf(desc);
    Result<TensorDesc> parsed = parseTensor(text);
    ASSERT_TRUE(parsed) << "seed " << seed << ": " << text << "\n" << parsed.error().message;
    ASSERT_EQ(*parsed, desc) << "seed " << seed << ": " << text << " became " << textOf(*parsed);
    ASSERT_EQ(textOf(*parsed), text) << "seed " << seed;
    ByteWriter out;
    desc.write(out);
    ByteReader in(out.bytes);
    Result<TensorDesc> read = TensorDesc::read(in);
    ASSERT_TRUE(read) << "seed " << seed << ": " << text << ": " << read.error().message;
    ASSERT_TRUE(in.ok() && in.atEnd()) << "seed " << seed;
    ASSERT_EQ(*read, desc) << "seed " << seed << ": " << text;
    ASSERT_GE(desc.hasRuntimeDims() ? 0 : desc.bytes(), 0) << "seed " << seed << ": " << text;
  }
}

TEST(RoundTrip, RandomProblems) {
  for (uint64_t seed = firstSeed; seed < firstSeed + 3000; ++seed) {
    PrimitiveDesc desc = RandomDesc(seed).problem();
    std::string text = desc.text();
    Result<PrimitiveDesc> parsed = PrimitiveDesc::parse(text);
    ASSERT_TRUE(parsed) << "seed " << seed << ": " << parsed.error().message;
    ASSERT_EQ(*parsed, desc) << "seed " << seed << ": " << text << "\nbecame " << parsed->text();
    ASSERT_EQ(parsed->text(), text) << "seed " << seed;
    std::string bytes = desc.canonicalBytes();
    Result<PrimitiveDesc> read = PrimitiveDesc::fromBytes(bytes);
    ASSERT_TRUE(read) << "seed " << seed << ": " << text << "\n" << read.error().message;
    ASSERT_EQ(*read, desc) << "seed " << seed << ": " << text;
  }
}

TEST(RoundTrip, DifferentProblemsHaveDifferentTextBytesAndKeys) {
  Target target;
  for (uint64_t seed = firstSeed; seed < firstSeed + 1000; ++seed) {
    PrimitiveDesc a = RandomDesc(seed).problem(), b = RandomDesc(seed + 1).problem();
    ASSERT_EQ(a == b, a.text() == b.text()) << "seed " << seed;
    ASSERT_EQ(a == b, a.canonicalBytes() == b.canonicalBytes()) << "seed " << seed;
    ASSERT_EQ(a == b, makeKey(a, target) == makeKey(b, target)) << "seed " << seed;
  }
}

TEST(RoundTrip, DamagedBytesAreRefusedOrRoundTrip) {
  size_t accepted = 0, refused = 0;
  for (uint64_t seed = firstSeed; seed < firstSeed + 20000; ++seed) {
    RandomDesc random(seed);
    std::string bytes = damaged(random.problem().canonicalBytes(), random, false);
    Result<PrimitiveDesc> read = PrimitiveDesc::fromBytes(bytes);
    if (read) {
      ++accepted;
      ASSERT_EQ(read->canonicalBytes(), bytes) << "seed " << seed;
      ASSERT_TRUE(PrimitiveDesc::parse(read->text())) << "seed " << seed << ": " << read->text();
    } else {
      ++refused;
      ASSERT_FALSE(read.error().message.empty());
      ASSERT_EQ(read.error().message.find('\n'), std::string::npos);
    }
  }
  EXPECT_GT(refused, accepted);
}

TEST(RoundTrip, DamagedTextIsRefusedWithACaretOrRoundTrips) {
  for (uint64_t seed = firstSeed; seed < firstSeed + 10000; ++seed) {
    RandomDesc random(seed);
    std::string text = damaged(random.problem().text(), random, random.chance(80));
    Result<PrimitiveDesc> parsed = PrimitiveDesc::parse(text);
    if (parsed) {
      Result<PrimitiveDesc> again = PrimitiveDesc::parse(parsed->text());
      ASSERT_TRUE(again) << "seed " << seed << ": " << again.error().message;
      ASSERT_EQ(*again, *parsed) << "seed " << seed << ": " << text;
    } else {
      expectThreeLines(parsed.error().message);
      ASSERT_EQ(parsed.error().message.back(), '^') << "seed " << seed;
    }
  }
}

TEST(RoundTrip, NoiseIsRefused) {
  for (uint64_t seed = firstSeed; seed < firstSeed + 5000; ++seed) {
    RandomDesc random(seed);
    std::string noise;
    for (uint64_t size = random.below(200); size > 0; --size)
      noise += static_cast<char>(random.below(256));
    Result<PrimitiveDesc> parsed = PrimitiveDesc::parse(noise);
    ASSERT_FALSE(parsed);
    expectThreeLines(parsed.error().message);
    ASSERT_FALSE(PrimitiveDesc::fromBytes(noise));
  }
}

// Parsing in quadratic time would take too long here.
TEST(RoundTrip, LongLinesTakeLinearTime) {
  constexpr size_t count = 200000;
  PrimitiveDesc desc;
  desc.op = RnnDesc();
  desc.attr.rnn.weightsScales.assign(count, 0.125f);
  for (int32_t i = 0; i < 20000; ++i)
    desc.attr.scales[1000000000 + i].mask = 1;
  Result<PrimitiveDesc> parsed = PrimitiveDesc::parse(desc.text());
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(*parsed, desc);
  for (char repeated : {'(', ',', 'x', '=', ' ', '?', ':', '1'}) {
    std::string line = "softmax fwd_i src=f32:8" + std::string(count, repeated);
    Result<PrimitiveDesc> bad = PrimitiveDesc::parse(line);
    if (!bad) {
      EXPECT_LT(bad.error().message.size(), 2000u) << "an error shows only the part of the line around the position";
      expectThreeLines(bad.error().message);
    }
  }
}
