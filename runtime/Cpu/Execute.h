//===- Execute.h - Runs launch steps --------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Splits the iteration space of each step over threads, gives every call its scratch and the floating-point environment that kernels
// expect.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CPU_EXECUTE_H
#define QUERN_RUNTIME_CPU_EXECUTE_H

#include "Cpu/Executable.h"
#include "Cpu/Threads.h"

#include <xmmintrin.h>

namespace quern {

/// Sets MXCSR to round-to-nearest with denormals kept and all exceptions masked; gives the caller's back, its sticky flags included.
class DefaultFloatEnvironment {
public:
  static constexpr unsigned defaultControl = 0x1f80, flagBits = 0x3f;
  DefaultFloatEnvironment() : saved(_mm_getcsr()) {
    if ((saved & ~flagBits) != defaultControl)
      _mm_setcsr(defaultControl);
  }
  ~DefaultFloatEnvironment() {
    if (_mm_getcsr() != saved)
      _mm_setcsr(saved);
  }
  DefaultFloatEnvironment(const DefaultFloatEnvironment &) = delete;
  DefaultFloatEnvironment &operator=(const DefaultFloatEnvironment &) = delete;

private:
  unsigned saved;
};

/// On which threads to run, and with whose scratch.
struct ExecutionContext {
  int threads = 1;                                      ///< at most
  threadpool_interop::threadpool_iface *pool = nullptr; ///< null: oneTBB
  void *scratchpad = nullptr;                           ///< the caller's, with `threads` slots; null: buffers of the threads
  const int64_t *sizes = nullptr;                       ///< the executable's sizeCount() runtime sizes, none negative
};

/// On the pool that an embedder gives; without one, on the default threads, or with `ownThreads` on the calling one alone.
ExecutionContext contextOn(threadpool_interop::threadpool_iface *pool, bool ownThreads);

/// Runs every step. `buffers` are in the order of the executable's arguments. `out_of_memory`: no scratch, outputs undefined.
Result<void> runSteps(const Executable &executable, void *const *buffers, const ExecutionContext &context);

} // namespace quern

#endif // QUERN_RUNTIME_CPU_EXECUTE_H
