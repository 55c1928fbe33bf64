/*===- quern/quern_rnn.h - Recurrent networks ------------------------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * Forward and backward of a stack of recurrent cells. docs/primitives/rnn.md has
 * the equations and the shapes. The first two functions take every parameter of
 * an RNN in a structure; the other twelve are those of oneDNN, two per cell.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_RNN_H
#define QUERN_RNN_H

#include "quern/quern_attr.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Parameters of a forward RNN. Zero the structure, set `size`, then the fields that apply. Descriptors are read during
 * the call only; a null or zero descriptor means that the tensor is absent. Layouts may be `any`. Comments give the
 * dims: T steps, N sequences, L layers, D directions, G gates, and the channels SLC, SIC, DHC and DIC.
 */
typedef struct {
  size_t size;                     /**< sizeof(quern_rnn_forward_t); fields beyond it are absent */
  quern_prop_kind_t prop_kind;     /**< forward_training or forward_inference */
  quern_alg_kind_t cell_kind;      /**< quern_vanilla_rnn to quern_lbr_augru */
  quern_rnn_direction_t direction; /**< order of the steps */
  quern_alg_kind_t activation;     /**< vanilla_rnn: eltwise_relu, eltwise_tanh or eltwise_logistic; otherwise undef */
  float alpha;                     /**< slope of relu for negative values */
  float beta;                      /**< unused; no activation has a second parameter */
  unsigned flags;                  /**< bits of quern_rnn_flags_t */
  const_quern_memory_desc_t src_layer_desc;        /**< T, N, SLC */
  const_quern_memory_desc_t src_iter_desc;         /**< L, D, N, SIC; optional */
  const_quern_memory_desc_t src_iter_c_desc;       /**< L, D, N, DHC; lstm, with src_iter */
  const_quern_memory_desc_t attention_desc;        /**< T, N, 1; augru, lbr_augru */
  const_quern_memory_desc_t seq_lengths_desc;      /**< s32, N; optional: number of steps of each sequence, at most T */
  const_quern_memory_desc_t weights_layer_desc;    /**< L, D, SLC, G, DHC */
  const_quern_memory_desc_t weights_iter_desc;     /**< L, D, SIC, G, DHC */
  const_quern_memory_desc_t weights_peephole_desc; /**< L, D, 3, DHC; lstm, optional */
  const_quern_memory_desc_t weights_projection_desc; /**< L, D, DHC, DIC; lstm, optional */
  const_quern_memory_desc_t bias_desc;               /**< L, D, G, DHC; linear before reset G + 1; optional */
  const_quern_memory_desc_t dst_layer_desc;          /**< T, N, DIC; bidirectional_concat 2 DIC */
  const_quern_memory_desc_t dst_iter_desc;           /**< L, D, N, DIC; optional */
  const_quern_memory_desc_t dst_iter_c_desc;         /**< L, D, N, DHC; lstm, with dst_iter */
} quern_rnn_forward_t;

/**
 * Creates the descriptor of a forward RNN with any cell.
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param rnn The parameters; read during the call only.
 * @param attr Attributes; null: the defaults.
 * @return quern_success; quern_invalid_arguments: a field is out of range, or the shapes do not match;
 *         quern_unimplemented: the RNN is legal but not supported, or `rnn->size` exceeds the structure of this library
 *         and the additional bytes are not zero. The message cites the constraint of docs/primitives/rnn.md that is
 *         violated.
 */
QUERN_API quern_status_t quern_rnn_forward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, const quern_rnn_forward_t *rnn, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Parameters of the gradients of an RNN: the RNN, and the gradients of its tensors in f32, each with the dims of its
 * tensor. Gradients of weights and bias are added to the present contents of their memory, or overwrite them
 * (quern_rnn_flags_diff_weights_overwrite). A gradient that is absent is not computed; at least one must be present. An
 * execution also takes the workspace of forward_training. bias, dst_iter and dst_iter_c are not read. Zero the
 * structure, set `size` and `forward`, then the fields that apply.
 */
