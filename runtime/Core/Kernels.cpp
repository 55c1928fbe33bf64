//===- Kernels.cpp - From a key to a loaded kernel -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// QUERN_LINKER=orc or loader selects the linker, so tests can run every kernel with each. By default ORC links a kernel
// that this process has compiled. The loader, which does not need LLVM, links kernels from caches or another process.
//
//===----------------------------------------------------------------------===//
#include "Core/Kernels.h"

#include "Compilation/Compiler.h"
#include "Compilation/Library.h"
#include "Core/Events.h"
#include "Core/NativeCode.h"
#include "Cpu/CpuExecutable.h"
#include "Debug/CodeRegistration.h"
#include "Tiers/Family.h"

#include "quern-compiler/Bridge.h"

#include <chrono>
#include <cstdlib>
#include <optional>

namespace quern {
namespace {

Linker linkerFor(bool wasCompiledHere) {
  const char *forced = secure_getenv("QUERN_LINKER");
  const std::string_view choice = forced ? forced : "";
  if (choice == "orc")
    return Linker::Orc;
  if (choice == "loader")
    return Linker::Loader;
  return wasCompiledHere ? Linker::Orc : Linker::Loader;
}

/// Loads an artifact on the host. `compiler` has just compiled it; nullopt if it is from a cache.
Result<std::shared_ptr<const Executable>> loadOnHost(Artifact artifact, std::string bytes,
                                                     const VerifiedProblem &problem, std::optional<Compiler> compiler) {
  const Linker linker = linkerFor(compiler && compiler->linkingLibrary());
  if (linker == Linker::Orc && !compiler) {
    Result<Compiler> found = Compiler::get();
    if (!found)
      return unimplemented("QUERN_LINKER is orc: ", found.error().message);
    compiler = *found;
  }
  if (linker == Linker::Orc && !compiler->linkingLibrary())
    return invalidArguments("QUERN_LINKER is orc; with QUERN_COMPILER=process kernels are linked by the loader");
  const std::optional<DebugObject> debug = debugObjectOf(artifact, problem);
  return CpuExecutable::load(std::move(artifact), std::move(bytes), problem, linker,
                             compiler ? compiler->linkingLibrary() : nullptr, debug ? &*debug : nullptr);
}

/// Loads an artifact on a device. With a disk cache, the driver's binary is read from there or from the remote cache,
/// and stored there if neither has one that the driver accepts.
Result<std::shared_ptr<const Executable>> loadOnDevice(Artifact artifact, std::string bytes,
                                                       const VerifiedProblem &problem, const Kernels::DeviceRef &device,
                                                       const Kernels::Stores &stores) {
  DiskCache *disk = stores.disk;
  if (!disk || disk->isOff())
    return device->load(std::move(artifact), std::move(bytes), problem, {});
  const KernelKey key = nativeKeyOf(artifact.keyBytes, *device);
  const std::string target = artifact.target, descriptor = artifact.descriptor;
  std::optional<DiskCache::Hit> kept =
      disk->lookup(key, [&](const quern_remote_origin &origin) { return stores.remote->believes(origin); });
  std::string binary = kept ? std::move(kept->artifact.code) : std::string();
  std::optional<RemoteCache::Hit> fetched = kept ? std::nullopt : stores.remote->lookup(key, target, descriptor);
  if (fetched && fetched->artifact.codeKind == CodeKind::DeviceBinary) {
    (void)disk->store(key, fetched->bytes, &fetched->origin); // counts failures
    binary = std::move(fetched->artifact.code);
  }
  auto loaded = device->load(std::move(artifact), std::move(bytes), problem, binary);
  if (!loaded || (*loaded)->isFromNative())
    return loaded;
  if (!binary.empty())
    disk->reject(key);
  if (const Result<std::string> native = nativeArtifactOf(**loaded)) {
    (void)disk->store(key, *native, stores.origin);
    if (!stores.origin) // this host signs only what it has compiled
      stores.remote->store(key, target, descriptor, *native);
  }
  return loaded;
}

Result<AcquiredKernel> loadKernel(Artifact artifact, std::string bytes, const VerifiedProblem &problem,
                                  quern_origin_t origin, const Kernels::DeviceRef &device,
                                  const Kernels::Stores &stores, std::optional<Compiler> compiler = std::nullopt) {
  const int64_t start = nowNs();
  QUERN_ASSIGN_OR_RETURN(auto executable,
                         device ? loadOnDevice(std::move(artifact), std::move(bytes), problem, device, stores)
                                : loadOnHost(std::move(artifact), std::move(bytes), problem, compiler));
  return AcquiredKernel{std::move(executable), origin, 0, nowNs() - start, nullptr};
}

/// Returns true if the contents of an artifact prevent its loading, so that its file must be removed. Other causes may
/// be temporary: a shortage of memory or mappings, a policy against executable pages, a failing device.
bool isUnusable(const Error &error, const Kernels::DeviceRef &device) {
  return !device && error.status == Status::RuntimeError;
}

/// Returns the driver's binary in a blob; empty if it has none of this artifact for this driver and device.
std::string nativeIn(std::string_view part, const std::string &keyBytes, const Device &device) {
  Result<Artifact> native = part.empty() ? Result<Artifact>(Error{Status::NotRequired, ""}) : Artifact::parse(part);
  const bool fits =
      native && native->codeKind == CodeKind::DeviceBinary && native->keyBytes == nativeKeyOf(keyBytes, device).bytes;
  return fits ? std::move(native->code) : std::string();
}

Result<AcquiredKernel> loadBlobOnDevice(Artifact artifact, const BlobParts &parts, const VerifiedProblem &problem,
                                        const Kernels::DeviceRef &device) {
  const int64_t start = nowNs();
  const std::string native = nativeIn(parts.native, artifact.keyBytes, *device);
  QUERN_ASSIGN_OR_RETURN(auto loaded, device->load(std::move(artifact), std::string(parts.artifact), problem, native));
  return AcquiredKernel{std::move(loaded), quern_origin_blob, 0, nowNs() - start, nullptr};
}

/// Returns a key that includes the address of the device, because code is loaded for one device in one context. The
/// executable keeps the device alive.
KernelKey keyOnDevice(const KernelKey &key, const Kernels::DeviceRef &device) {
  KernelKey own = key;
  const auto address = reinterpret_cast<uintptr_t>(device.get());
  own.bytes.append(reinterpret_cast<const char *>(&address), sizeof address);
  own.digest = digestOf(own.bytes);
  return own;
}

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

int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Kernels &Kernels::process() {
  return immortal([] {
    forks::onChild([] { process().packSet.forgetInFork(); });
    return new Kernels();
  });
}

Kernels::Kernels()
    : packSet(installedPacks()),
      remoteCache([] { return fileBesideLibrary("QUERN_REMOTE_LIBRARY", remoteLibraryName); }, reportRemoteChange),
      diskCache(std::make_shared<DiskCache>(DiskCache::defaultDirectory())) {}

Result<AcquiredKernel> Kernels::acquire(const VerifiedProblem &problem, const KernelKey &key, const Target &target,
                                        const DeviceRef &device) {
  const Request request{problem, key, target, device};
  return acquire(request, [&] { return make(request); });
}

/// Searches the memory cache, then calls `make`. If another thread's `make` ends with NotRequired, threads that waited
/// for it try again with their own.
Result<AcquiredKernel> Kernels::acquire(const Request &request, const std::function<Result<AcquiredKernel>()> &make) {
  struct Making { // one pointer, so that std::function needs no allocation
    const std::function<Result<AcquiredKernel>()> &make;
    AcquiredKernel acquired{};
    bool hasRun = false;
  } making{make};
  const auto maker = [&making]() -> Result<MemoryCache::Value> {
    making.hasRun = true;
    QUERN_ASSIGN_OR_RETURN(making.acquired, making.make());
    return making.acquired.executable;
  };
  for (;;) {
    Result<MemoryCache::Found> found =
        memoryCache.getOrMake(request.device ? keyOnDevice(request.key, request.device) : request.key, maker);
    if (!found && !making.hasRun && found.error().status == Status::NotRequired)
      continue;
    if (!found)
      return found.takeError();
    making.acquired.executable = std::move(found->value);
    return std::move(making.acquired);
  }
}

Result<AcquiredKernel> Kernels::acquireTier(const VerifiedProblem &problem, const KernelKey &key, const Target &target,
                                            Tiers tiers) {
  const DeviceRef onHost;
  const Request request{problem, key, target, onHost};
  AcquiredKernel family;
  const auto takeFamily = [&] {
    Result<AcquiredKernel> found = fromFamily(problem, target);
    if (found)
      family = std::move(*found);
    return family.executable != nullptr;
  };
  if (tiers == Tiers::Family)
    return takeFamily() ? Result<AcquiredKernel>(std::move(family)) : acquire(request, [&] { return make(request); });
  Result<AcquiredKernel> acquired = acquire(request, [&]() -> Result<AcquiredKernel> {
    const std::shared_ptr<DiskCache> disk = this->disk();
    Result<AcquiredKernel> found = find(*disk, request);
    if (found && found->executable)
      return found;
    if (takeFamily())
      return Error{Status::NotRequired, "the kernel of the family serves"};
    return fetchOrCompile(*disk, request);
  });
  return family.executable ? Result<AcquiredKernel>(std::move(family)) : acquired;
}

Result<AcquiredKernel> Kernels::acquireUnshared(const VerifiedProblem &problem, const KernelKey &key,
                                                const Target &target, const std::atomic<bool> *isCut) {
  const DeviceRef onHost;
  const Request request{problem, key, target, onHost, isCut};
  const std::shared_ptr<DiskCache> disk = this->disk();
  Result<AcquiredKernel> known = acquire(request, [&]() -> Result<AcquiredKernel> {
    Result<AcquiredKernel> found = find(*disk, request);
    return found && found->executable ? std::move(found) : Error{Status::NotRequired, "no cache has the kernel"};
  });
  if (known)
    return known;
  Result<AcquiredKernel> compiled = fetchOrCompile(*disk, request);
  return compiled ? acquire(request, [&] { return compiled; }) : compiled;
}

/// Acquires the kernel of the problem's family. Returns no executable if no pack has the family, or the problem has
/// none.
Result<AcquiredKernel> Kernels::fromFamily(const VerifiedProblem &problem, const Target &target) {
  if (packSet.isEmpty())
    return AcquiredKernel{};
  std::optional<Family> family = familyOf(problem, target);
  if (!family)
    return AcquiredKernel{};
  const DeviceRef onHost;
  const Request request{family->problem, family->key, target, onHost};
  Result<AcquiredKernel> acquired = acquire(request, [&]() -> Result<AcquiredKernel> {
    Result<AcquiredKernel> found = fromPacks(*disk(), request);
    return found && found->executable ? std::move(found) : Error{Status::NotRequired, "no pack has the family"};
  });
  if (!acquired)
    return AcquiredKernel{};
  acquired->origin = quern_origin_family;
  acquired->familySizes = std::move(family->sizes);
  acquired->familyNumbers = acquired->executable->program().numbersFor(acquired->familySizes.data());
  return acquired;
}

/// Returns an AcquiredKernel without an executable on a miss.
Result<AcquiredKernel> Kernels::find(DiskCache &disk, const Request &request) {
  if (Result<AcquiredKernel> loaded = fromDisk(disk, request); loaded && loaded->executable)
    return loaded;
  return fromPacks(disk, request);
}

Result<AcquiredKernel> Kernels::make(const Request &request) {
  const std::shared_ptr<DiskCache> disk = this->disk();
  if (Result<AcquiredKernel> found = find(*disk, request); found && found->executable)
    return found;
  return fetchOrCompile(*disk, request);
}

/// Returns an AcquiredKernel without an executable on a miss.
Result<AcquiredKernel> Kernels::fromDisk(DiskCache &disk, const Request &request) {
  std::optional<DiskCache::Hit> hit =
      disk.lookup(request.key, [&](const quern_remote_origin &origin) { return remoteCache.believes(origin); });
  if (!hit)
    return AcquiredKernel{};
  const Stores stores{&disk, &remoteCache, hit->origin ? &*hit->origin : nullptr};
  Result<AcquiredKernel> loaded = loadKernel(std::move(hit->artifact), std::move(hit->bytes), request.problem,
                                             quern_origin_disk, request.device, stores);
  if (!loaded && isUnusable(loaded.error(), request.device))
    disk.reject(request.key);
  return loaded;
}

/// Returns an AcquiredKernel without an executable on a miss. CPU kernels from packs are not written to disk.
Result<AcquiredKernel> Kernels::fromPacks(DiskCache &disk, const Request &request) {
  AcquiredKernel acquired;
  packSet.lookup(request.problem.desc, request.key, request.target, [&](Packs::Hit &&hit) -> Result<void> {
    QUERN_ASSIGN_OR_RETURN(acquired, loadKernel(std::move(hit.artifact), std::move(hit.bytes), request.problem,
                                                quern_origin_pack, request.device, {&disk, &remoteCache}));
    acquired.pack = std::move(hit.pack);
    return {};
  });
  return acquired;
}

/// Waits for servers and for others that compile the same kernel. If a response is late, starts the compiler meanwhile.
class Kernels::Waiter {
public:
  Waiter(Kernels &kernels, const Request &request, uint32_t patienceMs)
      : kernels(kernels), request(request), end(nowNs() + patienceMs * nsPerMs) {}

