//===- Rnn.cpp - Primitive descriptors of RNNs ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Implements quern_rnn.h. The functions for one kind of cell fill the structure that the function for all kinds takes.
//
//===----------------------------------------------------------------------===//
#include "API/Create.h"
#include "API/Guard.h"

#include <algorithm>
#include <cstring>

using namespace quern;
using namespace quern::api;

namespace {

using Tensors = std::initializer_list<std::pair<TensorDesc &, const_quern_memory_desc_t>>;

void copyTensors(Tensors tensors) {
  for (const auto &[tensor, given] : tensors)
    if (given)
      tensor = *unwrap(given);
}

/// Copies the parameters of the RNN.
void fill(RnnDesc &to, const quern_rnn_forward_t &rnn) {
  to.prop = fromC<PropKind>(rnn.prop_kind);
  to.cell = fromC<Alg>(rnn.cell_kind);
  to.direction = fromC<RnnDirection>(rnn.direction);
  to.activation = fromC<Alg>(rnn.activation);
  to.alpha = rnn.alpha;
  to.beta = rnn.beta;
  to.flags = rnn.flags;
  copyTensors({{to.srcLayer, rnn.src_layer_desc},
               {to.srcIter, rnn.src_iter_desc},
               {to.srcIterC, rnn.src_iter_c_desc},
               {to.attention, rnn.attention_desc},
               {to.seqLengths, rnn.seq_lengths_desc},
               {to.weightsLayer, rnn.weights_layer_desc},
               {to.weightsIter, rnn.weights_iter_desc},
               {to.weightsPeephole, rnn.weights_peephole_desc},
               {to.weightsProjection, rnn.weights_projection_desc},
               {to.bias, rnn.bias_desc},
               {to.dstLayer, rnn.dst_layer_desc},
               {to.dstIter, rnn.dst_iter_desc},
               {to.dstIterC, rnn.dst_iter_c_desc}});
}

Result<void> createRnn(quern_primitive_desc_t *handle, quern_engine_t engine, const quern_rnn_forward_t &rnn,
                       const_quern_primitive_attr_t attr) {
  QUERN_REQUIRE("primitive_desc", handle);
  *handle = nullptr;
  QUERN_REQUIRE("engine", engine);
  QUERN_RETURN_IF_ERROR(checkForward("rnn", rnn.prop_kind));
  PrimitiveDesc desc; // filled in place: descriptors are large
  fill(*desc.op.emplace<Boxed<RnnDesc>>(), rnn);
  desc.attr = attributesOf(attr);
  return create(handle, engine, desc, nullptr);
}

/// The propagation kind of `rnn` must be backward; `diff.forward` is not read.
Result<void> createRnn(quern_primitive_desc_t *handle, quern_engine_t engine, const quern_rnn_forward_t &rnn,
                       const quern_rnn_backward_t &diff, const_quern_primitive_desc_t hint,
                       const_quern_primitive_attr_t attr) {
  QUERN_REQUIRE("primitive_desc", handle);
  *handle = nullptr;
  QUERN_REQUIRE("engine", engine);
  if (rnn.prop_kind != quern_backward)
    return invalidArguments("prop_kind is ", static_cast<int>(rnn.prop_kind), "; backward rnn supports backward (128)");
  PrimitiveDesc desc;
  RnnDesc &to = *desc.op.emplace<Boxed<RnnDesc>>();
  fill(to, rnn);
  copyTensors({{to.diffSrcLayer, diff.diff_src_layer_desc},
               {to.diffSrcIter, diff.diff_src_iter_desc},
               {to.diffSrcIterC, diff.diff_src_iter_c_desc},
               {to.diffAttention, diff.diff_attention_desc},
               {to.diffWeightsLayer, diff.diff_weights_layer_desc},
               {to.diffWeightsIter, diff.diff_weights_iter_desc},
               {to.diffWeightsPeephole, diff.diff_weights_peephole_desc},
               {to.diffWeightsProjection, diff.diff_weights_projection_desc},
               {to.diffBias, diff.diff_bias_desc},
               {to.diffDstLayer, diff.diff_dst_layer_desc},
               {to.diffDstIter, diff.diff_dst_iter_desc},
               {to.diffDstIterC, diff.diff_dst_iter_c_desc}});
  desc.attr = attributesOf(attr);
  return create(handle, engine, desc, hint ? &unwrap(hint)->problem->verified().desc : nullptr);
}

/// Copies the structure of a caller that may have been compiled with another version of the header. Missing fields
/// become zero. Fails if it has additional fields that are not zero, less than `minSize` bytes or an incomplete field
/// at its end.
template <typename Rnn> Result<Rnn> read(const Rnn *given, size_t minSize, const char *type) {
  constexpr size_t known = sizeof(Rnn);
  if (given->size < minSize || given->size % alignof(Rnn) != 0) // the last pointer would be incomplete
    return invalidArguments("size is ", given->size, "; ", type, " has ", known, " bytes");
  const char *bytes = reinterpret_cast<const char *>(given);
  if (given->size > known && std::any_of(bytes + known, bytes + given->size, [](char byte) { return byte != 0; }))
    return unimplemented("size is ", given->size, "; bytes after the first ", known, " must be zero");
  Rnn rnn = {};
  std::memcpy(&rnn, given, std::min(given->size, known));
  return rnn;
}

Result<quern_rnn_forward_t> readForward(const quern_rnn_forward_t *given) {
  return read(given, offsetof(quern_rnn_forward_t, src_layer_desc), "quern_rnn_forward_t");
}

/// Returns a structure with the parameters that all cells have. `prop` may also be backward.
quern_rnn_forward_t cellOf(quern_prop_kind_t prop, quern_alg_kind_t cell, quern_rnn_direction_t direction,
                           unsigned flags, const_quern_memory_desc_t srcLayer, const_quern_memory_desc_t srcIter,
                           const_quern_memory_desc_t weightsLayer, const_quern_memory_desc_t weightsIter,
                           const_quern_memory_desc_t bias, const_quern_memory_desc_t dstLayer,
                           const_quern_memory_desc_t dstIter) {
  quern_rnn_forward_t rnn = {};
  rnn.prop_kind = prop;
  rnn.cell_kind = cell;
  rnn.direction = direction;
  rnn.flags = flags;
  rnn.src_layer_desc = srcLayer;
  rnn.src_iter_desc = srcIter;
  rnn.weights_layer_desc = weightsLayer;
  rnn.weights_iter_desc = weightsIter;
  rnn.bias_desc = bias;
  rnn.dst_layer_desc = dstLayer;
  rnn.dst_iter_desc = dstIter;
  return rnn;
}

/// Returns a structure with the gradients that all kinds of cells have.
quern_rnn_backward_t gradientsOf(const_quern_memory_desc_t diffSrcLayer, const_quern_memory_desc_t diffSrcIter,
                                 const_quern_memory_desc_t diffWeightsLayer, const_quern_memory_desc_t diffWeightsIter,
                                 const_quern_memory_desc_t diffBias, const_quern_memory_desc_t diffDstLayer,
                                 const_quern_memory_desc_t diffDstIter) {
  quern_rnn_backward_t diff = {};
  diff.diff_src_layer_desc = diffSrcLayer;
  diff.diff_src_iter_desc = diffSrcIter;
  diff.diff_weights_layer_desc = diffWeightsLayer;
  diff.diff_weights_iter_desc = diffWeightsIter;
  diff.diff_bias_desc = diffBias;
  diff.diff_dst_layer_desc = diffDstLayer;
  diff.diff_dst_iter_desc = diffDstIter;
  return diff;
}

} // namespace

