//===- RemoteEntryFuzzer.cpp - Entries of a remote cache ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads the input as an entry and as a lease, which must never be valid because it is not signed. It also reads an
// entry that is signed and has the input as its artifact, to test the code that runs after the check of the signature.
//
//===----------------------------------------------------------------------===//
#include "Remote/Entry.h"

#include <cstdlib>
#include <sodium.h>

using namespace quern;
using namespace quern::remote;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const PrivateKey writer = [] {
    PrivateKey key;
    if (!prepareCryptography())
      std::abort();
    crypto_sign_keypair(key.publicKey.data(), key.secret.data());
    return key;
  }();
  const std::string_view input(reinterpret_cast<const char *>(data), size);
  const EntryKey key{nameOfEntry("key"), "avx2", "build"};
  if (openEntry(input, key, 0, {&writer.publicKey, 1}).verdict == Verdict::Sound)
    std::abort();
  if (isLeaseOf(input, key.name, 0, {&writer.publicKey, 1}) ||
      isLeaseOf(concat(leaseText, input), key.name, 0, {&writer.publicKey, 1}))
    std::abort();
  const std::string entry = sealEntry(key, input, 1, writer);
  const OpenedEntry opened = openEntry(entry, key, 0, {&writer.publicKey, 1});
  if (!entry.empty() && (opened.verdict != Verdict::Sound || opened.artifact != input))
    std::abort();
  (void)withNames(input, "key", "problem", key);
  return 0;
}