  bool isCut() const { return request.isCut && *request.isCut; }
  /// Returns true until the wait times out or is canceled.
  bool goesOn() const { return !isCut() && nowNs() < end; }
  /// Returns the callbacks for libquern-remote. They do not throw.
  quern_remote_waiter onServers() {
    const int64_t left = std::max<int64_t>(0, end - nowNs()) / nsPerMs;
    return {static_cast<uint32_t>(left), isOver, begin, this};
  }
  /// Returns the compilation that began during the wait; null if it has not begun.
  const std::shared_ptr<Race> &race() const { return begun; }

private:
  static constexpr int64_t nsPerMs = 1'000'000;

  static int isOver(void *self) noexcept {
    const auto *waiter = static_cast<const Waiter *>(self);
    return waiter->isCut() || (waiter->begun && waiter->begun->isOver());
  }
  static int begin(void *self) noexcept {
    auto *waiter = static_cast<Waiter *>(self);
    if (waiter->begun)
      return 1;
    try {
      waiter->begun =
          Race::begin([&kernels = waiter->kernels, descriptor = waiter->request.problem.desc.canonicalBytes(),
                       target = waiter->request.target.text()] {
            return kernels.runCompiler(descriptor, target); // the Kernels are never destroyed
          });
    } catch (...) { // then it is compiled after the wait for servers
      return 0;
    }
    return waiter->begun != nullptr;
  }

