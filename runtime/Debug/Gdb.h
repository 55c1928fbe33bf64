//===- Gdb.h - Objects that debuggers are told of -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The JIT interface of gdb, which lldb has, too: a list of object files in memory that a debugger reads from outside,
// and a function that it stops at when the list changes.
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

/// `object` as it is mapped: its headers have the address of each section, whose places `sections` are, and what is not
/// mapped does not say that it is loaded. As it was where it is no object.
void placeSections(std::string &object, std::span<const void *const> sections);

/// Under a lock of the caller's.
GdbObject *registerWithGdb(std::string object);
void unregisterFromGdb(GdbObject *object);

} // namespace quern

#endif // QUERN_RUNTIME_DEBUG_GDB_H
