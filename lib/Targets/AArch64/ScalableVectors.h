//===- ScalableVectors.h - What LLVM does better with scalable vectors ---===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_AARCH64_SCALABLEVECTORS_H
#define QUERN_TARGETS_AARCH64_SCALABLEVECTORS_H

#include "llvm/IR/Function.h"

namespace quern {

/// Rewrites choices by comparisons, shuffles, loads that widen and stores that narrow of whole registers of SVE, which
/// are `granules` times 128 bits long, from vectors of fixed length to scalable ones. The results are the same.
void useScalableVectors(llvm::Function &function, unsigned granules);

} // namespace quern

#endif // QUERN_TARGETS_AARCH64_SCALABLEVECTORS_H
