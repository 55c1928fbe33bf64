//===- GuardedBufferTest.cpp - Buffers next to inaccessible pages ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the addresses of buffers, and that stray accesses are detected: an access past the guarded side faults, and a
// write on the other side changes the canaries.
//
//===----------------------------------------------------------------------===//
#include "GuardedBuffer.h"

#include <csignal>
#include <gtest/gtest.h>

using namespace quern;

namespace {

constexpr int64_t sizes[] = {0, 1, 5, 64, 4095, 4096, 4097, 20000};

/// Reads a byte and exits with 0; exits with 3 if the read faults, also under sanitizers.
[[noreturn]] void touch(const volatile char *byte) {
  std::signal(SIGSEGV, [](int) { std::_Exit(3); });
  (void)*byte;
  std::_Exit(0);
}

void expectFault(const char *byte) { EXPECT_EXIT(touch(byte), testing::ExitedWithCode(3), ""); }

TEST(GuardedBuffer, EndsAtAPage) {
  for (int64_t size : sizes) {
    GuardedBuffer buffer(size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data() + size) % 4096, 0u) << size;
    expectFault(buffer.data() + size);
  }
}

TEST(GuardedBuffer, BeginsAtAPage) {
  for (int64_t size : sizes) {
    GuardedBuffer buffer(size, {.side = GuardedSide::Beginning});
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 4096, 0u) << size;
    expectFault(buffer.data() - 1);
  }
}

TEST(GuardedBuffer, EveryByteIsUsable) {
  for (GuardedSide side : {GuardedSide::End, GuardedSide::Beginning})
    for (int64_t misalignment : {0, 4, 40})
      for (int64_t size : sizes) {
        GuardedBuffer buffer(size, {side, 64, misalignment});
        for (int64_t i = 0; i < size; ++i) {
          ASSERT_EQ(buffer.data()[i], '\xff');
          buffer.data()[i] = 1;
        }
        EXPECT_TRUE(buffer.guardsIntact()) << size << ' ' << misalignment;
        EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, static_cast<uintptr_t>(misalignment)) << size;
      }
}

TEST(GuardedBuffer, CanariesShowWritesOnTheOtherSide) {
  GuardedBuffer atEnd(100), atBeginning(100, {.side = GuardedSide::Beginning});
  for (char *byte : {atEnd.data() - 1, atEnd.data() + 100 - 4096}) {
    *byte ^= 1;
    EXPECT_FALSE(atEnd.guardsIntact());
    *byte ^= 1;
    EXPECT_TRUE(atEnd.guardsIntact());
  }
  for (char *byte : {atBeginning.data() + 100, atBeginning.data() + 4095}) {
    *byte ^= 1;
    EXPECT_FALSE(atBeginning.guardsIntact());
    *byte ^= 1;
    EXPECT_TRUE(atBeginning.guardsIntact());
  }
}

TEST(GuardedBuffer, NewBuffersContainNoOldData) {
  const char *pages = nullptr;
  {
    GuardedBuffer first(300);
    first.fillAll(7);
    first.data()[-1] = 7;
    pages = first.data() + 300;
  }
  GuardedBuffer second(200);
  EXPECT_EQ(second.data() + 200, pages) << "the next buffer must reuse the pages";
  EXPECT_TRUE(second.guardsIntact());
  EXPECT_EQ(second.data()[0], '\xff');
  GuardedBuffer third = std::move(second);
  EXPECT_EQ(third.data() + 200, pages);
  EXPECT_TRUE(third.guardsIntact());
}

} // namespace
