//===- Redis.h - The protocol of Redis ------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_REMOTE_REDIS_H
#define QUERN_RUNTIME_REMOTE_REDIS_H

#include "Remote/Transfer.h"

struct redisReader; // NOLINT(readability-identifier-naming): of hiredis

namespace quern::remote {

/// A reply of any type.
struct RedisReply {
  int type = 0; ///< REDIS_REPLY_*
  std::string text;
  int64_t number = 0;
  std::vector<std::unique_ptr<RedisReply>> items;
};

/// Parses replies from untrusted bytes. Holds at most the bytes that expect() allows.
class RedisReader {
public:
  RedisReader();
  ~RedisReader();
  RedisReader(const RedisReader &) = delete;
  RedisReader &operator=(const RedisReader &) = delete;

  /// Starts a reply. More than `maxBytes` bytes are an error, as is an array if `takesArrays` is false.
  void expect(size_t maxBytes, bool takesArrays);
  /// Parses bytes from the server. Fails if they violate the protocol.
  Result<void> feed(std::string_view bytes);
  /// Returns the next reply; null if it is not yet complete.
  Result<std::unique_ptr<RedisReply>> next();
  /// Returns true if bytes follow the replies that next() returned.
  bool hasMore() const;

private:
  redisReader *reader;
  size_t left = 0;
  bool arraysAllowed = false;
};

class RedisConnection : public TransferConnection {
public:
  using TransferConnection::TransferConnection;

  Outcome get(const EntryName &name, std::string &bytes, const Deadline &deadline) override;
  Outcome put(const EntryName &name, std::string_view bytes, int64_t seconds, const Deadline &deadline) override;
  Outcome contains(const EntryName &name, const Deadline &deadline) override;
  Outcome lease(const EntryName &name, int which, Lease &lease, const Deadlines &deadlines) override;
  Outcome list(const std::function<void(const EntryName &)> &each, const Deadlines &deadlines) override;

private:
  using Words = std::vector<std::string_view>;
  Outcome connect(const Deadline &deadline);
  Outcome ask(const Words &words, RedisReply &reply, const Deadline &deadline, bool takesArrays = false);
  Outcome converse(const Words &words, RedisReply &reply, const Deadline &deadline, bool takesArrays);

  std::unique_ptr<RedisReader> reader;
};

} // namespace quern::remote

#endif // QUERN_RUNTIME_REMOTE_REDIS_H
