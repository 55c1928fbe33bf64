//===- Sources.cpp - The sources of kernels -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Kernels/Sources.h"

#include "Events/Events.h"
#include "Family/Family.h"
#include "Kernels/Load.h"
#include "Support/Clock.h"

#include "quern-compiler/Bridge.h"

namespace quern {
namespace {

/// Returns a key that includes the address of the device, because code is loaded for one device in one context. The
/// executable keeps the device alive.
KernelKey keyOnDevice(const KernelKey &key, const Device *device) {
  KernelKey own = key;
  const auto address = reinterpret_cast<uintptr_t>(device);
  own.bytes.append(reinterpret_cast<const char *>(&address), sizeof address);
  own.digest = digestOf(own.bytes);
  return own;
}

/// Checks and reports the result of the compiler.
Result<Artifact> parseCompiled(const KernelRequest &request, const Compiled &compiled) {
  if (isWanted(EventCompile))
    reportCompiled(request.problem, request.key, compiled.stageTimes, compiled.ns);
  Result<Artifact> artifact = Artifact::parse(compiled.artifact);
  if (!artifact)
    return internalError("the compiler returned an invalid artifact: ", artifact.error().message);
  if (artifact->keyBytes != request.key.bytes)
    return internalError("the compiler returned an artifact with another key");
  return artifact;
}

/// Returns the result of the compilation that began during the wait for servers, or compiles now.
Result<Compiled> finishCompilation(KernelSearch &search) {
  if (search.race)
    if (Result<Compiled> raced = search.race->wait()) // fails also if a fork aborted the compilation
      return raced;
  return runCompiler(search.caches, search.request.problem.desc.canonicalBytes(), search.request.target.text());
}

} // namespace

Lookup<AcquiredKernel> findFirst(std::span<const KernelSource> sources, KernelSearch &search) {
  Lookup<AcquiredKernel> found;
  for (const KernelSource source : sources)
    if ((found = source(search)))
      break;
  return found;
}

Lookup<AcquiredKernel> shareKernel(KernelSearch &search, const std::function<Lookup<AcquiredKernel>()> &make) {
  struct Making { // one pointer, so that std::function needs no allocation
    const std::function<Lookup<AcquiredKernel>()> &make;
    AcquiredKernel acquired{};
  } making{make};
  const auto maker = [&making]() -> Lookup<MemoryCache::Value> {
    QUERN_ASSIGN_OR_RETURN(making.acquired, making.make());
    if (making.acquired.origin == quern_origin_family) // is in the cache under the family's key
      return {};
    return making.acquired.executable;
  };
  const KernelRequest &request = search.request;
  Lookup<MemoryCache::Found> found = search.caches.memory.getOrMake(
      request.device ? keyOnDevice(request.key, request.device.get()) : request.key, maker);
  if (found)
    making.acquired.executable = std::move(found->value);
  else if (!making.acquired.executable)
    return found.takeError();
  return std::move(making.acquired);
}

Lookup<AcquiredKernel> findOnDisk(KernelSearch &search) {
  std::optional<DiskCache::Hit> hit = search.disk().lookup(
      search.request.key, [&](const quern_remote_origin &origin) { return search.caches.remote.believes(origin); });
  if (!hit)
    return {};
  return loadOrReject(search, {std::move(hit->artifact), std::move(hit->bytes), quern_origin_disk, hit->origin});
}

Lookup<AcquiredKernel> findInPacks(KernelSearch &search) {
  Lookup<AcquiredKernel> found;
  const KernelRequest &request = search.request;
  search.caches.packs.lookup(request.problem.desc, request.key, request.target, [&](Packs::Hit &&hit) -> Result<void> {
    QUERN_ASSIGN_OR_RETURN(AcquiredKernel loaded,
                           loadKernel(search, {std::move(hit.artifact), std::move(hit.bytes), quern_origin_pack}));
    loaded.pack = std::move(hit.pack);
    found = std::move(loaded);
    return {};
  });
  return found;
}

Lookup<AcquiredKernel> findFamily(KernelSearch &search) {
  if (search.caches.packs.isEmpty())
    return {};
  std::optional<Family> family = familyOf(search.request.problem, search.request.target);
  if (!family)
    return {};
  const std::shared_ptr<Device> onHost;
  const KernelRequest request{family->problem, family->key, search.request.target, onHost};
  KernelSearch ofFamily{request, search.caches};
  QUERN_ASSIGN_OR_RETURN(AcquiredKernel acquired, shareKernel(ofFamily, [&] { return findInPacks(ofFamily); }));
  acquired.origin = quern_origin_family;
  acquired.familySizes = std::move(family->sizes);
  acquired.familyNumbers = acquired.executable->program().numbersFor(acquired.familySizes.data());
  return acquired;
}

Result<Compiled> runCompiler(Caches &caches, std::string_view descriptor, const std::string &target) {
  QUERN_ASSIGN_OR_RETURN(Compiler compiler, caches.compiler());
  Compiled compiled;
  const int64_t start = nowNs();
  Result<std::string> bytes = compiler.answer({CompilerRequest::Compile, descriptor, target, QUERN_COMPILER_ARTIFACT},
                                              isWanted(EventCompile) ? &compiled.stageTimes : nullptr);
  compiled.ns = nowNs() - start;
  if (!bytes)
    return bytes.takeError();
  caches.compilations += 1;
  compiled.artifact = std::move(*bytes);
  return compiled;
}

Lookup<AcquiredKernel> compileKernel(KernelSearch &search) {
  const KernelRequest &request = search.request;
  if (request.isCanceled())
    return {};
  QUERN_ASSIGN_OR_RETURN(Compiled compiled, finishCompilation(search));
  QUERN_ASSIGN_OR_RETURN(Compiler compiler,
                         Compiler::get()); // links the kernel
  QUERN_ASSIGN_OR_RETURN(Artifact artifact, parseCompiled(request, compiled));
  search.caches.store(search.disk(), request.key, request.target.text(), request.problem.desc.text(),
                      compiled.artifact);
  QUERN_ASSIGN_OR_RETURN(AcquiredKernel loaded, loadKernel(search, {std::move(artifact), std::move(compiled.artifact),
                                                                    quern_origin_compiled, std::nullopt, compiler}));
  loaded.compileNs = compiled.ns;
  return loaded;
}

} // namespace quern
