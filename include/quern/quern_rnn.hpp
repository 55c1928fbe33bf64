//===- quern/quern_rnn.hpp - Recurrent networks in C++ --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One class per cell, in the form of oneDNN, and rnn_forward for every parameter of an RNN. An empty descriptor means
// that the tensor is absent. quern_rnn_weights.hpp converts weights of other frameworks.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RNN_HPP
#define QUERN_RNN_HPP

#include "quern/quern_primitive.hpp"

namespace quern {

/// See quern_rnn_direction_t.
enum class rnn_direction {
  undef = quern_rnn_direction_undef,
  unidirectional_left2right = quern_unidirectional_left2right,
  unidirectional_right2left = quern_unidirectional_right2left,
  bidirectional_concat = quern_bidirectional_concat,
  bidirectional_sum = quern_bidirectional_sum
};

/// See quern_rnn_flags_t.
enum class rnn_flags : unsigned {
  undef = quern_rnn_flags_undef,
  diff_weights_overwrite = quern_rnn_flags_diff_weights_overwrite,
  /// Each layer reads both directions of the layer below, as in PyTorch. oneDNN lacks it.
  stack_concatenated = quern_rnn_flags_stack_concatenated
};
/// Combines flags.
inline rnn_flags operator|(rnn_flags a, rnn_flags b) {
  return static_cast<rnn_flags>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
/// Returns the common flags.
inline rnn_flags operator&(rnn_flags a, rnn_flags b) {
  return static_cast<rnn_flags>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}

/// Parameters of a forward RNN; docs/primitives/rnn.md has the shapes. Layouts may be `any`.
struct rnn_parameters {
  prop_kind prop = prop_kind::forward_inference;                      ///< forward_training or forward_inference
  algorithm cell_kind = algorithm::undef;                             ///< vanilla_rnn to lbr_augru
  rnn_direction direction = rnn_direction::unidirectional_left2right; ///< order of the steps
  algorithm activation = algorithm::undef; ///< vanilla_rnn: eltwise_relu, eltwise_tanh or eltwise_logistic
  float alpha = 0;                         ///< slope of relu for negative values
  rnn_flags flags = rnn_flags::undef;      ///< flags
  memory::desc src_layer,                  ///< input sequence
          src_iter,                        ///< initial state
          src_iter_c,                      ///< LSTM: initial cell state
          attention;                       ///< AUGRU: attention
  memory::desc seq_lengths;                ///< number of steps of each sequence, N values of s32
  memory::desc weights_layer,              ///< weights of the input
          weights_iter,                    ///< weights of the state
          weights_peephole,                ///< LSTM: peephole weights
          weights_projection,              ///< LSTM: projection weights
          bias;                            ///< bias
  memory::desc dst_layer,                  ///< output sequence
          dst_iter,                        ///< final state
          dst_iter_c;                      ///< LSTM: final cell state
};

/// Parameters of the gradients of an RNN: those of its forward_training, and the gradients. Gradients of src, weights
/// and bias are results; those of dst are inputs.
struct rnn_backward_parameters : public rnn_parameters {
  /// Sets the propagation kind to forward_training, which `rnn_forward` and `rnn_backward` accept.
  rnn_backward_parameters() { prop = prop_kind::forward_training; }
  memory::desc diff_src_layer,     ///< gradient of src_layer
          diff_src_iter,           ///< gradient of src_iter
          diff_src_iter_c,         ///< gradient of src_iter_c
          diff_attention;          ///< gradient of the attention
  memory::desc diff_weights_layer, ///< gradient of weights_layer
          diff_weights_iter,       ///< gradient of weights_iter
          diff_weights_peephole,   ///< gradient of weights_peephole
          diff_weights_projection, ///< gradient of weights_projection
          diff_bias;               ///< gradient of the bias
  memory::desc diff_dst_layer,     ///< gradient of dst_layer
          diff_dst_iter,           ///< gradient of dst_iter
          diff_dst_iter_c;         ///< gradient of dst_iter_c
};

/// Base of the descriptors of RNNs. Tensors have the layouts that replaced `any`.
struct rnn_primitive_desc_base : public quern::primitive_desc {
  /// Creates an empty descriptor.
  rnn_primitive_desc_base() = default;
  using quern::primitive_desc::primitive_desc;
  /// Creates a forward descriptor; with `allow_empty`, a failure leaves it empty.
  rnn_primitive_desc_base(
          const engine &aengine, const rnn_parameters &rnn, const primitive_attr &attr, bool allow_empty) {
    quern_rnn_forward_t given = {};
    fill(given, rnn);
    quern_primitive_desc_t created = nullptr;
    accept(quern_rnn_forward_primitive_desc_create(&created, aengine.get(), &given, attr.get()), created, allow_empty);
  }

  /// Returns the descriptor of src_layer.
  memory::desc src_layer_desc() const { return argument(QUERN_ARG_SRC_LAYER); }
  /// Returns the descriptor of src_iter.
  memory::desc src_iter_desc() const { return argument(QUERN_ARG_SRC_ITER); }
  /// Returns the descriptor of src_iter_c.
  memory::desc src_iter_c_desc() const { return argument(QUERN_ARG_SRC_ITER_C); }
  /// Returns the descriptor of the attention.
  memory::desc augru_attention_desc() const { return argument(QUERN_ARG_AUGRU_ATTENTION); }
  /// Returns the descriptor of the attention.
  memory::desc attention_desc() const { return argument(QUERN_ARG_AUGRU_ATTENTION); }
  /// Returns the descriptor of the sequence lengths.
  memory::desc seq_lengths_desc() const { return argument(QUERN_ARG_SEQ_LENGTHS); }
  /// Returns the descriptor of weights_layer.
  memory::desc weights_layer_desc() const { return argument(QUERN_ARG_WEIGHTS_LAYER); }
  /// Returns the descriptor of weights_iter.
  memory::desc weights_iter_desc() const { return argument(QUERN_ARG_WEIGHTS_ITER); }
  /// Returns the descriptor of weights_peephole.
  memory::desc weights_peephole_desc() const { return argument(QUERN_ARG_WEIGHTS_PEEPHOLE); }
  /// Returns the descriptor of weights_projection.
  memory::desc weights_projection_desc() const { return argument(QUERN_ARG_WEIGHTS_PROJECTION); }
  /// Returns the descriptor of the bias.
  memory::desc bias_desc() const { return argument(QUERN_ARG_BIAS); }
  /// Returns the descriptor of dst_layer.
  memory::desc dst_layer_desc() const { return argument(QUERN_ARG_DST_LAYER); }
  /// Returns the descriptor of dst_iter.
  memory::desc dst_iter_desc() const { return argument(QUERN_ARG_DST_ITER); }
  /// Returns the descriptor of dst_iter_c.
  memory::desc dst_iter_c_desc() const { return argument(QUERN_ARG_DST_ITER_C); }

  /// Returns the descriptor of the gradient of src_layer.
  memory::desc diff_src_layer_desc() const { return argument(QUERN_ARG_DIFF_SRC_LAYER); }
  /// Returns the descriptor of the gradient of src_iter.
  memory::desc diff_src_iter_desc() const { return argument(QUERN_ARG_DIFF_SRC_ITER); }
  /// Returns the descriptor of the gradient of src_iter_c.
  memory::desc diff_src_iter_c_desc() const { return argument(QUERN_ARG_DIFF_SRC_ITER_C); }
  /// Returns the descriptor of the gradient of the attention.
  memory::desc diff_augru_attention_desc() const { return argument(QUERN_ARG_DIFF_AUGRU_ATTENTION); }
  /// Returns the descriptor of the gradient of the attention.
  memory::desc diff_attention_desc() const { return argument(QUERN_ARG_DIFF_AUGRU_ATTENTION); }
  /// Returns the descriptor of the gradient of weights_layer.
  memory::desc diff_weights_layer_desc() const { return argument(QUERN_ARG_DIFF_WEIGHTS_LAYER); }
  /// Returns the descriptor of the gradient of weights_iter.
  memory::desc diff_weights_iter_desc() const { return argument(QUERN_ARG_DIFF_WEIGHTS_ITER); }
  /// Returns the descriptor of the gradient of weights_peephole.
  memory::desc diff_weights_peephole_desc() const { return argument(QUERN_ARG_DIFF_WEIGHTS_PEEPHOLE); }
  /// Returns the descriptor of the gradient of weights_projection.
  memory::desc diff_weights_projection_desc() const { return argument(QUERN_ARG_DIFF_WEIGHTS_PROJECTION); }
  /// Returns the descriptor of the gradient of the bias.
  memory::desc diff_bias_desc() const { return argument(QUERN_ARG_DIFF_BIAS); }
  /// Returns the descriptor of the gradient of dst_layer.
  memory::desc diff_dst_layer_desc() const { return argument(QUERN_ARG_DIFF_DST_LAYER); }
  /// Returns the descriptor of the gradient of dst_iter.
  memory::desc diff_dst_iter_desc() const { return argument(QUERN_ARG_DIFF_DST_ITER); }
  /// Returns the descriptor of the gradient of dst_iter_c.
  memory::desc diff_dst_iter_c_desc() const { return argument(QUERN_ARG_DIFF_DST_ITER_C); }

  /// Returns the cell.
  algorithm get_cell_kind() const { return static_cast<algorithm>(query<quern_alg_kind_t>(quern_query_cell_kind)); }
  /// Returns the activation.
  algorithm get_activation_kind() const {
    return static_cast<algorithm>(query<quern_alg_kind_t>(quern_query_activation_kind));
  }
  /// Returns the direction.
  rnn_direction get_direction() const {
    return static_cast<rnn_direction>(query<quern_rnn_direction_t>(quern_query_direction));
  }
  /// Returns the flags.
  rnn_flags get_flags() const { return static_cast<rnn_flags>(query<unsigned>(quern_query_flags)); }
  /// Returns the slope of relu.
  float get_alpha() const { return query<float>(quern_query_alpha_f32); }

protected:
  /// Creates a backward descriptor; with `allow_empty`, a failure leaves it empty.
  void create(const engine &aengine, const rnn_backward_parameters &rnn, const quern::primitive_desc &hint,
          const primitive_attr &attr, bool allow_empty) {
    quern_rnn_forward_t forward = {};
    fill(forward, rnn);
    quern_rnn_backward_t given = {};
    given.size = sizeof(given), given.forward = &forward;
    given.diff_src_layer_desc = rnn.diff_src_layer.get(), given.diff_src_iter_desc = rnn.diff_src_iter.get(),
    given.diff_src_iter_c_desc = rnn.diff_src_iter_c.get(), given.diff_attention_desc = rnn.diff_attention.get(),
    given.diff_weights_layer_desc = rnn.diff_weights_layer.get(),
    given.diff_weights_iter_desc = rnn.diff_weights_iter.get(),
    given.diff_weights_peephole_desc = rnn.diff_weights_peephole.get(),
    given.diff_weights_projection_desc = rnn.diff_weights_projection.get(), given.diff_bias_desc = rnn.diff_bias.get(),
    given.diff_dst_layer_desc = rnn.diff_dst_layer.get(), given.diff_dst_iter_desc = rnn.diff_dst_iter.get(),
    given.diff_dst_iter_c_desc = rnn.diff_dst_iter_c.get();
    quern_primitive_desc_t created = nullptr;
    accept(quern_rnn_backward_primitive_desc_create(&created, aengine.get(), &given, hint.get(true), attr.get()),
            created, allow_empty);
  }

  /// Returns the parameters that every cell has.
  static rnn_parameters parameters_of(prop_kind prop, algorithm cell, rnn_direction direction,
          const memory::desc &src_layer, const memory::desc &src_iter, const memory::desc &weights_layer,
          const memory::desc &weights_iter, const memory::desc &bias, const memory::desc &dst_layer,
          const memory::desc &dst_iter) {
    rnn_parameters rnn;
    rnn.prop = prop, rnn.cell_kind = cell, rnn.direction = direction;
    rnn.src_layer = src_layer, rnn.src_iter = src_iter, rnn.weights_layer = weights_layer,
    rnn.weights_iter = weights_iter;
    rnn.bias = bias, rnn.dst_layer = dst_layer, rnn.dst_iter = dst_iter;
    return rnn;
  }
  /// Returns these parameters with the gradients that every cell has.
  static rnn_backward_parameters gradients_of(const rnn_parameters &forward, const memory::desc &diff_src_layer,
          const memory::desc &diff_src_iter, const memory::desc &diff_weights_layer,
          const memory::desc &diff_weights_iter, const memory::desc &diff_bias, const memory::desc &diff_dst_layer,
          const memory::desc &diff_dst_iter) {
    rnn_backward_parameters rnn;
    static_cast<rnn_parameters &>(rnn) = forward;
    // The constructors of oneDNN take prop_kind::backward. Any other kind becomes undef, which the library refuses.
    rnn.prop = forward.prop == prop_kind::backward ? prop_kind::forward_training : prop_kind::undef;
    rnn.diff_src_layer = diff_src_layer, rnn.diff_src_iter = diff_src_iter, rnn.diff_weights_layer = diff_weights_layer,
    rnn.diff_weights_iter = diff_weights_iter;
    rnn.diff_bias = diff_bias, rnn.diff_dst_layer = diff_dst_layer, rnn.diff_dst_iter = diff_dst_iter;
    return rnn;
  }
  /// Returns the parameters with an activation.
  static rnn_parameters with_activation(rnn_parameters rnn, algorithm activation, float alpha) {
    rnn.activation = activation, rnn.alpha = alpha;
    return rnn;
  }
  /// Returns the parameters with the tensors that only an LSTM has.
  static rnn_parameters with_cells(rnn_parameters rnn, const memory::desc &src_iter_c, const memory::desc &dst_iter_c,
          const memory::desc &peephole, const memory::desc &projection) {
    rnn.src_iter_c = src_iter_c, rnn.dst_iter_c = dst_iter_c, rnn.weights_peephole = peephole,
    rnn.weights_projection = projection;
    return rnn;
  }
  /// Returns the parameters with an attention.
  static rnn_parameters with_attention(rnn_parameters rnn, const memory::desc &attention) {
    rnn.attention = attention;
    return rnn;
  }

private:
  static void fill(quern_rnn_forward_t &given, const rnn_parameters &rnn) {
    given.size = sizeof(given);
    given.prop_kind = static_cast<quern_prop_kind_t>(rnn.prop);
    given.cell_kind = static_cast<quern_alg_kind_t>(rnn.cell_kind);
    given.direction = static_cast<quern_rnn_direction_t>(rnn.direction);
    given.activation = static_cast<quern_alg_kind_t>(rnn.activation);
    given.alpha = rnn.alpha;
    given.flags = static_cast<unsigned>(rnn.flags);
    given.src_layer_desc = rnn.src_layer.get(), given.src_iter_desc = rnn.src_iter.get(),
    given.src_iter_c_desc = rnn.src_iter_c.get(), given.attention_desc = rnn.attention.get(),
    given.seq_lengths_desc = rnn.seq_lengths.get(), given.weights_layer_desc = rnn.weights_layer.get(),
    given.weights_iter_desc = rnn.weights_iter.get(), given.weights_peephole_desc = rnn.weights_peephole.get(),
    given.weights_projection_desc = rnn.weights_projection.get(), given.bias_desc = rnn.bias.get(),
    given.dst_layer_desc = rnn.dst_layer.get(), given.dst_iter_desc = rnn.dst_iter.get(),
    given.dst_iter_c_desc = rnn.dst_iter_c.get();
  }
  memory::desc argument(int index) const { return query_md(quern_query_exec_arg_md, index); }
};

/// A forward RNN with any cell. The class of each cell is like this one, but its descriptor has oneDNN's constructors.
struct rnn_forward : public primitive {
  /// Descriptor of the primitive.
  struct primitive_desc : public rnn_primitive_desc_base {
    primitive_desc() = default;
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, const rnn_parameters &rnn, const primitive_attr &attr = primitive_attr(),
            bool allow_empty = false)
        : rnn_primitive_desc_base(aengine, rnn, attr, allow_empty) {}
  };
  rnn_forward() = default;
  rnn_forward(const primitive_desc &pd) : primitive(pd) {}
  rnn_forward(const primitive_desc &pd, const std::vector<uint8_t> &cache_blob) : primitive(pd, cache_blob) {}
};

/// A forward vanilla RNN; see quern_vanilla_rnn_forward_primitive_desc_create().
struct vanilla_rnn_forward : public primitive {
  /// Descriptor of the primitive.
  struct primitive_desc : public rnn_primitive_desc_base {
    primitive_desc() = default;
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, prop_kind prop, algorithm activation, rnn_direction direction,
            const memory::desc &src_layer, const memory::desc &src_iter, const memory::desc &weights_layer,
            const memory::desc &weights_iter, const memory::desc &bias, const memory::desc &dst_layer,
            const memory::desc &dst_iter, float alpha, const primitive_attr &attr = primitive_attr(),
            bool allow_empty = false)
        : rnn_primitive_desc_base(aengine,
                  with_activation(parameters_of(prop, algorithm::vanilla_rnn, direction, src_layer, src_iter,
                                          weights_layer, weights_iter, bias, dst_layer, dst_iter),
                          activation, alpha),
                  attr, allow_empty) {}
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, prop_kind prop, algorithm activation, rnn_direction direction,
            const memory::desc &src_layer, const memory::desc &src_iter, const memory::desc &weights_layer,
            const memory::desc &weights_iter, const memory::desc &bias, const memory::desc &dst_layer,
            const memory::desc &dst_iter, const primitive_attr &attr = primitive_attr(), bool allow_empty = false)
        : primitive_desc(aengine, prop, activation, direction, src_layer, src_iter, weights_layer, weights_iter, bias,
                  dst_layer, dst_iter, 0.0f, attr, allow_empty) {}
  };
  vanilla_rnn_forward() = default;
  vanilla_rnn_forward(const primitive_desc &pd) : primitive(pd) {}
  vanilla_rnn_forward(const primitive_desc &pd, const std::vector<uint8_t> &cache_blob) : primitive(pd, cache_blob) {}
};

