//===- Convert.h - Conversion between element and compute types -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Conversions of scalars, for use inside and outside of bodies of linalg ops.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_ARITHMETIC_CONVERT_H
#define QUERN_PRIMITIVES_EMISSION_ARITHMETIC_CONVERT_H

#include "Desc/Types.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace quern::emission {

/// Converts an element of type `from` to the compute type, f32 or f64. Exact except for s32 and f64 to f32.
mlir::Value widened(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value element, DataType from,
                    mlir::FloatType compute);

/// Converts a value of a compute type to an element of type `to`, rounding to nearest even. Integers saturate and NaN
/// becomes 0; f4_e2m1 saturates; values beyond the range of f8_e4m3, including infinity, become NaN; e8m0 becomes the
/// largest power of two not above the magnitude.
mlir::Value narrowed(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, DataType to);

/// Rounds an f32 to float type `to`, or returns it if `to` is f32. For factors of products that may be rounded:
/// denormals may become zero.
mlir::Value roundedFactor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, DataType to);

/// Converts an element of type `from` to type `to`: bit for bit if the types are equal, with saturation between
/// integers, otherwise through the compute type.
mlir::Value converted(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value element, DataType from, DataType to,
                      mlir::FloatType compute);

} // namespace quern::emission

#endif // QUERN_PRIMITIVES_EMISSION_ARITHMETIC_CONVERT_H
