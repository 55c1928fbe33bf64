//===- Polynomials.h - Affine expressions as sums of products -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_IR_POLYNOMIALS_H
#define QUERN_IR_POLYNOMIALS_H

#include "Artifact/Program.h"

#include "mlir/IR/AffineExpr.h"

namespace quern {

/// Returns the polynomial of an expression, in which dims are the indices of `depth` surrounding loops and symbols are
/// sizes of an execution. Fails with a reason in `whyNot`, such as "divides", if the expression is not a polynomial.
mlir::FailureOr<Polynomial> polynomialOf(mlir::AffineExpr expression, unsigned depth, std::string &whyNot);

/// Returns the value for these loop indices and sizes. Missing indices count as 0. Returns nothing if the polynomial
/// depends on a missing size or if its value exceeds int64.
std::optional<int64_t> valueOf(const Polynomial &polynomial, llvm::ArrayRef<int64_t> indices,
                               llvm::ArrayRef<int64_t> sizes);

} // namespace quern

#endif // QUERN_IR_POLYNOMIALS_H