  Kernels &kernels;
  const Request &request;
  const int64_t end;
  std::shared_ptr<Race> begun;
};

/// Returns an AcquiredKernel without an executable on a miss. A hit is stored on disk for later processes.
Result<AcquiredKernel> Kernels::fromRemote(DiskCache &disk, const Request &request, Waiter &waiter) {
  std::optional<RemoteCache::Hit> hit =
      remoteCache.lookup(request.key, request.target.text(), request.problem.desc.text(), waiter.onServers());
  if (!hit)
    return AcquiredKernel{};
  (void)disk.store(request.key, hit->bytes, &hit->origin); // counts failures
  Result<AcquiredKernel> loaded = loadKernel(std::move(hit->artifact), std::move(hit->bytes), request.problem,
                                             quern_origin_remote, request.device, {&disk, &remoteCache, &hit->origin});
  if (!loaded && isUnusable(loaded.error(), request.device))
    disk.reject(request.key);
  return loaded;
}

/// One process per host compiles a missing kernel; in a fleet, at most two do.
Result<AcquiredKernel> Kernels::fetchOrCompile(DiskCache &disk, const Request &request) {
  const std::optional<uint32_t> patience = remoteCache.patience();
  if (!patience)
    return compile(disk, request);
  Waiter waiter(*this, request, *patience);
  const KeyLock lock = disk.lock(request.key, [&] { return waiter.goesOn(); });
  if (disk.contains(request.key)) // stored since this process last looked
    if (Result<AcquiredKernel> found = fromDisk(disk, request); found && found->executable)
      return found;
  if (Result<AcquiredKernel> found = fromRemote(disk, request, waiter); found && found->executable)
    return found;
  if (waiter.isCut())
    return Error{Status::NotRequired, "the kernel is no longer needed"};
  Result<Compiled> raced = waiter.race() ? waiter.race()->wait() : Result<Compiled>(Error{Status::NotRequired, ""});
  // A fork may have cut short the compilation by another thread.
  return raced ? keep(disk, request, std::move(*raced)) : compile(disk, request);
}

Result<AcquiredKernel> Kernels::compile(DiskCache &disk, const Request &request) {
  Result<Compiled> compiled = runCompiler(request.problem.desc.canonicalBytes(), request.target.text());
  return compiled ? keep(disk, request, std::move(*compiled)) : compiled.takeError();
}

Result<Compiled> Kernels::runCompiler(std::string_view descriptor, const std::string &target) {
  Result<Compiler> compiler = Compiler::get();
  if (!compiler)
    return Error{compiler.error().status, compiler.error().message + packSet.refusals()};
  Compiled compiled;
  const int64_t start = nowNs();
  Result<std::string> bytes = compiler->compile(descriptor, target, QUERN_COMPILER_ARTIFACT,
                                                isWanted(EventCompile) ? &compiled.stageTimes : nullptr);
  compiled.ns = nowNs() - start;
  if (!bytes)
    return bytes.takeError();
  compilations += 1;
  compiled.artifact = std::move(*bytes);
  return compiled;
}

/// Stores and loads a compiled kernel.
Result<AcquiredKernel> Kernels::keep(DiskCache &disk, const Request &request, Compiled &&compiled) {
  Result<Compiler> compiler = Compiler::get(); // links it
  if (!compiler)
    return compiler.takeError();
  if (isWanted(EventCompile))
    reportCompiled(request.problem, request.key, compiled.stageTimes, compiled.ns);
  Result<Artifact> artifact = Artifact::parse(compiled.artifact);
  if (!artifact)
    return internalError("the compiler returned an invalid artifact: ", artifact.error().message);
  if (artifact->keyBytes != request.key.bytes)
    return internalError("the compiler returned an artifact with another key");
  (void)disk.store(request.key, compiled.artifact); // counts failures, which cost only the cache entry
  remoteCache.store(request.key, request.target.text(), request.problem.desc.text(), compiled.artifact);
  Result<AcquiredKernel> loaded = loadKernel(std::move(*artifact), std::move(compiled.artifact), request.problem,
                                             quern_origin_compiled, request.device, {&disk, &remoteCache}, *compiler);
  if (loaded)
    loaded->compileNs = compiled.ns;
  return loaded;
}

Result<AcquiredKernel> Kernels::loadBlob(std::string_view bytes, const VerifiedProblem &problem, const Target &target,
                                         const DeviceRef &device, std::span<void *const> entries) {
  const BlobParts parts = splitBlob(bytes);
  Result<Artifact> artifact = Artifact::parse(parts.artifact);
  if (!artifact)
    return invalidArguments("the cache blob cannot be used: ", artifact.error().message);
  Result<Target> compiledFor = Target::parse(artifact->target);
  if (!compiledFor || keyOf(problem.desc, *compiledFor).bytes != artifact->keyBytes)
    return invalidArguments("the cache blob is of another problem or build: ", artifact->descriptor, " by ",
                            artifact->buildId);
  if (!target.runs(*compiledFor))
    return invalidArguments("the cache blob is for ", compiledFor->text(), "; the engine has ", target.text());
  if (device)
    return loadBlobOnDevice(std::move(*artifact), parts, problem, device);
  if (!entries.empty()) {
    auto linked = CpuExecutable::adopt(std::move(*artifact), std::string(bytes), problem, entries);
    return linked ? AcquiredKernel{std::move(*linked), quern_origin_blob, 0, 0, nullptr}
                  : Result<AcquiredKernel>(linked.takeError());
  }
  Result<AcquiredKernel> loaded =
      loadKernel(std::move(*artifact), std::string(bytes), problem, quern_origin_blob, nullptr, {});
  if (!loaded && loaded.error().status == Status::RuntimeError)
    return invalidArguments("the cache blob cannot be used: ", loaded.error().message);
  return loaded;
}

Result<std::string> Kernels::blobOf(const Executable &executable) {
  if (!executable.device())
    return executable.artifactBytes();
  Result<std::string> native = nativeArtifactOf(executable);
  return native ? joinBlob(executable.artifactBytes(), *native) : native;
}

void Kernels::forget(const Device &device) {
  memoryCache.drop([&](const Executable &executable) { return executable.device() == &device; });
}

std::shared_ptr<DiskCache> Kernels::disk() {
  std::lock_guard lock(diskMutex);
  return diskCache;
}

Result<void> Kernels::setDisk(const std::string &directory) {
  std::lock_guard lock(diskMutex);
  auto wanted = std::make_shared<DiskCache>(directory, diskCapacity);
  Result<void> checked = wanted->check();
  diskCache = checked ? std::move(wanted) : std::make_shared<DiskCache>("");
  return checked;
}

void Kernels::setDiskCapacity(uint64_t bytes) {
  std::lock_guard lock(diskMutex);
  diskCapacity = bytes;
  diskCache->setCapacity(bytes);
}

quern_cache_statistics_t Kernels::statistics() {
  const MemoryCache::Statistics memory = memoryCache.statistics();
  const std::shared_ptr<DiskCache> current = disk();
  const DiskCacheCounters &files = current->counters();
  return {memory.hits,    memory.misses, memory.evictions,    files.hits,      files.misses,
          files.rejected, files.stores,  files.storeFailures, files.evictions, compilations,
          memory.entries, memory.bytes,  packSet.hits,        packSet.rejected};
}

} // namespace quern
