//===- Convert.h - Elements to the compute type and back ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// On scalars, inside bodies of linalg ops and before them.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_ARITHMETIC_CONVERT_H
#define QUERN_PRIMITIVES_EMISSION_ARITHMETIC_CONVERT_H

#include "Desc/Types.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace quern::emission {

/// An element of type `from` in the compute type, f32 or f64: exact but for s32 and f64 to f32.
mlir::Value widened(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value element, DataType from,
                    mlir::FloatType compute);

/// A value of a compute type as an element of type `to`, rounded to nearest even. Integers saturate and take
/// NaN as 0; f4_e2m1 saturates; what is beyond f8_e4m3, infinity included, is NaN; e8m0 is the power of two
/// at or below the magnitude.
mlir::Value narrowed(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, DataType to);

/// A value of f32 as a float of type `to`, or itself, for products that are free to round it:
/// denormals may become zero.
mlir::Value roundedFactor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, DataType to);

/// An element of type `from` as one of type `to`: its bits if the types are the same, between integers their
/// saturation, else by way of the compute type.
mlir::Value converted(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value element, DataType from, DataType to,
                      mlir::FloatType compute);

} // namespace quern::emission

#endif // QUERN_PRIMITIVES_EMISSION_ARITHMETIC_CONVERT_H
