//===- RemoteLibrary.h - Loading libquern-remote on demand ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Wraps the function table of the library that communicates with servers. The `quern` command also links this.
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

/// The configuration of a remote cache; strings have the format of the environment variables.
struct RemoteConfig {
  std::string servers, signingKey, publicKeys, passwordFile, tokenFile;
  uint32_t milliseconds = 30;       ///< maximum total wait of a lookup for responses
  uint32_t waitMilliseconds = 2000; ///< maximum additional wait for others that compile the same kernel
  static constexpr uint32_t maxMilliseconds = 600'000;

  /// Reads QUERN_REMOTE_CACHE and QUERN_REMOTE_{SIGNING_KEY, PUBLIC_KEYS, PASSWORD_FILE, TOKEN_FILE, MS, WAIT_MS}. A
  /// set-user-ID program reads none. Fails if one of the last two is not a valid number.
  static Result<RemoteConfig> fromEnvironment();
};

/// Identifies an entry. Does not own the bytes.
struct RemoteKey {
  std::string_view bytes; ///< KernelKey::bytes
  std::string target, buildId, descriptor;
};

/// An artifact of a server, and its signer.
struct RemoteArtifact {
  std::string bytes;
  quern_remote_origin origin{};
};

/// Thread-safe.
class Remote {
public:
  using Report = void (*)(void *context, int isOpen, const char *message);

  /// Opens the library at `path`, which stays open, and configures it. See quern_remote_config::report for `report`.
  static Result<std::unique_ptr<Remote>> open(const std::string &path, const RemoteConfig &config,
                                              Report report = nullptr);
  /// See quern_remote_api::generate_keys.
  static Result<void> generateKeys(const std::string &libraryPath, const std::string &path);

  std::optional<RemoteArtifact> get(const RemoteKey &key, const quern_remote_waiter &waiter);
  void put(const RemoteKey &key, std::string_view artifact);
  /// Returns true if the signer of a kept artifact is still trusted and it has not expired.
  bool believes(const quern_remote_origin &origin) const;
  bool canWrite() const;
  void flush(uint32_t milliseconds);
  quern_remote_counters counters() const;

  // The functions below query only the first server, and on the calling thread.
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
