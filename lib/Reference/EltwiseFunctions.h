//===- EltwiseFunctions.h - Derivatives of the eltwise functions ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Backward formulas of the eltwise algorithms as oneDNN 3.x defines them; see docs/primitives/eltwise.md. The functions
// themselves are in Attributes/PostOps.h. Derivatives have jumps and zeros, so each value comes with the data for its
// tolerance.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_REFERENCE_ELTWISEFUNCTIONS_H
#define QUERN_REFERENCE_ELTWISEFUNCTIONS_H

#include "Desc/Types.h"

namespace quern {

struct Derivative {
  long double value = 0;
  /// Σ |terms| of the formula, to which errors are relative if the terms cancel; at least |value|.
  long double magnitude = 0;
  /// Value on the other side of a jump that rounding of αx + β may reach; otherwise `value`.
  long double other = 0;
  /// True if the result is 0 whatever the gradient is, even for NaN.
  bool isBlocked = false;
  bool isJump = false; ///< true if rounding may put αx + β on either side of a jump
};

/// Returns f'(x), where f is eltwise(). For the *_use_dst_for_bwd algorithms, `x` is f's result. `epsilon` is the
/// epsilon of the arithmetic under test. NaN for round, which has no derivative.
Derivative eltwiseDerivative(Alg alg, float alpha, float beta, long double x, long double epsilon);

} // namespace quern

#endif // QUERN_REFERENCE_ELTWISEFUNCTIONS_H
