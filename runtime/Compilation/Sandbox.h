//===- Sandbox.h - Limits of the compiler process -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// quern-compiler-process reads modules that may attack the compiler, so it drops the rights that it does not need.
// Before the compiler is loaded: new privileges, writing files and most descriptors. Afterwards: all system calls
// except those for memory, threads, clocks and its descriptors. The parent still runs the code that it returns.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_COMPILATION_SANDBOX_H
#define QUERN_RUNTIME_COMPILATION_SANDBOX_H

#include <cstdint>

namespace quern {

/// Sets limits for the whole process: address space of `memoryMib` MiB (0: no limit), no core file, no file that grows,
/// at most 16 descriptors, no privileges through exec, and no ptrace by other processes of the user.
void limitProcess(uint64_t memoryMib);

/// Terminates the process with SIGXCPU after `seconds` more of processor time.
void limitProcessorTime(uint64_t seconds);

/// Forbids every system call that compiling does not need, in all threads; a forbidden call fails with EPERM. From then
/// on, the process cannot open files or sockets, start programs, signal other processes or make pages executable.
/// Returns false if the kernel does not support filters.
bool forbidSystemCalls();

} // namespace quern

#endif // QUERN_RUNTIME_COMPILATION_SANDBOX_H