/// A forward LSTM; see quern_lstm_forward_primitive_desc_create().
struct lstm_forward : public primitive {
  /// Descriptor of the primitive.
  struct primitive_desc : public rnn_primitive_desc_base {
    primitive_desc() = default;
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, prop_kind prop, rnn_direction direction, const memory::desc &src_layer,
            const memory::desc &src_iter, const memory::desc &src_iter_c, const memory::desc &weights_layer,
            const memory::desc &weights_iter, const memory::desc &weights_peephole,
            const memory::desc &weights_projection, const memory::desc &bias, const memory::desc &dst_layer,
            const memory::desc &dst_iter, const memory::desc &dst_iter_c, const primitive_attr &attr = primitive_attr(),
            bool allow_empty = false)
        : rnn_primitive_desc_base(aengine,
                  with_cells(parameters_of(prop, algorithm::vanilla_lstm, direction, src_layer, src_iter, weights_layer,
                                     weights_iter, bias, dst_layer, dst_iter),
                          src_iter_c, dst_iter_c, weights_peephole, weights_projection),
                  attr, allow_empty) {}
    /// An LSTM without a projection.
    primitive_desc(const engine &aengine, prop_kind prop, rnn_direction direction, const memory::desc &src_layer,
            const memory::desc &src_iter, const memory::desc &src_iter_c, const memory::desc &weights_layer,
            const memory::desc &weights_iter, const memory::desc &weights_peephole, const memory::desc &bias,
            const memory::desc &dst_layer, const memory::desc &dst_iter, const memory::desc &dst_iter_c,
            const primitive_attr &attr = primitive_attr(), bool allow_empty = false)
        : primitive_desc(aengine, prop, direction, src_layer, src_iter, src_iter_c, weights_layer, weights_iter,
                  weights_peephole, memory::desc(), bias, dst_layer, dst_iter, dst_iter_c, attr, allow_empty) {}
    /// An LSTM without peepholes and projection.
    primitive_desc(const engine &aengine, prop_kind prop, rnn_direction direction, const memory::desc &src_layer,
            const memory::desc &src_iter, const memory::desc &src_iter_c, const memory::desc &weights_layer,
            const memory::desc &weights_iter, const memory::desc &bias, const memory::desc &dst_layer,
            const memory::desc &dst_iter, const memory::desc &dst_iter_c, const primitive_attr &attr = primitive_attr(),
            bool allow_empty = false)
        : primitive_desc(aengine, prop, direction, src_layer, src_iter, src_iter_c, weights_layer, weights_iter,
                  memory::desc(), memory::desc(), bias, dst_layer, dst_iter, dst_iter_c, attr, allow_empty) {}
  };
  lstm_forward() = default;
  lstm_forward(const primitive_desc &pd) : primitive(pd) {}
  lstm_forward(const primitive_desc &pd, const std::vector<uint8_t> &cache_blob) : primitive(pd, cache_blob) {}
};

