/*===- quern/quern_rnn.h - Recurrent networks ------------------------------===*
 * Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===----------------------------------------------------------------------===*
 *
 * Forward and backward of a stack of recurrent cells; docs/primitives/rnn.md
 * has the equations and the shapes. First one function each for everything that
 * an RNN may have, then oneDNN's twelve, two for each cell.
 *===----------------------------------------------------------------------===*/
#ifndef QUERN_RNN_H
#define QUERN_RNN_H

#include "quern/quern_attr.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What an RNN is. Descriptors are read by the call, not kept; null or zero: there is no such tensor. Layouts may be
 * `any`. Set it to zeros, then `size` and what there is.
 */
typedef struct {
  size_t size;                 /**< sizeof(quern_rnn_forward_t); what a caller does not know of is absent */
  quern_prop_kind_t prop_kind; /**< forward_training or forward_inference */
  quern_alg_kind_t cell_kind;  /**< quern_vanilla_rnn to quern_lbr_augru */
  quern_rnn_direction_t direction;
  quern_alg_kind_t activation; /**< of vanilla_rnn: eltwise_relu, eltwise_tanh or eltwise_logistic; otherwise undef */
  float alpha;                 /**< the slope of relu below 0 */
  float beta;                  /**< no activation has one */
  unsigned flags;              /**< bits of quern_rnn_flags_t */
  const_quern_memory_desc_t src_layer_desc;          /**< T, N, SLC */
  const_quern_memory_desc_t src_iter_desc;           /**< L, D, N, SIC; optional */
  const_quern_memory_desc_t src_iter_c_desc;         /**< L, D, N, DHC; lstm, with src_iter */
  const_quern_memory_desc_t attention_desc;          /**< T, N, 1; augru, lbr_augru */
  const_quern_memory_desc_t seq_lengths_desc;        /**< s32, N; optional: the steps of each sequence, of T */
  const_quern_memory_desc_t weights_layer_desc;      /**< L, D, SLC, G, DHC */
  const_quern_memory_desc_t weights_iter_desc;       /**< L, D, SIC, G, DHC */
  const_quern_memory_desc_t weights_peephole_desc;   /**< L, D, 3, DHC; lstm, optional */
  const_quern_memory_desc_t weights_projection_desc; /**< L, D, DHC, DIC; lstm, optional */
  const_quern_memory_desc_t bias_desc;               /**< L, D, G, DHC; linear before reset G + 1; optional */
  const_quern_memory_desc_t dst_layer_desc;          /**< T, N, DIC; bidirectional_concat 2 DIC */
  const_quern_memory_desc_t dst_iter_desc;           /**< L, D, N, DIC; optional */
  const_quern_memory_desc_t dst_iter_c_desc;         /**< L, D, N, DHC; lstm, with dst_iter */
} quern_rnn_forward_t;

/**
 * invalid_arguments and unimplemented: the message names the constraint of docs/primitives/rnn.md that is broken. `rnn`
 * is larger than this library's and has something behind its end: unimplemented.
 */
QUERN_API quern_status_t quern_rnn_forward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, const quern_rnn_forward_t *rnn, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/**
 * What the gradients of an RNN are made of: the tensors of forward, then their gradients, f32, each of the dims of its
 * tensor. Those of weights and bias are added to what their memory holds, or overwrite it
 * (quern_rnn_flags_diff_weights_overwrite). A gradient that is absent is not computed; one at least is there. Besides,
 * an execution takes the workspace of forward_training.
 */
typedef struct {
  size_t size;                 /**< sizeof(quern_rnn_backward_t); what a caller does not know of is absent */
  quern_prop_kind_t prop_kind; /**< backward */
  quern_alg_kind_t cell_kind;  /**< quern_vanilla_rnn to quern_lbr_augru */
  quern_rnn_direction_t direction;
  quern_alg_kind_t activation; /**< of vanilla_rnn: eltwise_relu, eltwise_tanh or eltwise_logistic; otherwise undef */
  float alpha;                 /**< the slope of relu below 0 */
  float beta;                  /**< no activation has one */
  unsigned flags;              /**< bits of quern_rnn_flags_t */
  const_quern_memory_desc_t src_layer_desc;          /**< T, N, SLC */
  const_quern_memory_desc_t src_iter_desc;           /**< L, D, N, SIC; optional */
  const_quern_memory_desc_t src_iter_c_desc;         /**< L, D, N, DHC; lstm, with src_iter */
  const_quern_memory_desc_t attention_desc;          /**< T, N, 1; augru, lbr_augru */
  const_quern_memory_desc_t seq_lengths_desc;        /**< s32, N; optional */
  const_quern_memory_desc_t weights_layer_desc;      /**< L, D, SLC, G, DHC */
  const_quern_memory_desc_t weights_iter_desc;       /**< L, D, SIC, G, DHC */
  const_quern_memory_desc_t weights_peephole_desc;   /**< L, D, 3, DHC; lstm, optional */
  const_quern_memory_desc_t weights_projection_desc; /**< L, D, DHC, DIC; lstm, optional */
  const_quern_memory_desc_t bias_desc;               /**< L, D, G, DHC; linear before reset G + 1; optional; not read */
  const_quern_memory_desc_t dst_layer_desc;          /**< T, N, DIC; bidirectional_concat 2 DIC */
  const_quern_memory_desc_t dst_iter_desc;           /**< L, D, N, DIC; optional; not read */
  const_quern_memory_desc_t dst_iter_c_desc;         /**< L, D, N, DHC; lstm, with dst_iter; not read */
  const_quern_memory_desc_t diff_src_layer_desc;
  const_quern_memory_desc_t diff_src_iter_desc;
  const_quern_memory_desc_t diff_src_iter_c_desc;
  const_quern_memory_desc_t diff_attention_desc;
  const_quern_memory_desc_t diff_weights_layer_desc;
  const_quern_memory_desc_t diff_weights_iter_desc;
  const_quern_memory_desc_t diff_weights_peephole_desc;
  const_quern_memory_desc_t diff_weights_projection_desc;
  const_quern_memory_desc_t diff_bias_desc;
  const_quern_memory_desc_t diff_dst_layer_desc;  /**< read; always there */
  const_quern_memory_desc_t diff_dst_iter_desc;   /**< read; absent: zeros */
  const_quern_memory_desc_t diff_dst_iter_c_desc; /**< read; absent: zeros */
} quern_rnn_backward_t;

