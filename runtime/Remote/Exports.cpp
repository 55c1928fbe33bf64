//===- Exports.cpp - The table of functions for libquern ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Remote/Client.h"

#include <new>

using namespace quern;
using namespace quern::remote;

namespace {

Client *clientOf(quern_remote *remote) { return reinterpret_cast<Client *>(remote); }
const Client *clientOf(const quern_remote *remote) { return reinterpret_cast<const Client *>(remote); }

StoredKey storedKey(const quern_remote_key &key) {
  return {std::string(static_cast<const char *>(key.bytes), key.size), key.target, key.build_id, key.descriptor};
}

void give(const quern_remote_sink *sink, std::string_view bytes) {
  sink->write(sink->context, bytes.data(), bytes.size());
}

int statusOf(const Outcome &outcome, const quern_remote_sink *error) {
  switch (outcome.kind) {
  case Outcome::Done:
    return static_cast<int>(Status::Success);
  case Outcome::Missing:
    return quern_remote_miss;
  default:
    give(error, outcome.reason);
    return static_cast<int>(outcome.kind == Outcome::Unsupported ? Status::Unimplemented : Status::RuntimeError);
  }
}

/// Converts exceptions to statuses.
template <typename Body> int guarded(const quern_remote_sink *error, const Body &body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return static_cast<int>(Status::OutOfMemory);
  } catch (const std::exception &exception) {
    if (error)
      give(error, exception.what());
    return static_cast<int>(Status::Internal);
  }
}

template <typename Value> int statusOf(const Result<Value> &result, const quern_remote_sink *error) {
  if (!result)
    give(error, result.error().message);
  return static_cast<int>(result ? Status::Success : result.error().status);
}

int openRemote(const quern_remote_config *config, quern_remote **remote, const quern_remote_sink *error) {
  return guarded(error, [&] {
    Result<Client *> client = Client::open(*config);
    *remote = client ? reinterpret_cast<quern_remote *>(*client) : nullptr;
    return statusOf(client, error);
  });
}

int getRemote(quern_remote *remote, const quern_remote_key *key, const quern_remote_sink *bytes,
              quern_remote_origin *origin, const quern_remote_waiter *waiter) {
  return guarded(nullptr, [&] {
    const std::optional<SignedArtifact> artifact = clientOf(remote)->get(storedKey(*key), *waiter);
    if (artifact) {
      *origin = artifact->origin;
      give(bytes, artifact->bytes);
    }
    return artifact ? static_cast<int>(Status::Success) : quern_remote_miss;
  });
}

void putRemote(quern_remote *remote, const quern_remote_key *key, const void *bytes, size_t size) {
  (void)guarded(nullptr, [&] {
    clientOf(remote)->put(storedKey(*key), std::string(static_cast<const char *>(bytes), size));
    return 0;
  });
}

int believes(const quern_remote *remote, const quern_remote_origin *origin) {
  return clientOf(remote)->believes(*origin);
}
int canWrite(const quern_remote *remote) { return clientOf(remote)->canWrite(); }
void flushRemote(quern_remote *remote, uint32_t milliseconds) { clientOf(remote)->flush(milliseconds); }
void readCounters(const quern_remote *remote, quern_remote_counters *counters) {
  *counters = clientOf(remote)->counters();
}

int containsNow(quern_remote *remote, const quern_remote_key *key, const quern_remote_sink *error) {
  return guarded(error, [&] { return statusOf(clientOf(remote)->contains(storedKey(*key)), error); });
}

int giveIfDone(const Outcome &outcome, const SignedArtifact &artifact, const quern_remote_sink *bytes,
               quern_remote_origin *origin, const quern_remote_sink *error) {
  if (outcome.kind == Outcome::Done) {
    *origin = artifact.origin;
    give(bytes, artifact.bytes);
  }
  return statusOf(outcome, error);
}

int fetchNow(quern_remote *remote, const quern_remote_key *key, const quern_remote_sink *bytes,
             quern_remote_origin *origin, const quern_remote_sink *error) {
  return guarded(error, [&] {
    SignedArtifact artifact;
    const Outcome outcome = clientOf(remote)->fetch(storedKey(*key), artifact);
    return giveIfDone(outcome, artifact, bytes, origin, error);
  });
}

int fetchNamed(quern_remote *remote, const char *name, const quern_remote_sink *bytes, quern_remote_origin *origin,
               const quern_remote_sink *error) {
  return guarded(error, [&] {
    SignedArtifact artifact;
    const Outcome outcome = isEntryName(name) ? clientOf(remote)->fetchNamed(name, artifact)
                                              : Outcome{Outcome::Failed, "this is not the name of an entry"};
    return giveIfDone(outcome, artifact, bytes, origin, error);
  });
}

int storeNow(quern_remote *remote, const quern_remote_key *key, const void *bytes, size_t size,
             const quern_remote_sink *error) {
  return guarded(error, [&] {
    return statusOf(clientOf(remote)->store(storedKey(*key), {static_cast<const char *>(bytes), size}), error);
  });
}

int listNow(quern_remote *remote, const quern_remote_sink *name, const quern_remote_sink *error) {
  return guarded(error, [&] {
    return statusOf(clientOf(remote)->list([&](const EntryName &entry) { give(name, entry); }), error);
  });
}

int makeKeys(const char *path, const quern_remote_sink *error) {
  return guarded(error, [&] {
    Result<void> made = prepareCryptography();
    return statusOf(made ? generateKeys(path) : made, error);
  });
}

constexpr quern_remote_api api{QUERN_REMOTE_API_VERSION,
                               openRemote,
                               getRemote,
                               believes,
                               putRemote,
                               canWrite,
                               flushRemote,
                               readCounters,
                               containsNow,
                               fetchNow,
                               storeNow,
                               listNow,
                               fetchNamed,
                               makeKeys};

} // namespace

extern "C" const quern_remote_api *quern_remote_get_api(uint32_t version) {
  return version == QUERN_REMOTE_API_VERSION ? &api : nullptr;
}
