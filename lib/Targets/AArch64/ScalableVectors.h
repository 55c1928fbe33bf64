//===- ScalableVectors.h - Conversion to scalable vectors -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_AARCH64_SCALABLEVECTORS_H
#define QUERN_TARGETS_AARCH64_SCALABLEVECTORS_H

#include "llvm/IR/Function.h"

namespace quern {

/// Rewrites selects by comparisons, shuffles, widening loads and narrowing stores of whole SVE registers, which have
/// `granules` times 128 bits, from fixed-length to scalable vectors. The results are the same.
void useScalableVectors(llvm::Function &function, unsigned granules);

} // namespace quern

#endif // QUERN_TARGETS_AARCH64_SCALABLEVECTORS_H
