//===- CodeBytes.h - What of an artifact's code decides what it does ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_KERNELS_CODEBYTES_H
#define QUERN_KERNELS_CODEBYTES_H

#include "Artifact/Artifact.h"

namespace quern {

/// Of an ELF object the sections that are loaded, with their relocations and where the artifact's entries begin: no
/// name of a symbol and nothing of the file around them. Of SPIR-V its words. `internal` for an object that no back end
/// of ours writes.
Result<std::string> codeBytesOf(const Artifact &artifact);

} // namespace quern

#endif // QUERN_KERNELS_CODEBYTES_H
