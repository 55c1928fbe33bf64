//===- Functions.h - Functions of the caller's, as they were read ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Bytes of MLIR are read by a compiler, once: what it finds is kept on disk by the exact bytes, the target and the
// build, as kernels are by what it found. A pack may have them, too. So a process that finds both never loads LLVM.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_MLIR_FUNCTIONS_H
#define QUERN_RUNTIME_MLIR_FUNCTIONS_H

#include "Primitives/Registry.h"

namespace quern {

/// As verify(); a caller's function that is given as bytes is read before, from disk or by the compiler.
Result<VerifiedProblem> readAndVerify(const PrimitiveDesc &desc, const Target &target,
                                      const PrimitiveDesc *forwardHint = nullptr);

} // namespace quern

#endif // QUERN_RUNTIME_MLIR_FUNCTIONS_H
