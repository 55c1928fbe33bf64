//===- EltwiseFunctions.h - Derivatives of the eltwise functions ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The backward formulas of the eltwise algorithms as oneDNN 3.x defines them, to be read beside
// docs/primitives/eltwise.md; the functions themselves are in PostOpsReference.h. Derivatives jump and pass through
// zero, which is why a value comes with what it is judged by.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_ELTWISEFUNCTIONS_H
#define QUERN_REFERENCE_ELTWISEFUNCTIONS_H

#include "Desc/Types.h"

namespace quern {

struct Derivative {
  long double value = 0;
  /// Σ |terms| of the formula, which an error is relative to where the terms cancel; at least |value|.
  long double magnitude = 0;
  /// The other side of a jump, where rounding αx + β may lead to it; else `value`.
  long double other = 0;
  /// Nothing of the gradient passes, not even a NaN.
  bool isBlocked = false;
  bool isJump = false; ///< αx + β may be on either side of a jump
};

/// f'(x) of eltwise(); for the *_use_dst_for_bwd algorithms f' as a function of f(x), which `x` then is. `epsilon` is
/// that of the arithmetic that is judged. NaN for round, which has none.
Derivative eltwiseDerivative(Alg alg, float alpha, float beta, long double x, long double epsilon);

} // namespace quern

#endif // QUERN_REFERENCE_ELTWISEFUNCTIONS_H
