//===- Calls.h - Calls of the compiler at the end of a process ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// If LLVM and MLIR are shared libraries, their static objects are destroyed when the process ends. No call may use them
// after that (AtExitShared.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_COMPILER_CALLS_H
#define QUERN_COMPILER_CALLS_H

#include "Support/Error.h"

#include <atomic>

namespace quern {

/// A call of a bridge function that uses LLVM. Thread-safe; costs three atomic operations.
class BridgeCall {
public:
  BridgeCall() {
    calls.fetch_add(1);
    isRefused = hasEnded.load();
  }
  ~BridgeCall() {
    if (calls.fetch_sub(1) == 1)
      calls.notify_all();
  }
  BridgeCall(const BridgeCall &) = delete;
  BridgeCall &operator=(const BridgeCall &) = delete;

  /// Returns an error if the process is ending: the call must not use LLVM then.
  Result<void> admitted() const {
    return isRefused
               ? runtimeError("the compiler cannot be called: the process is ending, and LLVM's shared library has "
                              "been finalized")
               : Result<void>();
  }
  /// Refuses all later calls and waits until all earlier calls have returned.
  static void end() {
    hasEnded.store(true);
    for (int now = calls.load(); now > 0; now = calls.load())
      calls.wait(now);
  }

private:
  static inline constinit std::atomic<int> calls{0};
  static inline constinit std::atomic<bool> hasEnded{false};
  bool isRefused = false;
};

} // namespace quern

#endif // QUERN_COMPILER_CALLS_H
