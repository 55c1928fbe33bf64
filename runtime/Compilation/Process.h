//===- Process.h - Compiling in other processes --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// With QUERN_COMPILER=process this process opens no compiler: quern-compiler-process does, under limits of time and
// memory (QUERN_COMPILER_SECONDS, QUERN_COMPILER_MIB). Whatever happens to it is an error of one call. Processes are
// started when they are needed, as many as calls at a time but no more than the machine has processors, serve any
// number of calls one after the other, and end when this process does. A child of a fork starts its own.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_COMPILATION_PROCESS_H
#define QUERN_RUNTIME_COMPILATION_PROCESS_H

#include "Support/Error.h"

#include <string>
#include <string_view>

namespace quern {

class CompilerProcess {
public:
  /// As Compiler's. `internal_error`: the process crashed on the problem or took longer than the
  /// limit; `out_of_memory`: than that of memory; `runtime_error`: it cannot be started;
  /// `invalid_arguments`: a limit is no number.
  static Result<std::string> compile(std::string_view descriptor, const std::string &target, int form,
                                     std::string *stageTimes, const std::string &source = "");
  static Result<std::string> explain(std::string_view descriptor, const std::string &target);
  static Result<std::string> read(std::string_view descriptor, const std::string &target);

  /// While it lives, what this thread asks for may be cut short.
  class Interruptible {
  public:
    Interruptible();
    ~Interruptible();
    Interruptible(const Interruptible &) = delete;
    Interruptible &operator=(const Interruptible &) = delete;
  };
  /// Cuts short what an Interruptible thread has under way: its call fails. Nothing if there is none.
  static void interrupt();
};

} // namespace quern

#endif // QUERN_RUNTIME_COMPILATION_PROCESS_H
