//===- PackFuzzer.cpp - The reader of packs -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Reads the input as a pack. It also reads a pack made of the rest of the input with a correct header and checksum, so
// that the fuzzer gets past the checksum. The first byte, times 16, is the number of bytes that the index has there. If
// all artifacts of a pack are sound, then a pack written from them must have the same bytes.
//
//===----------------------------------------------------------------------===//
#include "Cache/Pack.h"

#include "Support/Bytes.h"

using namespace quern;

static void require(bool holds) {
  if (!holds)
    __builtin_trap();
}

static void read(std::string_view bytes) {
  Result<std::shared_ptr<const Pack>> pack = Pack::fromBytes(bytes, "input");
  if (!pack) {
    require(!pack.error().message.empty());
    return;
  }
  std::vector<std::string_view> artifacts;
  bool isSound = true;
  size_t used = 0; // A writer does not list targets without artifacts.
  for (size_t i = 0; i < (*pack)->size(); ++i) {
    const Pack::Entry entry = (*pack)->entry(i);
    require((*pack)->find(entry.digest) == entry.artifact);
    const Result<Artifact> artifact = checkEntry(**pack, entry);
    require(artifact || !artifact.error().message.empty());
    isSound &= static_cast<bool>(artifact) && artifact->codeKind != CodeKind::DeviceBinary;
    artifacts.push_back(entry.artifact);
  }
  for (const Target &target : (*pack)->targets())
    for (std::string_view artifact : artifacts)
      if (Result<Artifact> parsed = Artifact::parse(artifact); parsed && parsed->target == target.text()) {
        ++used;
        break;
      }
  if (isSound && used == (*pack)->targets().size() && !artifacts.empty()) {
    const Result<std::string> written = writePack(artifacts);
    require(written && *written == bytes);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char *>(data), size);
  read(bytes);
  if (bytes.empty())
    return 0;
  const std::string_view payload = bytes.substr(1);
  const size_t indexBytes = std::min<size_t>(payload.size(), size_t{data[0]} * 16);
  ByteWriter out;
  out.bytes = Pack::magic;
  out.put(Pack::formatVersion);
  ByteWriter checked; // The checksum also covers the size of the pack.
  checked.put<uint64_t>(Pack::headerBytes + sizeof(uint64_t) + payload.size());
  checked.bytes.append(payload.substr(0, indexBytes));
  const Digest checksum = digestOf(checked.bytes);
  out.put(checksum.low);
  out.put(checksum.high);
  out.bytes.append(checked.bytes).append(payload.substr(indexBytes));
  read(out.bytes);
  return 0;
}
