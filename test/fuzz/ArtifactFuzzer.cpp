//===- ArtifactFuzzer.cpp - The readers of artifacts and descriptor bytes -===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads the input as an artifact and as the bytes of a problem. It also reads an artifact that consists of a correct
// header and the payload of the input, so that the fuzzer gets past the checks of the version and the checksum. An
// input without a header is treated as a payload.
//
//===----------------------------------------------------------------------===//
#include "Artifact/Artifact.h"

#include "Desc/PrimitiveDesc.h"
#include "Support/Bytes.h"
#include "Support/Digest.h"

using namespace quern;

static void require(bool holds) {
  if (!holds)
    __builtin_trap();
}

static void read(std::string_view bytes) {
  Result<Artifact> artifact = Artifact::parse(bytes);
  require(artifact ? artifact->serialize() == bytes : !artifact.error().message.empty());
}

/// Returns an artifact with the payload of `bytes`, the current format version and the correct checksum.
static std::string sealed(std::string_view bytes) {
  if (bytes.size() >= Artifact::headerBytes && bytes.starts_with(Artifact::magic))
    bytes.remove_prefix(Artifact::headerBytes);
  ByteWriter out;
  out.bytes = Artifact::magic;
  out.put(Artifact::formatVersion);
  Digest checksum = digestOf(bytes);
  out.put(checksum.low);
  out.put(checksum.high);
  out.bytes.append(bytes);
  return out.take();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  read(bytes);
  read(sealed(bytes));
  Result<PrimitiveDesc> desc = PrimitiveDesc::fromBytes(bytes);
  require(desc ? desc->canonicalBytes() == bytes : !desc.error().message.empty());
  return 0;
}
