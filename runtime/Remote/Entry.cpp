//===- Entry.cpp - Format of signed artifacts on a server -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Remote/Entry.h"

#include "Artifact/Artifact.h"
#include "Support/Bytes.h"

#include <algorithm>
#include <cstring>
#include <sodium.h>

namespace quern::remote {
namespace {

constexpr std::string_view magic = "QUERNENT";
constexpr uint32_t formatVersion = 1;
constexpr size_t nameBytes = 64;
constexpr std::string_view leaseTarget = "a lease";
constexpr int64_t leaseSeconds = 600; // tolerates differences between clocks

std::string_view textOf(const PublicKey &key) { return {reinterpret_cast<const char *>(key.data()), key.size()}; }

} // namespace

std::string sealEntry(const EntryKey &key, std::string_view artifact, int64_t expiry, const PrivateKey &signer) {
  if (artifact.size() > maxEntryBytes)
    return {};
  ByteWriter out;
  out.bytes.reserve(artifact.size() + 512);
  out.bytes.append(magic);
  out.put(formatVersion);
  out.put(expiry);
  out.bytes.append(textOf(signer.publicKey));
  out.bytes.append(key.name);
  out.putString(key.target);
  out.putString(key.buildId);
  out.putString(artifact);
  const Signature signature = sign(out.bytes, signer);
  out.bytes.append(reinterpret_cast<const char *>(signature.data()), signature.size());
  return out.bytes.size() > maxEntryBytes ? std::string() : out.take();
}

OpenedEntry openEntry(std::string_view bytes, const EntryKey &key, int64_t now, std::span<const PublicKey> readers) {
  Signature signature;
  if (bytes.size() > maxEntryBytes || bytes.size() < magic.size() + signature.size() || !bytes.starts_with(magic))
    return {Verdict::Unsigned};
  const std::string_view message = bytes.substr(0, bytes.size() - signature.size());
  std::memcpy(signature.data(), bytes.data() + message.size(), signature.size());
  ByteReader in(message.substr(magic.size()));
  const auto version = in.get<uint32_t>();
  const auto expiry = in.get<int64_t>();
  const std::string_view signer = in.getBytes(sizeof(PublicKey)), name = in.getBytes(nameBytes);
  const std::string_view target = in.getString(), buildId = in.getString(), artifact = in.getString();
  if (!in.ok() || !in.atEnd() || version != formatVersion)
    return {Verdict::Damaged};
  const auto reader =
      std::find_if(readers.begin(), readers.end(), [&](const PublicKey &known) { return textOf(known) == signer; });
  if (reader == readers.end())
    return {Verdict::Foreign};
  if (!isSignedBy(message, signature, *reader))
    return {Verdict::Damaged};
  if (name != key.name || (!key.target.empty() && target != key.target) ||
      (!key.buildId.empty() && buildId != key.buildId))
    return {Verdict::Mismatched};
  if (expiry <= now)
    return {Verdict::Expired};
  return {Verdict::Sound, artifact, *reader, expiry};
}

std::string sealLease(const EntryName &name, int64_t now, const PrivateKey &signer) {
  const std::string number = concat(std::hex, randombytes_random(), '-', randombytes_random());
  return concat(leaseText, sealEntry({name, leaseTarget, {}}, number, now + leaseSeconds, signer));
}

bool isLeaseOf(std::string_view bytes, const EntryName &name, int64_t now, std::span<const PublicKey> readers) {
  return isLease(bytes) &&
         openEntry(bytes.substr(leaseText.size()), {name, leaseTarget, {}}, now, readers).verdict == Verdict::Sound;
}

std::string withoutNames(std::string_view bytes) {
  Result<Artifact> artifact = Artifact::parse(bytes);
  if (!artifact)
    return std::string(bytes);
  artifact->descriptor.clear();
  artifact->keyBytes.clear();
  return artifact->serialize();
}

Result<std::string> withNames(std::string_view bytes, std::string_view keyBytes, std::string_view descriptor,
                              const EntryKey &key) {
  QUERN_ASSIGN_OR_RETURN(Artifact artifact, Artifact::parse(bytes));
  if (artifact.target != key.target || artifact.buildId != key.buildId ||
      (!artifact.keyBytes.empty() && artifact.keyBytes != keyBytes))
    return runtimeError("the artifact is of another problem, target or build");
  artifact.keyBytes = keyBytes;
  artifact.descriptor = descriptor;
  return artifact.serialize();
}

} // namespace quern::remote
