//===- Emitter.h - What both directions of softmax share ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One op per mathematical step, over the whole space (the axis reduced or not) or over the rows, which are
// the space without the axis.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_SOFTMAX_EMITTER_H
#define QUERN_PRIMITIVES_SOFTMAX_EMITTER_H

#include "Primitives/Emission/Function.h"

namespace quern {

class SoftmaxEmitter {
protected:
  using Operand = emission::Operand;

  /// Of the tensors, `shapeLike` says the shape.
  SoftmaxEmitter(mlir::ModuleOp module, const VerifiedProblem &problem, int32_t shapeLike);

  Operand tensor(int32_t index) { return function.tensor(index, space); }
  DataType typeOf(int32_t index) const { return function.descOf(index).dataType; }
  mlir::Value constant(double value) { return function.constant(compute, value); }
  /// An intermediate with one element for each of the space's, or for each row's.
  Operand allocFull();
  Operand allocRows();

  /// output[i] = body(inputs[i]) over the whole space.
  void elementwise(llvm::ArrayRef<Operand> inputs, Operand output, emission::Body body);
  /// The body combines its terms along the axis, from `start` on. Returns a value for each row.
  Operand reduce(llvm::ArrayRef<Operand> inputs, mlir::Value start, emission::Body body);
  /// Over the rows; every operand is a value for each row. Returns another such.
  Operand perRow(llvm::ArrayRef<Operand> inputs, emission::Body body);
  /// term + accumulator, in any order of the terms.
  mlir::Value accumulate(mlir::OpBuilder &b, mlir::Location at, mlir::Value term, mlir::Value accumulator,
                         mlir::arith::FastMathFlags more = mlir::arith::FastMathFlags::none);

  emission::FunctionEmitter function;
  const SoftmaxDesc &desc;
  mlir::FloatType compute; ///< f64 if any tensor is f64, else f32
  llvm::SmallVector<int64_t, 6> space, rows;

private:
  mlir::Value shape; ///< the memref whose dims are the space's where these are given at execution
  llvm::SmallVector<unsigned, 6> fullDims, rowDims;
  mlir::AffineMap rowsInSpace, rowsAlone;
};

// One for each direction; each appends `@softmax`.
void emitSoftmaxForward(mlir::ModuleOp module, const VerifiedProblem &problem);
void emitSoftmaxBackward(mlir::ModuleOp module, const VerifiedProblem &problem);

} // namespace quern

#endif // QUERN_PRIMITIVES_SOFTMAX_EMITTER_H
