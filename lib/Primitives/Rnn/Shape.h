//===- Shape.h - Sizes and kind of an RNN ---------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Values of the specification's symbols for one problem. Channel sizes are taken from the weights, which every problem
// has.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_SHAPE_H
#define QUERN_PRIMITIVES_RNN_SHAPE_H

#include "Desc/PrimitiveDesc.h"

namespace quern::rnn {

/// Sizes of a problem with weights of rank 5 and src_layer of rank 3.
struct Shape {
  int64_t steps = 0, batch = 0; ///< T and N; runtimeDim if known only at execution
  int64_t layers = 0, directions = 0;
  int64_t slc = 0, sic = 0, dhc = 0, dic = 0;
  int64_t gates = 0, biasGates = 0;

  static Shape of(const RnnDesc &rnn);
  /// Returns the number of channels of dst_layer.
  int64_t dlc(const RnnDesc &rnn) const { return rnn.direction == RnnDirection::BidirectionalConcat ? 2 * dic : dic; }
  bool isOpen() const { return steps == runtimeDim || batch == runtimeDim || dhc == runtimeDim; }
};

inline bool isLstm(const RnnDesc &rnn) { return rnn.cell == Alg::VanillaLstm; }
/// Returns true for cells with u and r gates, with or without attention.
inline bool isGru(const RnnDesc &rnn) { return rnn.cell != Alg::VanillaRnn && rnn.cell != Alg::VanillaLstm; }
inline bool isLinearBeforeReset(const RnnDesc &rnn) { return rnn.cell == Alg::LbrGru || rnn.cell == Alg::LbrAugru; }
/// Returns true if the reset gate is applied before the product with U_o, which reads all channels of r h.
inline bool hasResetFirst(const RnnDesc &rnn) { return isGru(rnn) && !isLinearBeforeReset(rnn); }
inline bool isProjected(const RnnDesc &rnn) { return !rnn.weightsProjection.isZero(); }
inline bool hasAttention(const RnnDesc &rnn) { return rnn.cell == Alg::VanillaAugru || rnn.cell == Alg::LbrAugru; }
inline bool isBidirectional(const RnnDesc &rnn) {
  return rnn.direction == RnnDirection::BidirectionalConcat || rnn.direction == RnnDirection::BidirectionalSum;
}
inline bool isQuantized(const RnnDesc &rnn) {
  return rnn.srcLayer.dataType == DataType::U8 || rnn.srcLayer.dataType == DataType::S8;
}
/// Returns true for relu with a negative slope, which maps two sums of opposite sign to one result. Training then
/// stores the sums instead of the results, so that backward can determine the slope.
inline bool keepsSums(const RnnDesc &rnn) {
  return rnn.cell == Alg::VanillaRnn && rnn.activation == Alg::EltwiseRelu && rnn.alpha < 0;
}
inline bool isBackward(const RnnDesc &rnn) { return rnn.prop == PropKind::Backward; }
/// Returns true for forward that writes a workspace, and for backward, which reads it.
inline bool isTraining(const RnnDesc &rnn) { return rnn.prop != PropKind::ForwardInference; }
/// Returns true if the channels are known only at execution.
inline bool hasOpenWidths(const RnnDesc &rnn) { return rnn.weightsLayer.dims[4] == runtimeDim; }
/// Returns the bytes of an element. No RNN has 4-bit elements.
inline int64_t bytesOf(DataType type) { return bitsOf(type) / 8; }
/// Returns 1 for the vanilla cell, 4 for LSTM, 3 for the other cells; 0 for other algorithms.
int64_t gatesOf(Alg cell);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_SHAPE_H