/**
 * `hint_fwd_pd` is forward_training of the same cell, direction, dims and types, whose workspace is read, or null, if
 * the caller answers for that. Results as of quern_rnn_forward_primitive_desc_create().
 */
QUERN_API quern_status_t quern_rnn_backward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, const quern_rnn_backward_t *rnn, const_quern_primitive_desc_t hint_fwd_pd,
        const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/* --- oneDNN's functions: the same with the parameters of one cell ------ */

QUERN_API quern_status_t quern_vanilla_rnn_forward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, const quern_alg_kind_t activation,
        const quern_rnn_direction_t direction, const_quern_memory_desc_t src_layer_desc,
        const_quern_memory_desc_t src_iter_desc, const_quern_memory_desc_t weights_layer_desc,
        const_quern_memory_desc_t weights_iter_desc, const_quern_memory_desc_t bias_desc,
        const_quern_memory_desc_t dst_layer_desc, const_quern_memory_desc_t dst_iter_desc, unsigned flags, float alpha,
        float beta, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_lstm_forward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, quern_rnn_direction_t direction,
        const_quern_memory_desc_t src_layer_desc, const_quern_memory_desc_t src_iter_desc,
        const_quern_memory_desc_t src_iter_c_desc, const_quern_memory_desc_t weights_layer_desc,
        const_quern_memory_desc_t weights_iter_desc, const_quern_memory_desc_t weights_peephole_desc,
        const_quern_memory_desc_t weights_projection_desc, const_quern_memory_desc_t bias_desc,
        const_quern_memory_desc_t dst_layer_desc, const_quern_memory_desc_t dst_iter_desc,
        const_quern_memory_desc_t dst_iter_c_desc, unsigned flags, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_gru_forward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, quern_rnn_direction_t direction,
        const_quern_memory_desc_t src_layer_desc, const_quern_memory_desc_t src_iter_desc,
        const_quern_memory_desc_t weights_layer_desc, const_quern_memory_desc_t weights_iter_desc,
        const_quern_memory_desc_t bias_desc, const_quern_memory_desc_t dst_layer_desc,
        const_quern_memory_desc_t dst_iter_desc, unsigned flags, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_lbr_gru_forward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, quern_rnn_direction_t direction,
        const_quern_memory_desc_t src_layer_desc, const_quern_memory_desc_t src_iter_desc,
        const_quern_memory_desc_t weights_layer_desc, const_quern_memory_desc_t weights_iter_desc,
        const_quern_memory_desc_t bias_desc, const_quern_memory_desc_t dst_layer_desc,
        const_quern_memory_desc_t dst_iter_desc, unsigned flags, const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_augru_forward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, quern_rnn_direction_t direction,
        const_quern_memory_desc_t src_layer_desc, const_quern_memory_desc_t src_iter_desc,
        const_quern_memory_desc_t attention_desc, const_quern_memory_desc_t weights_layer_desc,
        const_quern_memory_desc_t weights_iter_desc, const_quern_memory_desc_t bias_desc,
        const_quern_memory_desc_t dst_layer_desc, const_quern_memory_desc_t dst_iter_desc, unsigned flags,
        const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;
QUERN_API quern_status_t quern_lbr_augru_forward_primitive_desc_create(quern_primitive_desc_t *primitive_desc,
        quern_engine_t engine, quern_prop_kind_t prop_kind, quern_rnn_direction_t direction,
        const_quern_memory_desc_t src_layer_desc, const_quern_memory_desc_t src_iter_desc,
        const_quern_memory_desc_t attention_desc, const_quern_memory_desc_t weights_layer_desc,
        const_quern_memory_desc_t weights_iter_desc, const_quern_memory_desc_t bias_desc,
        const_quern_memory_desc_t dst_layer_desc, const_quern_memory_desc_t dst_iter_desc, unsigned flags,
        const_quern_primitive_attr_t attr) QUERN_NOEXCEPT;

/* Backward; hint_fwd_pd may be null. */
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
