//===- AddressTest.cpp - Addresses of servers -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Remote/Address.h"

#include <gtest/gtest.h>

using namespace quern;
using namespace quern::remote;

namespace {

TEST(RemoteAddress, ParsesSeveralWithOptions) {
  Result<std::vector<Address>> parsed = parseAddresses(
      "redis:///run/redis.sock,db=3;rediss://ci@cache,read-only,ca=/ca.pem;https://store:8443/a/,days=7,names");
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->size(), 3);
  EXPECT_EQ((*parsed)[0].socket, "/run/redis.sock");
  EXPECT_EQ((*parsed)[0].database, 3);
  EXPECT_EQ((*parsed)[1].host, "cache:6379");
  EXPECT_EQ((*parsed)[1].user, "ci");
  EXPECT_TRUE((*parsed)[1].isReadOnly && (*parsed)[1].isEncrypted);
  EXPECT_EQ((*parsed)[1].caFile, "/ca.pem");
  EXPECT_EQ((*parsed)[2].base, "https://store:8443/a");
  EXPECT_EQ((*parsed)[2].days, 7);
  EXPECT_TRUE((*parsed)[2].hasNames);
  Result<std::vector<Address>> v6 = parseAddresses("redis://[::1];redis://[::1]:7000");
  ASSERT_TRUE(v6);
  EXPECT_EQ((*v6)[0].host, "[::1]:6379");
  EXPECT_EQ((*v6)[1].host, "[::1]:7000");
}

TEST(RemoteAddress, RefusesInvalidAddresses) {
  for (const char *text : {"cache", "ftp://host", "redis://", "redis://host/3", "rediss:///socket", "redis://h,days=0",
                           "redis://h,db=x", "https://h,db=1", "redis://h,token-file=t", "redis://h,ca=", "redis://h,x",
                           "https://user@host", "redis://h\r\nSET"})
    EXPECT_FALSE(parseAddresses(text)) << text;
}

TEST(RemoteAddress, PasswordsAreNotRepeated) {
  Result<std::vector<Address>> parsed = parseAddresses("redis://ci:hunter2@host");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message.find("hunter2"), std::string::npos) << parsed.error().message;
}

} // namespace
