//===- quern/quern_rnn_backward.hpp - Gradients of RNNs in C++ ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Like quern_rnn.hpp: one class per cell, in the form of oneDNN, and rnn_backward for every parameter of an RNN.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RNN_BACKWARD_HPP
#define QUERN_RNN_BACKWARD_HPP

#include "quern/quern_rnn.hpp"

namespace quern {

/// Gradients of an RNN with any cell. The hint is the forward_training descriptor whose workspace is read.
struct rnn_backward : public primitive {
  /// Descriptor of the primitive.
  struct primitive_desc : public rnn_primitive_desc_base {
    primitive_desc() = default;
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, const rnn_backward_parameters &rnn, const quern::primitive_desc &hint_fwd_pd,
            const primitive_attr &attr = primitive_attr(), bool allow_empty = false) {
      create(aengine, rnn, hint_fwd_pd, attr, allow_empty);
    }
  };
  rnn_backward() = default;
  rnn_backward(const primitive_desc &pd) : primitive(pd) {}
  rnn_backward(const primitive_desc &pd, const std::vector<uint8_t> &cache_blob) : primitive(pd, cache_blob) {}
};

/// Gradients of a vanilla RNN; see quern_vanilla_rnn_backward_primitive_desc_create().
struct vanilla_rnn_backward : public primitive {
  /// Descriptor of the primitive.
  struct primitive_desc : public rnn_primitive_desc_base {
    primitive_desc() = default;
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, prop_kind prop, algorithm activation, rnn_direction direction,
            const memory::desc &src_layer, const memory::desc &src_iter, const memory::desc &weights_layer,
            const memory::desc &weights_iter, const memory::desc &bias, const memory::desc &dst_layer,
            const memory::desc &dst_iter, const memory::desc &diff_src_layer, const memory::desc &diff_src_iter,
            const memory::desc &diff_weights_layer, const memory::desc &diff_weights_iter,
            const memory::desc &diff_bias, const memory::desc &diff_dst_layer, const memory::desc &diff_dst_iter,
            float alpha, const vanilla_rnn_forward::primitive_desc &hint_fwd_pd,
            const primitive_attr &attr = primitive_attr(), bool allow_empty = false) {
      const rnn_parameters forward = parameters_of(prop, algorithm::vanilla_rnn, direction, src_layer, src_iter,
              weights_layer, weights_iter, bias, dst_layer, dst_iter);
      create(aengine,
              gradients_of(with_activation(forward, activation, alpha), diff_src_layer, diff_src_iter,
                      diff_weights_layer, diff_weights_iter, diff_bias, diff_dst_layer, diff_dst_iter),
              hint_fwd_pd, attr, allow_empty);
    }
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, prop_kind prop, algorithm activation, rnn_direction direction,
            const memory::desc &src_layer, const memory::desc &src_iter, const memory::desc &weights_layer,
            const memory::desc &weights_iter, const memory::desc &bias, const memory::desc &dst_layer,
            const memory::desc &dst_iter, const memory::desc &diff_src_layer, const memory::desc &diff_src_iter,
            const memory::desc &diff_weights_layer, const memory::desc &diff_weights_iter,
            const memory::desc &diff_bias, const memory::desc &diff_dst_layer, const memory::desc &diff_dst_iter,
            const vanilla_rnn_forward::primitive_desc &hint_fwd_pd, const primitive_attr &attr = primitive_attr(),
            bool allow_empty = false)
        : primitive_desc(aengine, prop, activation, direction, src_layer, src_iter, weights_layer, weights_iter, bias,
                  dst_layer, dst_iter, diff_src_layer, diff_src_iter, diff_weights_layer, diff_weights_iter, diff_bias,
                  diff_dst_layer, diff_dst_iter, 0.0f, hint_fwd_pd, attr, allow_empty) {}
  };
  vanilla_rnn_backward() = default;
  vanilla_rnn_backward(const primitive_desc &pd) : primitive(pd) {}
  vanilla_rnn_backward(const primitive_desc &pd, const std::vector<uint8_t> &cache_blob) : primitive(pd, cache_blob) {}
};

