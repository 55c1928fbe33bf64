//===- ArtifactTest.cpp - Reading artifacts from untrusted sources --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the reader of artifacts. The checksum detects accidental damage. Deliberate damage is simulated with a
// corrected checksum, so that each check of a count, an index or a name is tested alone.
//
//===----------------------------------------------------------------------===//
#include "Artifact/Artifact.h"

#include "Support/Digest.h"

#include <cstring>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace quern;

namespace {

constexpr size_t headerBytes = Artifact::headerBytes, checksumAt = headerBytes - 2 * sizeof(uint64_t);

constexpr uint32_t size0 = symbolOfSize(0), size1 = symbolOfSize(1), size3 = symbolOfSize(3);

Polynomial sum(std::vector<Term> terms) {
  Polynomial polynomial;
  polynomial.terms = std::move(terms);
  return polynomial;
}

/// An artifact with two loops around its last two steps and one derived size.
Artifact sample() {
  Artifact artifact;
  artifact.descriptor = "softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab axis=1";
  artifact.target = "avx2";
  artifact.buildId = "0.1.0+abc";
  artifact.keyBytes = std::string("\0key\xff", 5);
  artifact.plan = "rows: 8 rows of 9, vectors of 8";
  artifact.entries = {"softmax_kernel", "second"};
  artifact.steps = {
      {0, 8, 100, {}},
      {1, 2, 0, {{0, 16}, {2, 1}}},
      {0, 4, 10, {}, {{1, 64}, {0, 0}}, true},
      {1, 4, 10, {}, {{1, sum({{96, {}}, {-32, {0}}, {8, {0, 1}}})}, {2, sum({{64, {0, size0}}, {4, {1}}})}}},
      {0, 4, 10, {}, {{2, 0}, {3, sum({{256, {0}}})}}, true}};
  artifact.loops = {{3, 3, 5}, {2, 3, 5}};
  artifact.regions = {sum({{64, {size0, size3}}}), 1024};
  artifact.derivedSizes = {{0, sum({{1, {size0}}}), 16, sum({{2, {size1}}})}};
  artifact.checks = {{"an offset", sum({{1, {size3}}}), 0, sum({{1, {size0}}})}};
  artifact.sizeCount = 3;
  artifact.arguments = {{1, 0, 288}, {17, 1, 288}};
  artifact.scratchBytesPerThread = 64;
  artifact.sharedScratchBytes = 4096;
  artifact.code = std::string("\x7f"
                              "ELF and so on\0",
                              15);
  return artifact;
}

Artifact deviceSample() {
  Artifact artifact = sample();
  artifact.codeKind = CodeKind::SpirV;
  artifact.target = "spirv64:sg=16,group=512,slm=65536";
  artifact.groups = {{256, 16, 4096}, {64, 0, 0}};
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

/// Corrects the checksum, as a forger would.
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

TEST(Artifact, RoundTrips) {
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
  EXPECT_FALSE(parsed->steps[1].independentOfPrevious);
  ASSERT_EQ(parsed->steps[2].buffers.size(), 2u);
  EXPECT_EQ(parsed->steps[2].buffers[0].buffer, 1u);
  EXPECT_EQ(parsed->steps[2].buffers[0].byteOffset.constant(), 64);
  EXPECT_TRUE(parsed->steps[2].independentOfPrevious);
  ASSERT_EQ(parsed->loops.size(), 2u);
  EXPECT_EQ(parsed->loops[1].trips.constant(), 2);
  EXPECT_EQ(parsed->loops[1].end, 5u);
  EXPECT_EQ(parsed->steps[3].buffers[0].byteOffset.text(), "96 - 32*d0 + 8*d0*d1");
  EXPECT_EQ(parsed->steps[3].buffers[1].byteOffset, artifact.steps[3].buffers[1].byteOffset);
  EXPECT_EQ(parsed->regions, artifact.regions);
  ASSERT_EQ(parsed->derivedSizes.size(), 1u);
  EXPECT_EQ(parsed->derivedSizes[0].stride.text(), "2*s1");
  ASSERT_EQ(parsed->checks.size(), 1u);
  EXPECT_EQ(parsed->checks[0].what, "an offset");
  EXPECT_EQ(parsed->checks[0].value.text() + ", " + parsed->checks[0].high.text(), "s3, s0");
  EXPECT_EQ(parsed->launchText(),
            "softmax_kernel, second | softmax_kernel, loop 3 { loop 2 { second | softmax_kernel } }");
  EXPECT_EQ(parsed->arguments[1].index, 17);
  EXPECT_EQ(parsed->arguments[1].isOutput, 1u);
}

TEST(Artifact, GroupsOfADeviceRoundTrip) {
  Artifact artifact = deviceSample();
  Result<Artifact> parsed = Artifact::parse(artifact.serialize());
  ASSERT_TRUE(parsed) << parsed.error().message;
  expectSame(*parsed, artifact);
  EXPECT_EQ(parsed->groups, artifact.groups);
  for (EntryGroup bad : {EntryGroup{0, 0, 0}, EntryGroup{70000, 0, 0}, EntryGroup{64, 24, 0}, EntryGroup{64, 256, 0},
                         EntryGroup{64, -16, 0}, EntryGroup{64, 16, -1}}) {
    artifact.groups[1] = bad;
    expectRefused(artifact.serialize(), concat("artifact entry 1 runs in groups of ", bad.workItems, " work-items"));
  }
}

TEST(Artifact, EveryTruncationIsRefused) {
  for (const std::string &bytes : {sample().serialize(), deviceSample().serialize()})
    for (size_t size = 0; size < bytes.size(); ++size) {
      ASSERT_FALSE(Artifact::parse(std::string_view(bytes).substr(0, size))) << size;
      ASSERT_FALSE(Artifact::parse(resealed(bytes.substr(0, size)))) << size;
    }
  const std::string bytes = sample().serialize();
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
      {"step 1 divides size 4 of 4", [](Artifact &a) { a.steps[1].factors[1].sizeIndex = 4; }},
      {"step 1 divides size 0 of 4 by 0", [](Artifact &a) { a.steps[1].factors[0].divisor = 0; }},
      {"derived size 0 depends on size 0; it has 0 of them", [](Artifact &a) { a.sizeCount = 0; }},
      {"step 2 has 65 buffers", [](Artifact &a) { a.steps[2].buffers.resize(65); }},
      {"step 2 passes buffer 4 of 4", [](Artifact &a) { a.steps[2].buffers[1].buffer = 4; }},
      {"step 2 passes buffer 1 from byte -4;", [](Artifact &a) { a.steps[2].buffers[0].byteOffset = -4; }},
      {"step 2 passes buffer 1 from byte 289; it has 288", [](Artifact &a) { a.steps[2].buffers[0].byteOffset = 289; }},
      {"step 3 has flag 1 for independence", [](Artifact &a) { a.steps[3].independentOfPrevious = true; }},
      {"step 4 has flag 1 for independence", [](Artifact &a) { a.steps[3].buffers.clear(), a.loops[1].first = 4; }},
      {"has 5000 loops", [](Artifact &a) { a.loops.resize(5000); }},
      {"has 300 regions", [](Artifact &a) { a.regions.resize(300); }},
      {"has 129 derived sizes", [](Artifact &a) { a.derivedSizes.resize(129); }},
      {"loop 0 contains steps 5 to 5; it may contain 0 to 5", [](Artifact &a) { a.loops[0].first = 5; }},
      {"loop 0 contains steps 3 to 6; it may contain 0 to 5", [](Artifact &a) { a.loops[0].end = 6; }},
      {"loop 1 contains steps 3 to 5; it may contain 3 to 4", [](Artifact &a) { a.loops[0].end = 4; }},
      {"loop 1 contains steps 2 to 5; it may contain 3 to 5", [](Artifact &a) { a.loops[1].first = 2; }},
      {"loop 8 is nested in 8 others", [](Artifact &a) { a.loops.assign(9, {2, 3, 5}); }},
      {"loop 0 depends on loop 0; it has 0 of them", [](Artifact &a) { a.loops[0].trips = sum({{1, {0}}}); }},
      {"region 0 depends on size 4; it has 4 of them",
       [](Artifact &a) { a.regions[0] = sum({{1, {symbolOfSize(4)}}}); }},
      {"region 1 has -5 bytes", [](Artifact &a) { a.regions[1] = -5; }},
      {"derived size 0 depends on size 3; it has 3 of them",
       [](Artifact &a) { a.derivedSizes[0].limit = sum({{1, {size3}}}); }},
      {"derived size 0 uses argument 2 of 2", [](Artifact &a) { a.derivedSizes[0].argument = 2; }},
      {"derived size 0 is of kind 3", [](Artifact &a) { a.derivedSizes[0].kind = static_cast<DerivedSize::Kind>(3); }},
      {"check 0 depends on size 4; it has 4 of them",
       [](Artifact &a) { a.checks[0].high = sum({{1, {symbolOfSize(4)}}}); }},
      {"has 1025 checks", [](Artifact &a) { a.checks.resize(1025); }},
      {"step 3 depends on loop 2; it has 2 of them",
       [](Artifact &a) { a.steps[3].buffers[0].byteOffset = sum({{1, {2}}}); }},
      {"step 3 has a sum of 65 terms", [](Artifact &a) { a.steps[3].buffers[0].byteOffset.terms.resize(65); }},
      {"step 3 has a product of 9", [](Artifact &a) { a.steps[3].buffers[0].byteOffset.terms[0].symbols.resize(9); }},
      {"step 3 has a product that is not in order",
       [](Artifact &a) { a.steps[3].buffers[0].byteOffset = sum({{1, {1, 0}}}); }},
      {"step 3 passes buffer 0 from byte 96 - 48*d0 + 8*d0*d1; it has 288",
       [](Artifact &a) {
         a.steps[3].buffers[0] = {0, sum({{96, {}}, {-48, {0}}, {8, {0, 1}}})};
         a.loops[0].trips = 4; // down to -48
       }},
      {"step 4 passes buffer 3 from byte 1024*d0; it has 1024",
       [](Artifact &a) { a.steps[4].buffers[1].byteOffset = sum({{1024, {0}}}); }},
      {"from byte 9223372036854775807*d0;",
       [](Artifact &a) { a.steps[4].buffers[1].byteOffset = sum({{INT64_MAX, {0}}}); }},
      {"step 0 has flag 1 for independence", [](Artifact &a) { a.steps[0].independentOfPrevious = true; }},
  };
  for (const Case &one : cases) {
    Artifact artifact = sample();
    one.forge(artifact);
    expectRefused(artifact.serialize(), one.fragment);
  }
}

TEST(Artifact, OffsetsThatDependOnSizesAreCheckedAtExecution) {
  Artifact artifact = sample();
  artifact.steps[4].buffers[1].byteOffset = sum({{1024, {0, size0}}});
  EXPECT_TRUE(Artifact::parse(artifact.serialize()));
  artifact = sample();
  artifact.steps[4].buffers[1].byteOffset = sum({{1024, {0}}});
  artifact.loops[0].trips = sum({{1, {size3}}});
  EXPECT_TRUE(Artifact::parse(artifact.serialize()));
  artifact.loops[0].trips = 0; // an empty loop
  EXPECT_TRUE(Artifact::parse(artifact.serialize()));
}

TEST(Polynomial, RangesAndText) {
  EXPECT_EQ(Polynomial().text(), "0");
  EXPECT_EQ(Polynomial(-3).text(), "-3");
  EXPECT_EQ(sum({{-1, {size0}}, {1, {0, 1}}, {-7, {}}}).text(), "-s0 + d0*d1 - 7");
  const SymbolRange symbols[] = {{0, 9}, {-2, 3}};
  const std::optional<SymbolRange> range = rangeOf(sum({{5, {}}, {-2, {0}}, {10, {0, 1}}}), symbols);
  ASSERT_TRUE(range);
  EXPECT_EQ(range->low, 5 - 18 - 180);
  EXPECT_EQ(range->high, 5 + 270);
  EXPECT_FALSE(rangeOf(sum({{INT64_MAX / 8, {0}}}), symbols));
  EXPECT_FALSE(rangeOf(sum({{INT64_MAX, {}}, {1, {0}}}), symbols));
}

TEST(Artifact, ForeignFilesAreRefused) {
  expectRefused("", "not an artifact: 0 bytes");
  expectRefused("hello, world, this is a text file of some length", "not an artifact");
  std::string bytes = sample().serialize();
  bytes[8] = 77;
  expectRefused(bytes, "format 77; this library reads format 6");
}

TEST(Artifact, TheFuzzersStartFromArtifactsOfThisFormat) {
  for (const char *name : {"whole", "whole-numbers", "whole-open-sizes", "whole-steps"}) {
    std::ifstream file(std::string(QUERN_SOURCE_DIR "/test/fuzz/corpus/fuzz-artifact/") + name, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    Result<Artifact> artifact = Artifact::parse(bytes);
    ASSERT_TRUE(artifact) << name << ": " << artifact.error().message;
    EXPECT_EQ(artifact->serialize(), bytes) << name;
  }
}

TEST(Artifact, RandomForgeriesAreRefusedOrRoundTrip) {
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
