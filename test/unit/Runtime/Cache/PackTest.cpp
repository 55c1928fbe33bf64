//===- PackTest.cpp - Reading packs from untrusted sources ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the reader of packs. Checksums of the index and of each artifact detect accidental damage. Deliberate damage is
// simulated by changing the index and correcting its checksum, so that each check of a length, an order or an offset is
// tested alone.
//
//===----------------------------------------------------------------------===//
#include "Cache/Pack.h"

#include "Runtime/TestArtifacts.h"
#include "Runtime/TestSupport.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace quern {
namespace {

Artifact artifactOf(int64_t rows, const char *target) {
  const Target parsed = *Target::parse(target);
  return test::makeTestArtifact(*verify(*PrimitiveDesc::parse(test::lineOf(rows)), parsed), parsed);
}

/// Returns artifacts of three problems for two targets.
std::vector<Artifact> sampleArtifacts() {
  std::vector<Artifact> artifacts;
  for (const char *target : {"avx2", "sse42"})
    for (int64_t rows : {3, 5, 7}) {
      artifacts.push_back(artifactOf(rows, target));
      artifacts.back().code = concat("code of ", rows, " rows for ", target);
    }
  return artifacts;
}

Result<std::string> pack(const std::vector<Artifact> &artifacts) {
  std::vector<std::string> bytes;
  for (const Artifact &artifact : artifacts)
    bytes.push_back(artifact.serialize());
  return writePack({bytes.begin(), bytes.end()});
}

/// Corrects the checksum of an index that ends at `indexEnd`.
std::string sealed(std::string bytes, size_t indexEnd) {
  const Digest checksum = digestOf(std::string_view(bytes).substr(Pack::headerBytes, indexEnd - Pack::headerBytes));
  std::memcpy(bytes.data() + Pack::headerBytes - 16, &checksum.low, 8);
  std::memcpy(bytes.data() + Pack::headerBytes - 8, &checksum.high, 8);
  return bytes;
}

/// Returns true if every entry of the pack can be read, and each artifact that parses is one of `artifacts`.
bool isRight(const Pack &pack, const std::vector<Artifact> &artifacts) {
  bool right = true;
  for (size_t i = 0; i < pack.size(); ++i)
    if (Result<Artifact> artifact = checkEntry(pack, pack.entry(i)))
      right &= std::any_of(artifacts.begin(), artifacts.end(), [&](const Artifact &expected) {
        return expected.keyBytes == artifact->keyBytes && expected.code == artifact->code;
      });
  return right;
}

TEST(Pack, FindsWhatWasPacked) {
  const std::vector<Artifact> artifacts = sampleArtifacts();
  const std::string bytes = *pack(artifacts);
  const Result<std::shared_ptr<const Pack>> read = Pack::fromBytes(bytes, "a test");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ((*read)->size(), artifacts.size());
  EXPECT_EQ((*read)->buildId(), compilerBuildId());
  ASSERT_EQ((*read)->targets().size(), 2u);
  EXPECT_EQ((*read)->targets()[0].name(), "avx2");
  for (const Artifact &artifact : artifacts)
    EXPECT_EQ((*read)->find(digestOf(artifact.keyBytes)), artifact.serialize());
  for (uint64_t word : {uint64_t{0}, uint64_t{1} << 63, ~uint64_t{0}})
    EXPECT_TRUE((*read)->find({word, word}).empty());
  for (size_t i = 0; i < artifacts.size(); ++i)
    EXPECT_TRUE(checkEntry(**read, (*read)->entry(i)));
}

TEST(Pack, IsTheSameForEveryOrder) {
  std::vector<Artifact> artifacts = sampleArtifacts();
  const std::string bytes = *pack(artifacts);
  std::reverse(artifacts.begin(), artifacts.end());
  artifacts.push_back(artifacts.front());
  EXPECT_EQ(*pack(artifacts), bytes);
}

TEST(Pack, MayBeEmpty) {
  const std::string bytes = *pack({});
  const auto read = Pack::fromBytes(bytes, "a test");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE((*read)->find({1, 2}).empty());
}

TEST(Pack, RefusesUnsupportedArtifacts) {
  std::vector<Artifact> artifacts = sampleArtifacts();
  artifacts[1].buildId = "another";
  EXPECT_NE(pack(artifacts).error().message.find("of builds "), std::string::npos);
  artifacts = sampleArtifacts();
  artifacts[0].codeKind = CodeKind::DeviceBinary;
  artifacts[0].groups.resize(artifacts[0].entries.size());
  EXPECT_NE(pack(artifacts).error().message.find("a device driver's binary"), std::string::npos);
  EXPECT_NE(writePack({"nothing"}).error().message.find("not an artifact"), std::string::npos);
}

TEST(Pack, MayHaveAnyAddress) {
  const std::vector<Artifact> artifacts = sampleArtifacts();
  const std::string shifted = "x" + *pack(artifacts);
  const auto read = Pack::fromBytes(std::string_view(shifted).substr(1), "a test");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(isRight(**read, artifacts));
}

TEST(Pack, DamagedAtEveryByte) {
  const std::vector<Artifact> artifacts = sampleArtifacts();
  const std::string bytes = *pack(artifacts);
  size_t opened = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    for (char bit : {1, -128}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ bit);
      const auto read = Pack::fromBytes(damaged, "a test");
      opened += read ? 1 : 0;
      EXPECT_TRUE(!read || isRight(**read, artifacts)) << "byte " << i;
    }
  EXPECT_GT(opened, 0u) << "damage of one artifact must not affect the others";
}

