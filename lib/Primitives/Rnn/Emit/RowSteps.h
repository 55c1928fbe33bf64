//===- RowSteps.h - Steps over rows that are not cells --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Steps shared by forward and backward: copies of rows, and the number of steps that each sequence has left.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_EMIT_ROW_STEPS_H
#define QUERN_PRIMITIVES_RNN_EMIT_ROW_STEPS_H

#include "Primitives/Rnn/Emit/States.h"

namespace quern::rnn {

class RowSteps {
public:
  using Bindings = llvm::SmallVector<emission::Binding, 16>;

  RowSteps(const CellContext &context, emission::Program &program, States &states)
      : context(context), rnn(context.rnn), program(program), states(states) {}

  /// Binds one element for each sequence, with stride `vector.row`.
  void addVector(Bindings &bindings, llvm::StringRef name, const Rows &vector) const;
  /// Binds "attention" and "remaining" at time `t`, if the problem has them.
  void addPerSequence(Bindings &bindings, mlir::AffineExpr t) const;
  /// Returns the memory of the number of steps that each sequence has left at time t, including t.
  Rows remainingAt(mlir::AffineExpr t) const;
  /// Emits the steps that compute remainingAt() for all time steps.
  void emitRemaining() const;

  /// Emits one elementwise op over rows. `body` receives the elements of `from`, then "remaining" at time `aliveAt` if
  /// given, and last the old element of `to`.
  void emitCopy(llvm::StringRef kind, llvm::ArrayRef<Rows> from, const Rows &to, ElementBody body,
                mlir::AffineExpr aliveAt = {}, bool independent = false) const;
  /// Emits a copy of the states at the start of a layer and direction, converted to the type of `to`. `tensor`, the
  /// problem's src_iter or src_iter_c, may be absent: the states are zero then.
  void emitStart(llvm::StringRef name, const TensorDesc &tensor, int64_t layer, int64_t direction, const Rows &to,
                 bool independent) const;

private:
  const CellContext &context;
  const RnnDesc &rnn;
  emission::Program &program;
  States &states;
};

mlir::Value zeroOf(mlir::OpBuilder &builder, mlir::Location loc, DataType type);

/// Bodies of copies: the first element; the first element if the sequence has a step left, else the second or zero.
mlir::Value first(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange in);
mlir::Value firstIfAlive(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange in);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_EMIT_ROW_STEPS_H
