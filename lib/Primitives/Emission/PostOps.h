//===- PostOps.h - Post-ops in the last body of a chain -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Post-ops are arithmetic on the result before it is stored. What a binary one reads is an operand more of the op that stores; a scale or a
// zero point that is one for the whole tensor is loaded before the chain.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_POSTOPS_H
#define QUERN_PRIMITIVES_EMISSION_POSTOPS_H

#include "Primitives/Emission/Function.h"

namespace quern::emission {

class PostOps {
public:
  /// Of the problem that `function` builds, whose result has this space. Loads scalars where the builder stands.
  PostOps(FunctionEmitter &function, llvm::ArrayRef<int64_t> space, mlir::FloatType compute);

  bool empty() const { return steps.empty(); }
  /// The operands to append to the inputs of the op that stores.
  llvm::ArrayRef<Operand> operands() const { return inputs; }
  /// Applies all of them in order to a value of the compute type; `elements` are those of `operands()`.
  mlir::Value apply(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::ValueRange elements) const;

private:
  /// A scale or zero point: absent, a scalar, or an operand.
  struct Quant {
    mlir::Value scalar;
    int input = -1;
    DataType type = DataType::Undef;
  };
  struct Step {
    const PostOp *op = nullptr;
    int src1 = -1, src2 = -1; ///< in `inputs`
    Quant scale, zeroPoint;
  };

  int addInput(Operand operand);
  Quant addQuant(const std::map<int32_t, QuantParams> &params, int32_t tensor, int32_t vector);
  Step makeBinary(const PostOp &op, size_t position);

  FunctionEmitter &function;
  llvm::ArrayRef<int64_t> space;
  mlir::FloatType compute;
  llvm::SmallVector<Operand> inputs;
  llvm::SmallVector<Step, 4> steps;
};

} // namespace quern::emission

#endif // QUERN_PRIMITIVES_EMISSION_POSTOPS_H
