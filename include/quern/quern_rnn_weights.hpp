//===- quern_rnn_weights.hpp - Weights of other frameworks ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Converts weights and biases of RNNs from PyTorch and ONNX to the order of RNN primitives. Both frameworks store them
// as [gates x hidden, inputs], which is one layer and direction of the layout ldgoi, but with another order of the
// gates and with two biases. Header-only; needs only the standard library.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RNN_WEIGHTS_HPP
#define QUERN_RNN_WEIGHTS_HPP

#include "quern/quern_types.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace quern {

/// Framework that the weights come from.
enum class rnn_weights_origin { pytorch, onnx };

/// Returns the number of gates of a cell: 1 for quern_vanilla_rnn, 4 for quern_vanilla_lstm, 3 for other cells.
inline int rnn_gates(quern_alg_kind_t cell) {
  return cell == quern_vanilla_rnn ? 1 : cell == quern_vanilla_lstm ? 4 : 3;
}

/// Returns the position of each gate in the framework's order. The order of Quern is i, f, c~, o (lstm) and u, r, o
/// (gru, lbr_gru); PyTorch has i f g o and r z n, ONNX has i o f c and z r h. The GRU of PyTorch is quern_lbr_gru; so
/// is that of ONNX if its attribute linear_before_reset is 1.
inline std::array<int, 4> rnn_gate_positions(rnn_weights_origin origin, quern_alg_kind_t cell) {
  const bool is_onnx = origin == rnn_weights_origin::onnx;
  if (cell == quern_vanilla_lstm)
    return is_onnx ? std::array<int, 4>{0, 2, 3, 1} : std::array<int, 4>{0, 1, 2, 3};
  if (cell == quern_vanilla_rnn || is_onnx)
    return {0, 1, 2, 3};
  return {1, 0, 2, 3};
}

/// Converts the weights of one layer and direction. `theirs` is [gates x hidden, inputs] (weight_ih and weight_hh of
/// PyTorch, W and R of ONNX); `ours` receives [gates][hidden][inputs], a part of a tensor of layout ldgoi. The buffers
/// must not overlap.
template <typename T>
void convert_rnn_weights(
        rnn_weights_origin origin, quern_alg_kind_t cell, const T *theirs, int64_t hidden, int64_t inputs, T *ours) {
  const std::array<int, 4> positions = rnn_gate_positions(origin, cell);
  const int64_t size = hidden * inputs;
  for (int gate = 0; gate < rnn_gates(cell); ++gate)
    std::copy_n(theirs + positions[static_cast<size_t>(gate)] * size, size, ours + gate * size);
}

/// Converts the biases of one layer and direction, each [gates x hidden] (bias_ih and bias_hh of PyTorch, the halves of
/// B of ONNX). They are added, except that the hidden bias of the output gate of quern_lbr_gru becomes a fourth bias.
/// `ours` receives [gates][hidden], for quern_lbr_gru [4][hidden].
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

/// Converts the peepholes P of ONNX of one direction, [3 x hidden] in the order i, o, f, to [3][hidden] in the order i,
/// f, o. PyTorch has no peepholes.
template <typename T> void convert_rnn_peephole(const T *theirs, int64_t hidden, T *ours) {
  const int positions[] = {0, 2, 1};
  for (int gate = 0; gate < 3; ++gate)
    std::copy_n(theirs + positions[gate] * hidden, hidden, ours + gate * hidden);
}

/// Converts the projection weight_hr of PyTorch of one layer and direction, [projected x hidden], to
/// [hidden][projected], a part of a tensor of layout ldio. (Unconverted, it is a part of a tensor of layout ldoi.) ONNX
/// has no projection.
template <typename T> void convert_rnn_projection(const T *theirs, int64_t hidden, int64_t projected, T *ours) {
  for (int64_t h = 0; h < hidden; ++h)
    for (int64_t p = 0; p < projected; ++p)
      ours[h * projected + p] = theirs[p * hidden + h];
}

} // namespace quern

#endif // QUERN_RNN_WEIGHTS_HPP
