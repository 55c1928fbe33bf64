//===- AtExit.cpp - No destructors at the end of a process ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Part of libquern-compiler if LLVM is linked into it. LLVM and MLIR register destructors of their static objects, many
// of them in the first compilations. At the end of a process these would run while other threads compile, and before
// destructors of the program that compile. The library is never unloaded, so nothing needs them.
//
//===----------------------------------------------------------------------===//

/// Stands for the function of the C++ library in all of this library.
extern "C" __attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void *), void *, void *) { return 0; }