/// Gradients of an LSTM; see quern_lstm_backward_primitive_desc_create().
struct lstm_backward : public primitive {
  /// Descriptor of the primitive.
  struct primitive_desc : public rnn_primitive_desc_base {
    primitive_desc() = default;
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, prop_kind prop, rnn_direction direction, const memory::desc &src_layer,
            const memory::desc &src_iter, const memory::desc &src_iter_c, const memory::desc &weights_layer,
            const memory::desc &weights_iter, const memory::desc &weights_peephole,
            const memory::desc &weights_projection, const memory::desc &bias, const memory::desc &dst_layer,
            const memory::desc &dst_iter, const memory::desc &dst_iter_c, const memory::desc &diff_src_layer,
            const memory::desc &diff_src_iter, const memory::desc &diff_src_iter_c,
            const memory::desc &diff_weights_layer, const memory::desc &diff_weights_iter,
            const memory::desc &diff_weights_peephole, const memory::desc &diff_weights_projection,
            const memory::desc &diff_bias, const memory::desc &diff_dst_layer, const memory::desc &diff_dst_iter,
            const memory::desc &diff_dst_iter_c, const lstm_forward::primitive_desc &hint_fwd_pd,
            const primitive_attr &attr = primitive_attr(), bool allow_empty = false) {
      const rnn_parameters forward = parameters_of(prop, algorithm::vanilla_lstm, direction, src_layer, src_iter,
              weights_layer, weights_iter, bias, dst_layer, dst_iter);
      rnn_backward_parameters rnn = gradients_of(
              with_cells(forward, src_iter_c, dst_iter_c, weights_peephole, weights_projection), diff_src_layer,
              diff_src_iter, diff_weights_layer, diff_weights_iter, diff_bias, diff_dst_layer, diff_dst_iter);
      rnn.diff_src_iter_c = diff_src_iter_c, rnn.diff_dst_iter_c = diff_dst_iter_c,
      rnn.diff_weights_peephole = diff_weights_peephole, rnn.diff_weights_projection = diff_weights_projection;
      create(aengine, rnn, hint_fwd_pd, attr, allow_empty);
    }
    /// An LSTM without a projection.
    primitive_desc(const engine &aengine, prop_kind prop, rnn_direction direction, const memory::desc &src_layer,
            const memory::desc &src_iter, const memory::desc &src_iter_c, const memory::desc &weights_layer,
            const memory::desc &weights_iter, const memory::desc &weights_peephole, const memory::desc &bias,
            const memory::desc &dst_layer, const memory::desc &dst_iter, const memory::desc &dst_iter_c,
            const memory::desc &diff_src_layer, const memory::desc &diff_src_iter, const memory::desc &diff_src_iter_c,
            const memory::desc &diff_weights_layer, const memory::desc &diff_weights_iter,
            const memory::desc &diff_weights_peephole, const memory::desc &diff_bias,
            const memory::desc &diff_dst_layer, const memory::desc &diff_dst_iter, const memory::desc &diff_dst_iter_c,
            const lstm_forward::primitive_desc &hint_fwd_pd, const primitive_attr &attr = primitive_attr(),
            bool allow_empty = false)
        : primitive_desc(aengine, prop, direction, src_layer, src_iter, src_iter_c, weights_layer, weights_iter,
                  weights_peephole, memory::desc(), bias, dst_layer, dst_iter, dst_iter_c, diff_src_layer,
                  diff_src_iter, diff_src_iter_c, diff_weights_layer, diff_weights_iter, diff_weights_peephole,
                  memory::desc(), diff_bias, diff_dst_layer, diff_dst_iter, diff_dst_iter_c, hint_fwd_pd, attr,
                  allow_empty) {}
    /// An LSTM without peepholes and projection.
    primitive_desc(const engine &aengine, prop_kind prop, rnn_direction direction, const memory::desc &src_layer,
            const memory::desc &src_iter, const memory::desc &src_iter_c, const memory::desc &weights_layer,
            const memory::desc &weights_iter, const memory::desc &bias, const memory::desc &dst_layer,
            const memory::desc &dst_iter, const memory::desc &dst_iter_c, const memory::desc &diff_src_layer,
            const memory::desc &diff_src_iter, const memory::desc &diff_src_iter_c,
            const memory::desc &diff_weights_layer, const memory::desc &diff_weights_iter,
            const memory::desc &diff_bias, const memory::desc &diff_dst_layer, const memory::desc &diff_dst_iter,
            const memory::desc &diff_dst_iter_c, const lstm_forward::primitive_desc &hint_fwd_pd,
            const primitive_attr &attr = primitive_attr(), bool allow_empty = false)
        : primitive_desc(aengine, prop, direction, src_layer, src_iter, src_iter_c, weights_layer, weights_iter,
                  memory::desc(), memory::desc(), bias, dst_layer, dst_iter, dst_iter_c, diff_src_layer, diff_src_iter,
                  diff_src_iter_c, diff_weights_layer, diff_weights_iter, memory::desc(), memory::desc(), diff_bias,
                  diff_dst_layer, diff_dst_iter, diff_dst_iter_c, hint_fwd_pd, attr, allow_empty) {}
  };
  lstm_backward() = default;
  lstm_backward(const primitive_desc &pd) : primitive(pd) {}
  lstm_backward(const primitive_desc &pd, const std::vector<uint8_t> &cache_blob) : primitive(pd, cache_blob) {}
};

