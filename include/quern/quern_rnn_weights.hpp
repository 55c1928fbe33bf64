//===- quern_rnn_weights.hpp - Weights of other frameworks ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Brings the weights and biases of RNNs from PyTorch and ONNX into the order that RNN primitives take. Both keep them
// as [gates x hidden, inputs], which is one layer and direction of the layout ldgoi; what differs is the order of the
// gates, and that they have two biases. Header only; needs nothing but the standard library.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RNN_WEIGHTS_HPP
#define QUERN_RNN_WEIGHTS_HPP

#include "quern/quern_types.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace quern {

/// Whose weights they are.
enum class rnn_weights_origin { pytorch, onnx };

/// Gates of the weights of a cell: 1, 4 (quern_vanilla_lstm) or 3.
inline int rnn_gates(quern_alg_kind_t cell) {
  return cell == quern_vanilla_rnn ? 1 : cell == quern_vanilla_lstm ? 4 : 3;
}

/// Where the gates of our order (lstm: i, f, c~, o; gru, lbr_gru: u, r, o) stand in theirs (PyTorch: i f g o and r z n;
/// ONNX: i o f c and z r h). PyTorch's GRU is quern_lbr_gru; ONNX's is, where its attribute linear_before_reset is 1.
inline std::array<int, 4> rnn_gate_positions(rnn_weights_origin origin, quern_alg_kind_t cell) {
  const bool is_onnx = origin == rnn_weights_origin::onnx;
  if (cell == quern_vanilla_lstm)
    return is_onnx ? std::array<int, 4>{0, 2, 3, 1} : std::array<int, 4>{0, 1, 2, 3};
  if (cell == quern_vanilla_rnn || is_onnx)
    return {0, 1, 2, 3};
  return {1, 0, 2, 3};
}

/// Weights of one layer and direction: `theirs` is [gates x hidden, inputs] (PyTorch's weight_ih and
/// weight_hh, ONNX's W and R), `ours` is filled as [gates][hidden][inputs], a part of a tensor of layout
/// ldgoi. The buffers do not overlap.
template <typename T>
void convert_rnn_weights(
        rnn_weights_origin origin, quern_alg_kind_t cell, const T *theirs, int64_t hidden, int64_t inputs, T *ours) {
  const std::array<int, 4> positions = rnn_gate_positions(origin, cell);
  const int64_t size = hidden * inputs;
  for (int gate = 0; gate < rnn_gates(cell); ++gate)
    std::copy_n(theirs + positions[static_cast<size_t>(gate)] * size, size, ours + gate * size);
}

/// The biases of one layer and direction, each [gates x hidden] (PyTorch's bias_ih and bias_hh, the halves of ONNX's
/// B). They are added; quern_lbr_gru keeps the hidden bias of its output gate apart, as a fourth. `ours` is
/// [gates][hidden], [4][hidden] of quern_lbr_gru.
template <typename T>
void convert_rnn_bias(rnn_weights_origin origin, quern_alg_kind_t cell, const T *input_bias, const T *hidden_bias,
        int64_t hidden, T *ours) {
  const std::array<int, 4> positions = rnn_gate_positions(origin, cell);
  const bool is_lbr = cell == quern_lbr_gru;
  for (int gate = 0; gate < rnn_gates(cell); ++gate)
    for (int64_t o = 0; o < hidden; ++o) {
      const int64_t theirs = positions[static_cast<size_t>(gate)] * hidden + o;
      ours[gate * hidden + o] = is_lbr && gate == 2 ? input_bias[theirs] : input_bias[theirs] + hidden_bias[theirs];
      if (is_lbr && gate == 2)
        ours[3 * hidden + o] = hidden_bias[theirs];
    }
}

/// ONNX's peepholes P of one direction, [3 x hidden] in the order i, o, f, as [3][hidden] in ours:
/// i, f, o. PyTorch has none.
template <typename T> void convert_rnn_peephole(const T *theirs, int64_t hidden, T *ours) {
  const int positions[] = {0, 2, 1};
  for (int gate = 0; gate < 3; ++gate)
    std::copy_n(theirs + positions[gate] * hidden, hidden, ours + gate * hidden);
}

/// PyTorch's projection weight_hr of one layer and direction, [projected x hidden], as [hidden][projected], a part of a
/// tensor of layout ldio. (As it is, it is a part of one of layout ldoi.) ONNX has none.
template <typename T> void convert_rnn_projection(const T *theirs, int64_t hidden, int64_t projected, T *ours) {
  for (int64_t h = 0; h < hidden; ++h)
    for (int64_t p = 0; p < projected; ++p)
      ours[h * projected + p] = theirs[p * hidden + h];
}

} // namespace quern

#endif // QUERN_RNN_WEIGHTS_HPP