typedef struct {
  size_t size; /**< sizeof(quern_rnn_backward_t); fields beyond it are absent */
  /** The RNN, with its own size and with prop_kind forward_training; layouts may differ from those of the hint. */
  const quern_rnn_forward_t *forward;
  const_quern_memory_desc_t diff_src_layer_desc;          /**< gradient of src_layer */
  const_quern_memory_desc_t diff_src_iter_desc;           /**< gradient of src_iter */
  const_quern_memory_desc_t diff_src_iter_c_desc;         /**< gradient of src_iter_c */
  const_quern_memory_desc_t diff_attention_desc;          /**< gradient of attention */
  const_quern_memory_desc_t diff_weights_layer_desc;      /**< gradient of weights_layer */
  const_quern_memory_desc_t diff_weights_iter_desc;       /**< gradient of weights_iter */
  const_quern_memory_desc_t diff_weights_peephole_desc;   /**< gradient of weights_peephole */
  const_quern_memory_desc_t diff_weights_projection_desc; /**< gradient of weights_projection */
  const_quern_memory_desc_t diff_bias_desc;               /**< gradient of bias */
  const_quern_memory_desc_t diff_dst_layer_desc;          /**< input; required */
  const_quern_memory_desc_t diff_dst_iter_desc;           /**< input; absent: zeros */
  const_quern_memory_desc_t diff_dst_iter_c_desc;         /**< input; absent: zeros */
} quern_rnn_backward_t;

/**
 * Creates the descriptor of the gradients of an RNN with any cell.
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param rnn The parameters; read during the call only.
 * @param hint_fwd_pd The forward_training descriptor whose workspace executions read, with the same cell, direction,
 *         dims and types; null: the caller guarantees that.
 * @param attr Attributes; null: the defaults.
 * @return As quern_rnn_forward_primitive_desc_create().
 */
QUERN_API quern_status_t quern_rnn_backward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, const quern_rnn_backward_t *rnn, const_quern_primitive_desc_t hint_fwd_pd,
        const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/* --- The functions of oneDNN, with the parameters of one cell ---------- */

/**
 * Creates the descriptor of a forward vanilla RNN. Equivalent to quern_rnn_forward_primitive_desc_create() with the
 * other fields zero.
 *
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param prop_kind,activation,direction,src_layer_desc,src_iter_desc,weights_layer_desc As in quern_rnn_forward_t.
 * @param weights_iter_desc,bias_desc,dst_layer_desc,dst_iter_desc,flags,alpha,beta As in quern_rnn_forward_t.
 * @param attr Attributes; null: the defaults.
 * @return As quern_rnn_forward_primitive_desc_create().
 */
QUERN_API quern_status_t quern_vanilla_rnn_forward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, const quern_alg_kind_t activation,
        const quern_rnn_direction_t direction, const_quern_memory_desc_t src_layer_desc,
        const_quern_memory_desc_t src_iter_desc, const_quern_memory_desc_t weights_layer_desc,
        const_quern_memory_desc_t weights_iter_desc, const_quern_memory_desc_t bias_desc,
        const_quern_memory_desc_t dst_layer_desc, const_quern_memory_desc_t dst_iter_desc, unsigned flags, float alpha,
        float beta, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of a forward LSTM. Equivalent to quern_rnn_forward_primitive_desc_create() with the other
 * fields zero.
 *
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param prop_kind,direction,src_layer_desc,src_iter_desc,src_iter_c_desc,weights_layer_desc As in quern_rnn_forward_t.
 * @param weights_iter_desc,weights_peephole_desc,weights_projection_desc,bias_desc As in quern_rnn_forward_t.
 * @param dst_layer_desc,dst_iter_desc,dst_iter_c_desc,flags As in quern_rnn_forward_t.
 * @param attr Attributes; null: the defaults.
 * @return As quern_rnn_forward_primitive_desc_create().
 */
QUERN_API quern_status_t quern_lstm_forward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, quern_rnn_direction_t direction,
        const_quern_memory_desc_t src_layer_desc, const_quern_memory_desc_t src_iter_desc,
        const_quern_memory_desc_t src_iter_c_desc, const_quern_memory_desc_t weights_layer_desc,
        const_quern_memory_desc_t weights_iter_desc, const_quern_memory_desc_t weights_peephole_desc,
        const_quern_memory_desc_t weights_projection_desc, const_quern_memory_desc_t bias_desc,
        const_quern_memory_desc_t dst_layer_desc, const_quern_memory_desc_t dst_iter_desc,
        const_quern_memory_desc_t dst_iter_c_desc, unsigned flags, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of a forward GRU. Equivalent to quern_rnn_forward_primitive_desc_create() with the other
 * fields zero.
 *
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param prop_kind,direction,src_layer_desc,src_iter_desc,weights_layer_desc As in quern_rnn_forward_t.
 * @param weights_iter_desc,bias_desc,dst_layer_desc,dst_iter_desc,flags As in quern_rnn_forward_t.
 * @param attr Attributes; null: the defaults.
 * @return As quern_rnn_forward_primitive_desc_create().
 */
