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

  RowSteps(const RnnDesc &rnn, const Shape &shape, emission::Program &program, States &states)
      : rnn(rnn), s(shape), program(program), states(states) {}

  /// Binds one element for each sequence, with stride `vector.row`.
  void addVector(Bindings &bindings, llvm::StringRef name, const Rows &vector) const;
  /// Number of steps that each sequence has left at time t, including t.
  Rows remainingAt(mlir::AffineExpr t) const;
  /// Emits the steps that compute remainingAt() for all time steps.
  void emitRemaining() const;

  /// Emits one elementwise op over rows. `body` receives the elements of `from`, then "remaining" at time `aliveAt` if
  /// given, and last the old element of `to`.
  using Body = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;
  void emitCopy(llvm::StringRef kind, llvm::ArrayRef<Rows> from, const Rows &to, Body body,
                mlir::AffineExpr aliveAt = {}, bool independent = false) const;

private:
  const RnnDesc &rnn;
  const Shape &s;
  emission::Program &program;
  States &states;
};

mlir::Value zeroOf(mlir::OpBuilder &builder, mlir::Location loc, DataType type);

/// Bodies of copies: the first element; the first element if the sequence has a step left, else the second or zero.
mlir::Value first(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange in);
mlir::Value firstIfAlive(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange in);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_EMIT_ROW_STEPS_H
