//===- Interface.h - What libquern asks libquern-remote ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The one header that both sides have. libquern opens the other library where a remote cache is configured, and looks
// up one symbol. Statuses are quern_status_t's. Nothing here throws; whatever is given is read during the call alone.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_REMOTE_INTERFACE_H
#define QUERN_RUNTIME_REMOTE_INTERFACE_H

#include <cstddef>
#include <cstdint>

// NOLINTBEGIN(readability-identifier-naming): a C interface
extern "C" {

#define QUERN_REMOTE_API_VERSION 3

/// Servers and keys of one configuration. Thread-safe.
struct quern_remote;

/// Receives bytes or a line of text; called at most once in a call, but for list(), which calls it for each entry.
struct quern_remote_sink {
  void (*write)(void *context, const void *bytes, size_t size);
  void *context;
};

/// Texts are never null.
struct quern_remote_config {
  const char *servers;       ///< as QUERN_REMOTE_CACHE
  const char *signing_key;   ///< a file, or ""
  const char *public_keys;   ///< files, separated by commas, or ""
  const char *password_file; ///< for Redis servers that name none of their own
  const char *token_file;    ///< likewise, for HTTP
  uint32_t milliseconds;     ///< the most that a look-up waits for answers
  /// Told when a server is given up for a while (`is_open`) and when it answers again, on the thread where that
  /// happens. May be null.
  void (*report)(void *context, int is_open, const char *message);
  void *report_context;
};

/// What a kernel is known by.
struct quern_remote_key {
  const void *bytes; ///< KernelKey::bytes
  size_t size;
  const char *target, *build_id;
  const char *descriptor; ///< PrimitiveDesc::text(), which the artifact is given back
};

/// Who vouches for an artifact of a server, and until when: to be kept with the artifact.
struct quern_remote_origin {
  unsigned char signer[32]; ///< public key
  int64_t expiry;           ///< seconds since the epoch
};

/// Of a waiter who makes nothing that others would wait for.
inline constexpr uint32_t quern_remote_never = UINT32_MAX;

/// Whoever looks something up, while that takes time.
struct quern_remote_waiter {
  /// The most that is waited, beyond answers, for another host that is compiling the same; or quern_remote_never.
  uint32_t patience_milliseconds;
  /// Asked every few milliseconds: whether the answer is wanted no more.
  int (*is_over)(void *context);
  /// The time is over without an answer. Whoever gives 1 has begun to compile, and the question goes on until
  /// is_over().
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
  /// Reads keys and secrets; connects to nobody. A configuration lives until the process ends.
  int (*open)(const quern_remote_config *config, quern_remote **remote, const quern_remote_sink *error);
  /// Success with the artifact's bytes, whose signature, key, target and build hold; 6 (not_required) for a miss, for
  /// whatever reason. Takes no longer than `milliseconds` of the configuration and the waiter's patience, but where
  /// that has begun something else.
  int (*get)(quern_remote *remote, const quern_remote_key *key, const quern_remote_sink *bytes,
             quern_remote_origin *origin, const quern_remote_waiter *waiter);
  /// Whether an artifact that was kept is still believed: its signer is among the public keys, and it has not expired.
  int (*believes)(const quern_remote *remote, const quern_remote_origin *origin);
  /// Puts an artifact into the queue of what is stored, if there is room. Not of one that cannot write.
  void (*put)(quern_remote *remote, const quern_remote_key *key, const void *bytes, size_t size);
  /// Whether there is somebody who is to be given what was compiled.
  int (*can_write)(const quern_remote *remote);
  /// Returns when all that was put has been stored or given up, or after `milliseconds`.
  void (*flush)(quern_remote *remote, uint32_t milliseconds);
  void (*counters)(const quern_remote *remote, quern_remote_counters *counters);

  // For the command: the first server alone, at once, with the reason for a failure. None asks the circuit.
  /// Success or 6 (not_required): whether there is an entry, not whether it holds.
  int (*contains)(quern_remote *remote, const quern_remote_key *key, const quern_remote_sink *error);
  int (*fetch)(quern_remote *remote, const quern_remote_key *key, const quern_remote_sink *bytes,
               quern_remote_origin *origin, const quern_remote_sink *error);
  int (*store)(quern_remote *remote, const quern_remote_key *key, const void *bytes, size_t size,
               const quern_remote_sink *error);
  /// The name of each entry (64 hexadecimal digits), in no order. `unimplemented` where a server gives no list.
  int (*list)(quern_remote *remote, const quern_remote_sink *name, const quern_remote_sink *error);
  /// The artifact of a name, as it is stored (without its descriptor, unless it was stored with names), if the entry's
  /// signature holds.
  int (*fetch_named)(quern_remote *remote, const char *name, const quern_remote_sink *bytes,
                     quern_remote_origin *origin, const quern_remote_sink *error);
  /// Writes a new private key to a file that did not exist (mode 0600), and the public one to `path`.pub.
  int (*generate_keys)(const char *path, const quern_remote_sink *error);
};

/// Null if `version` is not the library's.
__attribute__((visibility("default"))) const quern_remote_api *quern_remote_get_api(uint32_t version);

} // extern "C"
// NOLINTEND(readability-identifier-naming)

#endif // QUERN_RUNTIME_REMOTE_INTERFACE_H
