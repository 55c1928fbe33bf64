//===- CodeBytes.h - Bytes of an artifact that determine its behavior -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_KERNELS_CODEBYTES_H
#define QUERN_KERNELS_CODEBYTES_H

#include "Artifact/Artifact.h"

namespace quern {

/// Returns the loaded sections of an ELF object with their relocations and the offsets of the artifact's entries,
/// without the names of symbols and the rest of the file; for SPIR-V, its words. Fails with `internal` if none of the
/// back ends can have written the object.
Result<std::string> codeBytesOf(const Artifact &artifact);

} // namespace quern

#endif // QUERN_KERNELS_CODEBYTES_H
