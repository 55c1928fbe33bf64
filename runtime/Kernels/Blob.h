//===- Blob.h - Kernels as bytes of the program ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A cache blob is an artifact. For a device, the artifact of the driver's binary may follow.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_KERNELS_BLOB_H
#define QUERN_RUNTIME_KERNELS_BLOB_H

#include "Kernels/Sources.h"

namespace quern {

/// Loads an artifact that the caller passes. Fails with `invalid_arguments` if it is damaged, of another problem or
/// build, or for an instruction set that `target` does not include. Cache sizes may differ: they affect speed, not
/// results. If `entries` is not empty, the artifact has no code, and these are its functions, already linked.
Result<AcquiredKernel> loadBlob(std::string_view bytes, const VerifiedProblem &problem, const Target &target,
                                const std::shared_ptr<Device> &device, std::span<void *const> entries = {});

/// Returns the bytes for loadBlob(). For a device they include the driver's binary, which saves work if the driver is
/// the same.
Result<std::string> blobOf(const Executable &executable);

} // namespace quern

#endif // QUERN_RUNTIME_KERNELS_BLOB_H
