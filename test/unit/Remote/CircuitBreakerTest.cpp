//===- CircuitBreakerTest.cpp - The circuit breaker of a server -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Remote/NegativeCache.h"
#include "Remote/Server.h"

#include <gtest/gtest.h>

using namespace quern::remote;

namespace {

TEST(RemoteCircuit, OpensAfterFailuresInARow) {
  CircuitBreaker circuit;
  EXPECT_FALSE(circuit.fail(0));
  EXPECT_FALSE(circuit.fail(0));
  EXPECT_FALSE(circuit.succeed()) << "a success resets the count of failures";
  EXPECT_FALSE(circuit.fail(0));
  EXPECT_FALSE(circuit.fail(0));
  EXPECT_TRUE(circuit.fail(0));
  EXPECT_FALSE(circuit.isClosed());
}

TEST(RemoteCircuit, ProbesOneByOneWithLongerPauses) {
  CircuitBreaker circuit;
  for (int i = 0; i < CircuitBreaker::failuresToOpen; ++i)
    circuit.fail(0);
  EXPECT_FALSE(circuit.takeProbe(CircuitBreaker::firstPauseNs / 2));
  int64_t now = 2 * CircuitBreaker::firstPauseNs;
  EXPECT_TRUE(circuit.takeProbe(now));
  EXPECT_FALSE(circuit.takeProbe(now)) << "another probe is in progress";
  EXPECT_FALSE(circuit.fail(now)) << "the circuit was already open";
  EXPECT_EQ(circuit.pauseNs(), 2 * CircuitBreaker::firstPauseNs);
  for (int i = 0; i < 20; ++i) {
    now += 2 * CircuitBreaker::longestPauseNs;
    ASSERT_TRUE(circuit.takeProbe(now));
    circuit.fail(now);
  }
  EXPECT_EQ(circuit.pauseNs(), CircuitBreaker::longestPauseNs);
  ASSERT_TRUE(circuit.takeProbe(now + 2 * CircuitBreaker::longestPauseNs));
  EXPECT_TRUE(circuit.succeed());
  EXPECT_TRUE(circuit.isClosed());
}

TEST(RemoteCircuit, ACanceledProbeIsRepeated) {
  CircuitBreaker circuit;
  for (int i = 0; i < CircuitBreaker::failuresToOpen; ++i)
    circuit.fail(0);
  ASSERT_TRUE(circuit.takeProbe(CircuitBreaker::longestPauseNs));
  circuit.forgetProbe();
  EXPECT_TRUE(circuit.takeProbe(CircuitBreaker::longestPauseNs));
}

TEST(RemoteMisses, AreForgottenAfterAWhileAndBounded) {
  NegativeCache misses;
  misses.add("a", 0);
  EXPECT_TRUE(misses.has("a", NegativeCache::rememberedNs - 1));
  EXPECT_FALSE(misses.has("a", NegativeCache::rememberedNs));
  for (size_t i = 0; i < 2 * NegativeCache::most; ++i)
    misses.add(std::to_string(i), 0);
  EXPECT_FALSE(misses.has(std::to_string(2 * NegativeCache::most - 1), 0));
  misses.add("b", NegativeCache::rememberedNs);
  EXPECT_TRUE(misses.has("b", NegativeCache::rememberedNs)) << "expired misses make room for new ones";
}

} // namespace
