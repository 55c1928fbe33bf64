//===- SeparateGates.h - Products of single gates, for open widths --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// With open widths, gates cannot be a dim of a matrix: each gate is a separate product with the weights in place. The
// products with x are computed for all time steps at once. Weights may be packed as `any` packs them, with separate
// panels for each gate. Sums then include the panels' padding. There is one layer and one direction.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_EMIT_SEPARATEGATES_H
#define QUERN_PRIMITIVES_RNN_EMIT_SEPARATEGATES_H

#include "Primitives/Rnn/Emit/RowSteps.h"

namespace quern::rnn {

class SeparateGates {
public:
  using Bindings = RowSteps::Bindings;

  SeparateGates(const RnnDesc &rnn, const Shape &shape, emission::Program &program, States &states);

  /// Emits the products of x, in the rows of inputFactorsAt(), with the weights of every gate.
  void emitInputs();
  /// Emits the products of a state with the weights of gates `first` to `end`.
  void emitIter(const Rows &state, int64_t first, int64_t end);
  /// Binds the products of gates `first` to `end` at time `t`, and the rows of bias that these gates add.
  void bindGates(int64_t first, int64_t end, mlir::AffineExpr t, Bindings &bindings);
  /// Binds rows `first` to `end` of the peepholes, if there are any.
  void bindPeepholes(int64_t first, int64_t end, Bindings &bindings) const;

private:
  /// weights_layer or weights_iter. A panel has `block` columns; a group has `kPack` rows, 1 in plain weights.
  struct Matrix {
    std::string name;
    const TensorDesc &desc;
    int64_t block, kPack;
    Extent panels, groups, inputs;
    Extent width; ///< columns of all panels, padding included
  };
  Matrix read(llvm::StringRef name, const TensorDesc &desc) const;
  emission::Binding bindMatrix(const Matrix &matrix, int64_t gate) const;
  /// Returns the memory of the products of one gate; its rows are `pitch` elements apart.
  Rows planeOf(llvm::StringRef name, int64_t gate, Extent count, Extent pitch);
  void emitProduct(Rows to, Rows x, const Matrix &matrix, int64_t gate, bool independent);
  void bindRow(llvm::StringRef name, llvm::StringRef tensor, const TensorDesc &desc, int64_t row,
               Bindings &bindings) const;

  const RnnDesc &rnn;
  const Shape &s;
  emission::Program &program;
  States &states;
  const Extent allRows; ///< T N
  const Matrix layer, iter;
};

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_EMIT_SEPARATEGATES_H