QUERN_API quern_status_t quern_gru_forward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, quern_rnn_direction_t direction,
        const_quern_memory_desc_t src_layer_desc, const_quern_memory_desc_t src_iter_desc,
        const_quern_memory_desc_t weights_layer_desc, const_quern_memory_desc_t weights_iter_desc,
        const_quern_memory_desc_t bias_desc, const_quern_memory_desc_t dst_layer_desc,
        const_quern_memory_desc_t dst_iter_desc, unsigned flags, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of a forward GRU that is linear before reset. Equivalent to
 * quern_rnn_forward_primitive_desc_create() with the other fields zero.
 *
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param prop_kind,direction,src_layer_desc,src_iter_desc,weights_layer_desc As in quern_rnn_forward_t.
 * @param weights_iter_desc,bias_desc,dst_layer_desc,dst_iter_desc,flags As in quern_rnn_forward_t.
 * @param attr Attributes; null: the defaults.
 * @return As quern_rnn_forward_primitive_desc_create().
 */
QUERN_API quern_status_t quern_lbr_gru_forward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, quern_rnn_direction_t direction,
        const_quern_memory_desc_t src_layer_desc, const_quern_memory_desc_t src_iter_desc,
        const_quern_memory_desc_t weights_layer_desc, const_quern_memory_desc_t weights_iter_desc,
        const_quern_memory_desc_t bias_desc, const_quern_memory_desc_t dst_layer_desc,
        const_quern_memory_desc_t dst_iter_desc, unsigned flags, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of a forward AUGRU. Equivalent to quern_rnn_forward_primitive_desc_create() with the other
 * fields zero.
 *
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param prop_kind,direction,src_layer_desc,src_iter_desc,attention_desc,weights_layer_desc As in quern_rnn_forward_t.
 * @param weights_iter_desc,bias_desc,dst_layer_desc,dst_iter_desc,flags As in quern_rnn_forward_t.
 * @param attr Attributes; null: the defaults.
 * @return As quern_rnn_forward_primitive_desc_create().
 */
QUERN_API quern_status_t quern_augru_forward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, quern_rnn_direction_t direction,
        const_quern_memory_desc_t src_layer_desc, const_quern_memory_desc_t src_iter_desc,
        const_quern_memory_desc_t attention_desc, const_quern_memory_desc_t weights_layer_desc,
        const_quern_memory_desc_t weights_iter_desc, const_quern_memory_desc_t bias_desc,
        const_quern_memory_desc_t dst_layer_desc, const_quern_memory_desc_t dst_iter_desc, unsigned flags,
        const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of a forward AUGRU that is linear before reset. Equivalent to
 * quern_rnn_forward_primitive_desc_create() with the other fields zero.
 *
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param prop_kind,direction,src_layer_desc,src_iter_desc,attention_desc,weights_layer_desc As in quern_rnn_forward_t.
 * @param weights_iter_desc,bias_desc,dst_layer_desc,dst_iter_desc,flags As in quern_rnn_forward_t.
 * @param attr Attributes; null: the defaults.
 * @return As quern_rnn_forward_primitive_desc_create().
 */
QUERN_API quern_status_t quern_lbr_augru_forward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, quern_rnn_direction_t direction,
        const_quern_memory_desc_t src_layer_desc, const_quern_memory_desc_t src_iter_desc,
        const_quern_memory_desc_t attention_desc, const_quern_memory_desc_t weights_layer_desc,
        const_quern_memory_desc_t weights_iter_desc, const_quern_memory_desc_t bias_desc,
        const_quern_memory_desc_t dst_layer_desc, const_quern_memory_desc_t dst_iter_desc, unsigned flags,
        const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/* Backward */

