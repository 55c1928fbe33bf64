//===- Linker.cpp - Linking of objects with ORC ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One LLJIT serves the process; every object gets a separate JITDylib, which is removed, with its memory, when the
// object is released. The LLJIT is never destroyed, because kernels may still run on other threads during static
// destruction. A failed allocation abandons it.
//
//===----------------------------------------------------------------------===//
#include "Targets/Cpu/Linker.h"

#include "Targets/Cpu/Architecture.h"
#include "Targets/FatalErrors.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/Support/MemoryBuffer.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <system_error>

using namespace llvm;

namespace quern {
namespace {

/// Receives the first error that the session reports while this thread links; null: errors are dropped. A lookup itself
/// only names the missing symbols, and without a reporter the session prints the cause.
thread_local Error *reported = nullptr;

/// Converts an error. Memory exhaustion and a refusal of executable pages are distinguished from other errors by the
/// system's error code, which JITLink's memory manager passes on.
Error asError(llvm::Error error) {
  Status status = Status::Internal;
  std::string text;
  handleAllErrors(std::move(error), [&](const ErrorInfoBase &info) {
    const std::error_code code = info.convertToErrorCode();
    const bool isOfSystem = info.isA<ECError>();
    if (isOfSystem && (code == std::errc::not_enough_memory || code == std::errc::resource_unavailable_try_again))
      status = Status::OutOfMemory;
    else if (isOfSystem && (code == std::errc::permission_denied || code == std::errc::operation_not_permitted))
      status = Status::Unimplemented;
    if (text.empty())
      text = StringRef(info.message()).split('\n').first.str();
  });
  if (status == Status::Internal)
    return internalError("load: ", text);
  return {status, concat("the system refuses executable pages for a kernel: ", text)};
}

void keepFirst(llvm::Error error) {
  Error kept = asError(std::move(error));
  if (reported && reported->status == Status::Success)
    *reported = std::move(kept);
}

/// Returns the cause of a failed call of the session.
Error reasonOf(llvm::Error error) {
  Error converted = asError(std::move(error));
  return reported && reported->status != Status::Success ? *reported : converted;
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

/// An LLJIT, which is never destroyed.
struct Jit {
  std::unique_ptr<orc::LLJIT> lljit;
  std::atomic<bool> isAbandoned{
      false}; ///< true if a failed allocation left it inconsistent, perhaps with its locks held
};

/// Returns the process's LLJIT, a new one if it was abandoned, or the reason why it cannot be created.
Result<Jit *> processJit() {
  static constinit std::mutex mutex; ///< guards `current`
  static constinit Jit *current = nullptr;
  Result<Jit *> jit = nullptr;
  mutex.lock(); // not by a guard, which a failed allocation would skip
  const Result<void> returned = returnFatalErrors([&] {
    jit = current;
    if (current && !current->isAbandoned)
      return;
    auto created = createJit();
    if (created) {
      (*created)->getExecutionSession().setErrorReporter(keepFirst);
      jit = current = new Jit{std::move(*created)};
    } else {
      jit = reasonOf(created.takeError());
    }
  });
  mutex.unlock();
  return returned ? jit : Result<Jit *>(returned.error());
}

class OrcObject final : public LinkedObject {
public:
  OrcObject(Jit &jit, orc::JITDylib &library) : jit(jit), library(library) {}
  ~OrcObject() override {
    if (jit.isAbandoned)
      return;
    if (auto error = jit.lljit->getExecutionSession().removeJITDylib(library))
      consumeError(std::move(error)); // there is no caller to report it to
  }

private:
  Jit &jit;
  orc::JITDylib &library;
};

Result<std::unique_ptr<LinkedObject>> linkBy(Jit &jit, std::string_view object,
                                             const std::vector<std::string> &symbols) {
  static std::atomic<uint64_t> counter{0};
  orc::JITDylib &library = jit.lljit->getExecutionSession().createBareJITDylib("kernel" + std::to_string(counter++));
  std::unique_ptr<LinkedObject> linked = std::make_unique<OrcObject>(jit, library);
  auto buffer = MemoryBuffer::getMemBufferCopy(StringRef(object), library.getName());
  if (auto error = jit.lljit->addObjectFile(library, std::move(buffer)))
    return reasonOf(std::move(error));
  for (const std::string &symbol : symbols) {
    Expected<orc::ExecutorAddr> address = jit.lljit->lookup(library, symbol);
    if (!address)
      return reasonOf(address.takeError());
    linked->entries.push_back(address->toPtr<void *>());
  }
  return linked;
}

} // namespace

Result<std::unique_ptr<LinkedObject>> linkObject(std::string_view object, const std::vector<std::string> &symbols) {
  QUERN_ASSIGN_OR_RETURN(Jit * jit, processJit());
  Result<std::unique_ptr<LinkedObject>> linked = std::unique_ptr<LinkedObject>();
  Error first;
  reported = &first;
  Result<void> returned = returnFatalErrors([&] { linked = linkBy(*jit, object, symbols); });
  reported = nullptr;
  if (!returned) {
    jit->isAbandoned = true;
    return returned.takeError();
  }
  hasLinked.store(true, std::memory_order_relaxed);
  return linked;
}

} // namespace quern
