//===- FatalErrors.cpp - What LLVM ends the process for -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Targets/FatalErrors.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/raw_ostream.h"

#include <csetjmp>
#include <mutex>

namespace quern {
namespace {

/// Where a fatal error of this thread returns to.
struct Landing {
  std::jmp_buf place;
  Landing *outer;
  const void *prettyStack; ///< LLVM's list of what it is at, which lies on the stack that is jumped over
  std::string words;
};

thread_local Landing *innermost = nullptr;

/// Says why, as LLVM does without a handler, and has LLVM end the process where nobody waits.
void land(void *, const char *reason, bool) {
  Landing *landing = innermost;
  if (!landing) {
    llvm::errs() << "LLVM ERROR: " << reason << '\n';
    return;
  }
  landing->words = llvm::StringRef(reason).split('\n').first.str();
  std::longjmp(landing->place, 1);
}

} // namespace

void installFatalErrorHandler() {
  static std::once_flag once;
  std::call_once(once, [] { llvm::install_fatal_error_handler(land); });
}

Result<void> returnFatalErrors(llvm::function_ref<void()> work) {
  Landing landing{{}, innermost, llvm::SavePrettyStackState(), {}};
  innermost = &landing;
  const bool hasFailed = setjmp(landing.place) != 0; // NOLINT(cert-err52-cpp): LLVM is built without exceptions
  if (!hasFailed)
    work();
  innermost = landing.outer;
  if (!hasFailed)
    return {};
  llvm::RestorePrettyStackState(landing.prettyStack);
  return internalError("LLVM: ", landing.words);
}

} // namespace quern
