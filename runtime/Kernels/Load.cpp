//===- Load.cpp - Loading artifacts ---------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Kernels/Load.h"

#include "Cpu/CpuExecutable.h"
#include "Debug/CodeRegistration.h"
#include "Kernels/NativeCode.h"
#include "Support/Clock.h"

#include <cstdlib>

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

/// Maps the code of an artifact, or `debug` in its place.
Result<LinkedCode> link(const FoundArtifact &found, const std::optional<DebugObject> &debug) {
  std::optional<Compiler> compiler = found.compiler;
  const Linker linker = linkerFor(compiler && compiler->linkingLibrary());
  if (linker == Linker::Orc && !compiler) {
    Result<Compiler> available = Compiler::get();
    if (!available)
      return unimplemented("QUERN_LINKER is orc: ", available.error().message);
    compiler = *available;
  }
  if (linker == Linker::Orc && !compiler->linkingLibrary())
    return invalidArguments("QUERN_LINKER is orc; with QUERN_COMPILER=process kernels are linked by the loader");
  return LinkedCode::link(found.artifact, found.bytes, debug ? &debug->object : nullptr, linker,
                          compiler ? compiler->linkingLibrary() : nullptr);
}

/// Reports mapped code to debuggers and profilers.
std::shared_ptr<CodeRegistration> announce(const DebugObject &debug, const Artifact &artifact, const LinkedCode &code) {
  return code.linker == Linker::Orc ? CodeRegistration::ofLinked(debug, artifact.entries, code.entries)
                                    : CodeRegistration::ofLoaded(debug, code.sections);
}

/// Returns the driver's binary that the disk cache or the remote cache has for a key; empty if neither has one.
std::string findNative(KernelSearch &search, const KernelKey &key, const std::string &target,
                       const std::string &descriptor) {
  RemoteCache &remote = search.caches.remote;
  const auto believes = [&](const quern_remote_origin &origin) { return remote.believes(origin); };
  if (std::optional<DiskCache::Hit> kept = search.disk().lookup(key, believes))
    return std::move(kept->artifact.code);
  std::optional<RemoteCache::Hit> fetched = remote.lookup(key, target, descriptor);
  if (!fetched || fetched->artifact.codeKind != CodeKind::DeviceBinary)
    return {};
  (void)search.disk().store(key, fetched->bytes, &fetched->origin); // counts failures
  return std::move(fetched->artifact.code);
}

/// Loads an artifact on a device. With a disk cache, the driver's binary is read from there or from the remote cache,
/// and stored there if neither has one that the driver accepts.
Result<std::shared_ptr<const Executable>> loadOnDevice(KernelSearch &search, FoundArtifact &&found) {
  Device &device = *search.request.device;
  const VerifiedProblem &problem = search.request.problem;
  if (search.disk().isOff())
    return device.load(std::move(found.artifact), std::move(found.bytes), problem, {});
  const KernelKey key = nativeKeyOf(found.artifact.keyBytes, device);
  const std::string target = found.artifact.target, descriptor = found.artifact.descriptor;
  const std::string binary = findNative(search, key, target, descriptor);
  auto loaded = device.load(std::move(found.artifact), std::move(found.bytes), problem, binary);
  if (!loaded || (*loaded)->isFromNative())
    return loaded;
  if (!binary.empty())
    search.disk().reject(key);
  const Result<std::string> native = nativeArtifactOf(**loaded);
  if (native && found.signer) // this host signs only the kernels that it has compiled
    (void)search.disk().store(key, *native, &*found.signer);
  else if (native)
    search.caches.store(search.disk(), key, target, descriptor, *native);
  return loaded;
}

/// Returns true if the contents of an artifact prevent its loading, so that its file must be removed. Other causes may
/// be temporary: a shortage of memory or mappings, a policy against executable pages, a failing device.
bool isUnusable(const Error &error, const KernelRequest &request) {
  return !request.device && error.status == Status::RuntimeError;
}

} // namespace

Result<std::shared_ptr<const Executable>> loadOnHost(FoundArtifact &&found, const VerifiedProblem &problem) {
  const std::optional<DebugObject> debug = debugObjectOf(found.artifact, problem);
  QUERN_ASSIGN_OR_RETURN(LinkedCode code, link(found, debug));
  if (debug)
    code.registration = announce(*debug, found.artifact, code);
  return CpuExecutable::create(std::move(found.artifact), std::move(found.bytes), problem, std::move(code));
}

Result<AcquiredKernel> loadKernel(KernelSearch &search, FoundArtifact &&found) {
  const int64_t start = nowNs();
  const quern_origin_t origin = found.origin;
  QUERN_ASSIGN_OR_RETURN(std::shared_ptr<const Executable> executable,
                         search.request.device ? loadOnDevice(search, std::move(found))
                                               : loadOnHost(std::move(found), search.request.problem));
  return AcquiredKernel{std::move(executable), origin, 0, nowNs() - start};
}

Result<AcquiredKernel> loadOrReject(KernelSearch &search, FoundArtifact &&found) {
  Result<AcquiredKernel> loaded = loadKernel(search, std::move(found));
  if (!loaded && isUnusable(loaded.error(), search.request))
    search.disk().reject(search.request.key);
  return loaded;
}

} // namespace quern
