//===- Polynomials.h - Affine maps as sums of products --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_IR_POLYNOMIALS_H
#define QUERN_IR_POLYNOMIALS_H

#include "Artifact/Program.h"

#include "mlir/IR/AffineExpr.h"

namespace quern {

/// The polynomial that an expression is: dims are indices of `depth` loops around, symbols sizes of an execution.
/// `whyNot` says what the expression has that none has, as "divides".
mlir::FailureOr<Polynomial> polynomialOf(mlir::AffineExpr expression, unsigned depth, std::string &whyNot);

/// Its value for these indices and sizes; nothing if it depends on more or is beyond int64.
std::optional<int64_t> valueOf(const Polynomial &polynomial, llvm::ArrayRef<int64_t> indices,
                               llvm::ArrayRef<int64_t> sizes);

} // namespace quern

#endif // QUERN_IR_POLYNOMIALS_H
