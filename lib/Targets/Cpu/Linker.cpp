//===- Linker.cpp - Objects to callable code, by ORC ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One LLJIT serves the process; every object gets a JITDylib of its own, which is removed, with its memory, when the
// object is released. The LLJIT is never destroyed: kernels may still run on other threads while static destructors do.
//
//===----------------------------------------------------------------------===//
#include "Targets/Cpu/Linker.h"

#include "Targets/Cpu/Architecture.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/Support/MemoryBuffer.h"

#include <atomic>

using namespace llvm;

namespace quern {
namespace {

Error firstLine(llvm::Error error) {
  return internalError("load: ", StringRef(llvm::toString(std::move(error))).split('\n').first.str());
}

Expected<std::unique_ptr<orc::ObjectLayer>> createLayer(orc::ExecutionSession &session) {
  return std::make_unique<orc::ObjectLinkingLayer>(session);
}

Expected<std::unique_ptr<orc::LLJIT>> createJit() {
  orc::LLJITBuilder builder;
  builder.setNumCompileThreads(0).setPlatformSetUp(orc::setUpInactivePlatform).setLinkProcessSymbolsByDefault(false);
  const Triple triple(architectureOf(quern::Target::host()).triple);
  builder.setJITTargetMachineBuilder(orc::JITTargetMachineBuilder(triple));
  builder.setDataLayout(DataLayout(triple.computeDataLayout()));
  builder.setObjectLinkingLayerCreator(createLayer);
  return builder.create();
}

/// The process's LLJIT, or why it could not be made.
Result<orc::LLJIT *> processJit() {
  static Result<orc::LLJIT *> jit = []() -> Result<orc::LLJIT *> {
    auto created = createJit();
    if (!created)
      return firstLine(created.takeError());
    return created->release();
  }();
  return jit;
}

class OrcObject final : public LinkedObject {
public:
  OrcObject(orc::ExecutionSession &session, orc::JITDylib &library) : session(session), library(library) {}
  ~OrcObject() override {
    if (auto error = session.removeJITDylib(library))
      consumeError(std::move(error)); // nobody is left to be told
  }

private:
  orc::ExecutionSession &session;
  orc::JITDylib &library;
};

} // namespace

Result<std::unique_ptr<LinkedObject>> linkObject(std::string_view object, const std::vector<std::string> &symbols) {
  Result<orc::LLJIT *> jit = processJit();
  if (!jit)
    return jit.takeError();
  static std::atomic<uint64_t> counter{0};
  orc::ExecutionSession &session = (*jit)->getExecutionSession();
  orc::JITDylib &library = session.createBareJITDylib("kernel" + std::to_string(counter++));
  std::unique_ptr<LinkedObject> linked = std::make_unique<OrcObject>(session, library);
  auto buffer = MemoryBuffer::getMemBufferCopy(StringRef(object), library.getName());
  if (auto error = (*jit)->addObjectFile(library, std::move(buffer)))
    return firstLine(std::move(error));
  for (const std::string &symbol : symbols) {
    Expected<orc::ExecutorAddr> address = (*jit)->lookup(library, symbol);
    if (!address)
      return firstLine(address.takeError());
    linked->entries.push_back(address->toPtr<void *>());
  }
  return linked;
}

} // namespace quern
