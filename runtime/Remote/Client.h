//===- Client.h - Servers, keys and the thread that stores ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A lookup queries the servers in order on the calling thread, within one deadline. Stores go through a bounded queue
// to one thread, which also probes suspended servers. The thread ends when it has been idle for a moment.
//
// A fork and the end of the process abort pending requests, so that no lock of libcurl or of a TLS library is held
// then. The child of a fork starts without the thread, the queue and the connections.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_REMOTE_CLIENT_H
#define QUERN_RUNTIME_REMOTE_CLIENT_H

#include "Remote/Entry.h"
#include "Remote/Interface.h"
#include "Remote/NegativeCache.h"
#include "Remote/Server.h"
#include "Support/IdleThread.h"

#include <deque>
#include <optional>

namespace quern::remote {

/// An owned copy of a kernel's key, for the queue.
struct StoredKey {
  std::string bytes, target, buildId, descriptor;
  EntryKey entry() const { return {nameOfEntry(bytes), target, buildId}; }
};

/// An artifact and its origin.
struct SignedArtifact {
  std::string bytes;
  quern_remote_origin origin{};
};

/// Counters of quern_remote_counters that only grow.
struct Counts {
  std::atomic<uint64_t> hits{0}, misses{0}, remembered{0}, skipped{0}, timeouts{0}, failures{0};
  std::atomic<uint64_t> isUnsigned{0}, foreign{0}, expired{0}, mismatched{0}, damaged{0};
  std::atomic<uint64_t> stores{0}, storeFailures{0}, storesDropped{0}, circuitsOpened{0};
  std::atomic<uint64_t> leases{0}, waits{0}, waitsInVain{0}, lateHits{0};
};

/// Thread-safe. Created by open() and never destroyed.
class Client {
public:
  static constexpr size_t maxJobs = 64, maxJobBytes = 32u << 20;
  static constexpr int64_t exitMs = 100;

  static Result<Client *> open(const quern_remote_config &config);

  /// Returns the artifact, or nullopt.
  std::optional<SignedArtifact> get(const StoredKey &key, const quern_remote_waiter &waiter);
  void put(StoredKey key, std::string artifact);
  /// Returns true if the signer is still among the readers' keys and the artifact has not expired.
  bool believes(const quern_remote_origin &origin) const;
  bool canWrite() const { return isWriting; }
  void flush(int64_t milliseconds);
  quern_remote_counters counters() const;

  // Requests for the `quern` command: sent at once to the first server, whatever the state of its circuit.
  Outcome contains(const StoredKey &key);
  Outcome fetch(const StoredKey &key, SignedArtifact &artifact);
  Outcome fetchNamed(const EntryName &name, SignedArtifact &artifact);
  Outcome store(const StoredKey &key, std::string_view artifact);
  Outcome list(const std::function<void(const EntryName &)> &each);

private:
  struct ServerJob {
    StoredKey key;
    std::string artifact;
    Server *probed = nullptr; ///< the server to probe; null: the job is a store
  };
  class Busy; ///< a scope in which a thread may be in libcurl

  Client() = default;
  Result<void> configure(const quern_remote_config &config);
  bool lockOutsideForks(IdleThread::Lock &lock);
  bool enter();
  void leave();

  enum class Search { Found, Missing, Uncertain };
  Search search(const StoredKey &key, const Deadline &deadline, SignedArtifact &artifact,
                std::vector<CircuitChange> &changes);
  /// Returns true if the server is to be queried. Requests a probe if one is due.
  bool isAsked(Server &server);
  class Waiting; ///< waits for a host that compiles the same kernel
  Search await(const StoredKey &key, const quern_remote_waiter &waiter, SignedArtifact &artifact,
               std::vector<CircuitChange> &changes);
  Search askFor(Server &server, const StoredKey &key, const Deadline &deadline, SignedArtifact &artifact,
                std::vector<CircuitChange> &changes);
  /// Sends a request within a deadline and counts its outcome.
  Outcome ask(Server &server, const Deadline &deadline, const Server::Question &question,
              std::vector<CircuitChange> &changes);
  void countRejected(Verdict verdict);
  /// Checks that the entry is the requested one and returns its artifact with names.
  std::optional<SignedArtifact> accept(const std::string &bytes, const StoredKey &key);
  std::string seal(const Server &server, const StoredKey &key, std::string_view artifact) const;
  void storeAt(Server &server, const StoredKey &key, std::string_view artifact, bool &wasCut,
               std::vector<CircuitChange> &changes);
  void report(const std::vector<CircuitChange> &changes);
  Outcome askFirst(const Server::Question &question);

  void requestProbe(Server &server);
  void ensureThread();
  void run();
  void doJob(IdleThread::Lock &lock);

  // Called around forks, and at the end of the process.
  static void registerHandlers();
  void holdStill();
  void release();
  void forgetInFork();
  void stop(int64_t milliseconds);

  /// The newest client, which is the head of a list. No client is removed from it.
  static inline constinit std::atomic<Client *> newest{nullptr};
  Client *older = nullptr;

  std::vector<std::unique_ptr<Server>> servers;
  std::optional<PrivateKey> signer;
  std::vector<PublicKey> readers;
  bool isWriting = false;
  int64_t waitNs = 0;
  void (*reporter)(void *context, int isOpen, const char *message) = nullptr;
  void *reporterContext = nullptr;
  Counts counts;
  NegativeCache misses;

  std::atomic<bool> cut{false};           ///< true if pending requests are to be aborted
  std::atomic<int64_t> noWaitsUntilNs{0}; ///< until then, lookups do not wait for other hosts
  IdleThread idle;                        ///< runs the jobs; its mutex guards the members below
  std::deque<ServerJob> jobs;
  size_t jobBytes = 0;
  int busy = 0; ///< number of threads that may be in libcurl
  bool hasJobInHand = false;
};

} // namespace quern::remote

#endif // QUERN_RUNTIME_REMOTE_CLIENT_H