/// A forward GRU: vanilla_gru or lbr_gru.
template <algorithm cell> struct gru_forward_of : public primitive {
  /// Descriptor of the primitive.
  struct primitive_desc : public rnn_primitive_desc_base {
    primitive_desc() = default;
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, prop_kind prop, rnn_direction direction, const memory::desc &src_layer,
            const memory::desc &src_iter, const memory::desc &weights_layer, const memory::desc &weights_iter,
            const memory::desc &bias, const memory::desc &dst_layer, const memory::desc &dst_iter,
            const primitive_attr &attr = primitive_attr(), bool allow_empty = false)
        : rnn_primitive_desc_base(aengine,
                  parameters_of(prop, cell, direction, src_layer, src_iter, weights_layer, weights_iter, bias,
                          dst_layer, dst_iter),
                  attr, allow_empty) {}
  };
  gru_forward_of() = default;
  gru_forward_of(const primitive_desc &pd) : primitive(pd) {}
  gru_forward_of(const primitive_desc &pd, const std::vector<uint8_t> &cache_blob) : primitive(pd, cache_blob) {}
};

/// A forward GRU; see quern_gru_forward_primitive_desc_create().
struct gru_forward : public gru_forward_of<algorithm::vanilla_gru> {
  using gru_forward_of::gru_forward_of;
};
/// A forward GRU that is linear before reset; see quern_lbr_gru_forward_primitive_desc_create().
struct lbr_gru_forward : public gru_forward_of<algorithm::lbr_gru> {
  using gru_forward_of::gru_forward_of;
};

