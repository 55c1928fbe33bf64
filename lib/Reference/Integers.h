//===- Integers.h - References that compute on integers -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// For problems that are computed on integers (Primitives/Integers.h). All intermediate values fit an int64_t, so the
// only saturation is in the last step.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_INTEGERS_H
#define QUERN_REFERENCE_INTEGERS_H

#include "Reference/Reference.h"

namespace quern {

/// Returns the elements of a tensor of s32, s8 or u8, row-major.
std::vector<int64_t> gatherIntegers(const TensorDesc &desc, const void *buffer);

/// Returns `x alg y` for a binary algorithm except div. `isSet` is the condition of a select.
int64_t integerBinary(Alg alg, int64_t x, int64_t y, bool isSet);

/// Returns f(x) for the eltwise algorithms of computesOnIntegers().
int64_t integerEltwise(Alg alg, float alpha, float beta, int64_t x);

/// Sets the expected result of `out` to exactly these values, saturated to the type of its tensor.
void setIntegers(const std::vector<int64_t> &values, ReferenceOutput &out);

} // namespace quern

#endif // QUERN_REFERENCE_INTEGERS_H
