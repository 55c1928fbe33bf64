//===- Shape.h - The sizes and the kind of an RNN -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the names of the specification stand for in one problem. Sizes of channels come from the
// weights, which every problem has.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_SHAPE_H
#define QUERN_PRIMITIVES_RNN_SHAPE_H

#include "Desc/PrimitiveDesc.h"

namespace quern::rnn {

/// Of a problem whose weights are of rank 5 and whose src_layer is of rank 3.
struct Shape {
  int64_t steps = 0, batch = 0; ///< T and N; runtimeDim if known only at execution
  int64_t layers = 0, directions = 0;
  int64_t slc = 0, sic = 0, dhc = 0, dic = 0;
  int64_t gates = 0, biasGates = 0;

  static Shape of(const RnnDesc &rnn);
  /// Channels of dst_layer.
  int64_t dlc(const RnnDesc &rnn) const { return rnn.direction == RnnDirection::BidirectionalConcat ? 2 * dic : dic; }
  bool isOpen() const { return steps == runtimeDim || batch == runtimeDim || dhc == runtimeDim; }
};

inline bool isLstm(const RnnDesc &rnn) { return rnn.cell == Alg::VanillaLstm; }
/// u and r gates, with or without attention.
inline bool isGru(const RnnDesc &rnn) { return rnn.cell != Alg::VanillaRnn && rnn.cell != Alg::VanillaLstm; }
inline bool isLinearBeforeReset(const RnnDesc &rnn) { return rnn.cell == Alg::LbrGru || rnn.cell == Alg::LbrAugru; }
inline bool hasAttention(const RnnDesc &rnn) { return rnn.cell == Alg::VanillaAugru || rnn.cell == Alg::LbrAugru; }
inline bool isBidirectional(const RnnDesc &rnn) {
  return rnn.direction == RnnDirection::BidirectionalConcat || rnn.direction == RnnDirection::BidirectionalSum;
}
inline bool isQuantized(const RnnDesc &rnn) {
  return rnn.srcLayer.dataType == DataType::U8 || rnn.srcLayer.dataType == DataType::S8;
}
/// relu that may give one result of two sums, one of either sign: training keeps the sums in place of the results, so
/// that backward knows which side of the bend each was on.
inline bool keepsSums(const RnnDesc &rnn) {
  return rnn.cell == Alg::VanillaRnn && rnn.activation == Alg::EltwiseRelu && rnn.alpha < 0;
}
inline bool isBackward(const RnnDesc &rnn) { return rnn.prop == PropKind::Backward; }
/// Forward that writes a workspace, or backward, which reads it.
inline bool isTraining(const RnnDesc &rnn) { return rnn.prop != PropKind::ForwardInference; }
/// Channels are given at execution.
inline bool hasOpenWidths(const RnnDesc &rnn) { return rnn.weightsLayer.dims[4] == runtimeDim; }
/// Of an element; no RNN has elements of half a byte.
inline int64_t bytesOf(DataType type) { return bitsOf(type) / 8; }
/// 1 for the vanilla cell, 4 for LSTM, else 3; 0 for what is no cell.
int64_t gatesOf(Alg cell);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_SHAPE_H
