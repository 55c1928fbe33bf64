//===- FatalErrors.h - Turning LLVM's fatal errors into results -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// LLVM and MLIR report errors that they cannot return, such as an instruction that cannot be selected, to a handler
// that must not return, and abort if there is none. Here, such an error becomes a failed result.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_FATALERRORS_H
#define QUERN_TARGETS_FATALERRORS_H

#include "Support/Error.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <atomic>
#include <memory>

namespace quern {

/// True after the first successful compilation, or link, of the process, when LLVM has created its global state.
extern constinit std::atomic<bool> hasCompiled, hasLinked;

/// Function-local statics whose initialization has started on a thread, innermost last. An abandoned one would
/// otherwise block its next use forever. Recorded by wrappers of C++ ABI functions (StaticLlvm).
struct BegunStatics {
  static constexpr size_t maxCount = 16;
  size_t count;
  void *guards[maxCount];
};
extern constinit thread_local BegunStatics begunStatics;

/// Installs LLVM's handlers for the process, once. Must not be called in a program that has a handler in the same LLVM,
/// which it would replace; without this call, fatal errors go to that program's handler. Thread-safe.
void installFatalErrorHandler();

/// Runs `work`. Fails with `internal` and the first line of LLVM's message after a fatal error on this thread, and with
/// `out_of_memory` if an allocation failed. `work` then ends at that point, without running destructors, as under
/// llvm::CrashRecoveryContext (which would also catch the process's signals). Objects that it was using must not be
/// used or destroyed, and it must not hold locks that others need. May be nested.
Result<void> returnFatalErrors(llvm::function_ref<void()> work);

/// Leaks an object that a fatal error has left inconsistent.
template <typename Type> void abandon(std::unique_ptr<Type> &owner) { [[maybe_unused]] Type *left = owner.release(); }

} // namespace quern

#endif // QUERN_TARGETS_FATALERRORS_H
