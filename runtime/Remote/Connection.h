//===- Connection.h - A connection to a server ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The interface of the protocols. One thread at a time uses a connection; after a failure it reconnects.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_REMOTE_CONNECTION_H
#define QUERN_RUNTIME_REMOTE_CONNECTION_H

#include "Remote/Address.h"
#include "Remote/Interface.h"
#include "Remote/Keys.h"
#include "Support/Clock.h"

#include <atomic>
#include <functional>
#include <memory>

namespace quern::remote {

inline constexpr int64_t nsPerMs = 1'000'000, nsPerSecond = 1000 * nsPerMs;

/// Limits a request: it ends at a time or when it is cut short. If the waiter starts other work when the time has
/// passed, the request continues until that work is done.
class Deadline {
public:
  explicit Deadline(int64_t fromNowNs, const std::atomic<bool> *isCut = nullptr,
                    const quern_remote_waiter *waiter = nullptr)
      : end(nowNs() + fromNowNs), cut(isCut), waiter(waiter) {}
  bool isOver() const {
    if (isCut())
      return true;
    if (!hasBegun && nowNs() < end)
      return false;
    hasBegun = hasBegun || (waiter && waiter->begin(waiter->context) != 0);
    return !hasBegun || isUnwanted();
  }
  /// Returns true if the request was cut short before its time.
  bool isCut() const { return (cut && cut->load(std::memory_order_relaxed)) || (!hasBegun && isUnwanted()); }
  /// Returns true once the time has passed, even if the waiter's other work lets the request continue.
  bool hasPassed() const { return hasBegun || nowNs() >= end; }
  int64_t leftNs() const { return std::max<int64_t>(0, end - nowNs()); }
  /// Returns the timeout of poll() until the next check of isOver(), in ms.
  int pollMs() const {
    return hasBegun ? 1 : static_cast<int>(std::min<int64_t>((leftNs() + 999999) / 1000000, longestPollMs));
  }

private:
  static constexpr int64_t longestPollMs = 5;
  bool isUnwanted() const { return waiter && waiter->is_over(waiter->context) != 0; }
  int64_t end;
  const std::atomic<bool> *cut;
  const quern_remote_waiter *waiter;
  mutable bool hasBegun = false; ///< true if the waiter has started other work
};

struct Outcome {
  enum Kind {
    Done,
    Missing,     ///< the server has no such entry; for a lease: another host holds it
    Unsupported, ///< the protocol lacks this operation
    Full,        ///< the server works, but stores nothing more
    Failed,
    Late, ///< the deadline has passed
    Cut,  ///< the owner of the deadline no longer needs the result
  };
  Kind kind = Done;
  std::string reason; ///< one line; empty for Done and Missing
  /// Returns true if the server responded and works.
  bool isAnswer() const { return kind <= Full; }
};

/// Credentials of a connection.
struct Secrets {
  std::string password, token;
};

/// The right to compile a kernel while other hosts wait.
struct Lease {
  std::string_view own; ///< contents of the lease object if this host gets the lease
  int64_t milliseconds; ///< duration
  std::string held{};   ///< contents of another host's lease object; empty if unknown
};

/// Creates a deadline for each request of an operation that needs several.
using Deadlines = std::function<Deadline()>;

class Connection {
public:
  static std::unique_ptr<Connection> make(const Address &address, const Secrets &secrets);
  virtual ~Connection() = default;

  /// Reads the bytes of an entry, at most maxEntryBytes.
  virtual Outcome get(const EntryName &name, std::string &bytes, const Deadline &deadline) = 0;
  virtual Outcome put(const EntryName &name, std::string_view bytes, int64_t seconds, const Deadline &deadline) = 0;
  virtual Outcome contains(const EntryName &name, const Deadline &deadline) = 0;
  /// Requests one of the leaseCount leases of an entry, which are independent. It lasts for its duration, or until the
  /// entry is stored. Done if this host holds it, Missing if another host does.
  virtual Outcome lease(const EntryName &name, int which, Lease &lease, const Deadlines &deadlines) = 0;
  virtual Outcome list(const std::function<void(const EntryName &)> &each, const Deadlines &deadlines) = 0;
  /// Checks that the server responds, with a request that is allowed for readers.
  Outcome ping(const Deadline &deadline) {
    const Outcome outcome = contains(EntryName(64, '0'), deadline);
    return outcome.isAnswer() ? Outcome{} : outcome;
  }
  /// Discards the sockets in the child of a fork without sending anything: the parent still uses them.
  virtual void disownSockets() = 0;
  /// Returns false if the program has closed a socket of this connection. The connection must then also not be
  /// destroyed, because a TLS library would write a closing message to the descriptor.
  virtual bool isIntact() const = 0;

  static constexpr int leaseCount = 2;
  uint64_t received = 0, sent = 0; ///< in bytes, for statistics
};

} // namespace quern::remote

#endif // QUERN_RUNTIME_REMOTE_CONNECTION_H
