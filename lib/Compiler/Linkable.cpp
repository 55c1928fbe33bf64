//===- Linkable.cpp - Kernels as object files for a linker ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The code of an artifact is an object whose symbols are the same in all artifacts of functions; for a linker, each
// object gets its own prefix.
//
//===----------------------------------------------------------------------===//
#include "quern-compiler/Functions.h"

#include "Artifact/Artifact.h"

#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Object/Binary.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

namespace quern::compiler {
namespace {

/// Returns the object with `prefix` added to all names that it defines.
llvm::Expected<std::string> withPrefix(StringRef object, StringRef prefix) {
  auto binary = llvm::object::createBinary(llvm::MemoryBufferRef(object, "kernel.o"));
  if (!binary)
    return binary.takeError();
  llvm::objcopy::ConfigManager config;
  config.Common.SymbolsPrefix = prefix;
  SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  if (llvm::Error error = llvm::objcopy::executeObjcopyOnBinary(config, **binary, os))
    return std::move(error);
  return std::string(bytes.begin(), bytes.end());
}

} // namespace

FailureOr<LinkableFunction> makeLinkable(func::FuncOp function, const CompiledFunction &compiled, StringRef prefix) {
  Result<Artifact> artifact = Artifact::parse(compiled.artifact);
  if (!artifact)
    return function.emitError("no object file: ") << artifact.error().message;
  if (artifact->codeKind != CodeKind::ElfObject)
    return function.emitError("no object file: the kernel is for a device");
  LinkableFunction linkable;
  llvm::Expected<std::string> object = withPrefix(artifact->code, prefix);
  if (!object)
    return function.emitError("no object file: ") << llvm::toString(object.takeError());
  linkable.object = std::move(*object);
  for (const std::string &entry : artifact->entries)
    linkable.entries.push_back(prefix.str() + entry);
  artifact->code.clear();
  linkable.artifact = artifact->serialize();
  return std::move(linkable);
}

std::string writeArchive(StringRef path, ArrayRef<std::pair<std::string, std::string>> objects) {
  SmallVector<llvm::NewArchiveMember> members;
  for (const auto &[name, bytes] : objects)
    members.emplace_back(llvm::MemoryBufferRef(bytes, name));
  llvm::Error error = llvm::writeArchive(path, members, llvm::SymtabWritingMode::NormalSymtab,
                                         llvm::object::Archive::K_GNU, /*Deterministic=*/true, /*Thin=*/false);
  return error ? llvm::toString(std::move(error)) : std::string();
}

} // namespace quern::compiler
