//===- CompilerStack.cpp - A stack that is large enough to compile on -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Compilation/CompilerStack.h"

#include <clocale>
#include <csignal>
#include <cstring>
#include <exception>
#include <pthread.h>

namespace quern {
namespace {

/// Stack size of a new thread in bytes.
constexpr size_t threadStack = 8u << 20;
/// Remaining stack in bytes on which the compiler may run if no thread can be created.
constexpr size_t enough = 1u << 20;

/// Returns the bytes between this frame and the end of the thread's stack; 0 if they are unknown, as on a fiber.
size_t stackLeft() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return 0;
  void *lowest = nullptr;
  size_t size = 0;
  (void)pthread_attr_getstack(&attributes, &lowest, &size);
  (void)pthread_attr_destroy(&attributes);
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0)), end = reinterpret_cast<uintptr_t>(lowest);
  return here >= end && here - end < size ? here - end : 0;
}

/// Blocks signals of the process on this thread and on threads that it creates, except signals for faults.
class BlockedSignals {
public:
  BlockedSignals() {
    sigset_t all;
    (void)sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
      (void)sigdelset(&all, fault);
    (void)pthread_sigmask(SIG_BLOCK, &all, &saved);
  }
  ~BlockedSignals() { (void)pthread_sigmask(SIG_SETMASK, &saved, nullptr); }
  BlockedSignals(const BlockedSignals &) = delete;
  BlockedSignals &operator=(const BlockedSignals &) = delete;

private:
  sigset_t saved;
};

struct CompilerJob {
  const std::function<void()> &work;
  const locale_t locale = uselocale(nullptr); ///< the caller's locale
  std::exception_ptr thrown{};
};

void *runJob(void *context) noexcept {
  auto &job = *static_cast<CompilerJob *>(context);
  (void)uselocale(job.locale);
  try {
    job.work();
  } catch (...) {
    job.thrown = std::current_exception();
  }
  return nullptr;
}

/// Returns 0, or the error number if no thread can be created.
int runOnThread(CompilerJob &job) {
  pthread_attr_t attributes;
  if (const int failed = pthread_attr_init(&attributes))
    return failed;
  (void)pthread_attr_setstacksize(&attributes, threadStack);
  pthread_t thread;
  int failed = 0;
  {
    const BlockedSignals blocked; // the new thread inherits them
    failed = pthread_create(&thread, &attributes, runJob, &job);
  }
  (void)pthread_attr_destroy(&attributes);
  if (!failed)
    (void)pthread_join(thread, nullptr);
  return failed;
}

} // namespace

Result<void> onCompilerStack(const std::function<void()> &work) {
  CompilerJob job{work};
  if (const int failed = runOnThread(job)) {
    const size_t left = stackLeft();
    if (left < enough)
      return runtimeError("the compiler needs ", enough >> 10, " KiB of stack; the thread has ", left >> 10,
                          " KiB left, and no thread can be created: ", strerror(failed));
    work();
  }
  if (job.thrown)
    std::rethrow_exception(job.thrown);
  return {};
}

} // namespace quern
