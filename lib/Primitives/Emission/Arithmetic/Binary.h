//===- Binary.h - Binary algorithms on scalars ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Scalar arithmetic of the binary primitive and of binary post-ops, as elementwise operations of the arith dialect.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_ARITHMETIC_BINARY_H
#define QUERN_PRIMITIVES_EMISSION_ARITHMETIC_BINARY_H

#include "Desc/Types.h"

#include "mlir/IR/Builders.h"

namespace quern::emission {

/// Emits `x alg y` for `alg` in binary_add … binary_select; f32 or f64, like x. max and min are a compare and a select,
/// `x > y ? x : y`, so the result is y if either is NaN. Comparisons give 1 or 0 and treat NaN as IEEE 754 does. select
/// gives x if `condition` (same type; NaN counts as nonzero) is not 0, else y; the other algorithms have no condition.
mlir::Value emitBinary(mlir::OpBuilder &builder, mlir::Location loc, Alg alg, mlir::Value x, mlir::Value y,
                       mlir::Value condition = {});

} // namespace quern::emission

#endif // QUERN_PRIMITIVES_EMISSION_ARITHMETIC_BINARY_H
