//===- WaitingTest.cpp - Waiting for other compiling hosts ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests late replies that race with a compiler, and hosts that wait for others that compile the same kernel. Upper
// bounds of times are wide, because other processes may use the cores.
//
//===----------------------------------------------------------------------===//
#include "TestServers.h"

using namespace quern;
using namespace quern::remote;
using namespace quern::remote::test;

namespace {

/// A caller who compiles for `compileMs` after its callback starts the compilation.
struct Caller {
  explicit Caller(int64_t compileMs) : compileMs(compileMs) {}
  int64_t compileMs, begunAt = 0;
  int begins = 0;
  quern_remote_waiter waiter(uint32_t patience) { return {patience, isOver, begin, this}; }
  static int isOver(void *self) {
    const auto *caller = static_cast<const Caller *>(self);
    return caller->begins > 0 && nowNs() >= caller->begunAt + caller->compileMs * nsPerMs;
  }
  static int begin(void *self) {
    auto *caller = static_cast<Caller *>(self);
    caller->begunAt = caller->begunAt ? caller->begunAt : nowNs();
    ++caller->begins;
    return 1;
  }
};

int64_t msSince(int64_t start) { return (nowNs() - start) / nsPerMs; }

TEST(RemoteWaiting, ALateAnswerIsUsedBeforeTheCompilerIsFinished) {
  const Folder folder;
  const RedisProcess server(folder);
  Client &client = openClient(folder, server.url(), 50);
  client.put(keyOf(1), artifactOf(1));
  client.flush(5000);
  ASSERT_EQ(server.say("CLIENT PAUSE 300 ALL\r\n"), "+OK\r\n");
  Caller caller(60'000);
  const int64_t start = nowNs();
  const std::optional<SignedArtifact> found = client.get(keyOf(1), caller.waiter(1000));
  ASSERT_TRUE(found) << "the answer must be used before the compiler is finished, after a minute";
  EXPECT_EQ(found->bytes, artifactOf(1));
  EXPECT_EQ(caller.begins, 1);
  EXPECT_GE((caller.begunAt - start) / nsPerMs, 50)
      << "the compiler must not begin before the time limit of the server";
  EXPECT_LT(msSince(start), 30'000);
  EXPECT_EQ(client.counters().late_hits, 1u);
}

TEST(RemoteWaiting, TheCompilerMayBeFasterThanTheAnswer) {
  const Folder folder;
  const SilentServer server;
  for (const char *scheme : {"redis", "http"}) {
    Client &client = openClient(folder, server.url(scheme), 50);
    Caller caller(200);
    const int64_t start = nowNs();
    EXPECT_FALSE(client.get(keyOf(1), caller.waiter(1000)));
    EXPECT_EQ(caller.begins, 1);
    EXPECT_GE(msSince(start), 250);
    EXPECT_LT(msSince(start), 250 + 500) << "the client must not wait for the answer after the compiler is finished";
    EXPECT_EQ(client.counters().timeouts, 1u);
  }
}

TEST(RemoteWaiting, CanceledRequestsReturn) {
  const Folder folder;
  const SilentServer silent;
  const RedisProcess server(folder);
  Client &other = openClient(folder, server.url(), 5000);
  EXPECT_FALSE(get(other, keyOf(1))) << "the other client gets the lease";
  const quern_remote_waiter unwanted{60'000, [](void *) { return 1; }, no, nullptr};
  const int64_t start = nowNs();
  Client &late = openClient(folder, silent.url("redis"), 60'000);
  EXPECT_FALSE(late.get(keyOf(1), unwanted));
  EXPECT_EQ(late.counters().timeouts, 0u) << "a canceled request is not a failure of the server";
  EXPECT_FALSE(openClient(folder, server.url(), 5000).get(keyOf(1), unwanted));
  EXPECT_LT(msSince(start), 2000);
}

TEST(RemoteWaiting, AHolderThatNeverStoresDelaysOnlyOnce) {
  const Folder folder;
  const RedisProcess server(folder);
  Client &first = openClient(folder, server.url(), 2000), &second = openClient(folder, server.url(), 2000),
         &third = openClient(folder, server.url(), 2000);
  for (int i = 1; i <= 2; ++i)
    EXPECT_FALSE(get(first, keyOf(i)));
  const int64_t start = nowNs();
  EXPECT_FALSE(get(second, keyOf(1), 800)) << "after a quarter of the time the second client compiles, too";
  EXPECT_GE(msSince(start), 200);
  EXPECT_LT(msSince(start), 700) << "a quarter of the time, plus delays of a busy machine";
  EXPECT_EQ(second.counters().leases, 1u);
  EXPECT_EQ(second.counters().waits_in_vain, 0u);
  const int64_t next = nowNs();
  EXPECT_FALSE(get(third, keyOf(1), 800)) << "both leases are taken";
  EXPECT_GE(msSince(next), 800);
  EXPECT_LT(msSince(next), 800 + 500);
  EXPECT_EQ(third.counters().waits_in_vain, 1u);
  const int64_t last = nowNs();
  EXPECT_FALSE(get(third, keyOf(2), 800)) << "after waiting in vain, the client does not wait again for some time";
  EXPECT_LT(msSince(last), 500);
}

TEST(RemoteWaiting, WaitingMayBeDisabled) {
  const Folder folder;
  const RedisProcess server(folder);
  Client &first = openClient(folder, server.url(), 2000), &second = openClient(folder, server.url(), 2000);
  EXPECT_FALSE(get(first, keyOf(1)));
  Caller caller(100);
  EXPECT_FALSE(second.get(keyOf(1), caller.waiter(0)));
  EXPECT_EQ(caller.begins, 1) << "the client compiles at once and continues to ask the server";
  EXPECT_EQ(second.counters().waits_in_vain, 0u);
  Caller slow(60'000);
  std::thread holder([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    first.put(keyOf(2), artifactOf(2));
  });
  EXPECT_FALSE(get(first, keyOf(2)));
  EXPECT_TRUE(second.get(keyOf(2), slow.waiter(0)));
  holder.join();
}

/// A host without a key cannot make others wait.
TEST(RemoteWaiting, NobodyWaitsForALeaseThatIsNotSigned) {
  const Folder folder, stranger;
  const RedisProcess server(folder);
  Client &client = openClient(folder, server.url(), 2000);
  const Result<PrivateKey> key = readPrivateKey(stranger.file("key"));
  ASSERT_TRUE(key);
  const EntryName name = nameOfEntry(keyOf(1).bytes), other = nameOfEntry(keyOf(2).bytes);
  const std::vector<PublicKey> known = {key->publicKey};
  const int64_t now = time(nullptr);
  const std::string lease = sealLease(name, now, *key);
  EXPECT_TRUE(isLeaseOf(lease, name, now, known));
  EXPECT_FALSE(isLeaseOf(lease, other, now, known));
  EXPECT_FALSE(isLeaseOf(lease, name, now + 3600, known)) << "the lease has expired";
  EXPECT_FALSE(isLeaseOf(lease, name, now, {}));
  EXPECT_FALSE(isLeaseOf("quern lease 1", name, now, known));
  ASSERT_EQ(server.say(concat("SET quern:1:lease:0:", name, " 1\r\n")), "+OK\r\n");
  const int64_t start = nowNs();
  EXPECT_FALSE(get(client, keyOf(1), 60'000));
  EXPECT_LT(msSince(start), 2000);
}

} // namespace
