//===- CpuExecutable.cpp - A kernel loaded for the CPU --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Links an artifact's code and resolves its entries to function pointers.
//
//===----------------------------------------------------------------------===//
#include "Cpu/CpuExecutable.h"

#include "Compilation/Library.h"
#include "Elf/Loader.h"

namespace quern {
namespace {

std::string serializeWith(Artifact artifact, const std::string &object) {
  artifact.code = object;
  return artifact.serialize();
}

Result<LinkedCode> linkByOrc(const Artifact &artifact, const std::string &bytes, const CompilerLibrary &compiler) {
  QUERN_ASSIGN_OR_RETURN(CompilerLibrary::Linked linked, compiler.link(bytes, artifact.entries.size()));
  LinkedCode code{Linker::Orc, std::move(linked.entries)};
  code.mappedBytes = artifact.code.size();
  code.owner = std::move(linked.owner);
  return code;
}

Result<LinkedCode> linkByLoader(const Artifact &artifact, std::string_view object) {
  QUERN_ASSIGN_OR_RETURN(LoadedObject loaded, LoadedObject::load(object, artifact.entries));
  LinkedCode code{Linker::Loader, loaded.addresses(), loaded.sections(), loaded.mappedBytes()};
  code.owner = std::make_shared<LoadedObject>(std::move(loaded));
  return code;
}

} // namespace

Result<LinkedCode> LinkedCode::link(const Artifact &artifact, const std::string &bytes, const std::string *object,
                                    Linker linker, const CompilerLibrary *compiler) {
  if (artifact.codeKind != CodeKind::ElfObject)
    return runtimeError("the artifact holds code of kind ", static_cast<uint32_t>(artifact.codeKind),
                        ", not an object for this machine");
  if (linker == Linker::Orc) {
    Result<LinkedCode> code = linkByOrc(artifact, object ? serializeWith(artifact, *object) : bytes, *compiler);
    if (code || code.error().status != Status::Unimplemented)
      return code;
  } // the system forbids that pages become executable, which only the loader can handle
  return linkByLoader(artifact, object ? *object : artifact.code);
}

Result<LinkedCode> LinkedCode::ofProgram(const Artifact &artifact, std::span<void *const> entries) {
  if (artifact.codeKind != CodeKind::ElfObject || !artifact.code.empty() || artifact.entries.size() != entries.size())
    return runtimeError("the artifact has ", artifact.code.size(), " bytes of code of kind ",
                        static_cast<uint32_t>(artifact.codeKind), " and ", artifact.entries.size(),
                        " entries; the program has ", entries.size());
  return LinkedCode{Linker::Program, {entries.begin(), entries.end()}};
}

Result<std::shared_ptr<const Executable>> CpuExecutable::create(Artifact artifact, std::string bytes,
                                                                const VerifiedProblem &problem, LinkedCode code) {
  QUERN_RETURN_IF_ERROR(checkArguments(artifact, problem));
  std::shared_ptr<CpuExecutable> executable(new CpuExecutable(std::move(code)));
  QUERN_RETURN_IF_ERROR(executable->take(std::move(artifact), std::move(bytes), executable->code.entries));
  return std::shared_ptr<const Executable>(std::move(executable));
}

const char *CpuExecutable::linkerName() const {
  return code.linker == Linker::Orc ? "orc" : code.linker == Linker::Loader ? "loader" : "program";
}

} // namespace quern
