//===- NativeCode.cpp - A device driver's binary of a kernel --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Core/NativeCode.h"

#include <cstring>

namespace quern {
namespace {

/// Start of a blob that consists of an artifact and native code.
struct BlobHeader {
  char magic[8] = {'Q', 'R', 'N', 'P', 'A', 'I', 'R', '1'};
  uint64_t artifactBytes = 0;
};

} // namespace

KernelKey nativeKeyOf(const std::string &keyBytes, const Device &device) {
  KernelKey own;
  own.bytes = concat(keyBytes, "native ", device.identity());
  own.digest = digestOf(own.bytes);
  return own;
}

Result<std::string> nativeArtifactOf(const Executable &executable) {
  Result<std::string> binary = executable.nativeCode();
  Result<Artifact> artifact = Artifact::parse(executable.artifactBytes());
  if (!binary || !artifact)
    return binary ? artifact.takeError() : binary.takeError();
  artifact->codeKind = CodeKind::DeviceBinary;
  artifact->keyBytes = nativeKeyOf(artifact->keyBytes, *executable.device()).bytes;
  artifact->code = std::move(*binary);
  return artifact->serialize();
}

std::string joinBlob(std::string_view artifact, std::string_view native) {
  BlobHeader header;
  header.artifactBytes = artifact.size();
  std::string blob(reinterpret_cast<const char *>(&header), sizeof header);
  return blob.append(artifact).append(native);
}

BlobParts splitBlob(std::string_view blob) {
  BlobHeader header;
  const std::string_view magic(header.magic, sizeof header.magic);
  if (blob.size() < sizeof header || !blob.starts_with(magic))
    return {blob, {}};
  std::memcpy(&header, blob.data(), sizeof header);
  blob.remove_prefix(sizeof header);
  const auto split = static_cast<size_t>(std::min<uint64_t>(header.artifactBytes, blob.size()));
  return {blob.substr(0, split), blob.substr(split)};
}

} // namespace quern
