//===- Caches.cpp - The caches of a process -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Kernels/Caches.h"

#include "Compilation/Library.h"
#include "Engine/Executable.h"
#include "Events/Events.h"

#include <optional>

namespace quern {
namespace {

constexpr const char *remoteLibraryName = "libquern-remote.so.0";

/// Called by libquern-remote, which must not be unwound by an exception.
void reportRemoteChange(void *, int isOpen, const char *message) noexcept {
  if (isWanted(EventRemote))
    reportRemote(isOpen != 0, message);
}

/// Returns the folder of installed packs; "" if the path of the library is unknown.
std::string installedPacks() {
  const std::optional<std::string> folder = folderOfLibrary();
  return folder ? *folder + QUERN_PACKS_FOLDER : std::string();
}

} // namespace

Caches &Caches::process() {
  return immortal([] {
    forks::onChild([] { process().packs.forgetInFork(); });
    return new Caches();
  });
}

Caches::Caches()
    : packs(installedPacks()),
      remote([] { return fileBesideLibrary("QUERN_REMOTE_LIBRARY", remoteLibraryName); }, reportRemoteChange),
      diskCache(std::make_shared<DiskCache>(DiskCache::defaultDirectory())) {}

std::shared_ptr<DiskCache> Caches::disk() {
  std::lock_guard lock(diskMutex);
  return diskCache;
}

Result<void> Caches::setDisk(const std::string &directory) {
  std::lock_guard lock(diskMutex);
  auto wanted = std::make_shared<DiskCache>(directory, diskCapacity);
  Result<void> checked = wanted->check();
  diskCache = checked ? std::move(wanted) : std::make_shared<DiskCache>("");
  return checked;
}

void Caches::setDiskCapacity(uint64_t bytes) {
  std::lock_guard lock(diskMutex);
  diskCapacity = bytes;
  diskCache->setCapacity(bytes);
}

Result<Compiler> Caches::compiler() {
  Result<Compiler> found = Compiler::get();
  if (!found)
    return Error{found.error().status, found.error().message + packs.refusals()};
  return found;
}

void Caches::store(DiskCache &disk, const KernelKey &key, const std::string &target, const std::string &descriptor,
                   std::string_view artifact) {
  (void)disk.store(key, artifact); // counts failures, which cost only the cache entry
  remote.store(key, target, descriptor, artifact);
}

void Caches::forget(const Device &device) {
  memory.drop([&](const Executable &executable) { return executable.device() == &device; });
}

quern_cache_statistics_t Caches::statistics() {
  const MemoryCache::Statistics loaded = memory.statistics();
  const std::shared_ptr<DiskCache> current = disk();
  const DiskCacheCounters &files = current->counters();
  return {loaded.hits,    loaded.misses, loaded.evictions,    files.hits,      files.misses,
          files.rejected, files.stores,  files.storeFailures, files.evictions, compilations,
          loaded.entries, loaded.bytes,  packs.hits,          packs.rejected};
}

} // namespace quern