/// A forward AUGRU: vanilla_augru or lbr_augru.
template <algorithm cell> struct augru_forward_of : public primitive {
  /// Descriptor of the primitive.
  struct primitive_desc : public rnn_primitive_desc_base {
    primitive_desc() = default;
    /// With `allow_empty`, a failure leaves the descriptor empty.
    primitive_desc(const engine &aengine, prop_kind prop, rnn_direction direction, const memory::desc &src_layer,
            const memory::desc &src_iter, const memory::desc &attention, const memory::desc &weights_layer,
            const memory::desc &weights_iter, const memory::desc &bias, const memory::desc &dst_layer,
            const memory::desc &dst_iter, const primitive_attr &attr = primitive_attr(), bool allow_empty = false)
        : rnn_primitive_desc_base(aengine,
                  with_attention(parameters_of(prop, cell, direction, src_layer, src_iter, weights_layer, weights_iter,
                                         bias, dst_layer, dst_iter),
                          attention),
                  attr, allow_empty) {}
  };
  augru_forward_of() = default;
  augru_forward_of(const primitive_desc &pd) : primitive(pd) {}
  augru_forward_of(const primitive_desc &pd, const std::vector<uint8_t> &cache_blob) : primitive(pd, cache_blob) {}
};

/// A forward AUGRU; see quern_augru_forward_primitive_desc_create().
struct augru_forward : public augru_forward_of<algorithm::vanilla_augru> {
  using augru_forward_of::augru_forward_of;
};
/// A forward AUGRU that is linear before reset; see quern_lbr_augru_forward_primitive_desc_create().
struct lbr_augru_forward : public augru_forward_of<algorithm::lbr_augru> {
  using augru_forward_of::augru_forward_of;
};

} // namespace quern

#endif // QUERN_RNN_HPP
