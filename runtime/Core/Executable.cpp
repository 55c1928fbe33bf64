//===- Executable.cpp - A loaded kernel ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks an artifact against the problem it is to serve, and makes its launch ready.
//
//===----------------------------------------------------------------------===//
#include "Core/Executable.h"

#include "Core/RuntimeSizes.h"

#include <algorithm>

namespace quern {

Result<void> Executable::checkArguments(const Artifact &artifact, const VerifiedProblem &problem) {
  int64_t sizes = 0;
  for (const ArgumentInfo &argument : problem.arguments)
    sizes += argument.runtimeSizes();
  if (artifact.sizeCount != sizes)
    return runtimeError("the artifact takes ", artifact.sizeCount, " runtime sizes; the problem has ", sizes);
  if (artifact.arguments.size() != problem.arguments.size())
    return runtimeError("the artifact takes ", artifact.arguments.size(), " arguments; the problem has ", problem.arguments.size());
  for (size_t i = 0; i < artifact.arguments.size(); ++i) {
    const ArtifactArgument &given = artifact.arguments[i];
    const ArgumentInfo &wanted = problem.arguments[i];
    if (given.index != wanted.index || (given.isOutput != 0) != wanted.isOutput)
      return runtimeError("argument ", i, " of the artifact is ", given.index, "; the problem has ", wanted.index, " (", wanted.name, ")");
  }
  return {};
}

Result<void> Executable::take(Artifact &&artifact, std::string &&bytes, std::span<void *const> functions) {
  if (Result<void> taken = view.take(artifact, functions); !taken)
    return taken;
  if (Result<void> taken = launch.take(artifact, steps()); !taken)
    return taken;
  kernelShared = artifact.sharedScratchBytes;
  Result<int64_t> shared = sharedBytes(launch.knownRegionBytes());
  if (!shared)
    return shared.takeError();
  scratchNeeds = {artifact.scratchBytesPerThread, *shared};
  planText = std::move(artifact.plan);
  targetText = std::move(artifact.target);
  serialized = std::move(bytes);
  return {};
}

Result<int64_t> Executable::sharedBytes(int64_t regions) const {
  if (regions == 0)
    return kernelShared;
  const CheckedInt all = roundUp(kernelShared, static_cast<int64_t>(scratchAlignment)) + regions;
  if (all.overflowed())
    return unimplemented("scratch of ", kernelShared, " and regions of ", regions, " bytes are beyond int64");
  return all.value();
}

quern_entry_t Executable::entry() const {
  quern_entry_t entry = view.view();
  entry.scratch_bytes = static_cast<size_t>(scratchNeeds.perThread);
  entry.shared_bytes = static_cast<size_t>(kernelShared);
  return entry;
}

double Executable::estimatedSeconds() const {
  double ns = 0;
  std::vector<double> times(steps().size(), 1); // loops whose trips depend on sizes count once
  const quern_entry_t &all = view.view();
  for (const quern_entry_loop_t &loop : std::span(all.loops, static_cast<size_t>(all.loop_count)))
    if (loop.trips.term_count == 1 && loop.trips.terms[0].symbol_count == 0)
      for (int32_t step = loop.first_step; step < loop.end_step; ++step)
        times[static_cast<size_t>(step)] *= static_cast<double>(std::max<int64_t>(0, loop.trips.terms[0].coefficient));
  for (size_t i = 0; i < times.size(); ++i)
    ns += times[i] * static_cast<double>(steps()[i].iterations) * static_cast<double>(std::max<int64_t>(0, steps()[i].ns_per_iteration));
  return ns * 1e-9;
}

} // namespace quern
