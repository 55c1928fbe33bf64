//===- Process.h - Compiling in separate processes ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// With QUERN_COMPILER=process, this process does not load the compiler; quern-compiler-process does, with limits of
// time and memory (QUERN_COMPILER_SECONDS, QUERN_COMPILER_MIB). A crash there is an error of one call. Processes are
// started on demand, at most one per processor of the machine. They are reused by later calls, and exit with this
// process. The child of a fork starts its own.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_COMPILATION_PROCESS_H
#define QUERN_RUNTIME_COMPILATION_PROCESS_H

#include "Compilation/Messages.h"
#include "Support/Error.h"

#include <string>
#include <string_view>

namespace quern {

class CompilerProcess {
public:
  /// See Compiler::answer(). Also fails with `internal_error` if the process crashed on the problem or exceeded
  /// the time limit, with `out_of_memory` if it exceeded the memory limit, with `runtime_error` if it cannot be
  /// started, and with `invalid_arguments` if a limit is not a number.
  static Result<std::string> answer(const CompilerRequest &request, std::string *stageTimes);

  /// During its lifetime, requests of this thread may be aborted.
  class Interruptible {
  public:
    Interruptible();
    ~Interruptible();
    Interruptible(const Interruptible &) = delete;
    Interruptible &operator=(const Interruptible &) = delete;
  };
  /// Aborts the requests of all Interruptible threads, which then fail.
  static void interrupt();
};

} // namespace quern

#endif // QUERN_RUNTIME_COMPILATION_PROCESS_H
