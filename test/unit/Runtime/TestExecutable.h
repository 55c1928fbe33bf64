//===- TestExecutable.h - Loading artifacts in tests ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RUNTIME_TESTEXECUTABLE_H
#define QUERN_TEST_RUNTIME_TESTEXECUTABLE_H

#include "Cpu/CpuExecutable.h"

namespace quern::test {

/// Loads an artifact with the loader.
inline Result<std::shared_ptr<const Executable>> loadArtifact(const Artifact &artifact,
                                                              const VerifiedProblem &problem) {
  std::string bytes = artifact.serialize();
  QUERN_ASSIGN_OR_RETURN(LinkedCode code, LinkedCode::link(artifact, bytes, nullptr, Linker::Loader, nullptr));
  return CpuExecutable::create(artifact, std::move(bytes), problem, std::move(code));
}

} // namespace quern::test

#endif // QUERN_TEST_RUNTIME_TESTEXECUTABLE_H
