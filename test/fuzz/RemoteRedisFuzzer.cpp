//===- RemoteRedisFuzzer.cpp - Replies of a Redis server ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Remote/Redis.h"

using namespace quern;
using namespace quern::remote;

namespace {

/// Reads every part of a reply and returns the total size.
size_t sizeOf(const RedisReply &reply) {
  size_t size = reply.text.size();
  for (const std::unique_ptr<RedisReply> &item : reply.items)
    size += sizeOf(*item);
  return size;
}

} // namespace

/// The first byte determines the size of the pieces that the rest is passed in, and whether arrays are accepted.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  const size_t piece = 1 + (data[0] >> 1);
  std::string_view rest(reinterpret_cast<const char *>(data) + 1, size - 1);
  RedisReader reader;
  reader.expect(1 << 20, data[0] & 1);
  for (; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size()))) {
    if (!reader.feed(rest.substr(0, piece)))
      return 0;
    for (;;) {
      const Result<std::unique_ptr<RedisReply>> reply = reader.next();
      if (!reply)
        return 0;
      if (!*reply)
        break;
      (void)sizeOf(**reply);
    }
  }
  return 0;
}
