//===- LaunchWriter.h - Writing the launch of an artifact -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_COMPILER_LAUNCHWRITER_H
#define QUERN_COMPILER_LAUNCHWRITER_H

#include "Artifact/Artifact.h"
#include "IR/Launch.h"
#include "Primitives/Registry.h"

#include <optional>
#include <vector>

namespace quern {

/// Writes a launch into an artifact. Names become positions in the problem's arguments and in the program's regions.
class LaunchWriter {
public:
  LaunchWriter(Artifact &artifact, const std::vector<ArgumentInfo> &arguments)
      : artifact(artifact), arguments(arguments) {}

  /// Adds entries, steps, loops, regions, checks, sizes, arguments and scratch. Fails with `internal` if a kernel or
  /// size uses an unknown name, or if a kernel takes too many buffers.
  Result<void> add(Launch launch);

private:
  std::optional<uint32_t> argumentNamed(llvm::StringRef name) const;
  Result<void> addStep(const KernelCall &call, llvm::ArrayRef<Launch::Region> regions);
  Result<std::vector<StepBuffer>> buffersOf(const KernelCall &call, llvm::ArrayRef<Launch::Region> regions);

  Artifact &artifact;
  const std::vector<ArgumentInfo> &arguments;
};

} // namespace quern

#endif // QUERN_COMPILER_LAUNCHWRITER_H