TEST(Pack, CutAnywhere) {
  const std::string bytes = *pack(sampleArtifacts());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(Pack::fromBytes(std::string_view(bytes).substr(0, size), "a test")) << size;
  EXPECT_FALSE(Pack::fromBytes(bytes + "x", "a test"));
}

TEST(Pack, ResealedAtEveryByteOfTheIndex) {
  const std::vector<Artifact> artifacts = sampleArtifacts();
  const std::string bytes = *pack(artifacts);
  const auto indexEnd =
      static_cast<size_t>((*Pack::fromBytes(bytes, "a test"))->entry(0).artifact.data() - bytes.data());
  for (size_t i = Pack::headerBytes; i < indexEnd; ++i)
    for (int value : {0, 1, 0x7f, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(value);
      damaged = sealed(damaged, indexEnd);
      const auto read = Pack::fromBytes(damaged, "a test");
      EXPECT_TRUE(!read || isRight(**read, artifacts)) << "byte " << i << " is " << value;
    }
}

TEST(Pack, ReportsTheFaultOfAnEntry) {
  std::vector<Artifact> artifacts = sampleArtifacts();
  std::string bytes = *pack(artifacts);
  const auto read = Pack::fromBytes(bytes, "a test");
  const Pack::Entry entry = (*read)->entry(0);
  EXPECT_NE(checkEntry(**read, {{1, 2}, entry.artifact}).error().message.find("another key"), std::string::npos);
  Artifact foreign = *Artifact::parse(entry.artifact);
  foreign.target = "avx512_core";
  EXPECT_NE(checkEntry(**read, {entry.digest, foreign.serialize()}).error().message.find("not a target of the pack"),
            std::string::npos);
  foreign.buildId = "another";
  EXPECT_NE(checkEntry(**read, {entry.digest, foreign.serialize()}).error().message.find("of build another"),
            std::string::npos);
}

TEST(PackFile, IsMappedOrRefused) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path + "/a.qpk";
  const auto messageOf = [&](const std::string &name) {
    const auto read = Pack::open(name);
    return read ? std::string() : read.error().message;
  };
  EXPECT_NE(messageOf(path).find("cannot open the pack"), std::string::npos);
  EXPECT_NE(messageOf(directory.path).find("not a regular file"), std::string::npos);
  std::ofstream(path) << "short";
  EXPECT_NE(messageOf(path).find("less than a header"), std::string::npos);
  std::ofstream(path, std::ios::trunc) << std::string(100, 'x');
  EXPECT_NE(messageOf(path).find("do not start with 'QUERNPAK'"), std::string::npos);
  ASSERT_EQ(mkfifo((directory.path + "/pipe").c_str(), 0600), 0);
  EXPECT_NE(messageOf(directory.path + "/pipe").find("not a regular file"), std::string::npos);
  const std::vector<Artifact> artifacts = sampleArtifacts();
  std::ofstream(path, std::ios::trunc | std::ios::binary) << *pack(artifacts);
  const auto read = Pack::open(path);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ((*read)->name(), path);
  EXPECT_TRUE(isRight(**read, artifacts));
  EXPECT_EQ((*read)->size(), artifacts.size());
}

} // namespace
} // namespace quern
