//===- Gdb.h - Registering objects with debuggers -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Implements the JIT interface of gdb, which lldb also supports: a list of object files in memory, which the debugger
// reads, and a function that is called when the list changes, where the debugger sets a breakpoint.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_DEBUG_GDB_H
#define QUERN_RUNTIME_DEBUG_GDB_H

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace quern {

class GdbObject;

/// Sets the address of each mapped section in the object's headers (`sections`), and clears SHF_ALLOC for sections that
/// are not mapped. Leaves invalid objects unchanged.
void placeSections(std::string &object, std::span<const void *const> sections);

/// Register an object with GDB's JIT interface, and remove it. The caller of either function must hold a lock.
GdbObject *registerWithGdb(std::string object);
void unregisterFromGdb(GdbObject *object);

} // namespace quern

#endif // QUERN_RUNTIME_DEBUG_GDB_H
