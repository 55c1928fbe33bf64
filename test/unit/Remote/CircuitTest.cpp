//===- CircuitTest.cpp - The circuit breaker of a server ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Remote/Misses.h"
#include "Remote/Server.h"

#include <gtest/gtest.h>

using namespace quern::remote;

namespace {

TEST(RemoteCircuit, OpensAfterFailuresInARow) {
  Circuit circuit;
  EXPECT_FALSE(circuit.fail(0));
  EXPECT_FALSE(circuit.fail(0));
  EXPECT_FALSE(circuit.succeed()) << "a success resets the count of failures";
  EXPECT_FALSE(circuit.fail(0));
  EXPECT_FALSE(circuit.fail(0));
  EXPECT_TRUE(circuit.fail(0));
  EXPECT_FALSE(circuit.isClosed());
}

TEST(RemoteCircuit, ProbesOneByOneWithLongerPauses) {
  Circuit circuit;
  for (int i = 0; i < Circuit::failuresToOpen; ++i)
    circuit.fail(0);
  EXPECT_FALSE(circuit.takeProbe(Circuit::firstPauseNs / 2));
  int64_t now = 2 * Circuit::firstPauseNs;
  EXPECT_TRUE(circuit.takeProbe(now));
  EXPECT_FALSE(circuit.takeProbe(now)) << "another probe is in progress";
  EXPECT_FALSE(circuit.fail(now)) << "the circuit was already open";
  EXPECT_EQ(circuit.pauseNs(), 2 * Circuit::firstPauseNs);
  for (int i = 0; i < 20; ++i) {
    now += 2 * Circuit::longestPauseNs;
    ASSERT_TRUE(circuit.takeProbe(now));
    circuit.fail(now);
  }
  EXPECT_EQ(circuit.pauseNs(), Circuit::longestPauseNs);
  ASSERT_TRUE(circuit.takeProbe(now + 2 * Circuit::longestPauseNs));
  EXPECT_TRUE(circuit.succeed());
  EXPECT_TRUE(circuit.isClosed());
}

TEST(RemoteCircuit, ACanceledProbeIsRepeated) {
  Circuit circuit;
  for (int i = 0; i < Circuit::failuresToOpen; ++i)
    circuit.fail(0);
  ASSERT_TRUE(circuit.takeProbe(Circuit::longestPauseNs));
  circuit.forgetProbe();
  EXPECT_TRUE(circuit.takeProbe(Circuit::longestPauseNs));
}

TEST(RemoteMisses, AreForgottenAfterAWhileAndBounded) {
  Misses misses;
  misses.add("a", 0);
  EXPECT_TRUE(misses.has("a", Misses::rememberedNs - 1));
  EXPECT_FALSE(misses.has("a", Misses::rememberedNs));
  for (size_t i = 0; i < 2 * Misses::most; ++i)
    misses.add(std::to_string(i), 0);
  EXPECT_FALSE(misses.has(std::to_string(2 * Misses::most - 1), 0));
  misses.add("b", Misses::rememberedNs);
  EXPECT_TRUE(misses.has("b", Misses::rememberedNs)) << "expired misses make room for new ones";
}

} // namespace
