//===- Functions.cpp - Reading functions in MLIR --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Mlir/Functions.h"

#include "Compilation/Compiler.h"
#include "Core/Kernels.h"

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

std::optional<PrimitiveDesc> fromPacks(const KernelKey &key, const PrimitiveDesc &given, const Target &target) {
  std::optional<PrimitiveDesc> found;
  Kernels::process().packs().lookup(given, key, target, [&](const Packs::Hit &hit) -> Result<void> {
    QUERN_ASSIGN_OR_RETURN(found, functionIn(hit.artifact, given.attr));
    return {};
  });
  return found;
}

Result<PrimitiveDesc> fromDisk(DiskCache &disk, const KernelKey &key, const Attributes &attr) {
  std::optional<DiskCache::Hit> hit =
      disk.lookup(key, [](const quern_remote_origin &origin) { return Kernels::process().remote().believes(origin); });
  if (!hit)
    return Error{Status::NotRequired, ""};
  Result<PrimitiveDesc> desc = functionIn(hit->artifact, attr);
  if (!desc)
    disk.reject(key);
  return desc;
}

Result<PrimitiveDesc> fromRemote(DiskCache &disk, const KernelKey &key, const PrimitiveDesc &given,
                                 const Target &target) {
  std::optional<RemoteCache::Hit> hit = Kernels::process().remote().lookup(key, target.text(), given.title());
  if (!hit)
    return Error{Status::NotRequired, ""};
  Result<PrimitiveDesc> desc = functionIn(hit->artifact, given.attr);
  if (desc)
    (void)disk.store(key, hit->bytes, &hit->origin); // the disk cache counts failures
  return desc;
}

void keep(DiskCache &disk, const KernelKey &key, const PrimitiveDesc &given, const Target &target, std::string &&code) {
  Artifact artifact;
  artifact.codeKind = CodeKind::Function;
  artifact.descriptor = given.title();
  artifact.target = target.text();
  artifact.buildId = compilerBuildId();
  artifact.keyBytes = key.bytes;
  artifact.code = std::move(code);
  const std::string bytes = artifact.serialize();
  (void)disk.store(key, bytes);
  Kernels::process().remote().store(key, artifact.target, artifact.descriptor, bytes);
}

Result<PrimitiveDesc> readFunction(const PrimitiveDesc &given, const Target &target) {
  const auto &mlir = std::get<MlirDesc>(given.op);
  if (mlir.module.size() > maxMlirBytes)
    return invalidArguments("the module has ", mlir.module.size(), " bytes; at most ", maxMlirBytes, " are possible");
  const KernelKey key = keyOf(given, target);
  const std::shared_ptr<DiskCache> disk = Kernels::process().disk();
  if (Result<PrimitiveDesc> known = fromDisk(*disk, key, given.attr))
    return known;
  if (std::optional<PrimitiveDesc> known = fromPacks(key, given, target))
    return std::move(*known);
  if (Result<PrimitiveDesc> known = fromRemote(*disk, key, given, target))
    return known;
  Result<Compiler> compiler = Compiler::get();
  if (!compiler)
    return Error{compiler.error().status, compiler.error().message + Kernels::process().packs().refusals()};
  QUERN_ASSIGN_OR_RETURN(std::string bytes, compiler->read(given.canonicalBytes(), target.text()));
  Result<PrimitiveDesc> read = readFrom(bytes, given.attr);
  if (read)
    keep(*disk, key, given, target, std::move(bytes));
  return read;
}

} // namespace

Result<VerifiedProblem> readAndVerify(const PrimitiveDesc &desc, const Target &target,
                                      const PrimitiveDesc *forwardHint) {
  const auto *mlir = std::get_if<MlirDesc>(&desc.op);
  if (!mlir || mlir->isRead())
    return verify(desc, target, forwardHint);
  Result<PrimitiveDesc> read = readFunction(desc, target);
  return read ? verify(*read, target, forwardHint) : Result<VerifiedProblem>(read.takeError());
}

} // namespace quern
