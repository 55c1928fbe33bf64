//===- RedisReaderTest.cpp - Reading untrusted replies --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Remote/Redis.h"

#include <gtest/gtest.h>
#include <hiredis/hiredis.h>
#include <random>

using namespace quern;
using namespace quern::remote;

namespace {

constexpr size_t maxBytes = 1u << 16;

/// Reads a reply in pieces of `piece` bytes; returns null if it is incomplete, and an error if it is refused.
Result<std::unique_ptr<RedisReply>> readIn(std::string_view text, size_t piece, bool acceptsArrays = false) {
  RedisReader reader;
  reader.expect(maxBytes, acceptsArrays);
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    if (Result<void> fed = reader.feed(text.substr(0, piece)); !fed)
      return fed.takeError();
    Result<std::unique_ptr<RedisReply>> reply = reader.next();
    if (!reply || *reply)
      return reply;
  }
  return std::unique_ptr<RedisReply>();
}

TEST(RemoteRedisReader, ReadsRepliesInAnyPieces) {
  for (size_t piece : {1, 2, 3, 100}) {
    Result<std::unique_ptr<RedisReply>> text = readIn("$5\r\nab\r\nc\r\n", piece);
    ASSERT_TRUE(text && *text);
    EXPECT_EQ((*text)->text, "ab\r\nc");
    Result<std::unique_ptr<RedisReply>> nothing = readIn("$-1\r\n", piece);
    ASSERT_TRUE(nothing && *nothing);
    EXPECT_EQ((*nothing)->type, REDIS_REPLY_NIL);
    Result<std::unique_ptr<RedisReply>> list = readIn("*2\r\n$1\r\n0\r\n*2\r\n$1\r\na\r\n:7\r\n", piece, true);
    ASSERT_TRUE(list && *list);
    ASSERT_EQ((*list)->items.size(), 2);
    EXPECT_EQ((*list)->items[1]->items[1]->number, 7);
  }
}

TEST(RemoteRedisReader, RefusesRepliesBeyondTheLimit) {
  EXPECT_FALSE(readIn("*2147483647\r\n", 100)) << "no array was requested";
  const Result<std::unique_ptr<RedisReply>> promised = readIn("*2147483647\r\n:1\r\n", 100, true);
  EXPECT_TRUE(!promised || !*promised);
  const Result<std::unique_ptr<RedisReply>> endless = readIn("$2000000000\r\nabc", 100);
  EXPECT_TRUE(!endless || !*endless);
  EXPECT_FALSE(readIn("$100000\r\n" + std::string(maxBytes, 'x'), 1000)) << "longer than the limit";
  EXPECT_FALSE(readIn("HTTP/1.1 400 Bad Request\r\n", 100));
}

/// Reads every part of a reply, so that a dangling pointer is detected.
size_t sizeOf(const RedisReply &reply) {
  size_t size = 1 + reply.text.size();
  for (const std::unique_ptr<RedisReply> &item : reply.items)
    size += sizeOf(*item);
  return size;
}

TEST(RemoteRedisReader, RepliesOfEveryTypeAreObjectsOrRefused) {
  // Versions of hiredis before 1.0 support the first six types, later ones all of them.
  const char *texts[] = {"+OK\r\n",
                         "-ERR no\r\n",
                         ":7\r\n",
                         "$2\r\nab\r\n",
                         "$-1\r\n",
                         "*-1\r\n",
                         "*0\r\n",
                         "#t\r\n",
                         "#f\r\n",
                         "#x\r\n",
                         ",1.5\r\n",
                         ",inf\r\n",
                         ",-inf\r\n",
                         ",nan\r\n",
                         ",\r\n",
                         "_\r\n",
                         "(3492890328409238509324850943850943825024385\r\n",
                         "=7\r\ntxt:abc\r\n",
                         "=2\r\nab\r\n",
                         "=-1\r\n",
                         "!5\r\nERR a\r\n",
                         "%1\r\n+a\r\n#t\r\n",
                         "%0\r\n",
                         "~2\r\n,1\r\n_\r\n",
                         ">1\r\n+a\r\n",
                         "|1\r\n+a\r\n#f\r\n#t\r\n",
                         "*1\r\n#t\r\n",
                         "*2\r\n,1.5\r\n*1\r\n#f\r\n",
                         "$?\r\n;2\r\nab\r\n;0\r\n",
                         "*?\r\n:1\r\n.\r\n",
                         "%?\r\n+a\r\n:1\r\n.\r\n",
                         "~?\r\n#t\r\n.\r\n"};
  for (const char *text : texts)
    for (const size_t piece : {1, 3, 100})
      for (const bool acceptsArrays : {false, true}) {
        const Result<std::unique_ptr<RedisReply>> reply = readIn(text, piece, acceptsArrays);
        if (reply && *reply)
          EXPECT_GT(sizeOf(**reply), 0) << text;
      }
}

TEST(RemoteRedisReader, GarbageIsRefusedOrIncomplete) {
  constexpr unsigned seed = 1;
  std::mt19937 random(seed);
  constexpr std::string_view alphabet = "*$:+-,#(=%~>_!|?.;0123456789\r\n\r\n\r\nabtf";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (size_t size = random() % 40; text.size() < size;)
      text += alphabet[random() % alphabet.size()];
    const size_t piece = 1 + random() % 8;
    const Result<std::unique_ptr<RedisReply>> reply = readIn(text, piece, round % 2 == 0); // ends without leaks
    if (reply && *reply)
      EXPECT_GT(sizeOf(**reply), 0);
  }
}

} // namespace
