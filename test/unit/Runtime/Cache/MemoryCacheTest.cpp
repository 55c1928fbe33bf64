//===- MemoryCacheTest.cpp - The memory cache -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the order of eviction, both limits, comparison of whole keys, and single flight.
//
//===----------------------------------------------------------------------===//
#include "Cache/Memory.h"
#include "Runtime/TestArtifacts.h"
#include "Runtime/TestExecutable.h"

#include <gtest/gtest.h>

#include <thread>

namespace quern {
namespace {

KernelKey keyOf(const std::string &bytes) { return {bytes, digestOf(bytes)}; }

/// Returns the rows of the key's problem: each one-letter key has another number with two digits.
int64_t rowsOf(const KernelKey &key) { return 10 + key.bytes.front() - 'a'; }

/// Returns the loaded test kernel of a key; all kernels have the same size in bytes.
Result<MemoryCache::Value> makeExecutable(const KernelKey &key) {
  QUERN_ASSIGN_OR_RETURN(PrimitiveDesc desc, PrimitiveDesc::parse(test::lineOf(rowsOf(key))));
  QUERN_ASSIGN_OR_RETURN(VerifiedProblem problem, verify(desc, Target()));
  return test::loadArtifact(test::makeTestArtifact(problem, Target()), problem);
}

/// Returns true if `key` was cached, and checks that its kernel is the one that was created for it.
bool request(MemoryCache &cache, const KernelKey &key) {
  Lookup<MemoryCache::Found> found = cache.getOrMake(key, [&] { return makeExecutable(key); });
  EXPECT_TRUE(found) << found.error().message;
  if (!found)
    return false;
  EXPECT_EQ(found->value->arguments()[0].bytes, rowsOf(key) * 16 * 4) << key.bytes;
  return !found->wasMade;
}

TEST(MemoryCache, EvictsLeastRecentlyUsed) {
  MemoryCache cache;
  cache.setCapacity(2);
  EXPECT_FALSE(request(cache, keyOf("a")));
  EXPECT_FALSE(request(cache, keyOf("b")));
  EXPECT_TRUE(request(cache, keyOf("a")));
  EXPECT_FALSE(request(cache, keyOf("c"))); // evicts b
  EXPECT_TRUE(request(cache, keyOf("a")));
  EXPECT_FALSE(request(cache, keyOf("b")));
  EXPECT_EQ(cache.statistics().evictions, 2u);
  EXPECT_EQ(cache.statistics().entries, 2u);
}

TEST(MemoryCache, ShrinkingEvicts) {
  MemoryCache cache;
  for (const char *name : {"a", "b", "c"})
    request(cache, keyOf(name));
  cache.setCapacity(1);
  EXPECT_EQ(cache.statistics().entries, 1u);
  EXPECT_TRUE(request(cache, keyOf("c")));
  cache.setCapacity(0);
  EXPECT_EQ(cache.statistics().entries, 0u);
  EXPECT_EQ(cache.statistics().bytes, 0u);
  EXPECT_FALSE(request(cache, keyOf("c")));
  EXPECT_FALSE(request(cache, keyOf("c"))) << "with a capacity of 0 nothing is cached";
}

TEST(MemoryCache, IsBoundedByBytes) {
  MemoryCache cache;
  request(cache, keyOf("a"));
  const size_t one = cache.statistics().bytes;
  cache.setCapacityBytes(2 * one + one / 2);
  request(cache, keyOf("b"));
  request(cache, keyOf("c"));
  EXPECT_EQ(cache.statistics().entries, 2u);
  EXPECT_LE(cache.statistics().bytes, cache.capacityBytes());
  cache.setCapacityBytes(one / 2);
  EXPECT_EQ(cache.statistics().entries, 0u);
  EXPECT_FALSE(request(cache, keyOf("d")));
  EXPECT_EQ(cache.statistics().entries, 0u) << "a kernel that exceeds the limit by itself is not cached";
}

TEST(MemoryCache, ComparesWholeKeys) {
  MemoryCache cache;
  KernelKey a = keyOf("a"), collision{"b", a.digest};
  request(cache, a);
  EXPECT_FALSE(request(cache, collision));
  EXPECT_TRUE(request(cache, a));
  EXPECT_TRUE(request(cache, collision));
}

TEST(MemoryCache, FailureIsNotKept) {
  MemoryCache cache;
  Lookup<MemoryCache::Found> failed =
      cache.getOrMake(keyOf("a"), []() -> Lookup<MemoryCache::Value> { return runtimeError("no"); });
  ASSERT_TRUE(failed.isError());
  EXPECT_EQ(failed.error().message, "no");
  EXPECT_THROW((void)cache.getOrMake(keyOf("a"), []() -> Lookup<MemoryCache::Value> { throw std::bad_alloc(); }),
               std::bad_alloc);
  EXPECT_FALSE(request(cache, keyOf("a")));
  EXPECT_TRUE(request(cache, keyOf("a")));
}

TEST(MemoryCache, EightThreadsMakeOnce) {
  MemoryCache cache;
  std::atomic<int> made{0}, ready{0};
  std::vector<std::thread> threads;
  std::vector<const Executable *> results(8);
  for (size_t i = 0; i < results.size(); ++i)
    threads.emplace_back([&, i] {
      for (++ready; ready < 8;)
        std::this_thread::yield();
      Lookup<MemoryCache::Found> found = cache.getOrMake(keyOf("a"), [&] {
        ++made;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return makeExecutable(keyOf("a"));
      });
      results[i] = found ? found->value.get() : nullptr;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(made, 1);
  for (const Executable *result : results)
    EXPECT_EQ(result, results[0]);
  EXPECT_EQ(cache.statistics().misses, 1u);
  EXPECT_EQ(cache.statistics().hits, 7u);
}

TEST(MemoryCache, EightThreadsShareAFailure) {
  MemoryCache cache;
  std::atomic<int> made{0}, ready{0}, failures{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (++ready; ready < 8;)
        std::this_thread::yield();
      const Lookup<MemoryCache::Found> found = cache.getOrMake(keyOf("a"), [&]() -> Lookup<MemoryCache::Value> {
        ++made;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return runtimeError("no");
      });
      failures += found.isError() && found.error().message == "no" ? 1 : 0;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(failures, 8);
}

TEST(MemoryCache, AfterAMissEachThreadRunsItsOwnMaker) {
  MemoryCache cache;
  std::atomic<bool> isMaking{false}, mayEnd{false};
  std::thread misses([&] {
    Lookup<MemoryCache::Found> missed = cache.getOrMake(keyOf("a"), [&]() -> Lookup<MemoryCache::Value> {
      for (isMaking = true; !mayEnd;)
        std::this_thread::yield();
      return {};
    });
    EXPECT_FALSE(missed || missed.isError());
  });
  std::thread waits([&] {
    while (!isMaking)
      std::this_thread::yield();
    EXPECT_FALSE(request(cache, keyOf("a"))) << "its own maker must have made the kernel";
  });
  while (!isMaking)
    std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20)); // usually enough for the second thread to wait
  mayEnd = true;
  misses.join();
  waits.join();
  EXPECT_EQ(cache.statistics().misses, 2u);
  EXPECT_TRUE(request(cache, keyOf("a")));
}

TEST(MemoryCache, ManyThreadsManyKeys) {
  MemoryCache cache;
  cache.setCapacity(3);
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed)
    threads.emplace_back([&cache, seed] {
      for (unsigned i = 0; i < 200; ++i)
        request(cache, keyOf(std::string(1, static_cast<char>('a' + (i * (seed + 1)) % 7))));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(cache.statistics().entries, 3u);
  EXPECT_EQ(cache.statistics().hits + cache.statistics().misses, 800u);
  EXPECT_GE(cache.statistics().misses, 7u);
}

} // namespace
} // namespace quern
