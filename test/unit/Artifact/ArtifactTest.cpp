//===- ArtifactTest.cpp - Reading artifacts that nobody vouches for -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Accidents are caught by the checksum. Malice is simulated by damage whose checksum is made right again: then every check of a count, an
// index or a name stands for itself.
//
//===----------------------------------------------------------------------===//
#include "Artifact/Artifact.h"

#include "Support/Digest.h"

#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace quern;

namespace {

constexpr size_t checksumAt = 12, headerBytes = 28;

Artifact sample() {
  Artifact artifact;
  artifact.descriptor = "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab axis=1";
  artifact.target = "avx2";
  artifact.buildId = "0.1.0+abc";
  artifact.keyBytes = std::string("\0key\xff", 5);
  artifact.plan = "rows: 8 rows of 9, vectors of 8";
  artifact.entries = {"softmax_kernel", "second"};
  artifact.steps = {{0, 8, 100, {}}, {1, 2, 0, {{0, 16}, {2, 1}}}, {0, 4, 10, {}, {{1, 64}, {0, 0}}, true}};
  artifact.sizeCount = 3;
  artifact.arguments = {{1, 0, 288}, {17, 1, 288}};
  artifact.scratchBytesPerThread = 64;
  artifact.sharedScratchBytes = 4096;
  artifact.code = std::string("\x7f"
                              "ELF and so on\0",
                              15);
  return artifact;
}

void expectSame(const Artifact &a, const Artifact &b) {
  EXPECT_EQ(a.serialize(), b.serialize());
  EXPECT_EQ(a.codeKind, b.codeKind);
  EXPECT_EQ(a.descriptor, b.descriptor);
  EXPECT_EQ(a.target, b.target);
  EXPECT_EQ(a.buildId, b.buildId);
  EXPECT_EQ(a.keyBytes, b.keyBytes);
  EXPECT_EQ(a.plan, b.plan);
  EXPECT_EQ(a.entries, b.entries);
  EXPECT_EQ(a.code, b.code);
  EXPECT_EQ(a.scratchBytesPerThread, b.scratchBytesPerThread);
  EXPECT_EQ(a.sharedScratchBytes, b.sharedScratchBytes);
  EXPECT_EQ(a.sizeCount, b.sizeCount);
  ASSERT_EQ(a.steps.size(), b.steps.size());
  ASSERT_EQ(a.arguments.size(), b.arguments.size());
}

/// Makes the checksum right, as a forger would.
std::string resealed(std::string bytes) {
  if (bytes.size() < headerBytes)
    return bytes;
  Digest checksum = digestOf(std::string_view(bytes).substr(headerBytes));
  std::memcpy(bytes.data() + checksumAt, &checksum.low, 8);
  std::memcpy(bytes.data() + checksumAt + 8, &checksum.high, 8);
  return bytes;
}

void expectRefused(const std::string &bytes, std::string_view fragment) {
  Result<Artifact> parsed = Artifact::parse(bytes);
  ASSERT_FALSE(parsed) << fragment;
  EXPECT_EQ(parsed.error().status, Status::RuntimeError);
  EXPECT_NE(parsed.error().message.find(fragment), std::string::npos) << parsed.error().message;
  EXPECT_EQ(parsed.error().message.find('\n'), std::string::npos);
}

} // namespace

TEST(Artifact, LeadsBack) {
  Artifact artifact = sample();
  Result<Artifact> parsed = Artifact::parse(artifact.serialize());
  ASSERT_TRUE(parsed) << parsed.error().message;
  expectSame(*parsed, artifact);
  EXPECT_EQ(parsed->steps[0].iterations, 8);
  EXPECT_EQ(parsed->steps[1].entry, 1u);
  EXPECT_TRUE(parsed->steps[0].factors.empty());
  ASSERT_EQ(parsed->steps[1].factors.size(), 2u);
  EXPECT_EQ(parsed->steps[1].factors[0].divisor, 16);
  EXPECT_EQ(parsed->steps[1].factors[1].sizeIndex, 2u);
  EXPECT_TRUE(parsed->steps[1].buffers.empty());
  EXPECT_FALSE(parsed->steps[1].besidePrevious);
  ASSERT_EQ(parsed->steps[2].buffers.size(), 2u);
  EXPECT_EQ(parsed->steps[2].buffers[0].buffer, 1u);
  EXPECT_EQ(parsed->steps[2].buffers[0].byteOffset.constant(), 64);
  EXPECT_TRUE(parsed->steps[2].besidePrevious);
  EXPECT_EQ(parsed->arguments[1].index, 17);
  EXPECT_EQ(parsed->arguments[1].isOutput, 1u);
}

TEST(Artifact, EveryTruncationIsRefused) {
  std::string bytes = sample().serialize();
  for (size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_FALSE(Artifact::parse(std::string_view(bytes).substr(0, size))) << size;
    ASSERT_FALSE(Artifact::parse(resealed(bytes.substr(0, size)))) << size;
  }
  expectRefused(bytes + "x", "checksum");
  expectRefused(resealed(bytes + "x"), "1 bytes after its end");
}

TEST(Artifact, EveryFlippedBitIsRefused) {
  std::string bytes = sample().serialize();
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    ASSERT_FALSE(Artifact::parse(flipped)) << bit;
  }
}