extern "C" {

quern_status_t quern_rnn_forward_primitive_desc_create(quern_primitive_desc_t *handle, quern_engine_t engine,
                                                       const quern_rnn_forward_t *given,
                                                       const_quern_primitive_attr_t attr) noexcept {
  return guarded([&]() -> Result<void> {
    if (handle)
      *handle = nullptr;
    QUERN_REQUIRE("rnn", given);
    const Result<quern_rnn_forward_t> rnn = readForward(given);
    return rnn ? createRnn(handle, engine, *rnn, attr) : Result<void>(rnn.error());
  });
}

quern_status_t quern_vanilla_rnn_forward_primitive_desc_create(
    quern_primitive_desc_t *handle, quern_engine_t engine, quern_prop_kind_t prop, const quern_alg_kind_t activation,
    const quern_rnn_direction_t direction, const_quern_memory_desc_t srcLayer, const_quern_memory_desc_t srcIter,
    const_quern_memory_desc_t weightsLayer, const_quern_memory_desc_t weightsIter, const_quern_memory_desc_t bias,
    const_quern_memory_desc_t dstLayer, const_quern_memory_desc_t dstIter, unsigned flags, float alpha, float beta,
    const_quern_primitive_attr_t attr) noexcept {
  quern_rnn_forward_t rnn = cellOf(prop, quern_vanilla_rnn, direction, flags, srcLayer, srcIter, weightsLayer,
                                   weightsIter, bias, dstLayer, dstIter);
  rnn.activation = activation;
  rnn.alpha = alpha;
  rnn.beta = beta;
  return guarded([&] { return createRnn(handle, engine, rnn, attr); });
}

quern_status_t quern_lstm_forward_primitive_desc_create(
    quern_primitive_desc_t *handle, quern_engine_t engine, quern_prop_kind_t prop, quern_rnn_direction_t direction,
    const_quern_memory_desc_t srcLayer, const_quern_memory_desc_t srcIter, const_quern_memory_desc_t srcIterC,
    const_quern_memory_desc_t weightsLayer, const_quern_memory_desc_t weightsIter, const_quern_memory_desc_t peephole,
    const_quern_memory_desc_t projection, const_quern_memory_desc_t bias, const_quern_memory_desc_t dstLayer,
    const_quern_memory_desc_t dstIter, const_quern_memory_desc_t dstIterC, unsigned flags,
    const_quern_primitive_attr_t attr) noexcept {
  quern_rnn_forward_t rnn = cellOf(prop, quern_vanilla_lstm, direction, flags, srcLayer, srcIter, weightsLayer,
                                   weightsIter, bias, dstLayer, dstIter);
  rnn.src_iter_c_desc = srcIterC;
  rnn.weights_peephole_desc = peephole;
  rnn.weights_projection_desc = projection;
  rnn.dst_iter_c_desc = dstIterC;
  return guarded([&] { return createRnn(handle, engine, rnn, attr); });
}

quern_status_t quern_gru_forward_primitive_desc_create(
    quern_primitive_desc_t *handle, quern_engine_t engine, quern_prop_kind_t prop, quern_rnn_direction_t direction,
    const_quern_memory_desc_t srcLayer, const_quern_memory_desc_t srcIter, const_quern_memory_desc_t weightsLayer,
    const_quern_memory_desc_t weightsIter, const_quern_memory_desc_t bias, const_quern_memory_desc_t dstLayer,
    const_quern_memory_desc_t dstIter, unsigned flags, const_quern_primitive_attr_t attr) noexcept {
  const quern_rnn_forward_t rnn = cellOf(prop, quern_vanilla_gru, direction, flags, srcLayer, srcIter, weightsLayer,
                                         weightsIter, bias, dstLayer, dstIter);
  return guarded([&] { return createRnn(handle, engine, rnn, attr); });
}

quern_status_t quern_lbr_gru_forward_primitive_desc_create(
    quern_primitive_desc_t *handle, quern_engine_t engine, quern_prop_kind_t prop, quern_rnn_direction_t direction,
    const_quern_memory_desc_t srcLayer, const_quern_memory_desc_t srcIter, const_quern_memory_desc_t weightsLayer,
    const_quern_memory_desc_t weightsIter, const_quern_memory_desc_t bias, const_quern_memory_desc_t dstLayer,
    const_quern_memory_desc_t dstIter, unsigned flags, const_quern_primitive_attr_t attr) noexcept {
  const quern_rnn_forward_t rnn = cellOf(prop, quern_lbr_gru, direction, flags, srcLayer, srcIter, weightsLayer,
                                         weightsIter, bias, dstLayer, dstIter);
  return guarded([&] { return createRnn(handle, engine, rnn, attr); });
}

quern_status_t quern_augru_forward_primitive_desc_create(
    quern_primitive_desc_t *handle, quern_engine_t engine, quern_prop_kind_t prop, quern_rnn_direction_t direction,
    const_quern_memory_desc_t srcLayer, const_quern_memory_desc_t srcIter, const_quern_memory_desc_t attention,
    const_quern_memory_desc_t weightsLayer, const_quern_memory_desc_t weightsIter, const_quern_memory_desc_t bias,
    const_quern_memory_desc_t dstLayer, const_quern_memory_desc_t dstIter, unsigned flags,
    const_quern_primitive_attr_t attr) noexcept {
  quern_rnn_forward_t rnn = cellOf(prop, quern_vanilla_augru, direction, flags, srcLayer, srcIter, weightsLayer,
                                   weightsIter, bias, dstLayer, dstIter);
  rnn.attention_desc = attention;
  return guarded([&] { return createRnn(handle, engine, rnn, attr); });
}

quern_status_t quern_lbr_augru_forward_primitive_desc_create(
    quern_primitive_desc_t *handle, quern_engine_t engine, quern_prop_kind_t prop, quern_rnn_direction_t direction,
    const_quern_memory_desc_t srcLayer, const_quern_memory_desc_t srcIter, const_quern_memory_desc_t attention,
    const_quern_memory_desc_t weightsLayer, const_quern_memory_desc_t weightsIter, const_quern_memory_desc_t bias,
    const_quern_memory_desc_t dstLayer, const_quern_memory_desc_t dstIter, unsigned flags,
    const_quern_primitive_attr_t attr) noexcept {
  quern_rnn_forward_t rnn = cellOf(prop, quern_lbr_augru, direction, flags, srcLayer, srcIter, weightsLayer,
                                   weightsIter, bias, dstLayer, dstIter);
  rnn.attention_desc = attention;
  return guarded([&] { return createRnn(handle, engine, rnn, attr); });
}

quern_status_t quern_rnn_backward_primitive_desc_create(quern_primitive_desc_t *handle, quern_engine_t engine,
                                                        const quern_rnn_backward_t *given,
                                                        const_quern_primitive_desc_t hint,
                                                        const_quern_primitive_attr_t attr) noexcept {
  return guarded([&]() -> Result<void> {
    if (handle)
      *handle = nullptr;
    QUERN_REQUIRE("rnn", given);
    const Result<quern_rnn_backward_t> diff =
        read(given, offsetof(quern_rnn_backward_t, diff_src_layer_desc), "quern_rnn_backward_t");
    if (!diff)
      return diff.error();
    QUERN_REQUIRE("forward", diff->forward);
    Result<quern_rnn_forward_t> rnn = readForward(diff->forward);
    if (!rnn)
      return rnn.error();
    if (rnn->prop_kind != quern_forward_training)
      return invalidArguments("prop_kind of forward is ", static_cast<int>(rnn->prop_kind),
                              "; it must be forward_training (64)");
    rnn->prop_kind = quern_backward;
    return createRnn(handle, engine, *rnn, *diff, hint, attr);
  });
}

quern_status_t quern_vanilla_rnn_backward_primitive_desc_create(
    quern_primitive_desc_t *handle, quern_engine_t engine, quern_prop_kind_t prop, const quern_alg_kind_t activation,
    const quern_rnn_direction_t direction, const_quern_memory_desc_t srcLayer, const_quern_memory_desc_t srcIter,
    const_quern_memory_desc_t weightsLayer, const_quern_memory_desc_t weightsIter, const_quern_memory_desc_t bias,
    const_quern_memory_desc_t dstLayer, const_quern_memory_desc_t dstIter, const_quern_memory_desc_t diffSrcLayer,
    const_quern_memory_desc_t diffSrcIter, const_quern_memory_desc_t diffWeightsLayer,
    const_quern_memory_desc_t diffWeightsIter, const_quern_memory_desc_t diffBias,
    const_quern_memory_desc_t diffDstLayer, const_quern_memory_desc_t diffDstIter, unsigned flags, float alpha,
    float beta, const_quern_primitive_desc_t hint, const_quern_primitive_attr_t attr) noexcept {
  quern_rnn_forward_t rnn = cellOf(prop, quern_vanilla_rnn, direction, flags, srcLayer, srcIter, weightsLayer,
                                   weightsIter, bias, dstLayer, dstIter);
  quern_rnn_backward_t diff =
      gradientsOf(diffSrcLayer, diffSrcIter, diffWeightsLayer, diffWeightsIter, diffBias, diffDstLayer, diffDstIter);
  rnn.activation = activation;
  rnn.alpha = alpha;
  rnn.beta = beta;
  return guarded([&] { return createRnn(handle, engine, rnn, diff, hint, attr); });
}

quern_status_t quern_lstm_backward_primitive_desc_create(
    quern_primitive_desc_t *handle, quern_engine_t engine, quern_prop_kind_t prop, quern_rnn_direction_t direction,
    const_quern_memory_desc_t srcLayer, const_quern_memory_desc_t srcIter, const_quern_memory_desc_t srcIterC,
    const_quern_memory_desc_t weightsLayer, const_quern_memory_desc_t weightsIter,
    const_quern_memory_desc_t weightsPeephole, const_quern_memory_desc_t weightsProjection,
    const_quern_memory_desc_t bias, const_quern_memory_desc_t dstLayer, const_quern_memory_desc_t dstIter,
    const_quern_memory_desc_t dstIterC, const_quern_memory_desc_t diffSrcLayer, const_quern_memory_desc_t diffSrcIter,
    const_quern_memory_desc_t diffSrcIterC, const_quern_memory_desc_t diffWeightsLayer,
    const_quern_memory_desc_t diffWeightsIter, const_quern_memory_desc_t diffWeightsPeephole,
    const_quern_memory_desc_t diffWeightsProjection, const_quern_memory_desc_t diffBias,
    const_quern_memory_desc_t diffDstLayer, const_quern_memory_desc_t diffDstIter,
    const_quern_memory_desc_t diffDstIterC, unsigned flags, const_quern_primitive_desc_t hint,
    const_quern_primitive_attr_t attr) noexcept {
  quern_rnn_forward_t rnn = cellOf(prop, quern_vanilla_lstm, direction, flags, srcLayer, srcIter, weightsLayer,
                                   weightsIter, bias, dstLayer, dstIter);
  quern_rnn_backward_t diff =
      gradientsOf(diffSrcLayer, diffSrcIter, diffWeightsLayer, diffWeightsIter, diffBias, diffDstLayer, diffDstIter);
  rnn.src_iter_c_desc = srcIterC;
  rnn.weights_peephole_desc = weightsPeephole;
  rnn.weights_projection_desc = weightsProjection;
  rnn.dst_iter_c_desc = dstIterC;
  diff.diff_src_iter_c_desc = diffSrcIterC;
  diff.diff_weights_peephole_desc = diffWeightsPeephole;
  diff.diff_weights_projection_desc = diffWeightsProjection;
  diff.diff_dst_iter_c_desc = diffDstIterC;
  return guarded([&] { return createRnn(handle, engine, rnn, diff, hint, attr); });
}

quern_status_t quern_gru_backward_primitive_desc_create(
    quern_primitive_desc_t *handle, quern_engine_t engine, quern_prop_kind_t prop, quern_rnn_direction_t direction,
    const_quern_memory_desc_t srcLayer, const_quern_memory_desc_t srcIter, const_quern_memory_desc_t weightsLayer,
    const_quern_memory_desc_t weightsIter, const_quern_memory_desc_t bias, const_quern_memory_desc_t dstLayer,
    const_quern_memory_desc_t dstIter, const_quern_memory_desc_t diffSrcLayer, const_quern_memory_desc_t diffSrcIter,
    const_quern_memory_desc_t diffWeightsLayer, const_quern_memory_desc_t diffWeightsIter,
    const_quern_memory_desc_t diffBias, const_quern_memory_desc_t diffDstLayer, const_quern_memory_desc_t diffDstIter,
    unsigned flags, const_quern_primitive_desc_t hint, const_quern_primitive_attr_t attr) noexcept {
  quern_rnn_forward_t rnn = cellOf(prop, quern_vanilla_gru, direction, flags, srcLayer, srcIter, weightsLayer,
                                   weightsIter, bias, dstLayer, dstIter);
  quern_rnn_backward_t diff =
      gradientsOf(diffSrcLayer, diffSrcIter, diffWeightsLayer, diffWeightsIter, diffBias, diffDstLayer, diffDstIter);
  return guarded([&] { return createRnn(handle, engine, rnn, diff, hint, attr); });
}

quern_status_t quern_lbr_gru_backward_primitive_desc_create(
    quern_primitive_desc_t *handle, quern_engine_t engine, quern_prop_kind_t prop, quern_rnn_direction_t direction,
    const_quern_memory_desc_t srcLayer, const_quern_memory_desc_t srcIter, const_quern_memory_desc_t weightsLayer,
    const_quern_memory_desc_t weightsIter, const_quern_memory_desc_t bias, const_quern_memory_desc_t dstLayer,
    const_quern_memory_desc_t dstIter, const_quern_memory_desc_t diffSrcLayer, const_quern_memory_desc_t diffSrcIter,
    const_quern_memory_desc_t diffWeightsLayer, const_quern_memory_desc_t diffWeightsIter,
    const_quern_memory_desc_t diffBias, const_quern_memory_desc_t diffDstLayer, const_quern_memory_desc_t diffDstIter,
    unsigned flags, const_quern_primitive_desc_t hint, const_quern_primitive_attr_t attr) noexcept {
  quern_rnn_forward_t rnn = cellOf(prop, quern_lbr_gru, direction, flags, srcLayer, srcIter, weightsLayer, weightsIter,
                                   bias, dstLayer, dstIter);
  quern_rnn_backward_t diff =
      gradientsOf(diffSrcLayer, diffSrcIter, diffWeightsLayer, diffWeightsIter, diffBias, diffDstLayer, diffDstIter);
  return guarded([&] { return createRnn(handle, engine, rnn, diff, hint, attr); });
}

quern_status_t quern_augru_backward_primitive_desc_create(
    quern_primitive_desc_t *handle, quern_engine_t engine, quern_prop_kind_t prop, quern_rnn_direction_t direction,
    const_quern_memory_desc_t srcLayer, const_quern_memory_desc_t srcIter, const_quern_memory_desc_t attention,
    const_quern_memory_desc_t weightsLayer, const_quern_memory_desc_t weightsIter, const_quern_memory_desc_t bias,
    const_quern_memory_desc_t dstLayer, const_quern_memory_desc_t dstIter, const_quern_memory_desc_t diffSrcLayer,
    const_quern_memory_desc_t diffSrcIter, const_quern_memory_desc_t diffAttention,
    const_quern_memory_desc_t diffWeightsLayer, const_quern_memory_desc_t diffWeightsIter,
    const_quern_memory_desc_t diffBias, const_quern_memory_desc_t diffDstLayer, const_quern_memory_desc_t diffDstIter,
    unsigned flags, const_quern_primitive_desc_t hint, const_quern_primitive_attr_t attr) noexcept {
  quern_rnn_forward_t rnn = cellOf(prop, quern_vanilla_augru, direction, flags, srcLayer, srcIter, weightsLayer,
                                   weightsIter, bias, dstLayer, dstIter);
  quern_rnn_backward_t diff =
      gradientsOf(diffSrcLayer, diffSrcIter, diffWeightsLayer, diffWeightsIter, diffBias, diffDstLayer, diffDstIter);
  rnn.attention_desc = attention;
  diff.diff_attention_desc = diffAttention;
  return guarded([&] { return createRnn(handle, engine, rnn, diff, hint, attr); });
}

quern_status_t quern_lbr_augru_backward_primitive_desc_create(
    quern_primitive_desc_t *handle, quern_engine_t engine, quern_prop_kind_t prop, quern_rnn_direction_t direction,
    const_quern_memory_desc_t srcLayer, const_quern_memory_desc_t srcIter, const_quern_memory_desc_t attention,
    const_quern_memory_desc_t weightsLayer, const_quern_memory_desc_t weightsIter, const_quern_memory_desc_t bias,
    const_quern_memory_desc_t dstLayer, const_quern_memory_desc_t dstIter, const_quern_memory_desc_t diffSrcLayer,
    const_quern_memory_desc_t diffSrcIter, const_quern_memory_desc_t diffAttention,
    const_quern_memory_desc_t diffWeightsLayer, const_quern_memory_desc_t diffWeightsIter,
    const_quern_memory_desc_t diffBias, const_quern_memory_desc_t diffDstLayer, const_quern_memory_desc_t diffDstIter,
    unsigned flags, const_quern_primitive_desc_t hint, const_quern_primitive_attr_t attr) noexcept {
  quern_rnn_forward_t rnn = cellOf(prop, quern_lbr_augru, direction, flags, srcLayer, srcIter, weightsLayer,
                                   weightsIter, bias, dstLayer, dstIter);
  quern_rnn_backward_t diff =
      gradientsOf(diffSrcLayer, diffSrcIter, diffWeightsLayer, diffWeightsIter, diffBias, diffDstLayer, diffDstIter);
  rnn.attention_desc = attention;
  diff.diff_attention_desc = diffAttention;
  return guarded([&] { return createRnn(handle, engine, rnn, diff, hint, attr); });
}

} // extern "C"
