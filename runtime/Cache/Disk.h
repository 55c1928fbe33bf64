//===- Disk.h - Compiled kernels as files ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each kernel is one file, `<digest of the key>.qk`, which contains Artifact::serialize(). If a server had the kernel,
// the signer and expiry follow: "QUERNSIG", the public key (32 bytes), seconds since the epoch (i64). Nothing in the
// directory is trusted: a file is used only if it parses and has the requested key bytes. Files are written under a
// temporary name, then renamed, and no symbolic link is followed. A failure costs only the cached kernel.
//
// Part of the library quern_cache, which the `quern` command also links.
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

/// A file of the cache, as reported by list().
struct DiskCacheFile {
  std::string name; ///< relative to the directory
  uint64_t bytes = 0;
  int64_t lastUsedSeconds = 0; ///< since the epoch; updated by a hit at most every ten minutes
};

/// The result of verify() for one file.
struct DiskCacheVerdict {
  DiskCacheFile file;
  std::string problem; ///< reason why it is not a usable artifact; empty if it is usable
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

  /// Returns QUERN_CACHE_DIR ("off" or "": no cache), else $XDG_CACHE_HOME/quern, else $HOME/.cache/quern; "" if none
  /// is set. A set-user-ID program ignores the environment.
  static std::string defaultDirectory();

  /// "" creates a cache that is off. The directory is opened or created on first use.
  explicit DiskCache(std::string directory, uint64_t capacityBytes = defaultCapacityBytes);
  ~DiskCache();
  DiskCache(const DiskCache &) = delete;
  DiskCache &operator=(const DiskCache &) = delete;

  const std::string &directory() const { return path; }
  bool isOff() const { return path.empty(); }
  void setCapacity(uint64_t bytes) { capacity.store(bytes, std::memory_order_relaxed); }

  /// Fails with `runtime_error` if the directory is rejected: it is a symbolic link, belongs to another user, or others
  /// may write to it. A missing directory is accepted.
  Result<void> check() const;

  /// The contents of a file.
  struct Stored {
    std::string bytes;                           ///< the artifact
    std::optional<quern_remote_origin> origin{}; ///< nullopt if it was compiled on this machine
  };
  /// A file that was found and checked.
  struct Hit : Stored {
    Artifact artifact;
  };
  using Believes = std::function<bool(const quern_remote_origin &)>;
  /// Returns nullopt on a miss. A damaged, foreign or unsafe file is a miss and is removed. A file that cannot be read
  /// now, or that came from a server and that `believes` rejects, is a miss and stays. Without `believes`, all signers
  /// are accepted.
  std::optional<Hit> lookup(const KernelKey &key, const Believes &believes = {});
  /// Removes the file of a key whose code could not be loaded.
  void reject(const KernelKey &key);
  /// Creates the directory (mode 0700) if necessary, writes the file, and evicts the least recently used files beyond
  /// the capacity. Does nothing if the cache is off or the artifact exceeds the capacity.
  Result<void> store(const KernelKey &key, std::string_view artifactBytes, const quern_remote_origin *origin = nullptr);

  /// Returns true if a file for the key exists, valid or not. Changes no counter.
  bool contains(const KernelKey &key) const;
  /// Excludes other processes, and other threads, that would compile the same kernel. Waits until they release the lock
  /// or `goesOn` returns false.
  KeyLock lock(const KernelKey &key, const std::function<bool()> &goesOn);

  /// Lists the most recently used file first. Empty if the directory does not exist.
  Result<std::vector<DiskCacheFile>> list() const;
  /// Reads a file that list() returned.
  Result<Stored> read(const std::string &name) const;
  /// Parses every file; if `removeBad`, removes the unusable ones.
  Result<std::vector<DiskCacheVerdict>> verify(bool removeBad);
  /// Removes all kernels and temporary files; returns the number of kernels removed. Fails with `runtime_error` if a
  /// file remains; the message has both numbers and the first reason.
  Result<uint64_t> clear();

  const DiskCacheCounters &counters() const { return stats; }

private:
  Result<std::shared_ptr<OpenDirectory>> open(bool create) const;
  std::shared_ptr<OpenDirectory> existing() const;
  Result<void> writeFile(const OpenDirectory &dir, const std::string &name, std::string_view bytes);
  void account(const OpenDirectory &dir, uint64_t added);

  std::string path;
  std::atomic<uint64_t> capacity;
  mutable ForkMutex mutex; ///< guards the members below
  mutable std::shared_ptr<OpenDirectory> opened;
  std::optional<uint64_t> usedBytes; ///< an estimate, because other processes write to the directory
  DiskCacheCounters stats;
};

} // namespace quern

#endif // QUERN_RUNTIME_CACHE_DISK_H
