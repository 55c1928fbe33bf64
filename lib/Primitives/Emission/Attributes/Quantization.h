//===- Quantization.h - Scales and zero points in bodies ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A scale or a zero point that is one for the whole tensor is a scalar, loaded before the op that needs it. Any other
// is an operand more of that op, whose map leaves out the dims without a value of their own.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_ATTRIBUTES_QUANTIZATION_H
#define QUERN_PRIMITIVES_EMISSION_ATTRIBUTES_QUANTIZATION_H

#include "Primitives/Emission/Function.h"

namespace quern::emission {

class Quantization {
public:
  /// Absent.
  Quantization() = default;
  /// What `params` has for argument `tensor`, given by argument `vector`, in an op over `space`; absent if there is
  /// nothing. A scalar is loaded where the function's builder stands, an operand appended to `inputs`.
  Quantization(FunctionEmitter &function, const std::map<int32_t, QuantParams> &params, int32_t tensor, int32_t vector,
               llvm::ArrayRef<int64_t> space, mlir::FloatType compute, llvm::SmallVectorImpl<Operand> &inputs);

  /// The value in the compute type, given the elements of all `inputs`; null if absent.
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
