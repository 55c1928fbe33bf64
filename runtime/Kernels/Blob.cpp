//===- Blob.cpp - Kernels as bytes of the program -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Kernels/Blob.h"

#include "Cpu/CpuExecutable.h"
#include "Kernels/Load.h"
#include "Kernels/NativeCode.h"
#include "Support/Clock.h"

#include <algorithm>
#include <cstring>

namespace quern {
namespace {

/// Start of a blob that consists of an artifact and native code.
struct BlobHeader {
  char magic[8] = {'Q', 'R', 'N', 'P', 'A', 'I', 'R', '1'};
  uint64_t artifactBytes = 0;
};

struct BlobParts {
  std::string_view artifact, native; ///< `native` may be empty
};

/// Splits a blob into its parts. A blob without a header is only an artifact.
BlobParts splitBlob(std::string_view blob) {
  BlobHeader header;
  const std::string_view magic(header.magic, sizeof header.magic);
  if (blob.size() < sizeof header || !blob.starts_with(magic))
    return {blob, {}};
  std::memcpy(&header, blob.data(), sizeof header);
  blob.remove_prefix(sizeof header);
  const auto split = static_cast<size_t>(std::min<uint64_t>(header.artifactBytes, blob.size()));
  return {blob.substr(0, split), blob.substr(split)};
}

/// Returns the driver's binary in a blob; empty if it has none of this artifact for this driver and device.
std::string nativeIn(std::string_view part, const std::string &keyBytes, const Device &device) {
  if (part.empty())
    return {};
  Result<Artifact> native = Artifact::parse(part);
  const bool fits =
      native && native->codeKind == CodeKind::DeviceBinary && native->keyBytes == nativeKeyOf(keyBytes, device).bytes;
  return fits ? std::move(native->code) : std::string();
}

/// Loads the code of a blob on the device, or on the CPU if it is null.
Result<std::shared_ptr<const Executable>> loadParts(Artifact artifact, const BlobParts &parts,
                                                    const VerifiedProblem &problem, Device *device) {
  std::string bytes(parts.artifact);
  if (device) {
    const std::string native = nativeIn(parts.native, artifact.keyBytes, *device);
    return device->load(std::move(artifact), std::move(bytes), problem, native);
  }
  auto loaded = loadOnHost({std::move(artifact), std::move(bytes), quern_origin_blob}, problem);
  if (!loaded && loaded.error().status == Status::RuntimeError)
    return invalidArguments("the cache blob cannot be used: ", loaded.error().message);
  return loaded;
}

} // namespace

Result<AcquiredKernel> loadBlob(std::string_view bytes, const VerifiedProblem &problem, const Target &target,
                                const std::shared_ptr<Device> &device, std::span<void *const> entries) {
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
  if (!device && !entries.empty()) {
    QUERN_ASSIGN_OR_RETURN(LinkedCode code, LinkedCode::ofProgram(*artifact, entries));
    QUERN_ASSIGN_OR_RETURN(
        std::shared_ptr<const Executable> executable,
        CpuExecutable::create(std::move(*artifact), std::string(parts.artifact), problem, std::move(code)));
    return AcquiredKernel{std::move(executable), quern_origin_blob};
  }
  const int64_t start = nowNs();
  QUERN_ASSIGN_OR_RETURN(std::shared_ptr<const Executable> executable,
                         loadParts(std::move(*artifact), parts, problem, device.get()));
  return AcquiredKernel{std::move(executable), quern_origin_blob, 0, nowNs() - start};
}

Result<std::string> blobOf(const Executable &executable) {
  if (!executable.device())
    return executable.artifactBytes();
  QUERN_ASSIGN_OR_RETURN(std::string native, nativeArtifactOf(executable));
  BlobHeader header;
  header.artifactBytes = executable.artifactBytes().size();
  std::string blob(reinterpret_cast<const char *>(&header), sizeof header);
  return blob.append(executable.artifactBytes()).append(native);
}

} // namespace quern
