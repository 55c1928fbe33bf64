//===- Disk.h - Compiled kernels as files ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One file per kernel, `<digest of the key>.qk`, holding Artifact::serialize(), and after it the signer and expiry if a
// server had it: "QUERNSIG", the public key (32 bytes), seconds since the epoch (i64). Nothing in the directory is
// trusted: a file counts only if it parses and its key bytes are the requested ones. Files appear whole (written under
// a temporary name, then renamed), and no symbolic link is followed. Any failure costs the cache, never the result.
//
// Built as the library quern_cache, which the command links as well.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CACHE_DISK_H
#define QUERN_RUNTIME_CACHE_DISK_H

#include "Artifact/Artifact.h"
#include "Cache/KeyLock.h"
#include "Remote/Interface.h"
#include "Support/Forks.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>

namespace quern {

/// One file of the cache, as `list` reports it.
struct DiskCacheFile {
  std::string name; ///< relative to the directory
  uint64_t bytes = 0;
  int64_t lastUsedSeconds = 0; ///< since the epoch; updated by a hit at most every ten minutes
};

/// What became of one file in `verify`.
struct DiskCacheVerdict {
  DiskCacheFile file;
  std::string problem; ///< why it is not a usable artifact; empty if it is one
  bool removed = false;
};

struct DiskCacheCounters {
  std::atomic<uint64_t> hits{0}, misses{0}, rejected{0}, stores{0}, storeFailures{0}, evictions{0};
};

class OpenDirectory;

/// A cache directory. Thread-safe, and safe against other processes that use the same directory.
class DiskCache {
public:
  static constexpr uint64_t defaultCapacityBytes = 512ull << 20;

  /// QUERN_CACHE_DIR ("off" or "" for none), else $XDG_CACHE_HOME/quern, else $HOME/.cache/quern; "" if there is none.
  /// The environment is ignored in a set-user-ID program.
  static std::string defaultDirectory();

  /// "" gives a cache that is off. Nothing is opened or made before it is needed.
  explicit DiskCache(std::string directory, uint64_t capacityBytes = defaultCapacityBytes);
  ~DiskCache();
  DiskCache(const DiskCache &) = delete;
  DiskCache &operator=(const DiskCache &) = delete;

  const std::string &directory() const { return path; }
  bool isOff() const { return path.empty(); }
  void setCapacity(uint64_t bytes) { capacity.store(bytes, std::memory_order_relaxed); }

  /// `runtime_error` if the directory exists but is refused: a symbolic link, another user's, or writable by others.
  Result<void> check() const;

  /// The contents of a file.
  struct Stored {
    std::string bytes;                           ///< the artifact
    std::optional<quern_remote_origin> origin{}; ///< nothing if it was compiled on this machine
  };
  /// A file as it was found and checked.
  struct Hit : Stored {
    Artifact artifact;
  };
  using Believes = std::function<bool(const quern_remote_origin &)>;
  /// Nothing on a miss. A file that is damaged, foreign or unsafe is a miss and is removed; one that cannot be read now
  /// is a miss and stays, as does one that came from a server and is not believed any more.
  /// Without `believes` all are.
  std::optional<Hit> lookup(const KernelKey &key, const Believes &believes = {});
  /// Removes the file of a key whose code could not be loaded after all.
  void reject(const KernelKey &key);
  /// Makes the directory (mode 0700) if needed, writes the file, evicts the files used longest ago beyond the capacity.
  Result<void> store(const KernelKey &key, std::string_view artifactBytes, const quern_remote_origin *origin = nullptr);

  /// Whether there is a file for the key, good or not; counts as nothing.
  bool contains(const KernelKey &key) const;
  /// Keeps out other processes, and threads, that would make the same kernel; waits for as long as they have the lock
  /// and `goesOn`.
  KeyLock lock(const KernelKey &key, const std::function<bool()> &goesOn);

  /// Most recently used first. An absent directory is empty.
  Result<std::vector<DiskCacheFile>> list() const;
  /// The bytes of a file that list() named.
  Result<Stored> read(const std::string &name) const;
  /// Parses every file; with `removeBad` removes those that are not usable.
  Result<std::vector<DiskCacheVerdict>> verify(bool removeBad);
  /// Removes every file of the cache and every temporary one; returns the number of kernels removed. Fails with
  /// `runtime_error` if a file stays; the message has both numbers and the first reason.
  Result<uint64_t> clear();

  const DiskCacheCounters &counters() const { return stats; }

private:
  Result<std::shared_ptr<OpenDirectory>> open(bool create) const;
  Result<void> writeFile(const OpenDirectory &dir, const std::string &name, std::string_view bytes);
  void account(const OpenDirectory &dir, uint64_t added);

  std::string path;
  std::atomic<uint64_t> capacity;
  mutable ForkMutex mutex; ///< guards what follows
  mutable std::shared_ptr<OpenDirectory> opened;
  std::optional<uint64_t> usedBytes; ///< estimate; other processes write as well
  DiskCacheCounters stats;
};

} // namespace quern

#endif // QUERN_RUNTIME_CACHE_DISK_H
