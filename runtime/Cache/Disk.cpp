//===- Disk.cpp - Compiled kernels as files -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Names, validation, accounting and eviction; Directory.cpp has the file-system calls. The artifact's checksum detects
// damage, so no file is synced: after a power failure a file is complete, absent or rejected.
//
//===----------------------------------------------------------------------===//
#include "Cache/Disk.h"

#include "Cache/Directory.h"
#include "Support/Bytes.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace quern {
namespace {

constexpr std::string_view suffix = ".qk";
constexpr std::string_view temporaryPrefix = ".tmp-";
constexpr const char *lockName = ".lock";
constexpr uint64_t maxFileBytes = 256ull << 20;
constexpr int64_t touchAfterSeconds = 600;
constexpr int64_t staleTemporarySeconds = 3600;

constexpr std::string_view originTag = "QUERNSIG";
constexpr size_t originBytes = originTag.size() + sizeof(quern_remote_origin::signer) + sizeof(int64_t);

/// Returns the trailer of a file that came from a server.
std::string originText(const quern_remote_origin &origin) {
  ByteWriter writer;
  writer.bytes.append(originTag);
  writer.bytes.append(reinterpret_cast<const char *>(origin.signer), sizeof(origin.signer));
  writer.put(origin.expiry);
  return writer.take();
}

/// Removes that trailer from the bytes of a file and returns it.
std::optional<quern_remote_origin> takeOrigin(std::string &bytes) {
  if (bytes.size() < originBytes || bytes.compare(bytes.size() - originBytes, originTag.size(), originTag) != 0)
    return std::nullopt;
  ByteReader reader(std::string_view(bytes).substr(bytes.size() - originBytes + originTag.size()));
  quern_remote_origin origin{};
  const std::string_view signer = reader.getBytes(sizeof(origin.signer));
  signer.copy(reinterpret_cast<char *>(origin.signer), signer.size());
  origin.expiry = reader.get<int64_t>();
  bytes.resize(bytes.size() - originBytes);
  return origin;
}

std::string nameOf(const KernelKey &key) { return key.digest.hex() + std::string(suffix); }

bool isKernelName(std::string_view name) {
  return name.size() == 32 + suffix.size() && name.ends_with(suffix) &&
         name.substr(0, 32).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Returns the artifact in a file's bytes, or the reason why they are not the kernel of `key`. A null key accepts any.
Result<Artifact> parseKernel(std::string_view bytes, const KernelKey *key) {
  Result<Artifact> artifact = Artifact::parse(bytes);
  if (artifact && key && artifact->keyBytes != key->bytes)
    return runtimeError("the file is of another problem, target or compiler build");
  return artifact;
}

/// Returns true if an unreadable file must be removed. Shortages of descriptors or memory, disk errors and missing
/// permissions may be temporary, and other processes may be able to read the file.
bool isUnusable(const Error &error) { return error.status == Status::InvalidArguments; }

void sortByUse(std::vector<OpenDirectory::File> &files) {
  std::sort(files.begin(), files.end(), [](const auto &a, const auto &b) {
    return a.modifiedSeconds != b.modifiedSeconds ? a.modifiedSeconds > b.modifiedSeconds : a.name < b.name;
  });
}

std::string temporaryName() {
  static std::atomic<uint64_t> counter{0};
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now); // distinguishes the files of an earlier process with the same pid
  return concat(temporaryPrefix, getpid(), '-', now.tv_sec, '-', now.tv_nsec, '-',
                counter.fetch_add(1, std::memory_order_relaxed));
}

} // namespace

std::string DiskCache::defaultDirectory() {
  if (const char *own = secure_getenv("QUERN_CACHE_DIR"))
    return std::string_view(own) == "off" ? "" : own;
  // According to the XDG specification, relative paths must be ignored.
  if (const char *xdg = secure_getenv("XDG_CACHE_HOME"); xdg && xdg[0] == '/')
    return concat(xdg, "/quern");
  if (const char *home = secure_getenv("HOME"); home && home[0] == '/')
    return concat(home, "/.cache/quern");
  return "";
}

DiskCache::DiskCache(std::string directory, uint64_t capacityBytes)
    : path(std::move(directory)), capacity(capacityBytes) {
  std::error_code ignored; // without a working directory the path stays relative, and opening it fails with the reason
  if (!path.empty() && path[0] != '/')
    if (std::filesystem::path absolute = std::filesystem::absolute(path, ignored); !ignored)
      path = absolute.string();
  while (path.size() > 1 && path.back() == '/') // with a final slash, O_NOFOLLOW would follow a link
    path.pop_back();
}

