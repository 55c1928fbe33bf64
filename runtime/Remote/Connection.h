//===- Connection.h - One conversation with one server -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the protocols have in common. A connection is used by one thread at a time; after a failure it connects anew.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_REMOTE_CONNECTION_H
#define QUERN_RUNTIME_REMOTE_CONNECTION_H

#include "Remote/Address.h"
#include "Remote/Interface.h"
#include "Remote/Keys.h"

#include <atomic>
#include <functional>
#include <memory>

namespace quern::remote {

inline constexpr int64_t nsPerMs = 1'000'000, nsPerSecond = 1000 * nsPerMs;
/// Monotonic, in ns.
int64_t steadyNs();

/// When to give up: at a time, or as soon as somebody says so. At that time a waiter may begin something else, and then
/// it is over when that is done.
class Deadline {
public:
  explicit Deadline(int64_t fromNowNs, const std::atomic<bool> *isCut = nullptr,
                    const quern_remote_waiter *waiter = nullptr)
      : end(steadyNs() + fromNowNs), cut(isCut), waiter(waiter) {}
  bool isOver() const {
    if (isCut())
      return true;
    if (!hasBegun && steadyNs() < end)
      return false;
    hasBegun = hasBegun || (waiter && waiter->begin(waiter->context) != 0);
    return !hasBegun || isUnwanted();
  }
  /// Whether somebody has said so before the time.
  bool isCut() const { return (cut && cut->load(std::memory_order_relaxed)) || (!hasBegun && isUnwanted()); }
  /// Whether it has passed, whatever goes on beside.
  bool hasPassed() const { return hasBegun || steadyNs() >= end; }
  int64_t leftNs() const { return std::max<int64_t>(0, end - steadyNs()); }
  /// How long to wait in poll() before isOver() is looked at again.
  int pollMs() const {
    return hasBegun ? 1 : static_cast<int>(std::min<int64_t>((leftNs() + 999999) / 1000000, longestPollMs));
  }

private:
  static constexpr int64_t longestPollMs = 5;
  bool isUnwanted() const { return waiter && waiter->is_over(waiter->context) != 0; }
  int64_t end;
  const std::atomic<bool> *cut;
  const quern_remote_waiter *waiter;
  mutable bool hasBegun = false; ///< the waiter has
};

struct Outcome {
  enum Kind {
    Done,
    Missing,     ///< the server has no such entry; of a lease: another has it
    Unsupported, ///< the protocol has no such thing
    Full,        ///< the server works, but keeps nothing more
    Failed,
    Late, ///< the deadline has passed
    Cut,  ///< whoever the deadline belongs to wants no more
  };
  Kind kind = Done;
  std::string reason; ///< one line; of what is neither done nor missing
  /// Whether the server is there and does what it is for.
  bool isAnswer() const { return kind <= Full; }
};

/// What a connection needs besides its address.
struct Secrets {
  std::string password, token;
};

/// The right to compile a kernel while others wait.
struct Lease {
  std::string_view own; ///< what its object is to have
  int64_t milliseconds; ///< how long it holds
  std::string held{};   ///< what it has if another has the lease; empty if that is not known
};

/// Makes the deadline of each question, where there are several.
using Deadlines = std::function<Deadline()>;

class Connection {
public:
  static std::unique_ptr<Connection> make(const Address &address, const Secrets &secrets);
  virtual ~Connection() = default;

  /// The bytes of an entry; none has more than mostEntryBytes.
  virtual Outcome get(const EntryName &name, std::string &bytes, const Deadline &deadline) = 0;
  virtual Outcome put(const EntryName &name, std::string_view bytes, int64_t seconds, const Deadline &deadline) = 0;
  virtual Outcome contains(const EntryName &name, const Deadline &deadline) = 0;
  /// Whether nobody else has it: for its time, or until the entry is put. There are leaseCount, which have nothing to
  /// do with each other.
  virtual Outcome lease(const EntryName &name, int which, Lease &lease, const Deadlines &deadlines) = 0;
  virtual Outcome list(const std::function<void(const EntryName &)> &each, const Deadlines &deadlines) = 0;
  /// Asks for what a reader may ask for.
  Outcome ping(const Deadline &deadline) {
    const Outcome outcome = contains(EntryName(64, '0'), deadline);
    return outcome.isAnswer() ? Outcome{} : outcome;
  }
  /// In the child of a fork, whose sockets are the parent's as well: forgets them without a word to the server.
  virtual void disownSockets() = 0;
  /// Returns false if the program has closed a socket of this connection. Then nothing must be done with it: a TLS
  /// library would even write a farewell when it is destroyed.
  virtual bool isIntact() const = 0;

  static constexpr int leaseCount = 2;
  uint64_t received = 0, sent = 0; ///< bytes, for statistics
};

} // namespace quern::remote

#endif // QUERN_RUNTIME_REMOTE_CONNECTION_H
