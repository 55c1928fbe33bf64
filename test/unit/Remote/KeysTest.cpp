//===- KeysTest.cpp - Permissions of key files ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests that a key is read only if no other user may write its file or the folder that contains it.
//
//===----------------------------------------------------------------------===//
#include "TestServers.h"

#include <sys/stat.h>

using namespace quern;
using namespace quern::remote;
using namespace quern::remote::test;

namespace {

bool readsPublic(const std::string &path) { return static_cast<bool>(readPublicKeys(path)); }

TEST(RemoteKeys, PublicKeysAreSafeFromOthers) {
  const Folder folder;
  const std::string key = folder.file("key.pub"), directory = folder.file(".");
  EXPECT_TRUE(readsPublic(key));
  for (const mode_t mode : {0666, 0664, 0646}) {
    ASSERT_EQ(chmod(key.c_str(), mode), 0);
    EXPECT_FALSE(readsPublic(key)) << std::oct << mode;
  }
  ASSERT_EQ(chmod(key.c_str(), 0644), 0);
  for (const mode_t mode : {0777, 0770, 0703}) {
    ASSERT_EQ(chmod(directory.c_str(), mode), 0);
    EXPECT_FALSE(readsPublic(key)) << std::oct << mode;
    EXPECT_FALSE(readPrivateKey(folder.file("key"))) << std::oct << mode;
  }
  ASSERT_EQ(chmod(directory.c_str(), 01777), 0);
  EXPECT_TRUE(readsPublic(key)) << "in a folder with the sticky bit only the owner can replace a file";
  ASSERT_EQ(chmod(directory.c_str(), 0700), 0);
  EXPECT_TRUE(readsPublic(key));
  EXPECT_TRUE(readPrivateKey(folder.file("key")));
}

TEST(RemoteKeys, LinksAreFollowedAndTheirTargetsChecked) {
  const Folder folder;
  const std::string inner = folder.file("inner"), link = folder.file("link");
  ASSERT_EQ(mkdir(inner.c_str(), 0700), 0);
  std::filesystem::copy_file(folder.file("key.pub"), inner + "/key.pub");
  ASSERT_EQ(symlink((inner + "/key.pub").c_str(), link.c_str()), 0);
  EXPECT_TRUE(readsPublic(link));
  ASSERT_EQ(chmod(inner.c_str(), 0777), 0);
  EXPECT_FALSE(readsPublic(link));
}

TEST(RemoteKeys, AnotherUsersKeyIsRefused) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can change the owner of a file";
  const Folder folder;
  ASSERT_EQ(chown(folder.file("key.pub").c_str(), 12345, 12345), 0);
  EXPECT_FALSE(readsPublic(folder.file("key.pub")));
}

} // namespace
