//===- ProgramFormat.h - The launch in an artifact's bytes ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Artifact.cpp's part for sizes, steps, loops, regions and derived sizes. Nothing that is read is trusted.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_ARTIFACT_PROGRAMFORMAT_H
#define QUERN_ARTIFACT_PROGRAMFORMAT_H

#include "Artifact/Artifact.h"
#include "Support/Bytes.h"

namespace quern {

void writeProgram(const Artifact &artifact, ByteWriter &out);
/// Behind the entries; what steps refer to among the arguments is left to checkProgram().
Result<void> readProgram(ByteReader &in, Artifact &artifact);
/// Behind the arguments: every buffer is one, and no offset leaves it, as far as that does not
/// depend on an execution's sizes.
Result<void> checkProgram(ByteReader &in, Artifact &artifact);

} // namespace quern

#endif // QUERN_ARTIFACT_PROGRAMFORMAT_H
