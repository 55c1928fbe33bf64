//===- EntryTest.cpp - Checks of entries from servers ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Remote/Entry.h"
#include "Artifact/Artifact.h"

#include <gtest/gtest.h>
#include <sodium.h>

using namespace quern;
using namespace quern::remote;

namespace {

constexpr int64_t now = 1'700'000'000;

PrivateKey newKey() {
  EXPECT_TRUE(prepareCryptography());
  PrivateKey key;
  crypto_sign_keypair(key.publicKey.data(), key.secret.data());
  return key;
}

std::string anArtifact() {
  Artifact artifact;
  artifact.descriptor = "softmax of something secret";
  artifact.target = "avx2";
  artifact.buildId = "build";
  artifact.keyBytes = "key";
  artifact.codeKind = CodeKind::Function; // functions have no entries
  artifact.code = "code";
  return artifact.serialize();
}

EntryKey entryKeyOf(const char *bytes = "key") { return {nameOfEntry(bytes), "avx2", "build"}; }

TEST(RemoteEntry, OpensOnlyWithTheWritersKey) {
  const PrivateKey writer = newKey(), other = newKey();
  const std::string entry = sealEntry(entryKeyOf(), "artifact", now + 10, writer);
  const PublicKey both[] = {other.publicKey, writer.publicKey};
  EXPECT_EQ(openEntry(entry, entryKeyOf(), now, both).artifact, "artifact");
  EXPECT_EQ(openEntry(entry, entryKeyOf(), now, std::span(both, 1)).verdict, Verdict::Foreign);
  EXPECT_EQ(openEntry(entry, entryKeyOf(), now, {}).verdict, Verdict::Foreign);
}

TEST(RemoteEntry, HoldsUntilItsExpiry) {
  const PrivateKey writer = newKey();
  const std::string entry = sealEntry(entryKeyOf(), "artifact", now + 10, writer);
  EXPECT_EQ(openEntry(entry, entryKeyOf(), now + 9, {&writer.publicKey, 1}).verdict, Verdict::Sound);
  EXPECT_EQ(openEntry(entry, entryKeyOf(), now + 10, {&writer.publicKey, 1}).verdict, Verdict::Expired);
  EXPECT_EQ(openEntry(entry, entryKeyOf(), INT64_MAX, {&writer.publicKey, 1}).verdict, Verdict::Expired);
  EXPECT_EQ(openEntry(entry, entryKeyOf(), INT64_MIN, {&writer.publicKey, 1}).verdict, Verdict::Sound)
      << "a clock that is slow";
}

TEST(RemoteEntry, IsValidForOneKeyTargetAndBuild) {
  const PrivateKey writer = newKey();
  const std::string entry = sealEntry(entryKeyOf(), "artifact", now + 10, writer);
  EntryKey target = entryKeyOf(), build = entryKeyOf();
  target.target = "sse42";
  build.buildId = "another";
  for (const EntryKey &key : {entryKeyOf("another"), target, build})
    EXPECT_EQ(openEntry(entry, key, now, {&writer.publicKey, 1}).verdict, Verdict::Mismatched);
}

TEST(RemoteEntry, ChangedBitsAndMissingBytesAreRefused) {
  const PrivateKey writer = newKey();
  std::string entry = sealEntry(entryKeyOf(), "artifact", now + 10, writer);
  for (size_t bit = 0; bit < entry.size() * 8; ++bit) {
    entry[bit / 8] ^= static_cast<char>(1 << bit % 8);
    EXPECT_NE(openEntry(entry, entryKeyOf(), now, {&writer.publicKey, 1}).verdict, Verdict::Sound) << "bit " << bit;
    entry[bit / 8] ^= static_cast<char>(1 << bit % 8);
  }
  for (size_t size = 0; size < entry.size(); ++size)
    EXPECT_NE(openEntry(entry.substr(0, size), entryKeyOf(), now, {&writer.publicKey, 1}).verdict, Verdict::Sound);
  EXPECT_NE(openEntry(entry + '\0', entryKeyOf(), now, {&writer.publicKey, 1}).verdict, Verdict::Sound);
  EXPECT_EQ(openEntry(entry, entryKeyOf(), now, {&writer.publicKey, 1}).verdict, Verdict::Sound);
}

TEST(RemoteEntry, IsNeverBeyondTheLimit) {
  const PrivateKey writer = newKey();
  EXPECT_TRUE(sealEntry(entryKeyOf(), std::string(maxEntryBytes, 'x'), now + 10, writer).empty());
  EXPECT_EQ(openEntry(std::string(maxEntryBytes + 1, 'x'), entryKeyOf(), now, {}).verdict, Verdict::Unsigned);
}

TEST(RemoteEntry, NamesComeFromTheCaller) {
  const std::string artifact = anArtifact(), stripped = withoutNames(artifact);
  EXPECT_EQ(stripped.find("secret"), std::string::npos);
  Result<std::string> restored = withNames(stripped, "key", "softmax of something secret", entryKeyOf());
  ASSERT_TRUE(restored);
  EXPECT_EQ(*restored, artifact);
  EXPECT_FALSE(withNames(artifact, "other", "", entryKeyOf("other")))
      << "the artifact contains the names of another problem";
  EntryKey target = entryKeyOf();
  target.target = "sse42";
  EXPECT_FALSE(withNames(stripped, "key", "", target));
  EXPECT_FALSE(withNames("no artifact", "key", "", entryKeyOf()));
}

} // namespace
