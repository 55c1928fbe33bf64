//===- Client.cpp - Configuration, lookups and commands -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// ClientThread.cpp has the thread, fork handlers and process exit.
//
//===----------------------------------------------------------------------===//
#include "Remote/Client.h"

#include "Remote/Transfer.h"

#include <algorithm>
#include <ctime>

namespace quern::remote {
namespace {

constexpr int64_t secondsPerDay = 86400;
constexpr int64_t commandNs = 10'000 * nsPerMs; // timeout of requests that the `quern` command sends
constexpr int64_t storeNs = 1'000 * nsPerMs;    // timeout of stores in the background
constexpr int64_t leaseMs = 10'000;             // longer than a compilation; after it, another host compiles the kernel
constexpr int64_t firstPauseNs = 4 * nsPerMs, longestPauseNs = 50 * nsPerMs; // pauses between lookups during a wait
constexpr int64_t leaseAgainNs = 1'000 * nsPerMs;                            // time between requests for the same lease
constexpr int64_t noWaitsNs = 60'000 * nsPerMs; // time without waits after one that timed out
constexpr int64_t secondLeaseShare = 4;         // a second host may compile after 1/4 of the patience
constexpr uint32_t maxMilliseconds = 600'000;
constexpr int maxLosses = 2;

SignedArtifact signedBy(const OpenedEntry &opened, std::string bytes) {
  SignedArtifact artifact{std::move(bytes)};
  std::copy(opened.signer.begin(), opened.signer.end(), artifact.origin.signer);
  artifact.origin.expiry = opened.expiry;
  return artifact;
}

} // namespace

/// Registers a thread in the client, and unregisters it at the end of the scope.
class Client::Busy {
public:
  explicit Busy(Client &client) : client(client), isIn(client.enter()) {}
  Busy(const Busy &) = delete;
  Busy &operator=(const Busy &) = delete;
  ~Busy() {
    if (isIn)
      client.leave();
  }
  explicit operator bool() const { return isIn; }

private:
  Client &client;
  bool isIn;
};

Result<void> Client::configure(const quern_remote_config &config) {
  QUERN_RETURN_IF_ERROR(prepareCryptography());
  QUERN_ASSIGN_OR_RETURN(std::vector<Address> addresses, parseAddresses(config.servers));
  if (addresses.empty())
    return invalidArguments("no remote cache is configured");
  if (config.milliseconds > maxMilliseconds)
    return invalidArguments("the wait for a remote cache is ", config.milliseconds, " ms; it must be at most ",
                            maxMilliseconds);
  QUERN_ASSIGN_OR_RETURN(std::vector<PublicKey> keys, readPublicKeys(config.public_keys));
  readers = std::move(keys);
  if (config.signing_key[0]) {
    QUERN_ASSIGN_OR_RETURN(PrivateKey key, readPrivateKey(config.signing_key));
    signer = key;
    readers.push_back(signer->publicKey);
  }
  if (readers.empty())
    return invalidArguments("a remote cache needs the public keys of trusted writers (QUERN_REMOTE_PUBLIC_KEYS), "
                            "or a key to sign with (QUERN_REMOTE_SIGNING_KEY)");
  for (Address &address : addresses) {
    const bool isRedis = address.protocol == Address::Protocol::Redis;
    std::string &own = isRedis ? address.passwordFile : address.tokenFile;
    const std::string file = own.empty() ? (isRedis ? config.password_file : config.token_file) : own;
    QUERN_ASSIGN_OR_RETURN(std::string secret, file.empty() ? Result<std::string>(std::string()) : readSecret(file));
    isWriting = isWriting || (signer && !address.isReadOnly);
    Secrets secrets;
    (isRedis ? secrets.password : secrets.token) = std::move(secret);
    servers.push_back(std::make_unique<Server>(std::move(address), std::move(secrets)));
  }
  waitNs = static_cast<int64_t>(config.milliseconds) * nsPerMs;
  reporter = config.report;
  reporterContext = config.report_context;
  return {};
}

Outcome Client::ask(Server &server, const Deadline &deadline, const Server::Question &question,
                    std::vector<CircuitChange> &changes) {
  // If earlier requests or a wait used up the time of this one, a timeout is not a failure of the server.
  const bool hadTime = deadline.leftNs() >= waitNs / 2;
  const Outcome outcome = server.ask(
      [&](Connection &connection) {
        Outcome answer = question(connection);
        if (answer.kind == Outcome::Late && !hadTime)
          answer.kind = Outcome::Cut;
        return answer;
      },
      changes);
  counts.timeouts += outcome.kind == Outcome::Late ? 1 : 0;
  counts.failures += outcome.kind == Outcome::Failed ? 1 : 0;
  return outcome;
}

void Client::countRejected(Verdict verdict) {
  std::atomic<uint64_t> *counters[] = {nullptr,         &counts.isUnsigned, &counts.foreign,
                                       &counts.expired, &counts.mismatched, &counts.damaged};
  if (std::atomic<uint64_t> *counter = counters[static_cast<size_t>(verdict)])
    *counter += 1;
}

std::optional<SignedArtifact> Client::accept(const std::string &bytes, const StoredKey &key) {
  const EntryKey entry = key.entry();
  const OpenedEntry opened = openEntry(bytes, entry, time(nullptr), readers);
  countRejected(opened.verdict);
  if (opened.verdict != Verdict::Sound)
    return std::nullopt;
  Result<std::string> artifact = withNames(opened.artifact, key.bytes, key.descriptor, entry);
  if (artifact)
    return signedBy(opened, std::move(*artifact));
  countRejected(Verdict::Damaged); // the entry is signed, but does not contain an artifact
  return std::nullopt;
}

bool Client::isAsked(Server &server) {
  bool isProbeDue = false;
  const bool isClosed = server.isAsked(isProbeDue);
  if (isProbeDue)
    requestProbe(server);
  return isClosed;
}

Client::Search Client::askFor(Server &server, const StoredKey &key, const Deadline &deadline, SignedArtifact &artifact,
                              std::vector<CircuitChange> &changes) {
  if (!isAsked(server)) {
    counts.skipped += 1;
    return Search::Uncertain;
  }
  std::string bytes;
  const EntryName name = nameOfEntry(key.bytes);
  const Outcome outcome =
      ask(server, deadline, [&](Connection &connection) { return connection.get(name, bytes, deadline); }, changes);
  if (outcome.kind == Outcome::Missing)
    return Search::Missing;
  if (outcome.kind != Outcome::Done)
    return Search::Uncertain;
  std::optional<SignedArtifact> accepted = accept(bytes, key);
  if (!accepted)
    return Search::Missing;
  artifact = std::move(*accepted);
  return Search::Found;
}

Client::Search Client::search(const StoredKey &key, const Deadline &deadline, SignedArtifact &artifact,
                              std::vector<CircuitChange> &changes) {
  Search result = Search::Missing;
  for (const std::unique_ptr<Server> &server : servers) {
    if (deadline.isOver())
      return Search::Uncertain;
    const Search found = askFor(*server, key, deadline, artifact, changes);
    if (found == Search::Found)
      return found;
    result = found == Search::Uncertain ? found : result;
  }
  return result;
}

/// A lookup that waits for a host that compiles the same kernel. After a quarter of the patience, a second lease is
/// available. A host that holds the first lease and hangs therefore costs little, and at most two hosts compile.
class Client::Waiting {
public:
  Waiting(const Client &client, const quern_remote_waiter &waiter)
      : client(client), unhurried{0, waiter.is_over, [](void *) { return 0; }, waiter.context},
        patience(waiter.patience_milliseconds * nsPerMs), start(nowNs()), deadline(patience, &client.cut, &waiter) {}

