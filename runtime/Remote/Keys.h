//===- Keys.h - Key files, names of entries, signatures ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Ed25519 and SHA-256 of libsodium. A private key's file has mode 0600 (or less) and belongs to this user. A public key
// decides whose code runs, so only this user or root may write its file and the folder that has it. Both files are one
// line of text.
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

/// Wiped when it goes.
struct PrivateKey {
  std::array<unsigned char, 64> secret{};
  PublicKey publicKey{};
  PrivateKey() = default;
  PrivateKey(const PrivateKey &) = default;
  PrivateKey &operator=(const PrivateKey &) = default;
  ~PrivateKey();
};

/// 64 hexadecimal digits that say nothing about the problem to whoever has not the same: SHA-256 of KernelKey::bytes.
using EntryName = std::string;
EntryName nameOfEntry(std::string_view keyBytes);
bool isEntryName(std::string_view name);

/// Must succeed before anything else here is called.
Result<void> prepareCryptography();

Result<PrivateKey> readPrivateKey(const std::string &path);
/// Reads the keys of files separated by commas. `runtime_error`: another user may write one, or its folder.
Result<std::vector<PublicKey>> readPublicKeys(std::string_view paths);
/// Writes FILE (0600, which must not exist) and FILE.pub.
Result<void> generateKeys(const std::string &path);

Signature sign(std::string_view message, const PrivateKey &key);
bool isSignedBy(std::string_view message, const Signature &signature, const PublicKey &key);

/// A secret of one line in a file: a password or a token.
Result<std::string> readSecret(const std::string &path);

} // namespace quern::remote

#endif // QUERN_RUNTIME_REMOTE_KEYS_H
