//===- Integers.h - Problems that are computed exactly on integers --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Binary, sum and eltwise compute on integers, exactly and with one saturation at the end, if no float takes part:
// neither a tensor nor a scale, a post-op, dropout or a factor that is not an integer. Accumulation mode f32 selects
// oneDNN's arithmetic in f32 instead.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_INTEGERS_H
#define QUERN_PRIMITIVES_INTEGERS_H

#include "Desc/PrimitiveDesc.h"

namespace quern {

/// Returns true if the values of the problem, which is verified, are computed on integers.
bool computesOnIntegers(const PrimitiveDesc &verified);

/// Returns true if a problem without floats would be, in another accumulation mode than f32.
bool mayComputeOnIntegers(const PrimitiveDesc &verified);

} // namespace quern

#endif // QUERN_PRIMITIVES_INTEGERS_H
