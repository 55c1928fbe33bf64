//===- Entry.h - A signed artifact as a server keeps it ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Nothing of it is believed before the signature holds, and then everything is compared with what was asked for. The
// signature covers every byte before it. Little-endian; a string is its length (u32) and its bytes:
//
//   QUERNENT, version 1 (u32), expiry in seconds since the epoch (i64), public key (32 bytes), name of the entry (64
//   bytes), target, build id, artifact (strings), signature (64 bytes)
//
// The artifact has neither key bytes nor descriptor, unless the writer wants names on the server: whoever asks knows
// both.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_REMOTE_ENTRY_H
#define QUERN_RUNTIME_REMOTE_ENTRY_H

#include "Remote/Keys.h"

#include <span>

namespace quern::remote {

/// No server is sent, and no answer is read, beyond this.
inline constexpr size_t mostEntryBytes = 16u << 20;

/// Why an entry is a miss.
enum class Verdict { Sound, Unsigned, Foreign, Expired, Mismatched, Damaged };

struct EntryKey {
  EntryName name;
  std::string_view target, buildId;
};

/// Empty if it would be too large.
std::string sealEntry(const EntryKey &key, std::string_view artifact, int64_t expiry, const PrivateKey &signer);

struct OpenedEntry {
  Verdict verdict = Verdict::Unsigned;
  std::string_view artifact; ///< within the entry's bytes; of a sound one alone
  PublicKey signer{};        ///< likewise
  int64_t expiry = 0;        ///< likewise, in seconds since the epoch
};
/// `now` in seconds since the epoch. Without a target and build in `key` any will do.
OpenedEntry openEntry(std::string_view bytes, const EntryKey &key, int64_t now, std::span<const PublicKey> readers);

// What says that somebody compiles an entry, signed as entries are, so that nobody waits because a server says so. How
// long it holds is the server's business; it is not believed beyond some minutes.
inline constexpr std::string_view leaseText = "quern lease ";
inline bool isLease(std::string_view bytes) { return bytes.starts_with(leaseText); }
/// A new one, unlike all others.
std::string sealLease(const EntryName &name, int64_t now, const PrivateKey &signer);
bool isLeaseOf(std::string_view bytes, const EntryName &name, int64_t now, std::span<const PublicKey> readers);

/// The artifact without what names the problem; as it was if it is none.
std::string withoutNames(std::string_view bytes);
/// The artifact as the compiler made it, with its key and descriptor. An error if it is damaged, or of another target,
/// build or problem.
Result<std::string> withNames(std::string_view bytes, std::string_view keyBytes, std::string_view descriptor,
                              const EntryKey &key);

} // namespace quern::remote

#endif // QUERN_RUNTIME_REMOTE_ENTRY_H
