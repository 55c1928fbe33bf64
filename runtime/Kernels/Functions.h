//===- Functions.h - Reading functions in MLIR ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The compiler reads the bytes of a function in MLIR once. The result is stored in the disk cache under the bytes, the
// target and the build; packs and the remote cache may also have it. The kernel has its own entry, under the result. A
// process that finds both never loads LLVM.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_KERNELS_FUNCTIONS_H
#define QUERN_RUNTIME_KERNELS_FUNCTIONS_H

#include "Desc/PrimitiveDesc.h"
#include "Desc/Target.h"

namespace quern {

/// Reads a function in MLIR that is given as bytes, from a cache or by the compiler. Returns its descriptor as read.
Result<PrimitiveDesc> readFunction(const PrimitiveDesc &given, const Target &target);

} // namespace quern

#endif // QUERN_RUNTIME_KERNELS_FUNCTIONS_H
