//===- Quantization.h - Emission of scales and zero points ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A scale or zero point for the whole tensor is a scalar that is loaded before the op that uses it. Any other is
// another operand of that op; its map has only the masked dims.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_ATTRIBUTES_QUANTIZATION_H
#define QUERN_PRIMITIVES_EMISSION_ATTRIBUTES_QUANTIZATION_H

#include "Primitives/Emission/Function.h"

namespace quern::emission {

class Quantization {
public:
  /// Creates an absent scale or zero point.
  Quantization() = default;
  /// Reads the entry of `params` for argument `tensor`, whose values are argument `vector`, for an op over `space`;
  /// absent if there is no entry. A scalar is loaded at the builder's insertion point; a vector is appended to
  /// `inputs`.
  Quantization(FunctionEmitter &function, const std::map<int32_t, QuantParams> &params, int32_t tensor, int32_t vector,
               llvm::ArrayRef<int64_t> space, mlir::FloatType compute, llvm::SmallVectorImpl<Operand> &inputs);

  /// Returns the value in the compute type; `elements` are the elements of all `inputs`. Null if absent.
  mlir::Value read(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange elements) const;
  explicit operator bool() const { return scalar || input >= 0; }

private:
  mlir::Value scalar;
  int input = -1;
  DataType type = DataType::Undef;
  mlir::FloatType compute;
};

} // namespace quern::emission

#endif // QUERN_PRIMITIVES_EMISSION_ATTRIBUTES_QUANTIZATION_H
