//===- EltwiseDerivative.h - Derivatives of the eltwise functions ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Backward of the functions in Eltwise.h, in the same arithmetic. What cancels is accurate relative to its terms,
// everything else to a few units of the last place; a derivative below the least normal number is rounded as one.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_ARITHMETIC_ELTWISEDERIVATIVE_H
#define QUERN_PRIMITIVES_EMISSION_ARITHMETIC_ELTWISEDERIVATIVE_H

#include "Desc/Types.h"

#include "mlir/IR/Builders.h"

namespace quern {

/// gradient · f'(x), at the builder's insertion point. For the *_use_dst_for_bwd algorithms `x` is f's result. `x` and
/// `gradient` are both f32 or f64; the result has their type. Null for round and for what is no eltwise algorithm.
mlir::Value emitEltwiseBackward(mlir::OpBuilder &builder, mlir::Location loc, Alg alg, float alpha, float beta,
                                mlir::Value x, mlir::Value gradient);

} // namespace quern

#endif // QUERN_PRIMITIVES_EMISSION_ARITHMETIC_ELTWISEDERIVATIVE_H
