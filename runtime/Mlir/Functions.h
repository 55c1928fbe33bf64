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
#ifndef QUERN_RUNTIME_MLIR_FUNCTIONS_H
#define QUERN_RUNTIME_MLIR_FUNCTIONS_H

#include "Primitives/Registry.h"

namespace quern {

/// Like verify(), but first reads a function in MLIR that is given as bytes, from a cache or by the compiler.
Result<VerifiedProblem> readAndVerify(const PrimitiveDesc &desc, const Target &target,
                                      const PrimitiveDesc *forwardHint = nullptr);

} // namespace quern

#endif // QUERN_RUNTIME_MLIR_FUNCTIONS_H
