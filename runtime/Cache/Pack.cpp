//===- Pack.cpp - Many compiled kernels in one file -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Format: magic (8 bytes), version (u32), XXH3-128 of the bytes that follow it up to the end of the index (16 bytes),
// size of the file (u64), build (string), number of targets (u32) and their texts, number of artifacts (u64), the
// index, and the contiguous artifacts. An index entry has four u64: the high and the low word of a key's digest, the
// offset of the artifact, and its size. Equal contents therefore always have the same bytes.
//===----------------------------------------------------------------------===//
#include "Cache/Pack.h"

#include "Support/Bytes.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <map>
#include <set>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace quern {
namespace {

constexpr size_t indexEntryBytes = 4 * sizeof(uint64_t);
/// Limits the work that a malicious file can cause; far beyond any real pack.
constexpr uint32_t maxTargets = 256;

struct IndexEntry {
  Digest digest;
  uint64_t offset, bytes;
};

/// Reads an entry of the index, which need not be aligned.
IndexEntry indexEntryAt(std::string_view index, size_t i) {
  uint64_t words[4];
  std::memcpy(words, index.data() + i * indexEntryBytes, indexEntryBytes);
  return {{words[1], words[0]}, words[2], words[3]};
}

bool isLess(const Digest &a, const Digest &b) { return a.high != b.high ? a.high < b.high : a.low < b.low; }

Digest checksumOf(std::string_view bytes, size_t indexEnd) {
  return digestOf(bytes.substr(Pack::headerBytes, indexEnd - Pack::headerBytes));
}

std::string errorText(int number) {
  char buffer[128];
  return strerror_r(number, buffer, sizeof(buffer)); // the GNU form: returns the text
}

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0)
      close(fd);
  }
};

/// Maps the file of a pack. Fails if it is smaller than a header.
Result<std::string_view> mapFile(const std::string &path) {
  Descriptor file{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  struct stat info;
  if (file.fd < 0 || fstat(file.fd, &info) != 0)
    return runtimeError("cannot open the pack ", path, ": ", errorText(errno));
  if (!S_ISREG(info.st_mode))
    return runtimeError("the pack ", path, " is refused: it is not a regular file");
  const auto size = static_cast<size_t>(info.st_size);
  if (size < Pack::headerBytes)
    return runtimeError("the pack ", path, " is refused: it has ", size, " bytes, which is less than a header");
  void *mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (mapped == MAP_FAILED)
    return runtimeError("cannot map the pack ", path, ": ", errorText(errno));
  return std::string_view(static_cast<const char *>(mapped), size);
}

void unmap(std::string_view bytes) { munmap(const_cast<char *>(bytes.data()), bytes.size()); }

} // namespace

Pack::~Pack() {
  if (isMapped)
    unmap(all);
}

Result<std::shared_ptr<const Pack>> Pack::open(const std::string &path) {
  QUERN_ASSIGN_OR_RETURN(std::string_view mapped, mapFile(path));
  std::shared_ptr<Pack> pack(new Pack(path, mapped, true));
  if (Result<void> read = pack->read(); !read)
    return runtimeError("the pack ", path, " is refused: ", read.error().message);
  return std::shared_ptr<const Pack>(std::move(pack));
}

Result<std::shared_ptr<const Pack>> Pack::fromBytes(std::string_view bytes, const std::string &name) {
  std::shared_ptr<Pack> pack(new Pack(name, bytes, false));
  if (Result<void> read = pack->read(); !read)
    return runtimeError("the pack ", name, " is refused: ", read.error().message);
  return std::shared_ptr<const Pack>(std::move(pack));
}

Result<void> Pack::read() {
  ByteReader in(all);
  if (in.getBytes(magic.size()) != magic)
    return runtimeError("its ", all.size(), " bytes do not start with '", magic, "'");
  if (auto version = in.get<uint32_t>(); version != formatVersion)
    return runtimeError("it is of format ", version, "; this library reads format ", formatVersion);
  Digest checksum;
  checksum.low = in.get<uint64_t>();
  checksum.high = in.get<uint64_t>();
  if (auto size = in.get<uint64_t>(); !in.ok() || size != all.size())
    return runtimeError("it has ", all.size(), " bytes; its header says ", size);
  build = in.getString();
  const auto targetCount = in.get<uint32_t>();
  if (targetCount > maxTargets)
    return runtimeError("it has ", targetCount, " targets; at most ", maxTargets, " are possible");
  std::vector<std::string_view> texts;
  for (uint32_t i = 0; i < targetCount && in.ok(); ++i)
    texts.push_back(in.getString());
  const auto places = in.get<uint64_t>();
  if (!in.ok() || places > in.remaining() / indexEntryBytes)
    return runtimeError("it ends before its index does");
  count = static_cast<size_t>(places);
  index = in.getBytes(count * indexEntryBytes);
  if (checksum != checksumOf(all, all.size() - in.remaining()))
    return runtimeError("it is damaged: the checksum of its index does not hold");
  for (size_t i = 0; i < texts.size(); ++i) {
    Result<Target> target = Target::parse(texts[i]);
    if (!target || target->text() != texts[i] || (i > 0 && texts[i] <= texts[i - 1]))
      return runtimeError("its target ", i, " is invalid or out of order");
    targetList.push_back(*target);
  }
  return readIndex();
}

