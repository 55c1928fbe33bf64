//===- Sandbox.h - Limits of the compiler's process -- --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// quern-compiler-process reads modules that may attack the compiler. It therefore gives up what it does not need:
// before the compiler is loaded new privileges, files to write and most descriptors, afterwards all system calls but
// those for memory, threads, clocks and the descriptors that it has. The parent still runs the code that it returns.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_COMPILATION_SANDBOX_H
#define QUERN_RUNTIME_COMPILATION_SANDBOX_H

#include <cstdint>

namespace quern {

/// Sets limits that hold for the whole process: address space of `memoryMib` (0: no limit), no core file, no file that
/// grows, at most 16 descriptors, no privileges by exec, and no other process of the user that reads or changes it.
void limitProcess(uint64_t memoryMib);

/// Ends the process by SIGXCPU after `seconds` of processor time from now.
void limitProcessorTime(uint64_t seconds);

/// Forbids all threads every system call that compiling does not need; a forbidden call fails with EPERM. Nothing opens
/// files or sockets, starts programs, signals other processes or makes pages executable from then on. False: the kernel
/// does not have filters.
bool forbidSystemCalls();

} // namespace quern

#endif // QUERN_RUNTIME_COMPILATION_SANDBOX_H