  /// Returns which lease to request now, or nullopt if it is not yet time.
  std::optional<int> nextLease() {
    const int64_t now = nowNs();
    const int which = patience > 0 && now - start >= patience / secondLeaseShare ? 1 : 0;
    if (which == tried && now < again)
      return std::nullopt;
    tried = which;
    again = now + leaseAgainNs;
    ++attempts;
    return which;
  }
  bool isFirst() const { return attempts == 1; }
  /// Called if the holder of the lease is unknown: the next request follows at once. Returns true after too many of
  /// these calls.
  bool isAtLoss() {
    again = 0;
    return ++losses > maxLosses;
  }
  /// Waits, about twice as long each time up to a limit. Returns false if the whole wait is over.
  bool pauses() {
    const Deadline end(std::min(jittered(pause), deadline.hasPassed() ? firstPauseNs : deadline.leftNs()));
    pause = std::min(2 * pause, longestPauseNs);
    while (!end.isOver() && !deadline.isOver())
      std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(end.leftNs(), nsPerMs)));
    return !deadline.isOver();
  }
  /// Returns the deadline of one request during the wait, which may be slower than the first request.
  Deadline question() const {
    const int64_t time = std::min(deadline.leftNs(), patience / secondLeaseShare);
    return Deadline(std::max(client.waitNs, time), &client.cut, &unhurried);
  }
  bool wasInVain() const { return patience > 0 && deadline.hasPassed(); }
  bool wasCut() const { return deadline.isCut(); }

