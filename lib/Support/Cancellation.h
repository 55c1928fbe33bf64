//===- Cancellation.h - Keeping a thread from being canceled --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SUPPORT_CANCELLATION_H
#define QUERN_SUPPORT_CANCELLATION_H

#include <pthread.h>

namespace quern {

/// Defers pthread_cancel() of this thread: cancellation unwinds the stack, which functions that must not throw turn
/// into an abort. May be nested. Takes about 10 ns.
class WithoutCancellation {
public:
  WithoutCancellation() { (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &saved); }
  ~WithoutCancellation() { (void)pthread_setcancelstate(saved, nullptr); }
  WithoutCancellation(const WithoutCancellation &) = delete;
  WithoutCancellation &operator=(const WithoutCancellation &) = delete;

private:
  int saved = PTHREAD_CANCEL_ENABLE;
};

} // namespace quern

#endif // QUERN_SUPPORT_CANCELLATION_H
