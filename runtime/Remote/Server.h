//===- Server.h - A server that may fail ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Keeps idle connections and a circuit breaker: after several consecutive failures the server is suspended, then
// probed, and used again when a probe succeeds. The time between probes doubles.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_REMOTE_SERVER_H
#define QUERN_RUNTIME_REMOTE_SERVER_H

#include "Remote/Connection.h"

#include <mutex>
#include <vector>

namespace quern::remote {

/// Decides when to query a server. Times are ns of the steady clock, which is never set.
class CircuitBreaker {
public:
  static constexpr int failuresToOpen = 3;
  static constexpr int64_t firstPauseNs = 1'000'000'000, longestPauseNs = 60'000'000'000;

  bool isClosed() const { return state == State::Closed; }
  /// Returns true, once, if a probe is due.
  bool takeProbe(int64_t now);
  /// Record a failure or a success. fail() returns true if the failure opened the circuit, succeed() if the success
  /// closed it.
  bool fail(int64_t now);
  bool succeed();
  /// Makes another probe due, because the last one was cut short.
  void forgetProbe();
  int64_t pauseNs() const { return pause; }

private:
  enum class State { Closed, Open, Probing } state = State::Closed;
  int failures = 0;
  int64_t pause = 0, nextProbe = 0;
};

/// Returns a random time of 3/4 to 5/4 of `ns`, so that the hosts of a fleet do not act simultaneously.
int64_t jittered(int64_t ns);

/// A change of a server's state, to be reported.
struct CircuitChange {
  bool isOpen;
  std::string message;
};

/// Thread-safe.
class Server {
public:
  Server(Address address, Secrets secrets) : place(std::move(address)), secrets(std::move(secrets)) {}

  const Address &address() const { return place; }
  /// Returns true if the server is to be queried. `isProbeDue` is true if the caller must have probe() called.
  bool isAsked(bool &isProbeDue);
  /// Returns true if the server recently reported that it is full.
  bool isFull() const { return nowNs() < fullUntilNs.load(std::memory_order_relaxed); }

  using Question = std::function<Outcome(Connection &connection)>;
  /// Runs a request over a connection that no other thread uses, and updates the circuit.
  Outcome ask(const Question &question, std::vector<CircuitChange> &changes);
  void probe(const Deadline &deadline, std::vector<CircuitChange> &changes);
  /// Runs a request whatever the state of the circuit, which is not updated.
  Outcome askAnyway(const Question &question);

  // Called around a fork, when no request is pending.
  void lock() { mutex.lock(); }
  void unlock() { mutex.unlock(); }
  /// Called in the child, with the lock held.
  void disownSockets();

  std::atomic<uint64_t> received{0}, sent{0};

private:
  std::unique_ptr<Connection> take();
  void giveBack(std::unique_ptr<Connection> connection);
  void learn(const Outcome &outcome, std::vector<CircuitChange> &changes);

  const Address place;
  const Secrets secrets;
  std::atomic<int64_t> fullUntilNs{0};
  std::mutex mutex; ///< guards the members below
  CircuitBreaker circuit;
  std::vector<std::unique_ptr<Connection>> idle;
};

} // namespace quern::remote

#endif // QUERN_RUNTIME_REMOTE_SERVER_H
