//===- CompilerStack.h - A stack that is large enough to compile on -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Callers may have small stacks: threads of musl or of a JVM, threads with a custom size, fibers. LLVM and MLIR need
// several hundred KiB, and do not check the remaining size.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_COMPILATION_COMPILERSTACK_H
#define QUERN_RUNTIME_COMPILATION_COMPILERSTACK_H

#include "Support/Error.h"

#include <functional>

namespace quern {

/// Calls `work` in the default floating-point environment on a new thread, for which the caller waits. The thread has
/// the caller's affinity, priority, locale and blocked signals, and leaves the signals of the process to the other
/// threads. Rethrows exceptions of `work`. If no thread can be created, `work` runs on this one, unless its stack is
/// too small: then `runtime_error`, and `work` was not called. Thread-safe.
Result<void> onCompilerStack(const std::function<void()> &work);

} // namespace quern

#endif // QUERN_RUNTIME_COMPILATION_COMPILERSTACK_H
