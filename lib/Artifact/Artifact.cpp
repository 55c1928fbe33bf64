//===- Artifact.cpp - Writing and reading artifacts -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Format: magic (8 bytes), version (u32), XXH3-128 of the rest (16 bytes), then the fields. The launch program
// (ProgramFormat.cpp) follows the groups; the other fields are in the order of the struct. Strings and lists have a
// 32-bit count, the code has a 64-bit one, and the groups have the count of the entries. The checksum detects
// accidental damage; the checks of counts, indices and names are for forged files.
//
//===----------------------------------------------------------------------===//
#include "Artifact/Artifact.h"

#include "Artifact/ProgramFormat.h"
#include "Support/Digest.h"

#include <algorithm>
#include <bit>

namespace quern {
namespace {

/// No real kernel approaches these limits; they bound the resources that a hostile file can make the reader use.
constexpr uint32_t maxEntries = 256, maxArguments = 4096;
constexpr int32_t maxWorkItems = 65536, maxSubGroupSize = 128;

bool isPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

bool isSymbol(std::string_view name) {
  auto isWordChar = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '$';
  };
  return !name.empty() && name.size() <= 255 && !(name[0] >= '0' && name[0] <= '9') &&
         std::all_of(name.begin(), name.end(), isWordChar);
}

void writePayload(const Artifact &artifact, ByteWriter &out) {
  out.put(artifact.codeKind);
  for (const std::string *text :
       {&artifact.descriptor, &artifact.target, &artifact.buildId, &artifact.keyBytes, &artifact.plan})
    out.putString(*text);
  out.put<uint32_t>(static_cast<uint32_t>(artifact.entries.size()));
  for (const std::string &entry : artifact.entries)
    out.putString(entry);
  if (artifact.codeKind != CodeKind::ElfObject)
    for (const EntryGroup &group : artifact.groups) {
      out.put(group.workItems);
      out.put(group.subGroupSize);
      out.put(group.memoryBytes);
    }
  writeProgram(artifact, out);
  out.put<uint32_t>(static_cast<uint32_t>(artifact.arguments.size()));
  for (const ArtifactArgument &argument : artifact.arguments) {
    out.put(argument.index);
    out.put(argument.isOutput);
    out.put(argument.bytes);
  }
  out.put(artifact.scratchBytesPerThread);
  out.put(artifact.sharedScratchBytes);
  out.put<uint64_t>(artifact.code.size());
  out.bytes.append(artifact.code);
}

Result<void> readEntries(ByteReader &in, Artifact &artifact) {
  auto count = in.get<uint32_t>();
  const bool isKernel = artifact.codeKind != CodeKind::Function;
  if (isKernel ? count < 1 || count > maxEntries : count > 0)
    return runtimeError("artifact has ", count, " entries; ",
                        isKernel ? concat("between 1 and ", maxEntries, " are") : "0 are", " possible");
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    std::string_view name = in.getString();
    if (!in.ok())
      break;
    if (!isSymbol(name))
      return runtimeError("artifact entry ", i, " has no valid symbol name (", name.size(), " bytes)");
    if (std::find(artifact.entries.begin(), artifact.entries.end(), name) != artifact.entries.end())
      return runtimeError("artifact entry '", name, "' occurs twice");
    artifact.entries.emplace_back(name);
  }
  return {};
}

/// Reads the groups, one for each entry of a device's code.
Result<void> readGroups(ByteReader &in, Artifact &artifact) {
  for (size_t i = 0; artifact.codeKind != CodeKind::ElfObject && i < artifact.entries.size() && in.ok(); ++i) {
    EntryGroup group;
    group.workItems = in.get<int32_t>();
    group.subGroupSize = in.get<int32_t>();
    group.memoryBytes = in.get<int64_t>();
    const bool hasSubGroups =
        group.subGroupSize >= 0 && group.subGroupSize <= maxSubGroupSize &&
        (group.subGroupSize == 0 || std::has_single_bit(static_cast<uint32_t>(group.subGroupSize)));
    if (in.ok() && (group.workItems < 1 || group.workItems > maxWorkItems || !hasSubGroups || group.memoryBytes < 0))
      return runtimeError("artifact entry ", i, " runs in groups of ", group.workItems, " work-items, sub-groups of ",
                          group.subGroupSize, " and ", group.memoryBytes, " bytes");
    artifact.groups.push_back(group);
  }
  return {};
}

