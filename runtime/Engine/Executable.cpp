//===- Executable.cpp - A loaded kernel ----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks an artifact against the problem that it is loaded for, and prepares its launch.
//
//===----------------------------------------------------------------------===//
#include "Engine/Executable.h"

#include "Engine/RuntimeSizes.h"
#include "Support/Digest.h"

#include <algorithm>

namespace quern {
namespace {

/// Returns the estimated seconds on one core. Loops whose trip count depends on sizes count once.
double estimateOf(const Artifact &artifact) {
  std::vector<double> times(artifact.steps.size(), 1);
  for (const LaunchLoop &loop : artifact.loops)
    if (std::optional<int64_t> trips = loop.trips.constant())
      for (uint32_t step = loop.first; step < loop.end; ++step)
        times[step] *= static_cast<double>(std::max<int64_t>(0, *trips));
  double ns = 0;
  for (size_t i = 0; i < times.size(); ++i)
    ns += times[i] * static_cast<double>(artifact.steps[i].iterations) *
          static_cast<double>(std::max<int64_t>(0, artifact.steps[i].nsPerIteration));
  return ns * 1e-9;
}

} // namespace

Result<void> Executable::checkArguments(const Artifact &artifact, const VerifiedProblem &problem) {
  int64_t sizes = 0;
  for (const ArgumentInfo &argument : problem.arguments)
    sizes += argument.runtimeSizes();
  if (artifact.sizeCount != sizes)
    return runtimeError("the artifact takes ", artifact.sizeCount, " runtime sizes; the problem has ", sizes);
  if (artifact.arguments.size() != problem.arguments.size())
    return runtimeError("the artifact takes ", artifact.arguments.size(), " arguments; the problem has ",
                        problem.arguments.size());
  for (size_t i = 0; i < artifact.arguments.size(); ++i) {
    const ArtifactArgument &given = artifact.arguments[i];
    const ArgumentInfo &wanted = problem.arguments[i];
    if (given.index != wanted.index || (given.isOutput != 0) != wanted.isOutput)
      return runtimeError("argument ", i, " of the artifact is ", given.index, "; the problem has ", wanted.index, " (",
                          wanted.name, ")");
  }
  return {};
}

Result<void> Executable::take(Artifact &&artifact, std::string &&bytes, std::span<void *const> functions) {
  QUERN_ASSIGN_OR_RETURN(stepList, stepsOf(artifact, functions));
  QUERN_RETURN_IF_ERROR(launch.take(artifact, steps()));
  kernelShared = artifact.sharedScratchBytes;
  QUERN_ASSIGN_OR_RETURN(int64_t shared, sharedBytes(launch.knownRegionBytes()));
  scratchNeeds = {artifact.scratchBytesPerThread, shared};
  argumentList = artifact.arguments;
  seconds = estimateOf(artifact);
  keyText = digestOf(artifact.keyBytes).hex();
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

} // namespace quern