DiskCache::~DiskCache() = default;

Result<std::shared_ptr<OpenDirectory>> DiskCache::open(bool create) const {
  if (isOff())
    return std::shared_ptr<OpenDirectory>();
  std::lock_guard lock(mutex);
  if (opened && !opened->isCurrent())
    opened.reset();
  if (!opened) {
    QUERN_ASSIGN_OR_RETURN(std::shared_ptr<OpenDirectory> directory, OpenDirectory::open(path, create));
    opened = directory;
  }
  return opened;
}

Result<void> DiskCache::check() const {
  Result<std::shared_ptr<OpenDirectory>> directory = open(/*create=*/false);
  return directory ? Result<void>() : Result<void>(directory.takeError());
}

/// Returns the directory; null if the cache is off, or if the directory does not exist or is rejected.
std::shared_ptr<OpenDirectory> DiskCache::existing() const {
  Result<std::shared_ptr<OpenDirectory>> directory = open(/*create=*/false);
  return directory ? *std::move(directory) : nullptr;
}

std::optional<DiskCache::Hit> DiskCache::lookup(const KernelKey &key, const Believes &believes) {
  const std::shared_ptr<OpenDirectory> directory = existing();
  if (!directory) {
    stats.misses += isOff() ? 0 : 1;
    return std::nullopt;
  }
  const std::string name = nameOf(key);
  Result<std::optional<std::string>> bytes = directory->read(name, maxFileBytes, touchAfterSeconds);
  if (bytes && *bytes) {
    const std::optional<quern_remote_origin> origin = takeOrigin(**bytes);
    if (origin && believes && !believes(*origin)) {
      stats.misses += 1;
      return std::nullopt;
    }
    if (Result<Artifact> artifact = parseKernel(**bytes, &key)) {
      stats.hits += 1;
      return Hit{{std::move(**bytes), origin}, std::move(*artifact)};
    }
  }
  stats.misses += 1;
  if (bytes ? bytes->has_value() : isUnusable(bytes.error())) {
    stats.rejected += 1;
    directory->remove(name);
  }
  return std::nullopt;
}

void DiskCache::reject(const KernelKey &key) {
  stats.rejected += 1;
  if (const std::shared_ptr<OpenDirectory> directory = existing())
    directory->remove(nameOf(key));
}

Result<void> DiskCache::store(const KernelKey &key, std::string_view artifactBytes, const quern_remote_origin *origin) {
  if (origin)
    return store(key, concat(artifactBytes, originText(*origin)));
  if (isOff() || artifactBytes.size() > capacity.load(std::memory_order_relaxed) || artifactBytes.size() > maxFileBytes)
    return {};
  Result<std::shared_ptr<OpenDirectory>> directory = open(/*create=*/true);
  Result<void> written =
      directory ? writeFile(**directory, nameOf(key), artifactBytes) : Result<void>(directory.takeError());
  stats.stores += written ? 1 : 0;
  stats.storeFailures += written ? 0 : 1;
  if (written)
    account(**directory, artifactBytes.size());
  return written;
}

bool DiskCache::contains(const KernelKey &key) const {
  const std::shared_ptr<OpenDirectory> directory = existing();
  return directory && directory->contains(nameOf(key));
}

KeyLock DiskCache::lock(const KernelKey &key, const std::function<bool()> &goesOn) {
  Result<std::shared_ptr<OpenDirectory>> directory = open(/*create=*/true);
  return directory && *directory ? KeyLock((*directory)->openEmpty(lockName), key, goesOn) : KeyLock();
}

Result<void> DiskCache::writeFile(const OpenDirectory &directory, const std::string &name, std::string_view bytes) {
  const std::string temporary = temporaryName();
  QUERN_RETURN_IF_ERROR(directory.writeNew(temporary, bytes));
  return directory.rename(temporary, name);
}

