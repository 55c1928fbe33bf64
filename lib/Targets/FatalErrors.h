//===- FatalErrors.h - What LLVM ends the process for ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// LLVM and MLIR report what they have no way to refuse, such as an operation without a pattern, by a handler that must
// not return, and end the process where there is none. Here it becomes an error.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_FATALERRORS_H
#define QUERN_TARGETS_FATALERRORS_H

#include "Support/Error.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <atomic>
#include <memory>

namespace quern {

/// True once a compilation of the process, and a link, has succeeded, so that LLVM has its global state.
extern constinit std::atomic<bool> hasCompiled, hasLinked;

/// Function-local statics whose initialization has begun on a thread, innermost last. One that is abandoned would
/// otherwise block its next use forever. Recorded where the linker renames the functions of the C++ ABI (StaticLlvm).
struct BegunStatics {
  static constexpr size_t most = 16;
  size_t count;
  void *guards[most];
};
extern constinit thread_local BegunStatics begunStatics;

/// Installs LLVM's handlers for the process, once. Not for a program that has its own handler in the same LLVM, whose
/// place it would take: without it, fatal errors go on as they do for that program. Thread-safe.
void installFatalErrorHandler();

/// Runs `work`. `internal` with the first line of LLVM's words for a fatal error on this thread, `out_of_memory` if an
/// allocation failed: `work` then ended where it was, without a destructor run, as under llvm::CrashRecoveryContext
/// (which would also take the process's signals). What it was at work on must not be used or destroyed, and it must
/// hold no lock of another's. May be nested.
Result<void> returnFatalErrors(llvm::function_ref<void()> work);

/// Lets go of what a fatal error has left half done: it stays in memory.
template <typename Type> void abandon(std::unique_ptr<Type> &owner) { [[maybe_unused]] Type *left = owner.release(); }

} // namespace quern

#endif // QUERN_TARGETS_FATALERRORS_H
