//===- Executable.cpp - A loaded kernel -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks an artifact against the problem it is to serve, loads its code, and resolves its launch steps to function pointers.
//
//===----------------------------------------------------------------------===//
#include "Cpu/Executable.h"

#include "CompilerLibrary.h"
#include "Cpu/Loader.h"
#include "Cpu/Threads.h"
#include "RuntimeSizes.h"

#include <algorithm>

namespace quern {
namespace {

/// Waking a thread costs some microseconds: below this much work for each, fewer threads are faster.
constexpr int64_t nsWorthAThread = 8000;

Result<void> checkArguments(const Artifact &artifact, const VerifiedProblem &problem) {
  int64_t sizes = 0;
  for (const ArgumentInfo &argument : problem.arguments)
    sizes += argument.desc.runtimeSizes();
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

} // namespace

int usefulThreads(int64_t iterations, int64_t nsPerIteration) {
  const int64_t atMost = std::clamp<int64_t>(iterations, 1, maxThreadCount);
  if (nsPerIteration <= 0)
    return static_cast<int>(atMost);
  int64_t total;
  if (__builtin_mul_overflow(nsPerIteration, iterations, &total))
    total = INT64_MAX;
  return static_cast<int>(std::clamp<int64_t>(total / nsWorthAThread, 1, atMost));
}

Result<void> Executable::takeSteps(const Artifact &artifact, std::span<void *const> entries) {
  factors.reserve(artifact.steps.size());
  buffers.reserve(artifact.steps.size());
  size_t first = 0; // of the steps that run at once
  for (const LaunchStep &step : artifact.steps) {
    if (step.entry >= entries.size() || step.iterations < 0)
      return runtimeError("a launch step of the artifact runs entry ", step.entry, " of ", entries.size(), " over ", step.iterations,
                          " iterations");
    auto function = reinterpret_cast<quern_kernel_fn>(entries[step.entry]);
    std::vector<quern_entry_factor_t> &own = factors.emplace_back();
    for (const SizeFactor &factor : step.factors)
      own.push_back({static_cast<int32_t>(factor.sizeIndex), factor.divisor});
    std::vector<quern_entry_buffer_t> &passed = buffers.emplace_back();
    for (const StepBuffer &buffer : step.buffers)
      passed.push_back({static_cast<int32_t>(buffer.argument), buffer.byteOffset});
    calls.push_back({function, step.iterations, step.nsPerIteration, own.data(), static_cast<int32_t>(own.size()), step.besidePrevious,
                     passed.empty() ? nullptr : passed.data(), static_cast<int32_t>(passed.size())});
    if (step.besidePrevious && !launch.empty())
      ++launch[first].together;
    else
      first = launch.size();
    launch.push_back({calls.back(), usefulThreads(step.iterations, step.nsPerIteration)});
  }
  return {};
}

Result<std::shared_ptr<const Executable>> Executable::load(Artifact artifact, std::string bytes, const VerifiedProblem &problem,
                                                           Linker linker, const CompilerLibrary *compiler) {
  if (artifact.codeKind != CodeKind::ElfObject)
    return runtimeError("the artifact holds code of kind ", static_cast<uint32_t>(artifact.codeKind), ", not an x86-64 object");
  if (Result<void> checked = checkArguments(artifact, problem); !checked)
    return checked.takeError();

  std::shared_ptr<Executable> executable(new Executable());
  std::vector<void *> entries;
  if (linker == Linker::Orc) {
    Result<CompilerLibrary::Linked> linked = compiler->link(bytes, artifact.entries.size());
    if (!linked)
      return linked.takeError();
    executable->owner = std::move(linked->owner);
    executable->mappedBytes = artifact.code.size();
    entries = std::move(linked->entries);
  } else {
    Result<LoadedObject> loaded = LoadedObject::load(artifact.code, artifact.entries);
    if (!loaded)
      return loaded.takeError();
    auto object = std::make_shared<LoadedObject>(std::move(*loaded));
    executable->mappedBytes = object->mappedBytes();
    entries = object->addresses();
    executable->owner = std::move(object);
  }
  if (Result<void> taken = executable->takeSteps(artifact, entries); !taken)
    return taken.takeError();
  for (const ArtifactArgument &argument : artifact.arguments)
    executable->argumentList.push_back({argument.index, argument.isOutput ? 1 : 0, argument.bytes});
  executable->scratchNeeds = {artifact.scratchBytesPerThread, artifact.sharedScratchBytes};
  executable->sizes = static_cast<int32_t>(artifact.sizeCount);
  executable->planText = std::move(artifact.plan);
  executable->targetText = std::move(artifact.target);
  executable->serialized = std::move(bytes);
  executable->linkedBy = linker;
  return std::shared_ptr<const Executable>(std::move(executable));
}

double Executable::estimatedSeconds() const {
  double ns = 0;
  for (const Step &step : launch)
    ns += static_cast<double>(step.call.iterations) * static_cast<double>(std::max<int64_t>(0, step.call.ns_per_iteration));
  return ns * 1e-9;
}

} // namespace quern