/**
 * Creates the descriptor of the gradients of a vanilla RNN. Equivalent to quern_rnn_backward_primitive_desc_create()
 * with the other fields zero.
 *
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param prop_kind quern_backward.
 * @param activation,direction,src_layer_desc,src_iter_desc,weights_layer_desc As in quern_rnn_forward_t.
 * @param weights_iter_desc,bias_desc,dst_layer_desc,dst_iter_desc,flags,alpha,beta As in quern_rnn_forward_t.
 * @param diff_src_layer_desc,diff_src_iter_desc,diff_weights_layer_desc As in quern_rnn_backward_t.
 * @param diff_weights_iter_desc,diff_bias_desc,diff_dst_layer_desc,diff_dst_iter_desc As in quern_rnn_backward_t.
 * @param hint_fwd_pd As in quern_rnn_backward_primitive_desc_create().
 * @param attr Attributes; null: the defaults.
 * @return As quern_rnn_backward_primitive_desc_create().
 */
QUERN_API quern_status_t quern_vanilla_rnn_backward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, const quern_alg_kind_t activation,
        const quern_rnn_direction_t direction, const_quern_memory_desc_t src_layer_desc,
        const_quern_memory_desc_t src_iter_desc, const_quern_memory_desc_t weights_layer_desc,
        const_quern_memory_desc_t weights_iter_desc, const_quern_memory_desc_t bias_desc,
        const_quern_memory_desc_t dst_layer_desc, const_quern_memory_desc_t dst_iter_desc,
        const_quern_memory_desc_t diff_src_layer_desc, const_quern_memory_desc_t diff_src_iter_desc,
        const_quern_memory_desc_t diff_weights_layer_desc, const_quern_memory_desc_t diff_weights_iter_desc,
        const_quern_memory_desc_t diff_bias_desc, const_quern_memory_desc_t diff_dst_layer_desc,
        const_quern_memory_desc_t diff_dst_iter_desc, unsigned flags, float alpha, float beta,
        const_quern_primitive_desc_t hint_fwd_pd, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of the gradients of an LSTM. Equivalent to quern_rnn_backward_primitive_desc_create() with the
 * other fields zero.
 *
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param prop_kind quern_backward.
 * @param direction,src_layer_desc,src_iter_desc,src_iter_c_desc,weights_layer_desc As in quern_rnn_forward_t.
 * @param weights_iter_desc,weights_peephole_desc,weights_projection_desc,bias_desc As in quern_rnn_forward_t.
 * @param dst_layer_desc,dst_iter_desc,dst_iter_c_desc,flags As in quern_rnn_forward_t.
 * @param diff_src_layer_desc,diff_src_iter_desc,diff_src_iter_c_desc As in quern_rnn_backward_t.
 * @param diff_weights_layer_desc,diff_weights_iter_desc,diff_weights_peephole_desc As in quern_rnn_backward_t.
 * @param diff_weights_projection_desc,diff_bias_desc,diff_dst_layer_desc,diff_dst_iter_desc As in quern_rnn_backward_t.
 * @param diff_dst_iter_c_desc As in quern_rnn_backward_t.
 * @param hint_fwd_pd As in quern_rnn_backward_primitive_desc_create().
 * @param attr Attributes; null: the defaults.
 * @return As quern_rnn_backward_primitive_desc_create().
 */
