//===- CpuExecutable.cpp - A kernel loaded for the CPU --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Loads an artifact's code and resolves its entries to function pointers.
//
//===----------------------------------------------------------------------===//
#include "Cpu/CpuExecutable.h"

#include "Compilation/Library.h"
#include "Cpu/Loader.h"
#include "Debug/CodeRegistration.h"

namespace quern {
namespace {

/// Returns the artifact with the debug object as its code, for ORC.
std::string artifactOf(Artifact artifact, const DebugObject &debug) {
  artifact.code = debug.object;
  return artifact.serialize();
}

} // namespace

Result<std::shared_ptr<const Executable>> CpuExecutable::load(Artifact artifact, std::string bytes,
                                                              const VerifiedProblem &problem, Linker linker,
                                                              const CompilerLibrary *compiler,
                                                              const DebugObject *debug) {
  if (artifact.codeKind != CodeKind::ElfObject)
    return runtimeError("the artifact holds code of kind ", static_cast<uint32_t>(artifact.codeKind),
                        ", not an object for this machine");
  QUERN_RETURN_IF_ERROR(checkArguments(artifact, problem));

  std::shared_ptr<CpuExecutable> executable(new CpuExecutable());
  std::vector<void *> entries;
  if (linker == Linker::Orc) {
    Result<CompilerLibrary::Linked> linked =
        compiler->link(debug ? artifactOf(artifact, *debug) : bytes, artifact.entries.size());
    if (!linked && linked.error().status != Status::Unimplemented)
      return linked.takeError();
    if (!linked) { // pages must not become executable, which only the loader can handle
      linker = Linker::Loader;
    } else {
      executable->owner = std::move(linked->owner);
      executable->mappedBytes = artifact.code.size();
      entries = std::move(linked->entries);
      if (debug)
        executable->registration = CodeRegistration::ofLinked(*debug, artifact.entries, entries);
    }
  }
  if (linker == Linker::Loader) {
    QUERN_ASSIGN_OR_RETURN(LoadedObject loaded,
                           LoadedObject::load(debug ? debug->object : artifact.code, artifact.entries));
    auto object = std::make_shared<LoadedObject>(std::move(loaded));
    executable->mappedBytes = object->mappedBytes();
    entries = object->addresses();
    if (debug)
      executable->registration = CodeRegistration::ofLoaded(*debug, object->sections());
    executable->owner = std::move(object);
  }
  executable->linkedBy = linker;
  QUERN_RETURN_IF_ERROR(executable->take(std::move(artifact), std::move(bytes), entries));
  return std::shared_ptr<const Executable>(std::move(executable));
}

Result<std::shared_ptr<const Executable>> CpuExecutable::adopt(Artifact artifact, std::string bytes,
                                                               const VerifiedProblem &problem,
                                                               std::span<void *const> entries) {
  if (artifact.codeKind != CodeKind::ElfObject || !artifact.code.empty() || artifact.entries.size() != entries.size())
    return runtimeError("the artifact has ", artifact.code.size(), " bytes of code of kind ",
                        static_cast<uint32_t>(artifact.codeKind), " and ", artifact.entries.size(),
                        " entries; the program has ", entries.size());
  QUERN_RETURN_IF_ERROR(checkArguments(artifact, problem));
  std::shared_ptr<CpuExecutable> executable(new CpuExecutable());
  const std::vector<void *> addresses(entries.begin(), entries.end());
  QUERN_RETURN_IF_ERROR(executable->take(std::move(artifact), std::move(bytes), addresses));
  return std::shared_ptr<const Executable>(std::move(executable));
}

} // namespace quern
