//===- EltwiseDerivative.h - Derivatives of the eltwise functions ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Gradients of the functions in Eltwise.h, with the same kind of arithmetic. Where terms cancel, the error is relative
// to the terms; everything else is accurate to a few ulp. Denormal derivatives are rounded as denormals.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_ARITHMETIC_ELTWISEDERIVATIVE_H
#define QUERN_PRIMITIVES_EMISSION_ARITHMETIC_ELTWISEDERIVATIVE_H

#include "Desc/Types.h"

#include "mlir/IR/Builders.h"

namespace quern {

/// Emits gradient · f'(x) at the builder's insertion point. For the *_use_dst_for_bwd algorithms `x` is f's result.
/// `x`, `gradient` and the result are all f32 or all f64. Returns null for round and if `alg` is not an eltwise
/// algorithm.
mlir::Value emitEltwiseBackward(mlir::OpBuilder &builder, mlir::Location loc, Alg alg, float alpha, float beta,
                                mlir::Value x, mlir::Value gradient);

} // namespace quern

#endif // QUERN_PRIMITIVES_EMISSION_ARITHMETIC_ELTWISEDERIVATIVE_H
