//===- ProgramFormat.h - The launch program in an artifact ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The part of the artifact format for sizes, derived sizes, checks, loops, regions and steps. The bytes that are read
// are not trusted.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_ARTIFACT_PROGRAMFORMAT_H
#define QUERN_ARTIFACT_PROGRAMFORMAT_H

#include "Artifact/Artifact.h"
#include "Support/Bytes.h"

namespace quern {

void writeProgram(const Artifact &artifact, ByteWriter &out);
/// Reads the part after the groups. checkProgram() checks the arguments to which steps and derived sizes refer.
Result<void> readProgram(ByteReader &in, Artifact &artifact);
/// Called after the arguments have been read: checks that every argument and region that is used exists and that no
/// offset is outside its buffer, as far as that does not depend on an execution's sizes.
Result<void> checkProgram(ByteReader &in, Artifact &artifact);

} // namespace quern

#endif // QUERN_ARTIFACT_PROGRAMFORMAT_H
