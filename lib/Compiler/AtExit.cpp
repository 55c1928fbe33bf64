//===- AtExit.cpp - No destructors at the end of a process ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Part of libquern-compiler if LLVM is linked into it. LLVM and MLIR register destructors of their static objects, many
// of them during the first compilations. At the end of a process these would run while other threads compile, and
// before the program's destructors, which may compile. The library is never unloaded, so they are not needed.
//
//===----------------------------------------------------------------------===//

/// Replaces the C++ library's function for all of this library.
extern "C" __attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void *), void *, void *) { return 0; }
