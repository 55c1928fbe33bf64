//===- Wanted.h - Requested debuggers and profilers -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// QUERN_DEBUG is a list separated by commas: `gdb` registers kernels with debuggers, and `perf` writes a map and a
// jitdump. It is read when the first kernel is loaded.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_DEBUG_WANTED_H
#define QUERN_RUNTIME_DEBUG_WANTED_H

namespace quern {

struct DebugWanted {
  bool forGdb = false, forPerf = false;
  bool any() const { return forGdb || forPerf; }
};

const DebugWanted &debugWanted();

} // namespace quern

#endif // QUERN_RUNTIME_DEBUG_WANTED_H