private:
  const Client &client;
  const quern_remote_waiter unhurried; ///< does not start a compilation
  const int64_t patience, start;
  const Deadline deadline;
  int64_t pause = firstPauseNs, again = 0;
  int tried = -1, attempts = 0, losses = 0;
};

/// Called after a miss: a host that gets a lease compiles, others wait for the kernel that it stores.
Client::Search Client::await(const StoredKey &key, const quern_remote_waiter &waiter, SignedArtifact &artifact,
                             std::vector<CircuitChange> &changes) {
  const auto writable =
      std::find_if(servers.begin(), servers.end(), [](const auto &server) { return !server->address().isReadOnly; });
  if (!signer || waiter.patience_milliseconds == quern_remote_never || writable == servers.end() ||
      !isAsked(**writable) || nowNs() < noWaitsUntilNs)
    return Search::Missing;
  Server &server = **writable;
  const EntryName name = nameOfEntry(key.bytes);
  const std::string own = sealLease(name, time(nullptr), *signer);
  Waiting waiting(*this, waiter);
  const Deadlines deadlines = [&] { return waiting.question(); };
  for (;;) {
    if (const std::optional<int> which = waiting.nextLease()) {
      Lease lease{own, leaseMs};
      const Outcome outcome = ask(
          server, deadlines(), [&](Connection &connection) { return connection.lease(name, *which, lease, deadlines); },
          changes);
      counts.leases += outcome.kind == Outcome::Done ? 1 : 0;
      if (outcome.kind == Outcome::Done) // the last holder may have stored the kernel meanwhile
        return askFor(server, key, deadlines(), artifact, changes);
      const bool isHeld = outcome.kind == Outcome::Missing && isLeaseOf(lease.held, name, time(nullptr), readers);
      const bool mayBe = outcome.kind == Outcome::Late || (outcome.kind == Outcome::Missing && lease.held.empty());
      if (!isHeld && (!mayBe || waiting.isAtLoss()))
        return Search::Missing; // the holder cannot be determined
      counts.waits += waiting.isFirst() ? 1 : 0;
    }
    const bool goesOn = waiting.pauses();
    if (!goesOn && waiting.wasInVain()) {
      counts.waitsInVain += 1;
      noWaitsUntilNs = nowNs() + noWaitsNs;
    }
    if (!goesOn)
      return waiting.wasCut() ? Search::Uncertain : Search::Missing;
    const Search found = askFor(server, key, deadlines(), artifact, changes);
    if (found == Search::Found || !isAsked(server)) // a request that timed out once may succeed next time
      return found;
  }
}

bool Client::believes(const quern_remote_origin &origin) const {
  return origin.expiry > time(nullptr) && std::any_of(readers.begin(), readers.end(), [&](const PublicKey &key) {
           return std::equal(key.begin(), key.end(), origin.signer);
         });
}

std::optional<SignedArtifact> Client::get(const StoredKey &key, const quern_remote_waiter &waiter) {
  const EntryName name = nameOfEntry(key.bytes);
  SignedArtifact artifact;
  std::vector<CircuitChange> changes;
  Search found = Search::Uncertain;
  if (const Busy in(*this); in) {
    if (misses.has(name, nowNs())) {
      counts.remembered += 1;
      return std::nullopt;
    }
    const Deadline deadline(waitNs, &cut, &waiter);
    found = search(key, deadline, artifact, changes);
    const bool isLate = deadline.hasPassed() && found != Search::Uncertain; // if it is Uncertain, ask() has counted it
    counts.timeouts += isLate ? 1 : 0;
    counts.lateHits += isLate && found == Search::Found ? 1 : 0;
    if (found == Search::Missing) {
      found = await(key, waiter, artifact, changes);
      if (found == Search::Missing)
        misses.add(name, nowNs());
    }
  }
  (found == Search::Found ? counts.hits : counts.misses) += 1;
  report(changes);
  return found == Search::Found ? std::optional(std::move(artifact)) : std::nullopt;
}

std::string Client::seal(const Server &server, const StoredKey &key, std::string_view artifact) const {
  const std::string stripped = server.address().hasNames ? std::string(artifact) : withoutNames(artifact);
  return sealEntry(key.entry(), stripped, time(nullptr) + server.address().days * secondsPerDay, *signer);
}