void DiskCache::account(const OpenDirectory &directory, uint64_t added) {
  std::lock_guard lock(mutex);
  const uint64_t limit = capacity.load(std::memory_order_relaxed);
  if (usedBytes && *usedBytes + added <= limit) {
    *usedBytes += added;
    return;
  }
  Result<std::vector<OpenDirectory::File>> files = directory.files();
  if (!files)
    return;
  sortByUse(*files);
  // Evicts more than necessary, so that a full cache does not scan the directory at every store.
  const uint64_t keep = limit - limit / 10;
  const int64_t now = time(nullptr);
  uint64_t total = 0, kept = 0;
  for (const OpenDirectory::File &file : *files)
    total += isKernelName(file.name) ? file.bytes : 0;
  for (const OpenDirectory::File &file : *files) {
    if (std::string_view(file.name).starts_with(temporaryPrefix) && now - file.modifiedSeconds > staleTemporarySeconds)
      directory.remove(file.name);
    if (!isKernelName(file.name))
      continue;
    if (total > limit && kept + file.bytes > keep && directory.remove(file.name))
      stats.evictions += 1;
    else
      kept += file.bytes;
  }
  usedBytes = kept;
}

Result<std::vector<DiskCacheFile>> DiskCache::list() const {
  std::vector<DiskCacheFile> listed;
  QUERN_ASSIGN_OR_RETURN(std::shared_ptr<OpenDirectory> directory, open(/*create=*/false));
  if (!directory)
    return listed;
  QUERN_ASSIGN_OR_RETURN(std::vector<OpenDirectory::File> files, directory->files());
  sortByUse(files);
  for (OpenDirectory::File &file : files)
    if (isKernelName(file.name))
      listed.push_back({std::move(file.name), file.bytes, file.modifiedSeconds});
  return listed;
}

Result<DiskCache::Stored> DiskCache::read(const std::string &name) const {
  if (!isKernelName(name))
    return invalidArguments("\"", name, "\" is not the name of a cache file: 32 hexadecimal digits and ", suffix);
  QUERN_ASSIGN_OR_RETURN(std::shared_ptr<OpenDirectory> directory, open(/*create=*/false));
  if (!directory)
    return runtimeError("there is no cache directory", isOff() ? "" : " ", path);
  QUERN_ASSIGN_OR_RETURN(std::optional<std::string> bytes, directory->read(name, maxFileBytes, INT64_MAX));
  if (!bytes)
    return runtimeError("there is no file ", name, " in ", path);
  Stored stored{std::move(*bytes), {}};
  stored.origin = takeOrigin(stored.bytes);
  return stored;
}

Result<std::vector<DiskCacheVerdict>> DiskCache::verify(bool removeBad) {
  QUERN_ASSIGN_OR_RETURN(std::vector<DiskCacheFile> files, list());
  std::vector<DiskCacheVerdict> verdicts;
  for (DiskCacheFile &file : files) {
    DiskCacheVerdict verdict{std::move(file), {}, false};
    Result<Stored> stored = read(verdict.file.name);
    Result<Artifact> artifact = stored ? parseKernel(stored->bytes, nullptr) : Result<Artifact>(stored.error());
    if (!artifact)
      verdict.problem = artifact.error().message;
    else if (digestOf(artifact->keyBytes).hex() != verdict.file.name.substr(0, 32))
      verdict.problem = "the name is not the digest of the key inside";
    if (!verdict.problem.empty() && removeBad && (stored || isUnusable(stored.error())))
      if (const std::shared_ptr<OpenDirectory> directory = existing())
        verdict.removed = directory->remove(verdict.file.name);
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

Result<uint64_t> DiskCache::clear() {
  QUERN_ASSIGN_OR_RETURN(std::shared_ptr<OpenDirectory> directory, open(/*create=*/false));
  uint64_t removed = 0;
  if (!directory)
    return removed;
  QUERN_ASSIGN_OR_RETURN(std::vector<OpenDirectory::File> files, directory->files());
  uint64_t kept = 0;
  std::string whyKept; // reason for the first remaining file
  for (const OpenDirectory::File &file : files) {
    const bool isKernel = isKernelName(file.name);
    if (!isKernel && !std::string_view(file.name).starts_with(temporaryPrefix))
      continue;
    if (directory->remove(file.name)) {
      removed += isKernel ? 1 : 0;
    } else if (const int error = errno; error != ENOENT) { // another process may have removed it
      whyKept = kept++ ? whyKept : concat(file.name, ": ", std::generic_category().message(error));
    }
  }
  {
    std::lock_guard lock(mutex);
    usedBytes.reset();
  }
  if (kept)
    return runtimeError(kept, kept == 1 ? " file of " : " files of ", path, " could not be removed, ", removed,
                        removed == 1 ? " kernel was; " : " kernels were; ", whyKept);
  return removed;
}

} // namespace quern