/// Gradients of a GRU: vanilla_gru or lbr_gru.
template <algorithm cell> struct gru_backward_of : public primitive {
  /// Descriptor of the primitive.
  struct primitive_desc : public rnn_primitive_desc_base {
    primitive_desc() = default;
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, prop_kind prop, rnn_direction direction, const memory::desc &src_layer,
            const memory::desc &src_iter, const memory::desc &weights_layer, const memory::desc &weights_iter,
            const memory::desc &bias, const memory::desc &dst_layer, const memory::desc &dst_iter,
            const memory::desc &diff_src_layer, const memory::desc &diff_src_iter,
            const memory::desc &diff_weights_layer, const memory::desc &diff_weights_iter,
            const memory::desc &diff_bias, const memory::desc &diff_dst_layer, const memory::desc &diff_dst_iter,
            const typename gru_forward_of<cell>::primitive_desc &hint_fwd_pd,
            const primitive_attr &attr = primitive_attr(), bool allow_empty = false) {
      const rnn_parameters forward = parameters_of(
              prop, cell, direction, src_layer, src_iter, weights_layer, weights_iter, bias, dst_layer, dst_iter);
      create(aengine,
              gradients_of(forward, diff_src_layer, diff_src_iter, diff_weights_layer, diff_weights_iter, diff_bias,
                      diff_dst_layer, diff_dst_iter),
              hint_fwd_pd, attr, allow_empty);
    }
  };
  gru_backward_of() = default;
  gru_backward_of(const primitive_desc &pd) : primitive(pd) {}
  gru_backward_of(const primitive_desc &pd, const std::vector<uint8_t> &cache_blob) : primitive(pd, cache_blob) {}
};

/// Gradients of a GRU; see quern_gru_backward_primitive_desc_create().
struct gru_backward : public gru_backward_of<algorithm::vanilla_gru> {
  using gru_backward_of::gru_backward_of;
};
/// Gradients of a GRU that is linear before reset; see quern_lbr_gru_backward_primitive_desc_create().
struct lbr_gru_backward : public gru_backward_of<algorithm::lbr_gru> {
  using gru_backward_of::gru_backward_of;
};

/// Gradients of an AUGRU: vanilla_augru or lbr_augru.
template <algorithm cell> struct augru_backward_of : public primitive {
  /// Descriptor of the primitive.
  struct primitive_desc : public rnn_primitive_desc_base {
    primitive_desc() = default;
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, prop_kind prop, rnn_direction direction, const memory::desc &src_layer,
            const memory::desc &src_iter, const memory::desc &attention, const memory::desc &weights_layer,
            const memory::desc &weights_iter, const memory::desc &bias, const memory::desc &dst_layer,
            const memory::desc &dst_iter, const memory::desc &diff_src_layer, const memory::desc &diff_src_iter,
            const memory::desc &diff_attention, const memory::desc &diff_weights_layer,
            const memory::desc &diff_weights_iter, const memory::desc &diff_bias, const memory::desc &diff_dst_layer,
            const memory::desc &diff_dst_iter, const typename augru_forward_of<cell>::primitive_desc &hint_fwd_pd,
            const primitive_attr &attr = primitive_attr(), bool allow_empty = false) {
      const rnn_parameters forward = parameters_of(
              prop, cell, direction, src_layer, src_iter, weights_layer, weights_iter, bias, dst_layer, dst_iter);
      rnn_backward_parameters rnn = gradients_of(with_attention(forward, attention), diff_src_layer, diff_src_iter,
              diff_weights_layer, diff_weights_iter, diff_bias, diff_dst_layer, diff_dst_iter);
      rnn.diff_attention = diff_attention;
      create(aengine, rnn, hint_fwd_pd, attr, allow_empty);
    }
  };
  augru_backward_of() = default;
  augru_backward_of(const primitive_desc &pd) : primitive(pd) {}
  augru_backward_of(const primitive_desc &pd, const std::vector<uint8_t> &cache_blob) : primitive(pd, cache_blob) {}
};

/// Gradients of an AUGRU; see quern_augru_backward_primitive_desc_create().
struct augru_backward : public augru_backward_of<algorithm::vanilla_augru> {
  using augru_backward_of::augru_backward_of;
};
/// Gradients of an AUGRU that is linear before reset; see quern_lbr_augru_backward_primitive_desc_create().
struct lbr_augru_backward : public augru_backward_of<algorithm::lbr_augru> {
  using augru_backward_of::augru_backward_of;
};

} // namespace quern

#endif // QUERN_RNN_BACKWARD_HPP
