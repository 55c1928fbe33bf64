//===- Binary.h - The binary algorithms as arithmetic on scalars ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the binary primitive and a post-op of kind binary do to two elements. The operations are
// arith's, all of them elementwise.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_ARITHMETIC_BINARY_H
#define QUERN_PRIMITIVES_EMISSION_ARITHMETIC_BINARY_H

#include "Desc/Types.h"

#include "mlir/IR/Builders.h"

namespace quern::emission {

/// `x alg y` for `alg` in binary_add … binary_select, of x's type, f32 or f64. max and min are one compare and
/// select, `x > y ? x : y`, so that y comes out where either is NaN. Comparisons give 1 or 0, with NaN as IEEE 754
/// compares. select gives x where `condition` (of the same type; NaN counts as set) is not 0, else y; other
/// algorithms take no condition.
mlir::Value emitBinary(mlir::OpBuilder &builder, mlir::Location loc, Alg alg, mlir::Value x, mlir::Value y,
                       mlir::Value condition = {});

} // namespace quern::emission

#endif // QUERN_PRIMITIVES_EMISSION_ARITHMETIC_BINARY_H
