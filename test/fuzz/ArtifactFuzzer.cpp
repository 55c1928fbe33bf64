//===- ArtifactFuzzer.cpp - The readers of artifacts and descriptor bytes -===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The input is taken for the payload of an artifact and given the header that it needs, so that the fuzzer gets past the checksum; and as
// it is, for an artifact and for the bytes of a problem.
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

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  read(bytes);
  ByteWriter sealed;
  sealed.bytes = "QUERNART";
  sealed.put<uint32_t>(3);
  Digest checksum = digestOf(bytes);
  sealed.put(checksum.low);
  sealed.put(checksum.high);
  sealed.bytes.append(bytes);
  read(sealed.bytes);
  Result<PrimitiveDesc> desc = PrimitiveDesc::fromBytes(bytes);
  require(desc ? desc->canonicalBytes() == bytes : !desc.error().message.empty());
  return 0;
}
