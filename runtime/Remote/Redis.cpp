//===- Redis.cpp - The protocol of Redis ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// hiredis formats commands and parses replies; Transfer sends and receives the bytes.
//
//===----------------------------------------------------------------------===//
#include "Remote/Redis.h"

#include "Remote/Entry.h"

#include <charconv>
#include <hiredis/hiredis.h>
#include <new>

namespace quern::remote {
namespace {

constexpr std::string_view entryPrefix = "quern:1:", leasePrefix = "quern:1:lease:";
constexpr size_t slackBytes = 1024, maxListBytes = 4u << 20;

std::string keyOf(const EntryName &name) { return concat(entryPrefix, name); }
std::string leaseOf(const EntryName &name, int which) { return concat(leasePrefix, which, ':', name); }

/// Adds a new reply to the array that contains it. If there is no memory, callbacks return null, and hiredis frees the
/// whole reply.
void *place(const redisReadTask *task, std::unique_ptr<RedisReply> reply) {
  RedisReply *placed = reply.get();
  if (!task->parent)
    return reply.release();
  static_cast<RedisReply *>(task->parent->obj)->items.push_back(std::move(reply));
  return placed;
}

template <typename Fill> void *makeReply(const redisReadTask *task, const Fill &fill) noexcept {
  try {
    auto reply = std::make_unique<RedisReply>();
    reply->type = task->type;
    fill(*reply);
    return place(task, std::move(reply));
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

void *createString(const redisReadTask *task, char *text, size_t size) {
  return makeReply(task, [&](RedisReply &reply) { reply.text.assign(text, size); });
}
template <typename Size> void *createArray(const redisReadTask *task, Size) {
  const auto *arraysAllowed = static_cast<const bool *>(task->privdata);
  return arraysAllowed && *arraysAllowed ? makeReply(task, [](RedisReply &) {}) : nullptr;
}
void *createInteger(const redisReadTask *task, long long number) {
  return makeReply(task, [&](RedisReply &reply) { reply.number = number; });
}
void *createNil(const redisReadTask *task) {
  return makeReply(task, [](RedisReply &reply) { reply.type = REDIS_REPLY_NIL; }); // the task's type differs
}
void freeReply(void *reply) { delete static_cast<RedisReply *>(reply); }

[[maybe_unused]] void *createDouble(const redisReadTask *task, double, char *text, size_t size) {
  return createString(task, text, size);
}
[[maybe_unused]] void *createBool(const redisReadTask *task, int truth) { return createInteger(task, truth); }

/// Sets every member of hiredis' table. For a null member hiredis would return the type's number as the pointer to the
/// reply, so a version with unknown members must not compile.
template <typename Functions> constexpr Functions allFunctions() {
  Functions made{};
  made.createString = createString;
  made.createArray = createArray; // the type of its size argument depends on the version
  made.createInteger = createInteger;
  made.createNil = createNil;
  made.freeObject = freeReply;
  if constexpr (requires { made.createDouble, made.createBool; }) { // since 1.0, for RESP3
    made.createDouble = createDouble;
    made.createBool = createBool;
    static_assert(sizeof(Functions) == 7 * sizeof(void *), "this version of hiredis has members that are not set");
  } else {
    static_assert(sizeof(Functions) == 5 * sizeof(void *), "this version of hiredis has members that are not set");
  }
  return made;
}

redisReplyObjectFunctions *replyFunctions() {
  static constinit redisReplyObjectFunctions functions = allFunctions<redisReplyObjectFunctions>();
  return &functions;
}

std::string commandOf(const std::vector<std::string_view> &words) {
  std::vector<const char *> texts;
  std::vector<size_t> sizes;
  for (const std::string_view word : words) {
    texts.push_back(word.data());
    sizes.push_back(word.size());
  }
  char *command = nullptr;
  const int size = redisFormatCommandArgv(&command, static_cast<int>(words.size()), texts.data(), sizes.data());
  if (size < 0)
    throw std::bad_alloc();
  std::string text(command, static_cast<size_t>(size));
  redisFreeCommand(command);
  return text;
}

/// Returns the start of a text as one line of printable characters.
std::string lineOf(std::string_view text) {
  std::string line(text.substr(0, 160));
  for (char &character : line)
    if (character < ' ' || character > '~')
      character = '?';
  return line;
}

Outcome refusalOf(const RedisReply &reply) {
  if (reply.type != REDIS_REPLY_ERROR)
    return {Outcome::Failed, "the server's reply is of an unexpected kind"};
  return {reply.text.starts_with("OOM") ? Outcome::Full : Outcome::Failed, lineOf(reply.text)};
}

} // namespace

RedisReader::RedisReader() : reader(redisReaderCreateWithFunctions(replyFunctions())) {
  if (!reader)
    throw std::bad_alloc();
  reader->privdata = &arraysAllowed;
}

RedisReader::~RedisReader() { redisReaderFree(reader); }

void RedisReader::expect(size_t maxBytes, bool takesArrays) {
  left = maxBytes;
  arraysAllowed = takesArrays;
}

Result<void> RedisReader::feed(std::string_view bytes) {
  if (bytes.size() > left)
    return runtimeError("the server's reply is too long");
  left -= bytes.size();
  if (redisReaderFeed(reader, bytes.data(), bytes.size()) != REDIS_OK)
    return runtimeError("the server's reply cannot be read: ", reader->errstr);
  return {};
}

Result<std::unique_ptr<RedisReply>> RedisReader::next() {
  void *reply = nullptr;
  if (redisReaderGetReply(reader, &reply) != REDIS_OK)
    return runtimeError("the server's reply cannot be read: ", lineOf(reader->errstr));
  return std::unique_ptr<RedisReply>(static_cast<RedisReply *>(reply));
}

bool RedisReader::hasMore() const { return reader->pos < reader->len; }

Outcome RedisConnection::connect(const Deadline &deadline) {
  reader = std::make_unique<RedisReader>();
  transfer = Transfer::make(address);
  if (!transfer)
    return {Outcome::Failed, "no connection can be created: a file, a library or memory is missing"};
  const std::string place =
      concat(address.isEncrypted ? "https://" : "http://", address.socket.empty() ? address.host : "localhost");
  curl_easy_setopt(transfer->handle(), CURLOPT_URL, place.c_str());
  curl_easy_setopt(transfer->handle(), CURLOPT_CONNECT_ONLY, 1L);
  if (address.isEncrypted)
    curl_easy_setopt(transfer->handle(), CURLOPT_SSL_ENABLE_ALPN, 0L);
  Outcome outcome = transfer->perform(deadline);
  RedisReply reply;
  if (outcome.kind == Outcome::Done && !secrets.password.empty()) {
    Words words = {"AUTH"};
    if (!address.user.empty())
      words.push_back(address.user);
    words.push_back(secrets.password);
    outcome = converse(words, reply, deadline, /*takesArrays=*/false);
    if (outcome.kind == Outcome::Done && reply.type != REDIS_REPLY_STATUS)
      outcome = refusalOf(reply);
  }
  if (outcome.kind == Outcome::Done && address.database != 0) {
    const std::string number = std::to_string(address.database);
    outcome = converse({"SELECT", number}, reply, deadline, /*takesArrays=*/false);
    if (outcome.kind == Outcome::Done && reply.type != REDIS_REPLY_STATUS)
      outcome = refusalOf(reply);
  }
  return outcome;
}

/// Sends a command over the present connection and reads its reply.
Outcome RedisConnection::converse(const Words &words, RedisReply &reply, const Deadline &deadline, bool takesArrays) {
  const std::string command = commandOf(words);
  Outcome outcome = transfer->send(command, deadline);
  if (outcome.kind != Outcome::Done)
    return outcome;
  sent += command.size();
  reader->expect(takesArrays ? maxListBytes : maxEntryBytes + slackBytes, takesArrays);
  std::string bytes;
  for (;;) {
    outcome = transfer->receive(bytes, deadline);
    if (outcome.kind != Outcome::Done)
      return outcome;
    received += bytes.size();
    Result<void> fed = reader->feed(bytes);
    Result<std::unique_ptr<RedisReply>> next =
        fed ? reader->next() : Result<std::unique_ptr<RedisReply>>(fed.takeError());
    if (!next)
      return {Outcome::Failed, next.error().message};
    if (!*next)
      continue;
    if (reader->hasMore()) // would be taken for the reply to the next command
      return {Outcome::Failed, "the server sent more than one reply"};
    reply = std::move(**next);
    return {};
  }
}

Outcome RedisConnection::ask(const Words &words, RedisReply &reply, const Deadline &deadline, bool takesArrays) {
  const bool isOld = transfer != nullptr;
  Outcome outcome = isOld ? Outcome{} : connect(deadline);
  if (outcome.kind == Outcome::Done)
    outcome = converse(words, reply, deadline, takesArrays);
  if (outcome.kind == Outcome::Failed && isOld) { // servers close idle connections
    outcome = connect(deadline);
    if (outcome.kind == Outcome::Done)
      outcome = converse(words, reply, deadline, takesArrays);
  }
  if (outcome.kind != Outcome::Done)
    transfer.reset(); // a late reply must not be taken for the reply to a later command
  return outcome;
}

Outcome RedisConnection::get(const EntryName &name, std::string &bytes, const Deadline &deadline) {
  RedisReply reply;
  const std::string key = keyOf(name);
  Outcome outcome = ask({"GET", key}, reply, deadline);
  if (outcome.kind != Outcome::Done)
    return outcome;
  if (reply.type == REDIS_REPLY_NIL)
    return {Outcome::Missing, ""};
  if (reply.type != REDIS_REPLY_STRING)
    return refusalOf(reply);
  bytes = std::move(reply.text);
  return {};
}

Outcome RedisConnection::put(const EntryName &name, std::string_view bytes, int64_t seconds, const Deadline &deadline) {
  RedisReply reply;
  const std::string key = keyOf(name), expiry = std::to_string(seconds);
  Outcome outcome = ask({"SET", key, bytes, "EX", expiry}, reply, deadline);
  if (outcome.kind != Outcome::Done)
    return outcome;
  if (reply.type != REDIS_REPLY_STATUS)
    return refusalOf(reply);
  // If this fails, the leases expire.
  const std::string first = leaseOf(name, 0), second = leaseOf(name, 1);
  static_assert(leaseCount == 2);
  (void)ask({"DEL", first, second}, reply, deadline);
  return {};
}

Outcome RedisConnection::contains(const EntryName &name, const Deadline &deadline) {
  RedisReply reply;
  const std::string key = keyOf(name);
  Outcome outcome = ask({"EXISTS", key}, reply, deadline);
  if (outcome.kind != Outcome::Done)
    return outcome;
  if (reply.type != REDIS_REPLY_INTEGER)
    return refusalOf(reply);
  return {reply.number > 0 ? Outcome::Done : Outcome::Missing, ""};
}

Outcome RedisConnection::lease(const EntryName &name, int which, Lease &lease, const Deadlines &deadlines) {
  RedisReply reply;
  const std::string key = leaseOf(name, which), time = std::to_string(lease.milliseconds);
  Outcome outcome = ask({"SET", key, lease.own, "NX", "PX", time}, reply, deadlines());
  if (outcome.kind != Outcome::Done)
    return outcome;
  if (reply.type != REDIS_REPLY_NIL)
    return reply.type == REDIS_REPLY_STATUS ? Outcome{} : refusalOf(reply);
  outcome = ask({"GET", key}, reply, deadlines());
  if (outcome.kind != Outcome::Done)
    return outcome;
  lease.held = reply.text; // empty if the lease has ended meanwhile
  return {Outcome::Missing, ""};
}

Outcome RedisConnection::list(const std::function<void(const EntryName &)> &each, const Deadlines &deadlines) {
  std::string cursor = "0";
  const std::string pattern = concat(entryPrefix, "*");
  do {
    RedisReply reply;
    Outcome outcome =
        ask({"SCAN", cursor, "MATCH", pattern, "COUNT", "1000"}, reply, deadlines(), /*takesArrays=*/true);
    if (outcome.kind != Outcome::Done)
      return outcome;
    if (reply.type != REDIS_REPLY_ARRAY || reply.items.size() != 2 || reply.items[0]->type != REDIS_REPLY_STRING)
      return refusalOf(reply);
    for (const std::unique_ptr<RedisReply> &item : reply.items[1]->items)
      if (const std::string_view key = item->text;
          key.starts_with(entryPrefix) && isEntryName(key.substr(entryPrefix.size())))
        each(EntryName(key.substr(entryPrefix.size())));
    cursor = reply.items[0]->text;
  } while (cursor != "0");
  return {};
}

} // namespace quern::remote
