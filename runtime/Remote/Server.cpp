//===- Server.cpp - A server that may fail -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Remote/Server.h"

#include "Remote/Http.h"
#include "Remote/Redis.h"

#include <algorithm>
#include <sodium.h>

namespace quern::remote {
namespace {

constexpr size_t maxIdle = 8;
constexpr int64_t fullPauseNs = 10'000'000'000;

} // namespace

int64_t jittered(int64_t ns) {
  return ns / 4 * 3 + static_cast<int64_t>(randombytes_uniform(1 << 16)) * (ns / 2 >> 16);
}

std::unique_ptr<Connection> Connection::make(const Address &address, const Secrets &secrets) {
  if (address.protocol == Address::Protocol::Http)
    return std::make_unique<HttpConnection>(address, secrets);
  return std::make_unique<RedisConnection>(address, secrets);
}

bool CircuitBreaker::takeProbe(int64_t now) {
  if (state != State::Open || now < nextProbe)
    return false;
  state = State::Probing;
  return true;
}

bool CircuitBreaker::fail(int64_t now) {
  const bool wasClosed = state == State::Closed;
  if (wasClosed && ++failures < failuresToOpen)
    return false;
  if (state == State::Open)
    return false; // the request started before the circuit opened
  pause = wasClosed ? firstPauseNs : std::min(2 * pause, longestPauseNs);
  nextProbe = now + jittered(pause);
  state = State::Open;
  return wasClosed;
}

bool CircuitBreaker::succeed() {
  const bool wasOpen = state != State::Closed;
  state = State::Closed;
  failures = 0;
  return wasOpen;
}

void CircuitBreaker::forgetProbe() {
  if (state == State::Probing)
    state = State::Open;
}

bool Server::isAsked(bool &isProbeDue) {
  std::lock_guard guard(mutex);
  isProbeDue = circuit.takeProbe(nowNs());
  return circuit.isClosed();
}

std::unique_ptr<Connection> Server::take() {
  std::lock_guard guard(mutex);
  while (!idle.empty()) {
    std::unique_ptr<Connection> connection = std::move(idle.back());
    idle.pop_back();
    if (connection->isIntact())
      return connection;
    (void)connection.release();
  }
  return Connection::make(place, secrets);
}

void Server::giveBack(std::unique_ptr<Connection> connection) {
  received += std::exchange(connection->received, 0);
  sent += std::exchange(connection->sent, 0);
  std::lock_guard guard(mutex);
  if (idle.size() < maxIdle)
    idle.push_back(std::move(connection));
  else if (!connection->isIntact())
    (void)connection.release();
}

Outcome Server::askAnyway(const Question &question) {
  std::unique_ptr<Connection> connection = take();
  Outcome outcome = question(*connection);
  giveBack(std::move(connection));
  return outcome;
}

void Server::learn(const Outcome &outcome, std::vector<CircuitChange> &changes) {
  if (outcome.kind == Outcome::Full)
    fullUntilNs = nowNs() + fullPauseNs;
  std::lock_guard guard(mutex);
  if (outcome.kind == Outcome::Cut) {
    circuit.forgetProbe();
  } else if (outcome.isAnswer()) {
    if (circuit.succeed())
      changes.push_back({false, concat("the remote cache ", place.text, " responds again")});
  } else if (circuit.fail(nowNs())) {
    changes.push_back({true, concat("the remote cache ", place.text, " is suspended: ", outcome.reason)});
  }
}

Outcome Server::ask(const Question &question, std::vector<CircuitChange> &changes) {
  Outcome outcome = askAnyway(question);
  learn(outcome, changes);
  return outcome;
}

void Server::probe(const Deadline &deadline, std::vector<CircuitChange> &changes) {
  (void)ask([&](Connection &connection) { return connection.ping(deadline); }, changes);
}

void Server::disownSockets() {
  for (const std::unique_ptr<Connection> &connection : idle)
    connection->disownSockets();
  idle.clear();
  circuit.forgetProbe();
}

} // namespace quern::remote
