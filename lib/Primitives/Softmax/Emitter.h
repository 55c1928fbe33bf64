//===- Emitter.h - Base of the softmax emitters ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Shared by forward and backward. Emits one op per mathematical step, over the whole space (with the axis reduced or
// not) or over the rows, which are the space without the axis.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_SOFTMAX_EMITTER_H
#define QUERN_PRIMITIVES_SOFTMAX_EMITTER_H

#include "Primitives/Emission/Function.h"

namespace quern {

class SoftmaxEmitter {
protected:
  using Operand = emission::Operand;

  /// `shapeLike` is the index of the tensor that has the shape of the space.
  SoftmaxEmitter(mlir::ModuleOp module, const VerifiedProblem &problem, int32_t shapeLike);

  Operand tensor(int32_t index) { return function.tensor(index, space); }
  DataType typeOf(int32_t index) const { return function.descOf(index).dataType; }
  mlir::Value constant(double value) { return function.constant(compute, value); }
  /// Allocate an intermediate with one element for each element of the space, or for each row.
  Operand allocFull();
  Operand allocRows();

  /// Emits output[i] = body(inputs[i]) over the whole space.
  void elementwise(llvm::ArrayRef<Operand> inputs, Operand output, emission::Body body);
  /// Emits a reduction along the axis: the body combines its terms, from `start` on. Returns one value per row.
  Operand reduce(llvm::ArrayRef<Operand> inputs, mlir::Value start, emission::Body body);
  /// Emits an op over the rows, whose operands have one value per row. Returns one value per row.
  Operand perRow(llvm::ArrayRef<Operand> inputs, emission::Body body);
  /// Emits term + accumulator; the terms may be added in any order.
  mlir::Value accumulate(mlir::OpBuilder &b, mlir::Location at, mlir::Value term, mlir::Value accumulator,
                         mlir::arith::FastMathFlags more = mlir::arith::FastMathFlags::none);

  emission::FunctionEmitter function;
  const SoftmaxDesc &desc;
  mlir::FloatType compute; ///< f64 if any tensor is f64, else f32
  llvm::SmallVector<int64_t, 6> space, rows;

private:
  mlir::Value shape; ///< memref from whose dims open extents of the space are taken
  llvm::SmallVector<unsigned, 6> fullDims, rowDims;
  mlir::AffineMap rowsInSpace, rowIdentity;
};

// One function for each direction; each appends `@softmax`.
void emitSoftmaxForward(mlir::ModuleOp module, const VerifiedProblem &problem);
void emitSoftmaxBackward(mlir::ModuleOp module, const VerifiedProblem &problem);

} // namespace quern

#endif // QUERN_PRIMITIVES_SOFTMAX_EMITTER_H