/// Checks that the index is sorted, and that the artifacts are contiguous from the end of the index to the end of the
/// file.
Result<void> Pack::readIndex() {
  uint64_t next = static_cast<uint64_t>(index.data() - all.data()) + index.size();
  for (size_t i = 0; i < count; ++i) {
    const IndexEntry entry = indexEntryAt(index, i);
    if (i > 0 && !isLess(indexEntryAt(index, i - 1).digest, entry.digest))
      return runtimeError("place ", i, " of its index is out of order");
    if (entry.offset != next || entry.bytes > all.size() - next)
      return runtimeError("its artifact ", i, " has ", entry.bytes, " bytes at ", entry.offset, ", of ", all.size());
    next += entry.bytes;
  }
  if (next != all.size())
    return runtimeError("it has ", all.size() - next, " bytes after its last artifact");
  return {};
}

Pack::Entry Pack::entry(size_t i) const {
  const IndexEntry entry = indexEntryAt(index, i);
  return {entry.digest, all.substr(static_cast<size_t>(entry.offset), static_cast<size_t>(entry.bytes))};
}

std::string_view Pack::find(const Digest &digest) const {
  size_t first = 0;
  for (size_t length = count; length > 0;) {
    const size_t half = length / 2;
    const bool isBelow = isLess(indexEntryAt(index, first + half).digest, digest);
    first += isBelow ? half + 1 : 0;
    length = isBelow ? length - half - 1 : half;
  }
  if (first == count)
    return {};
  const Entry found = entry(first);
  return found.digest == digest ? found.artifact : std::string_view();
}

Result<std::string> writePack(const std::vector<std::string_view> &artifacts) {
  struct Order {
    bool operator()(const Digest &a, const Digest &b) const { return isLess(a, b); }
  };
  std::map<Digest, std::string_view, Order> entries;
  std::set<std::string> targets;
  std::optional<std::string> build;
  for (size_t i = 0; i < artifacts.size(); ++i) {
    Result<Artifact> artifact = Artifact::parse(artifacts[i]);
    if (!artifact)
      return invalidArguments("artifact ", i, " cannot be packed: ", artifact.error().message);
    if (artifact->codeKind == CodeKind::DeviceBinary)
      return invalidArguments("artifact ", i,
                              " is a device driver's binary, which packs cannot contain: ", artifact->descriptor);
    if (build && *build != artifact->buildId)
      return invalidArguments("artifacts are of builds ", *build, " and ", artifact->buildId,
                              "; a pack has artifacts of one build");
    build = artifact->buildId;
    targets.insert(artifact->target);
    entries.emplace(digestOf(artifact->keyBytes), artifacts[i]);
  }
  ByteWriter tail; // the bytes between the size of the file and the index
  tail.putString(build.value_or(""));
  tail.put<uint32_t>(static_cast<uint32_t>(targets.size()));
  for (const std::string &target : targets)
    tail.putString(target);
  tail.put<uint64_t>(entries.size());
  const size_t indexEnd = Pack::headerBytes + sizeof(uint64_t) + tail.bytes.size() + entries.size() * indexEntryBytes;
  uint64_t end = indexEnd;
  for (const auto &[digest, bytes] : entries) {
    for (uint64_t word : {digest.high, digest.low, end, uint64_t{bytes.size()}})
      tail.put(word);
    end += bytes.size();
  }
  ByteWriter out;
  out.bytes.reserve(static_cast<size_t>(end));
  out.bytes.append(Pack::magic);
  out.put(Pack::formatVersion);
  const size_t checksumAt = out.bytes.size();
  out.bytes.append(Pack::headerBytes - checksumAt, '\0');
  out.put(end);
  out.bytes.append(tail.bytes);
  const Digest checksum = checksumOf(out.bytes, indexEnd);
  std::memcpy(out.bytes.data() + checksumAt, &checksum.low, sizeof(uint64_t));
  std::memcpy(out.bytes.data() + checksumAt + sizeof(uint64_t), &checksum.high, sizeof(uint64_t));
  for (const auto &[digest, bytes] : entries)
    out.bytes.append(bytes);
  return out.take();
}

Result<Artifact> checkEntry(const Pack &pack, const Pack::Entry &entry) {
  QUERN_ASSIGN_OR_RETURN(Artifact artifact, Artifact::parse(entry.artifact));
  if (digestOf(artifact.keyBytes) != entry.digest)
    return runtimeError("the index has it under another key");
  if (artifact.buildId != pack.buildId())
    return runtimeError("it is of build ", artifact.buildId, "; the pack is of ", pack.buildId());
  const auto &targets = pack.targets();
  if (std::none_of(targets.begin(), targets.end(), [&](const Target &own) { return own.text() == artifact.target; }))
    return runtimeError("it is for ", artifact.target, ", which is not a target of the pack");
  return artifact;
}

} // namespace quern
