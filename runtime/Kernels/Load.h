//===- Load.h - Loading artifacts -----------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// QUERN_LINKER=orc or loader selects the linker, so tests can run every kernel with each. By default ORC links a kernel
// that this process has compiled. The loader, which does not need LLVM, links kernels from caches or another process.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_KERNELS_LOAD_H
#define QUERN_RUNTIME_KERNELS_LOAD_H

#include "Compilation/Compiler.h"
#include "Kernels/Sources.h"

namespace quern {

/// An artifact that a source has.
struct FoundArtifact {
  Artifact artifact;
  std::string bytes; ///< serialized form
  quern_origin_t origin;
  std::optional<quern_remote_origin> signer{}; ///< nullopt: the artifact is not from a server
  std::optional<Compiler> compiler{};          ///< compiler that has just created it;
                                               ///< nullopt: it is from a cache
};

/// Loads an artifact for the problem and the device of a search, and measures the time.
Result<AcquiredKernel> loadKernel(KernelSearch &search, FoundArtifact &&found);
/// Like loadKernel(), but removes the file of the disk cache if its contents prevent its loading.
Result<AcquiredKernel> loadOrReject(KernelSearch &search, FoundArtifact &&found);
/// Loads an artifact on the host, and reports its code to debuggers and profilers if they are requested.
Result<std::shared_ptr<const Executable>> loadOnHost(FoundArtifact &&found, const VerifiedProblem &problem);

} // namespace quern

#endif // QUERN_RUNTIME_KERNELS_LOAD_H