void Client::storeAt(Server &server, const StoredKey &key, std::string_view artifact, bool &wasCut,
                     std::vector<CircuitChange> &changes) {
  bool isProbeDue = false;
  const bool isAsked = server.isAsked(isProbeDue);
  if (isProbeDue)
    server.probe(Deadline(waitNs, &cut), changes);
  const std::string entry = isAsked && !server.isFull() ? seal(server, key, artifact) : std::string();
  if (entry.empty()) {
    counts.storesDropped += 1;
    return;
  }
  const Deadline deadline(storeNs, &cut);
  const EntryName name = nameOfEntry(key.bytes);
  const int64_t seconds = server.address().days * secondsPerDay;
  const Outcome outcome = ask(
      server, deadline, [&](Connection &connection) { return connection.put(name, entry, seconds, deadline); },
      changes);
  wasCut = outcome.kind == Outcome::Cut;
  if (outcome.kind == Outcome::Done)
    misses.remove(name);
  if (!wasCut)
    (outcome.kind == Outcome::Done ? counts.stores : counts.storeFailures) += 1;
}

void Client::report(const std::vector<CircuitChange> &changes) {
  for (const CircuitChange &change : changes) {
    counts.circuitsOpened += change.isOpen ? 1 : 0;
    if (reporter)
      reporter(reporterContext, change.isOpen, change.message.c_str());
  }
}

quern_remote_counters Client::counters() const {
  uint64_t received = 0, sent = 0;
  for (const std::unique_ptr<Server> &server : servers) {
    received += server->received;
    sent += server->sent;
  }
  return {counts.hits,           counts.misses,        counts.remembered, counts.skipped,
          counts.timeouts,       counts.failures,      counts.isUnsigned, counts.foreign,
          counts.expired,        counts.mismatched,    counts.damaged,    counts.stores,
          counts.storeFailures,  counts.storesDropped, received,          sent,
          counts.circuitsOpened, counts.leases,        counts.waits,      counts.waitsInVain,
          counts.lateHits};
}

Outcome Client::askFirst(const Server::Question &question) {
  const Busy in(*this);
  return in ? servers.front()->askAnyway(question) : Outcome{Outcome::Cut, "the process ends"};
}

Outcome Client::contains(const StoredKey &key) {
  return askFirst(
      [&](Connection &connection) { return connection.contains(nameOfEntry(key.bytes), Deadline(commandNs, &cut)); });
}

Outcome Client::fetch(const StoredKey &key, SignedArtifact &artifact) {
  std::string bytes;
  const EntryName name = nameOfEntry(key.bytes);
  Outcome outcome =
      askFirst([&](Connection &connection) { return connection.get(name, bytes, Deadline(commandNs, &cut)); });
  if (outcome.kind != Outcome::Done)
    return outcome;
  std::optional<SignedArtifact> accepted = accept(bytes, key);
  if (!accepted)
    return {Outcome::Failed, concat("the entry ", name, " is not signed by a trusted key, or is invalid")};
  artifact = std::move(*accepted);
  return {};
}

Outcome Client::fetchNamed(const EntryName &name, SignedArtifact &artifact) {
  std::string bytes;
  Outcome outcome =
      askFirst([&](Connection &connection) { return connection.get(name, bytes, Deadline(commandNs, &cut)); });
  if (outcome.kind != Outcome::Done)
    return outcome;
  if (isLease(bytes))
    return {Outcome::Missing, ""};
  const OpenedEntry opened = openEntry(bytes, {name, {}, {}}, time(nullptr), readers);
  countRejected(opened.verdict);
  if (opened.verdict != Verdict::Sound)
    return {Outcome::Failed, concat("the entry ", name, " is not signed by a trusted key, or is invalid")};
  artifact = signedBy(opened, std::string(opened.artifact));
  return {};
}

Outcome Client::store(const StoredKey &key, std::string_view artifact) {
  const Server &server = *servers.front();
  if (!signer || server.address().isReadOnly)
    return {Outcome::Failed, "there is no key to sign with (QUERN_REMOTE_SIGNING_KEY), or the server is read-only"};
  const std::string entry = seal(server, key, artifact);
  if (entry.empty())
    return {Outcome::Failed,
            concat("an artifact of ", artifact.size(), " bytes is too large: an entry has at most ", maxEntryBytes)};
  const int64_t seconds = server.address().days * secondsPerDay;
  return askFirst([&](Connection &connection) {
    return connection.put(nameOfEntry(key.bytes), entry, seconds, Deadline(commandNs, &cut));
  });
}

Outcome Client::list(const std::function<void(const EntryName &)> &each) {
  return askFirst(
      [&](Connection &connection) { return connection.list(each, [&] { return Deadline(commandNs, &cut); }); });
}

} // namespace quern::remote
