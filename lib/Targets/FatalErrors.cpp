//===- FatalErrors.cpp - Turning LLVM's fatal errors into results ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Targets/FatalErrors.h"

#include "Support/Exceptions.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/raw_ostream.h"

#include <csetjmp>
#include <cxxabi.h>
#include <mutex>

namespace quern {

constinit std::atomic<bool> hasCompiled{false}, hasLinked{false};
constinit thread_local BegunStatics begunStatics{};

namespace {

/// The point that a fatal error of this thread returns to.
struct Landing {
  std::jmp_buf place;
  Landing *outer;
  const void *prettyStack; ///< LLVM's list of its current activities, which is in the skipped stack frames
  std::string words;
};

thread_local Landing *innermost = nullptr;

/// Jumps to the innermost landing of this thread. Without one, prints the reason, as LLVM does without a handler; LLVM
/// then aborts.
void land(void *, const char *reason, bool) {
  Landing *landing = innermost;
  if (!landing) {
    llvm::errs() << "LLVM ERROR: " << reason << '\n';
    return;
  }
  landing->words = llvm::StringRef(reason).split('\n').first.str();
  std::longjmp(landing->place, 1);
}

/// Throws like operator new. LLVM also calls this handler if malloc() fails.
void throwBadAlloc(void *, const char *, bool) { throw std::bad_alloc(); }

} // namespace

void installFatalErrorHandler() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_fatal_error_handler(land);
    llvm::install_bad_alloc_error_handler(throwBadAlloc);
  });
}

Result<void> returnFatalErrors(llvm::function_ref<void()> work) {
  Landing landing{{}, innermost, llvm::SavePrettyStackState(), {}};
  innermost = &landing;
  const size_t begun = begunStatics.count;
  Result<void> result;
  const bool isFatal = setjmp(landing.place) != 0; // NOLINT(cert-err52-cpp): LLVM is built without exceptions
  if (!isFatal) {
    try {
      work();
    } catch (...) { // operator new threw: as with longjmp(), frames in between end without cleanup
      result = errorOfException();
    }
  }
  innermost = landing.outer;
  if (isFatal || !result) {
    llvm::RestorePrettyStackState(landing.prettyStack);
    while (begunStatics.count > begun)
      abi::__cxa_guard_abort(static_cast<abi::__guard *>(begunStatics.guards[--begunStatics.count]));
  }
  return isFatal ? internalError("LLVM: ", landing.words) : result;
}

} // namespace quern