Result<void> readArguments(ByteReader &in, Artifact &artifact) {
  auto count = in.get<uint32_t>();
  if (count > maxArguments)
    return runtimeError("artifact has ", count, " arguments; at most ", maxArguments, " are possible");
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    ArtifactArgument argument;
    argument.index = in.get<int32_t>();
    argument.isOutput = in.get<uint32_t>();
    argument.bytes = in.get<int64_t>();
    if (argument.index < 0 || argument.isOutput > 1 || argument.bytes < 0)
      return runtimeError("artifact argument ", i, " has index ", argument.index, ", direction ", argument.isOutput,
                          " and ", argument.bytes, " bytes");
    artifact.arguments.push_back(argument);
  }
  return {};
}

Result<void> readTexts(ByteReader &in, Artifact &artifact) {
  artifact.codeKind = in.get<CodeKind>();
  if (artifact.codeKind < CodeKind::ElfObject || artifact.codeKind > CodeKind::Function)
    return runtimeError("artifact has code of kind ", static_cast<uint32_t>(artifact.codeKind), "; 1 to 4 are known");
  for (std::string *text :
       {&artifact.descriptor, &artifact.target, &artifact.buildId, &artifact.keyBytes, &artifact.plan})
    *text = in.getString();
  for (const std::string *text : {&artifact.descriptor, &artifact.target, &artifact.buildId, &artifact.plan})
    if (!isPrintable(*text))
      return runtimeError("artifact has unprintable characters in its descriptor, target, build or plan");
  return {};
}

Result<void> readPayload(ByteReader &in, Artifact &artifact) {
  for (auto read : {readTexts, readEntries, readGroups, readProgram, readArguments, checkProgram})
    if (Result<void> ok = read(in, artifact); !ok || !in.ok())
      return ok;
  artifact.scratchBytesPerThread = in.get<int64_t>();
  artifact.sharedScratchBytes = in.get<int64_t>();
  if (artifact.scratchBytesPerThread < 0 || artifact.sharedScratchBytes < 0)
    return runtimeError("artifact needs ", artifact.scratchBytesPerThread, " bytes of scratch and ",
                        artifact.sharedScratchBytes, " of shared scratch; the minimum is 0");
  artifact.code = in.getBytes(in.get<uint64_t>());
  return {};
}

} // namespace

std::string Artifact::serialize() const {
  ByteWriter out;
  out.bytes.reserve(headerBytes + code.size() + keyBytes.size() + descriptor.size() + plan.size() + 512);
  out.bytes.append(magic);
  out.put(formatVersion);
  size_t checksumAt = out.bytes.size();
  out.bytes.append(headerBytes - checksumAt, '\0');
  writePayload(*this, out);
  Digest checksum = digestOf(std::string_view(out.bytes).substr(headerBytes));
  std::memcpy(out.bytes.data() + checksumAt, &checksum.low, sizeof(uint64_t));
  std::memcpy(out.bytes.data() + checksumAt + sizeof(uint64_t), &checksum.high, sizeof(uint64_t));
  return out.take();
}

Result<Artifact> Artifact::parse(std::string_view bytes) {
  ByteReader in(bytes);
  if (in.getBytes(magic.size()) != magic)
    return runtimeError("not an artifact: ", bytes.size(), " bytes that do not start with '", magic, "'");
  if (auto version = in.get<uint32_t>(); version != formatVersion)
    return runtimeError("artifact of format ", version, "; this library reads format ", formatVersion);
  Digest checksum;
  checksum.low = in.get<uint64_t>();
  checksum.high = in.get<uint64_t>();
  if (!in.ok() || checksum != digestOf(bytes.substr(headerBytes)))
    return runtimeError("artifact of ", bytes.size(), " bytes is truncated or damaged: its checksum does not match");
  Artifact artifact;
  QUERN_RETURN_IF_ERROR(readPayload(in, artifact));
  if (!in.ok())
    return runtimeError("artifact ends early");
  if (!in.atEnd())
    return runtimeError("artifact has ", in.remaining(), " bytes after its end");
  return artifact;
}

std::string Artifact::launchText() const {
  std::string text;
  size_t nextLoop = 0;
  std::vector<uint32_t> open; // end steps of the surrounding loops
  for (uint32_t i = 0; i < steps.size(); ++i) {
    text += text.empty() ? "" : steps[i].independentOfPrevious ? " | " : ", ";
    for (; nextLoop < loops.size() && loops[nextLoop].first == i; ++nextLoop) {
      text += "loop " + loops[nextLoop].trips.text() + " { ";
      open.push_back(loops[nextLoop].end);
    }
    text += entries[steps[i].entry];
    for (; !open.empty() && open.back() == i + 1; open.pop_back())
      text += " }";
  }
  return text;
}

} // namespace quern
