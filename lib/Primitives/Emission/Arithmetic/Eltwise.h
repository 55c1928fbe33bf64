//===- Eltwise.h - Elementwise functions on scalars -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Scalar arithmetic of the eltwise primitive, of eltwise post-ops and of activations, in elementwise operations of the
// arith and math dialects, so that a recipe vectorizes a body by cloning it. Every function is accurate to 4 ulp over
// its whole range, denormal results included. NaN propagates; a product such as -inf * 0 in a function's formula gives
// NaN.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_ARITHMETIC_ELTWISE_H
#define QUERN_PRIMITIVES_EMISSION_ARITHMETIC_ELTWISE_H

#include "Desc/Types.h"

#include "mlir/IR/Builders.h"

namespace quern {

/// Emits f(x) for `alg` in eltwise_relu … eltwise_clip_v2_use_dst_for_bwd (the *_use_dst_for_bwd variants have the same
/// forward function), including constants, at the builder's insertion point. `x` and the result are f32 or f64. Returns
/// null if `alg` is not an eltwise algorithm.
mlir::Value emitEltwise(mlir::OpBuilder &builder, mlir::Location loc, Alg alg, float alpha, float beta, mlir::Value x);

} // namespace quern

#endif // QUERN_PRIMITIVES_EMISSION_ARITHMETIC_ELTWISE_H
