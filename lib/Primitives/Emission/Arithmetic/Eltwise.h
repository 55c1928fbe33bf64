//===- Eltwise.h - Elementwise functions as arithmetic on scalars ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What a post-op of kind eltwise, or an activation, does to one element. The operations are arith's and math's, all of
// them elementwise, so that a recipe vectorises a body by cloning it. Every function is accurate to 4 units of the last
// place over its whole range, denormal results included; NaN passes, and a product such as -inf * 0 in a function's
// formula is NaN as the formula says.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_ARITHMETIC_ELTWISE_H
#define QUERN_PRIMITIVES_EMISSION_ARITHMETIC_ELTWISE_H

#include "Desc/Types.h"

#include "mlir/IR/Builders.h"

namespace quern {

/// f(x) for `alg` in eltwise_relu … eltwise_clip_v2_use_dst_for_bwd (the latter group computes the same forward),
/// at the builder's insertion point, constants included. `x` is an f32 or f64; the result has its type. Null if
/// `alg` is no eltwise algorithm.
mlir::Value emitEltwise(mlir::OpBuilder &builder, mlir::Location loc, Alg alg, float alpha, float beta, mlir::Value x);

} // namespace quern

#endif // QUERN_PRIMITIVES_EMISSION_ARITHMETIC_ELTWISE_H