TEST(Artifact, ForgedFieldsAreRefused) {
  struct Case {
    std::string_view fragment;
    std::function<void(Artifact &)> forge;
  };
  const Case cases[] = {
      {"code of kind 9", [](Artifact &a) { a.codeKind = static_cast<CodeKind>(9); }},
      {"unprintable", [](Artifact &a) { a.descriptor += '\n'; }},
      {"unprintable", [](Artifact &a) { a.target += '\x1b'; }},
      {"unprintable", [](Artifact &a) { a.buildId += '\0'; }},
      {"unprintable", [](Artifact &a) { a.plan += '\xff'; }},
      {"has 0 entries", [](Artifact &a) { a.entries.clear(); }},
      {"has 300 entries", [](Artifact &a) { a.entries.assign(300, "e"); }},
      {"no valid symbol name", [](Artifact &a) { a.entries[1] = ""; }},
      {"no valid symbol name", [](Artifact &a) { a.entries[1] = "a b"; }},
      {"no valid symbol name", [](Artifact &a) { a.entries[1] = "1a"; }},
      {"no valid symbol name", [](Artifact &a) { a.entries[1] = std::string(256, 'a'); }},
      {"'second' occurs twice", [](Artifact &a) { a.entries[0] = "second"; }},
      {"has 0 steps", [](Artifact &a) { a.steps.clear(); }},
      {"has 70000 steps", [](Artifact &a) { a.steps.resize(70000); }},
      {"step 1 runs entry 2 of 2", [](Artifact &a) { a.steps[1].entry = 2; }},
      {"-1 iterations", [](Artifact &a) { a.steps[0].iterations = -1; }},
      {"iterations of -5 ns", [](Artifact &a) { a.steps[0].nsPerIteration = -5; }},
      {"has 5000 arguments", [](Artifact &a) { a.arguments.resize(5000); }},
      {"argument 0 has index -1", [](Artifact &a) { a.arguments[0].index = -1; }},
      {"direction 2", [](Artifact &a) { a.arguments[0].isOutput = 2; }},
      {"-8 bytes", [](Artifact &a) { a.arguments[1].bytes = -8; }},
      {"-1 bytes of scratch", [](Artifact &a) { a.scratchBytesPerThread = -1; }},
      {"-64 of shared scratch", [](Artifact &a) { a.sharedScratchBytes = -64; }},
      {"has 70000 runtime sizes", [](Artifact &a) { a.sizeCount = 70000; }},
      {"step 1 has 17 factors", [](Artifact &a) { a.steps[1].factors.resize(17); }},
      {"step 1 divides size 3 of 3", [](Artifact &a) { a.steps[1].factors[1].sizeIndex = 3; }},
      {"step 1 divides size 0 of 3 by 0", [](Artifact &a) { a.steps[1].factors[0].divisor = 0; }},
      {"step 1 divides size 0 of 0", [](Artifact &a) { a.sizeCount = 0; }},
      {"step 2 has 65 buffers", [](Artifact &a) { a.steps[2].buffers.resize(65); }},
      {"step 2 passes buffer 2 of 2", [](Artifact &a) { a.steps[2].buffers[1].buffer = 2; }},
      {"step 2 passes buffer 1 from byte -4 on", [](Artifact &a) { a.steps[2].buffers[0].byteOffset = -4; }},
      {"step 2 passes buffer 1 from byte 289 on, of 288", [](Artifact &a) { a.steps[2].buffers[0].byteOffset = 289; }},
      {"step 0 says 1 of running beside", [](Artifact &a) { a.steps[0].besidePrevious = true; }},
  };
  for (const Case &one : cases) {
    Artifact artifact = sample();
    one.forge(artifact);
    expectRefused(artifact.serialize(), one.fragment);
  }
}

TEST(Artifact, ForeignFilesAreRefused) {
  expectRefused("", "not an artifact: 0 bytes");
  expectRefused("hello, world, this is a text file of some length", "not an artifact");
  std::string bytes = sample().serialize();
  bytes[8] = 77;
  expectRefused(bytes, "format 77; this library reads format 4");
}

TEST(Artifact, RandomForgeriesAreRefusedOrAreWhatTheySay) {
  constexpr uint64_t seed = 20240602;
  std::mt19937_64 random(seed);
  const std::string bytes = sample().serialize();
  for (int trial = 0; trial < 100000; ++trial) {
    std::string forged = bytes;
    for (uint64_t count = 1 + random() % 3; count > 0; --count) {
      size_t at = headerBytes + random() % (forged.size() - headerBytes);
      switch (random() % 3) {
      case 0:
        forged[at] = static_cast<char>(random());
        break;
      case 1:
        forged.insert(at, 1 + random() % 4, static_cast<char>(random()));
        break;
      default:
        forged.erase(at, std::min<size_t>(forged.size() - at, random() % 4));
        forged.resize(std::max(forged.size(), headerBytes + 1));
      }
    }
    forged = resealed(forged);
    Result<Artifact> parsed = Artifact::parse(forged);
    if (parsed)
      ASSERT_EQ(parsed->serialize(), forged) << "seed " << seed << ", trial " << trial;
    else
      ASSERT_FALSE(parsed.error().message.empty());
  }
}
