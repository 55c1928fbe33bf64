//===- PostOps.h - Emission of post-ops in the op that stores the result --===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Post-ops are arithmetic on the result before it is stored. The operand of a binary post-op becomes another operand of
// the op that stores; a sum reads the element that it overwrites.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_ATTRIBUTES_POSTOPS_H
#define QUERN_PRIMITIVES_EMISSION_ATTRIBUTES_POSTOPS_H

#include "Primitives/Emission/Attributes/Dropout.h"
#include "Primitives/Emission/Attributes/Quantization.h"

namespace quern::emission {

class PostOps {
public:
  /// `space` is the iteration space of the result of the problem that `function` builds. Loads scalars at the builder's
  /// insertion point.
  PostOps(FunctionEmitter &function, llvm::ArrayRef<int64_t> space, mlir::FloatType compute);

  /// Returns true if there are no post-ops; dropout is not counted.
  bool empty() const { return steps.empty(); }
  /// Returns the operands to append to the inputs of the op that stores the result.
  llvm::ArrayRef<Operand> operands() const { return inputs; }
  /// Applies dropout and then the post-ops, in order, to a value of the compute type. `elements` are the elements of
  /// `operands()`; `old` is the output's old element, of type `oldType`, which a sum needs.
  mlir::Value apply(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::ValueRange elements,
                    mlir::Value old = {}, DataType oldType = DataType::Undef) const;

private:
  struct Step {
    const PostOp *op = nullptr;
    int src1 = -1, src2 = -1; ///< positions in `inputs`
    Quantization scale, zeroPoint;
  };

  int addInput(Operand operand);
  Step makeBinary(const PostOp &op, size_t position);
  mlir::Value applyBinary(mlir::OpBuilder &builder, mlir::Location loc, const Step &step, mlir::Value value,
                          mlir::ValueRange elements) const;
  mlir::Value applySum(mlir::OpBuilder &builder, mlir::Location loc, const PostOp &sum, mlir::Value value,
                       mlir::Value old, DataType oldType) const;

  FunctionEmitter &function;
  llvm::ArrayRef<int64_t> space;
  mlir::FloatType compute;
  llvm::SmallVector<Operand> inputs;
  DropoutStep dropout;
  llvm::SmallVector<Step, 4> steps;
};

} // namespace quern::emission

#endif // QUERN_PRIMITIVES_EMISSION_ATTRIBUTES_POSTOPS_H