QUERN_API quern_status_t quern_lstm_backward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, quern_rnn_direction_t direction,
        const_quern_memory_desc_t src_layer_desc, const_quern_memory_desc_t src_iter_desc,
        const_quern_memory_desc_t src_iter_c_desc, const_quern_memory_desc_t weights_layer_desc,
        const_quern_memory_desc_t weights_iter_desc, const_quern_memory_desc_t weights_peephole_desc,
        const_quern_memory_desc_t weights_projection_desc, const_quern_memory_desc_t bias_desc,
        const_quern_memory_desc_t dst_layer_desc, const_quern_memory_desc_t dst_iter_desc,
        const_quern_memory_desc_t dst_iter_c_desc, const_quern_memory_desc_t diff_src_layer_desc,
        const_quern_memory_desc_t diff_src_iter_desc, const_quern_memory_desc_t diff_src_iter_c_desc,
        const_quern_memory_desc_t diff_weights_layer_desc, const_quern_memory_desc_t diff_weights_iter_desc,
        const_quern_memory_desc_t diff_weights_peephole_desc, const_quern_memory_desc_t diff_weights_projection_desc,
        const_quern_memory_desc_t diff_bias_desc, const_quern_memory_desc_t diff_dst_layer_desc,
        const_quern_memory_desc_t diff_dst_iter_desc, const_quern_memory_desc_t diff_dst_iter_c_desc, unsigned flags,
        const_quern_primitive_desc_t hint_fwd_pd, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of the gradients of a GRU. Equivalent to quern_rnn_backward_primitive_desc_create() with the
 * other fields zero.
 *
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param prop_kind quern_backward.
 * @param direction,src_layer_desc,src_iter_desc,weights_layer_desc,weights_iter_desc As in quern_rnn_forward_t.
 * @param bias_desc,dst_layer_desc,dst_iter_desc,flags As in quern_rnn_forward_t.
 * @param diff_src_layer_desc,diff_src_iter_desc,diff_weights_layer_desc As in quern_rnn_backward_t.
 * @param diff_weights_iter_desc,diff_bias_desc,diff_dst_layer_desc,diff_dst_iter_desc As in quern_rnn_backward_t.
 * @param hint_fwd_pd As in quern_rnn_backward_primitive_desc_create().
 * @param attr Attributes; null: the defaults.
 * @return As quern_rnn_backward_primitive_desc_create().
 */
QUERN_API quern_status_t quern_gru_backward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, quern_rnn_direction_t direction,
        const_quern_memory_desc_t src_layer_desc, const_quern_memory_desc_t src_iter_desc,
        const_quern_memory_desc_t weights_layer_desc, const_quern_memory_desc_t weights_iter_desc,
        const_quern_memory_desc_t bias_desc, const_quern_memory_desc_t dst_layer_desc,
        const_quern_memory_desc_t dst_iter_desc, const_quern_memory_desc_t diff_src_layer_desc,
        const_quern_memory_desc_t diff_src_iter_desc, const_quern_memory_desc_t diff_weights_layer_desc,
        const_quern_memory_desc_t diff_weights_iter_desc, const_quern_memory_desc_t diff_bias_desc,
        const_quern_memory_desc_t diff_dst_layer_desc, const_quern_memory_desc_t diff_dst_iter_desc, unsigned flags,
        const_quern_primitive_desc_t hint_fwd_pd, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of the gradients of a GRU that is linear before reset. Equivalent to
 * quern_rnn_backward_primitive_desc_create() with the other fields zero.
 *
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param prop_kind quern_backward.
 * @param direction,src_layer_desc,src_iter_desc,weights_layer_desc,weights_iter_desc As in quern_rnn_forward_t.
 * @param bias_desc,dst_layer_desc,dst_iter_desc,flags As in quern_rnn_forward_t.
 * @param diff_src_layer_desc,diff_src_iter_desc,diff_weights_layer_desc As in quern_rnn_backward_t.
 * @param diff_weights_iter_desc,diff_bias_desc,diff_dst_layer_desc,diff_dst_iter_desc As in quern_rnn_backward_t.
 * @param hint_fwd_pd As in quern_rnn_backward_primitive_desc_create().
 * @param attr Attributes; null: the defaults.
 * @return As quern_rnn_backward_primitive_desc_create().
 */
QUERN_API quern_status_t quern_lbr_gru_backward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, quern_rnn_direction_t direction,
        const_quern_memory_desc_t src_layer_desc, const_quern_memory_desc_t src_iter_desc,
        const_quern_memory_desc_t weights_layer_desc, const_quern_memory_desc_t weights_iter_desc,
        const_quern_memory_desc_t bias_desc, const_quern_memory_desc_t dst_layer_desc,
        const_quern_memory_desc_t dst_iter_desc, const_quern_memory_desc_t diff_src_layer_desc,
        const_quern_memory_desc_t diff_src_iter_desc, const_quern_memory_desc_t diff_weights_layer_desc,
        const_quern_memory_desc_t diff_weights_iter_desc, const_quern_memory_desc_t diff_bias_desc,
        const_quern_memory_desc_t diff_dst_layer_desc, const_quern_memory_desc_t diff_dst_iter_desc, unsigned flags,
        const_quern_primitive_desc_t hint_fwd_pd, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of the gradients of an AUGRU. Equivalent to quern_rnn_backward_primitive_desc_create() with
 * the other fields zero.
 *
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param prop_kind quern_backward.
 * @param direction,src_layer_desc,src_iter_desc,attention_desc,weights_layer_desc As in quern_rnn_forward_t.
 * @param weights_iter_desc,bias_desc,dst_layer_desc,dst_iter_desc,flags As in quern_rnn_forward_t.
 * @param diff_src_layer_desc,diff_src_iter_desc,diff_attention_desc,diff_weights_layer_desc As in quern_rnn_backward_t.
 * @param diff_weights_iter_desc,diff_bias_desc,diff_dst_layer_desc,diff_dst_iter_desc As in quern_rnn_backward_t.
 * @param hint_fwd_pd As in quern_rnn_backward_primitive_desc_create().
 * @param attr Attributes; null: the defaults.
 * @return As quern_rnn_backward_primitive_desc_create().
 */
