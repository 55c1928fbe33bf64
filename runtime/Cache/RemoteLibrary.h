//===- RemoteLibrary.h - libquern-remote, opened where it is wanted ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The table of functions of the library that talks to servers, behind texts and statuses. The command links this as
// well.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CACHE_REMOTELIBRARY_H
#define QUERN_RUNTIME_CACHE_REMOTELIBRARY_H

#include "Remote/Interface.h"
#include "Support/Error.h"

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace quern {

/// What a remote cache is configured with; texts as in the environment.
struct RemoteConfig {
  std::string servers, signingKey, publicKeys, passwordFile, tokenFile;
  uint32_t milliseconds = 30;       ///< the most that a look-up waits for answers
  uint32_t waitMilliseconds = 2000; ///< and beyond that for others that compile the same
  static constexpr uint32_t mostMilliseconds = 600'000;

  /// What QUERN_REMOTE_CACHE, …_SIGNING_KEY, …_PUBLIC_KEYS, …_PASSWORD_FILE, …_TOKEN_FILE, …_MS and …_WAIT_MS say;
  /// nothing in a program with set-user-ID. An error if one of the last two is no number.
  static Result<RemoteConfig> fromEnvironment();
};

/// What an entry is known by. Views are of the caller's.
struct RemoteKey {
  std::string_view bytes; ///< KernelKey::bytes
  std::string target, buildId, descriptor;
};

/// An artifact of a server, and who vouches for it.
struct RemoteArtifact {
  std::string bytes;
  quern_remote_origin origin{};
};

/// Thread-safe.
class Remote {
public:
  using Report = void (*)(void *context, int isOpen, const char *message);

  /// `path` of the library, which stays open. What `report` is told: quern_remote_config::report.
  static Result<std::unique_ptr<Remote>> open(const std::string &path, const RemoteConfig &config,
                                              Report report = nullptr);
  /// As quern_remote_api::generate_keys.
  static Result<void> generateKeys(const std::string &libraryPath, const std::string &path);

  std::optional<RemoteArtifact> get(const RemoteKey &key, const quern_remote_waiter &waiter);
  void put(const RemoteKey &key, std::string_view artifact);
  /// Whether an artifact that was kept is still believed.
  bool believes(const quern_remote_origin &origin) const;
  bool canWrite() const;
  void flush(uint32_t milliseconds);
  quern_remote_counters counters() const;

  /// These ask the first server, at once.
  Result<bool> contains(const RemoteKey &key);
  Result<std::optional<RemoteArtifact>> fetch(const RemoteKey &key);
  Result<std::optional<RemoteArtifact>> fetchNamed(const std::string &name);
  Result<void> store(const RemoteKey &key, std::string_view artifact);
  Result<void> list(const std::function<void(std::string_view name)> &each);

private:
  Remote(const quern_remote_api *api, quern_remote *remote) : api(api), remote(remote) {}
  const quern_remote_api *api;
  quern_remote *remote; // never closed
};

} // namespace quern

#endif // QUERN_RUNTIME_CACHE_REMOTELIBRARY_H
