//===- Functions.cpp - Reading functions in MLIR --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Kernels/Functions.h"

#include "Kernels/Caches.h"
#include "Primitives/Registry.h"
#include "Support/Lookup.h"

namespace quern {
namespace {

/// Parses the result of the compiler or of a cache, and adds the attributes of the request.
Result<PrimitiveDesc> readFrom(std::string_view bytes, const Attributes &attr) {
  QUERN_ASSIGN_OR_RETURN(PrimitiveDesc desc, PrimitiveDesc::fromBytes(bytes));
  const auto *mlir = std::get_if<MlirDesc>(&desc.op);
  if (!mlir || !mlir->isRead())
    return internalError("the result of reading a function is not a function");
  desc.attr = attr;
  return desc;
}

Result<PrimitiveDesc> functionIn(const Artifact &artifact, const Attributes &attr) {
  return artifact.codeKind == CodeKind::Function ? readFrom(artifact.code, attr)
                                                 : internalError("the entry of a function is a kernel");
}

/// A function to read, and the caches that may have the result.
struct FunctionRequest {
  const PrimitiveDesc &given;
  const Target &target;
  const KernelKey key = keyOf(given, target);
  Caches &caches = Caches::process();
  const std::shared_ptr<DiskCache> disk = caches.disk();
};

Lookup<PrimitiveDesc> readFromDisk(const FunctionRequest &request) {
  std::optional<DiskCache::Hit> hit = request.disk->lookup(
      request.key, [&](const quern_remote_origin &origin) { return request.caches.remote.believes(origin); });
  if (!hit)
    return {};
  Result<PrimitiveDesc> desc = functionIn(hit->artifact, request.given.attr);
  if (!desc)
    request.disk->reject(request.key);
  return desc;
}

Lookup<PrimitiveDesc> readFromPacks(const FunctionRequest &request) {
  Lookup<PrimitiveDesc> found;
  request.caches.packs.lookup(request.given, request.key, request.target, [&](const Packs::Hit &hit) -> Result<void> {
    QUERN_ASSIGN_OR_RETURN(found, functionIn(hit.artifact, request.given.attr));
    return {};
  });
  return found;
}

Lookup<PrimitiveDesc> readFromRemote(const FunctionRequest &request) {
  std::optional<RemoteCache::Hit> hit =
      request.caches.remote.lookup(request.key, request.target.text(), request.given.title());
  if (!hit)
    return {};
  Result<PrimitiveDesc> desc = functionIn(hit->artifact, request.given.attr);
  if (desc)
    (void)request.disk->store(request.key, hit->bytes,
                              &hit->origin); // counts failures
  return desc;
}

/// Reads the function with the compiler, and stores the result on disk and at the servers.
Result<PrimitiveDesc> readByCompiler(const FunctionRequest &request) {
  QUERN_ASSIGN_OR_RETURN(Compiler compiler, request.caches.compiler());
  Artifact artifact;
  artifact.codeKind = CodeKind::Function;
  artifact.descriptor = request.given.title();
  artifact.target = request.target.text();
  artifact.buildId = compilerBuildId();
  artifact.keyBytes = request.key.bytes;
  QUERN_ASSIGN_OR_RETURN(artifact.code,
                         compiler.answer({CompilerRequest::Read, request.given.canonicalBytes(), artifact.target}));
  QUERN_ASSIGN_OR_RETURN(PrimitiveDesc desc, readFrom(artifact.code, request.given.attr));
  request.caches.store(*request.disk, request.key, artifact.target, artifact.descriptor, artifact.serialize());
  return desc;
}

} // namespace

Result<PrimitiveDesc> readFunction(const PrimitiveDesc &given, const Target &target) {
  const auto &mlir = std::get<MlirDesc>(given.op);
  if (mlir.module.size() > maxMlirBytes)
    return invalidArguments("the module has ", mlir.module.size(), " bytes; at most ", maxMlirBytes, " are possible");
  const FunctionRequest request{given, target};
  for (const auto source : {readFromDisk, readFromPacks, readFromRemote})
    if (Lookup<PrimitiveDesc> found = source(request))
      return *std::move(found);
  return readByCompiler(request);
}

} // namespace quern
