//===- MathExpansions.h - Expansions of math functions --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One source file for each family. Every function takes and returns values of math.type. NaN is propagated; infinities,
// zeros and denormal results are correct. The unit tests measure the errors over the whole range.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TRANSFORMS_MATH_MATHEXPANSIONS_H
#define QUERN_TRANSFORMS_MATH_MATHEXPANSIONS_H

#include "Transforms/Math/VectorMath.h"

namespace quern {

// ExpandExp.cpp. `nonpositive` promises an argument <= 0 or NaN.
/// Emits exp(x + low) with an error below one ULP. A null `low` is zero; |low| must be below 1e-5.
mlir::Value expandExp(VectorMath &math, mlir::Value x, mlir::Value low, bool nonpositive);
/// Emits exp(x) for f32 on AVX-512, in whole 512-bit registers. The error is below 2.5 ULP for |x| <= 12, and below 6
/// ULP at the ends of the range.
mlir::Value expandExpByTable(VectorMath &math, mlir::Value x, bool nonpositive);
mlir::Value expandExp2(VectorMath &math, mlir::Value x);
mlir::Value expandExpM1(VectorMath &math, mlir::Value x, bool nonpositive);
mlir::Value expandTanh(VectorMath &math, mlir::Value x);
/// Emits exp(x) for an f64 x that is NaN or has x / ln 2 in [-1000, 1000]. The relative error is 4.2e-9.
mlir::Value expandExpForF32(VectorMath &math, mlir::Value x);

// ExpandLog.cpp.
/// The parts of |x| = m·2^e with m in [√½, √2); e and m are arbitrary for zero, infinity and NaN.
struct MantissaExponent {
  mlir::Value m, e;
};
MantissaExponent splitFloat(VectorMath &math, mlir::Value x, bool mayBeDenormal);
mlir::Value expandLog(VectorMath &math, mlir::Value x);
mlir::Value expandLog2(VectorMath &math, mlir::Value x);
mlir::Value expandLog1p(VectorMath &math, mlir::Value x);
/// Emits log x for a normal positive f64 x, with an error below 2^-33.
mlir::Value expandLogForF32(VectorMath &math, mlir::Value x);

// ExpandErf.cpp.
mlir::Value expandErf(VectorMath &math, mlir::Value x);
mlir::Value expandErfc(VectorMath &math, mlir::Value x);

// ExpandPow.cpp.
mlir::Value expandPow(VectorMath &math, mlir::Value x, mlir::Value y);

} // namespace quern

#endif // QUERN_TRANSFORMS_MATH_MATHEXPANSIONS_H
