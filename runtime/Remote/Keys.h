//===- Keys.h - Key files, names of entries, signatures -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Uses Ed25519 and SHA-256 of libsodium. The file of a private key must have mode 0600 (or less) and belong to this
// user. A public key decides whose code runs, so only this user or root may have write access to its file and folder.
// Each file is one line of text.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_REMOTE_KEYS_H
#define QUERN_RUNTIME_REMOTE_KEYS_H

#include "Support/Error.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quern::remote {

using PublicKey = std::array<unsigned char, 32>;
using Signature = std::array<unsigned char, 64>;

/// Overwrites its bytes when destroyed.
struct PrivateKey {
  std::array<unsigned char, 64> secret{};
  PublicKey publicKey{};
  PrivateKey() = default;
  PrivateKey(const PrivateKey &) = default;
  PrivateKey &operator=(const PrivateKey &) = default;
  ~PrivateKey();
};

/// SHA-256 of KernelKey::bytes as 64 hexadecimal digits. Reveals nothing about a problem to readers who do not have it.
using EntryName = std::string;
EntryName nameOfEntry(std::string_view keyBytes);
bool isEntryName(std::string_view name);

/// Initializes the cryptographic library. Must succeed before any other function here is called.
Result<void> prepareCryptography();

Result<PrivateKey> readPrivateKey(const std::string &path);
/// Reads the keys in files, whose paths are separated by commas. Fails with `runtime_error` if another user may write
/// to a file or its folder.
Result<std::vector<PublicKey>> readPublicKeys(std::string_view paths);
/// Writes `path` (mode 0600), which must not exist, and `path`.pub.
Result<void> generateKeys(const std::string &path);

Signature sign(std::string_view message, const PrivateKey &key);
bool isSignedBy(std::string_view message, const Signature &signature, const PublicKey &key);

/// Reads a password or token from the first line of a file.
Result<std::string> readSecret(const std::string &path);

} // namespace quern::remote

#endif // QUERN_RUNTIME_REMOTE_KEYS_H
