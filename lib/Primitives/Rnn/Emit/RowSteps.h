//===- RowSteps.h - Steps over rows that are no cells -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What forward and backward have in common: copies of rows, and how many steps each sequence has left.
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

  /// An element for each sequence, `vector.row` apart.
  void addVector(Bindings &bindings, llvm::StringRef name, const Rows &vector) const;
  /// What each sequence has left at time t, itself included.
  Rows remainingAt(mlir::AffineExpr t) const;
  /// Prepares that for all of time.
  void emitRemaining() const;

  /// One elementwise op over rows. `body` gets the elements of `from`, then those of "remaining" at time `aliveAt`, if
  /// that is given, and last what is overwritten.
  using Body = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;
  void emitCopy(llvm::StringRef kind, llvm::ArrayRef<Rows> from, const Rows &to, Body body,
                mlir::AffineExpr aliveAt = {}, bool beside = false) const;

private:
  const RnnDesc &rnn;
  const Shape &s;
  emission::Program &program;
  States &states;
};

mlir::Value zeroOf(mlir::OpBuilder &builder, mlir::Location loc, DataType type);

/// Bodies of copies: the first element; of a sequence that has a step left the first, else the second or zero.
mlir::Value first(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange in);
mlir::Value firstIfAlive(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange in);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_EMIT_ROW_STEPS_H
