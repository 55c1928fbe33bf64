//===- Interface.h - Interface between libquern and libquern-remote -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The only header that both libraries share. libquern loads libquern-remote if a remote cache is configured, and looks
// up one symbol. Statuses are those of quern_status_t. No function throws. Arguments are read only during the call.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_REMOTE_INTERFACE_H
#define QUERN_RUNTIME_REMOTE_INTERFACE_H

#include <cstddef>
#include <cstdint>

// NOLINTBEGIN(readability-identifier-naming): a C interface
extern "C" {

#define QUERN_REMOTE_API_VERSION 4

/// Returned in place of a status if an entry does not exist or cannot be used.
inline constexpr int quern_remote_miss = -1;

/// The servers and keys of a configuration. Thread-safe.
struct quern_remote;

/// Receives bytes or a line of text; called at most once per call, except by list(), which calls it for each entry.
struct quern_remote_sink {
  void (*write)(void *context, const void *bytes, size_t size);
  void *context;
};

/// The strings are never null.
struct quern_remote_config {
  const char *servers;       ///< value of QUERN_REMOTE_CACHE
  const char *signing_key;   ///< a file, or ""
  const char *public_keys;   ///< files, separated by commas, or ""
  const char *password_file; ///< password of Redis servers that do not have their own
  const char *token_file;    ///< token of HTTP servers that do not have their own
  uint32_t milliseconds;     ///< maximum total wait of a lookup for responses
  /// Called when a server is suspended (`is_open`) and when it responds again, on the thread that notices it. May be
  /// null.
  void (*report)(void *context, int is_open, const char *message);
  void *report_context;
};

/// Identifies a kernel.
struct quern_remote_key {
  const void *bytes; ///< KernelKey::bytes
  size_t size;
  const char *target, *build_id;
  const char *descriptor; ///< PrimitiveDesc::text(), which get() restores in the artifact
};

/// The signer of an artifact and its expiry. Store them with the artifact.
struct quern_remote_origin {
  unsigned char signer[32]; ///< public key
  int64_t expiry;           ///< seconds since the epoch
};

/// Disables waiting for other hosts, and leases.
inline constexpr uint32_t quern_remote_never = UINT32_MAX;

/// Callbacks and limits of a lookup, which may take long.
struct quern_remote_waiter {
  /// Maximum wait for another host that compiles the same kernel, after the responses; or quern_remote_never.
  uint32_t patience_milliseconds;
  /// Called every few milliseconds. Returns nonzero if the caller no longer needs the result.
  int (*is_over)(void *context);
  /// Called when the time has passed without a response. If it returns nonzero, the caller has started to compile, and
  /// the lookup continues until is_over().
  int (*begin)(void *context);
  void *context;
};

struct quern_remote_counters {
  uint64_t hits, misses, remembered, skipped, timeouts, failures;
  uint64_t rejected_unsigned, rejected_foreign, rejected_expired, rejected_mismatched, rejected_damaged;
  uint64_t stores, store_failures, stores_dropped;
  uint64_t bytes_received, bytes_sent, circuits_opened;
  uint64_t leases, waits, waits_in_vain, late_hits;
};

struct quern_remote_api {
  uint32_t version;
  /// Reads keys and secrets, without connecting to a server. A configuration lives until the process ends.
  int (*open)(const quern_remote_config *config, quern_remote **remote, const quern_remote_sink *error);
  /// Returns success and writes an artifact whose signature, key, target and build match, or returns quern_remote_miss.
  /// Takes at most `milliseconds` of the configuration plus the waiter's patience, unless the waiter has started other
  /// work.
  int (*get)(quern_remote *remote, const quern_remote_key *key, const quern_remote_sink *bytes,
             quern_remote_origin *origin, const quern_remote_waiter *waiter);
  /// Returns nonzero if a kept artifact is still valid: its signer is among the public keys, and it has not expired.
  int (*believes)(const quern_remote *remote, const quern_remote_origin *origin);
  /// Queues an artifact for storage, if the queue has space. Ignored if the configuration cannot write.
  void (*put)(quern_remote *remote, const quern_remote_key *key, const void *bytes, size_t size);
  /// Returns nonzero if compiled artifacts are to be passed to put().
  int (*can_write)(const quern_remote *remote);
  /// Returns when all queued artifacts have been stored or dropped, or after `milliseconds`.
  void (*flush)(quern_remote *remote, uint32_t milliseconds);
  void (*counters)(const quern_remote *remote, quern_remote_counters *counters);

  // For the `quern` command: sent at once, only to the first server, even if it is suspended, with the reason for a
  // failure.
  /// Returns success if the entry exists, or quern_remote_miss. Does not check the entry.
  int (*contains)(quern_remote *remote, const quern_remote_key *key, const quern_remote_sink *error);
  int (*fetch)(quern_remote *remote, const quern_remote_key *key, const quern_remote_sink *bytes,
               quern_remote_origin *origin, const quern_remote_sink *error);
  int (*store)(quern_remote *remote, const quern_remote_key *key, const void *bytes, size_t size,
               const quern_remote_sink *error);
  /// Writes the name of each entry (64 hexadecimal digits), unordered. Fails with `unimplemented` if the server cannot
  /// list entries.
  int (*list)(quern_remote *remote, const quern_remote_sink *name, const quern_remote_sink *error);
  /// Reads an entry by its name, if its signature is valid. The artifact has no descriptor, unless it was stored with
  /// names.
  int (*fetch_named)(quern_remote *remote, const char *name, const quern_remote_sink *bytes,
                     quern_remote_origin *origin, const quern_remote_sink *error);
  /// Writes a new private key to a new file (mode 0600), and the public key to `path`.pub.
  int (*generate_keys)(const char *path, const quern_remote_sink *error);
};

/// Returns the library's functions; null if it implements another version of this interface.
__attribute__((visibility("default"))) const quern_remote_api *quern_remote_get_api(uint32_t version);

} // extern "C"
// NOLINTEND(readability-identifier-naming)

#endif // QUERN_RUNTIME_REMOTE_INTERFACE_H