QUERN_API quern_status_t quern_augru_backward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, quern_rnn_direction_t direction,
        const_quern_memory_desc_t src_layer_desc, const_quern_memory_desc_t src_iter_desc,
        const_quern_memory_desc_t attention_desc, const_quern_memory_desc_t weights_layer_desc,
        const_quern_memory_desc_t weights_iter_desc, const_quern_memory_desc_t bias_desc,
        const_quern_memory_desc_t dst_layer_desc, const_quern_memory_desc_t dst_iter_desc,
        const_quern_memory_desc_t diff_src_layer_desc, const_quern_memory_desc_t diff_src_iter_desc,
        const_quern_memory_desc_t diff_attention_desc, const_quern_memory_desc_t diff_weights_layer_desc,
        const_quern_memory_desc_t diff_weights_iter_desc, const_quern_memory_desc_t diff_bias_desc,
        const_quern_memory_desc_t diff_dst_layer_desc, const_quern_memory_desc_t diff_dst_iter_desc, unsigned flags,
        const_quern_primitive_desc_t hint_fwd_pd, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * Creates the descriptor of the gradients of an AUGRU that is linear before reset. Equivalent to
 * quern_rnn_backward_primitive_desc_create() with the other fields zero.
 *
 * @param primitive_desc Receives the descriptor, which the caller owns (quern_primitive_desc_destroy()).
 * @param engine The engine that computes it; may be destroyed before the descriptor.
 * @param prop_kind quern_backward.
 * @param direction,src_layer_desc,src_iter_desc,attention_desc,weights_layer_desc As in quern_rnn_forward_t.
 * @param weights_iter_desc,bias_desc,dst_layer_desc,dst_iter_desc,flags As in quern_rnn_forward_t.
 * @param diff_src_layer_desc,diff_src_iter_desc,diff_attention_desc,diff_weights_layer_desc As in quern_rnn_backward_t.
 * @param diff_weights_iter_desc,diff_bias_desc,diff_dst_layer_desc,diff_dst_iter_desc As in quern_rnn_backward_t.
 * @param hint_fwd_pd As in quern_rnn_backward_primitive_desc_create().
 * @param attr Attributes; null: the defaults.
 * @return As quern_rnn_backward_primitive_desc_create().
 */
QUERN_API quern_status_t quern_lbr_augru_backward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, quern_rnn_direction_t direction,
        const_quern_memory_desc_t src_layer_desc, const_quern_memory_desc_t src_iter_desc,
        const_quern_memory_desc_t attention_desc, const_quern_memory_desc_t weights_layer_desc,
        const_quern_memory_desc_t weights_iter_desc, const_quern_memory_desc_t bias_desc,
        const_quern_memory_desc_t dst_layer_desc, const_quern_memory_desc_t dst_iter_desc,
        const_quern_memory_desc_t diff_src_layer_desc, const_quern_memory_desc_t diff_src_iter_desc,
        const_quern_memory_desc_t diff_attention_desc, const_quern_memory_desc_t diff_weights_layer_desc,
        const_quern_memory_desc_t diff_weights_iter_desc, const_quern_memory_desc_t diff_bias_desc,
        const_quern_memory_desc_t diff_dst_layer_desc, const_quern_memory_desc_t diff_dst_iter_desc, unsigned flags,
        const_quern_primitive_desc_t hint_fwd_pd, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* QUERN_RNN_H */
