//===- Server.h - A server that may fail -------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Connections that are kept between questions, and a circuit: after some failures in a row the server is not asked for
// a while, then probed, and asked again when a probe is answered. The time between probes doubles.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_REMOTE_SERVER_H
#define QUERN_RUNTIME_REMOTE_SERVER_H

#include "Remote/Connection.h"

#include <mutex>
#include <vector>

namespace quern::remote {

/// When a server is asked. Times are ns of the steady clock, so that nobody's setting of a clock matters.
class Circuit {
public:
  static constexpr int failuresToOpen = 3;
  static constexpr int64_t firstPauseNs = 1'000'000'000, longestPauseNs = 60'000'000'000;

  bool isClosed() const { return state == State::Closed; }
  /// Whether it is time for a probe; says so once.
  bool takeProbe(int64_t now);
  /// Each gives whether the circuit has opened, or closed, by that.
  bool fail(int64_t now);
  bool succeed();
  /// A probe was cut short: another is due.
  void forgetProbe();
  int64_t pauseNs() const { return pause; }

private:
  enum class State { Closed, Open, Probing } state = State::Closed;
  int failures = 0;
  int64_t pause = 0, nextProbe = 0;
};

/// Three quarters to five quarters of it, so that a fleet does not do the same in one moment.
int64_t jittered(int64_t ns);

/// What becomes known of a server, to be reported.
struct CircuitChange {
  bool isOpen;
  std::string message;
};

/// Thread-safe.
class Server {
public:
  Server(Address address, Secrets secrets) : place(std::move(address)), secrets(std::move(secrets)) {}

  const Address &address() const { return place; }
  /// Whether to ask it. Where it is not to be asked, `isProbeDue` tells whether the caller is to have probe() called.
  bool isAsked(bool &isProbeDue);
  /// Whether it has said a moment ago that it is full.
  bool isFull() const { return steadyNs() < fullUntilNs.load(std::memory_order_relaxed); }

  using Question = std::function<Outcome(Connection &connection)>;
  /// Asks over a connection that no other thread uses, and learns from the outcome.
  Outcome ask(const Question &question, std::vector<CircuitChange> &changes);
  void probe(const Deadline &deadline, std::vector<CircuitChange> &changes);
  /// Asks whatever the circuit says, and without a word to it.
  Outcome askAnyway(const Question &question);

  // Around a fork, with no question under way.
  void lock() { mutex.lock(); }
  void unlock() { mutex.unlock(); }
  /// In the child, with the lock held.
  void disownSockets();

  std::atomic<uint64_t> received{0}, sent{0};

private:
  std::unique_ptr<Connection> take();
  void giveBack(std::unique_ptr<Connection> connection);
  void learn(const Outcome &outcome, std::vector<CircuitChange> &changes);

  const Address place;
  const Secrets secrets;
  std::atomic<int64_t> fullUntilNs{0};
  std::mutex mutex; ///< guards what follows
  Circuit circuit;
  std::vector<std::unique_ptr<Connection>> idle;
};

} // namespace quern::remote

#endif // QUERN_RUNTIME_REMOTE_SERVER_H
