//===- Entry.h - Format of signed artifacts on a server -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An entry is used only if its signature is valid, and its fields match the request. The signature covers all bytes
// before it. Numbers are little-endian; a string is its length (u32) and its bytes:
//
//   QUERNENT, version 1 (u32), expiry in seconds since the epoch (i64), public key (32 bytes), name of the entry (64
//   bytes), target, build id, artifact (strings), signature (64 bytes)
//
// Unless the writer enables names on the server, the artifact has no key bytes and no descriptor; readers have both.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_REMOTE_ENTRY_H
#define QUERN_RUNTIME_REMOTE_ENTRY_H

#include "Remote/Keys.h"

#include <span>

namespace quern::remote {

/// Maximum size of an entry, in bytes, for reads and writes.
inline constexpr size_t maxEntryBytes = 16u << 20;

/// Result of the check of an entry; all except Sound count as a miss.
enum class Verdict { Sound, Unsigned, Foreign, Expired, Mismatched, Damaged };

struct EntryKey {
  EntryName name;
  std::string_view target, buildId;
};

/// Returns an empty string if the entry would be too large.
std::string sealEntry(const EntryKey &key, std::string_view artifact, int64_t expiry, const PrivateKey &signer);

struct OpenedEntry {
  Verdict verdict = Verdict::Unsigned;
  std::string_view artifact; ///< part of the entry's bytes; set only if Sound
  PublicKey signer{};        ///< set only if Sound
  int64_t expiry = 0;        ///< in seconds since the epoch; set only if Sound
};
/// Checks and reads an entry. `now` is in seconds since the epoch. An empty target or build id in `key` matches any.
OpenedEntry openEntry(std::string_view bytes, const EntryKey &key, int64_t now, std::span<const PublicKey> readers);

// A lease object says that a host compiles an entry. It is signed like entries, so that a server cannot make hosts
// wait. The server decides how long it exists; readers accept it for at most ten minutes.
inline constexpr std::string_view leaseText = "quern lease ";
inline bool isLease(std::string_view bytes) { return bytes.starts_with(leaseText); }
/// Returns the contents of a new lease object, which differ from those of all others.
std::string sealLease(const EntryName &name, int64_t now, const PrivateKey &signer);
bool isLeaseOf(std::string_view bytes, const EntryName &name, int64_t now, std::span<const PublicKey> readers);

/// Returns the artifact without key bytes and descriptor, or `bytes` if they are not an artifact.
std::string withoutNames(std::string_view bytes);
/// Returns the artifact with its key and descriptor, as the compiler made it. Fails if it is damaged, or of another
/// target, build or problem.
Result<std::string> withNames(std::string_view bytes, std::string_view keyBytes, std::string_view descriptor,
                              const EntryKey &key);

} // namespace quern::remote

#endif // QUERN_RUNTIME_REMOTE_ENTRY_H
