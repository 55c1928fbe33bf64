//===- Integers.h - Exact arithmetic on integers --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Binary, sum and forward eltwise compute on integers, exactly and with one saturation at the end, if all tensors and
// factors are integers, the algorithm has integer results, and there are no scales, zero points, post-ops or dropout.
// Accumulation mode f32 selects oneDNN's f32 arithmetic instead.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_INTEGERS_H
#define QUERN_PRIMITIVES_INTEGERS_H

#include "Desc/PrimitiveDesc.h"

namespace quern {

/// Returns true if the verified problem is computed on integers.
bool computesOnIntegers(const PrimitiveDesc &verified);

/// Returns true if a problem is computed on integers unless the accumulation mode is f32.
bool mayComputeOnIntegers(const PrimitiveDesc &verified);

} // namespace quern

#endif // QUERN_PRIMITIVES_INTEGERS_H
