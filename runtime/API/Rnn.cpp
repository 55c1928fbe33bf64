//===- Rnn.cpp - Primitive descriptors of RNNs ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// quern_rnn.h. The functions for one cell fill what the one for all of them takes.
//
//===----------------------------------------------------------------------===//
#include "API/Create.h"
#include "API/Guard.h"

#include <algorithm>
#include <cstring>

using namespace quern;
using namespace quern::api;

namespace {

Result<void> createRnn(quern_primitive_desc_t *handle, quern_engine_t engine, const quern_rnn_forward_t &rnn,
                       const_quern_primitive_attr_t attr) {
  QUERN_REQUIRE("primitive_desc", handle);
  *handle = nullptr;
  QUERN_REQUIRE("engine", engine);
  if (Result<void> ok = checkForward("rnn", rnn.prop_kind); !ok)
    return ok;
  PrimitiveDesc desc; // filled in place: descriptors are large
  RnnDesc &to = desc.op.emplace<Boxed<RnnDesc>>();
  to.prop = fromC<PropKind>(rnn.prop_kind);
  to.cell = fromC<Alg>(rnn.cell_kind);
  to.direction = fromC<RnnDirection>(rnn.direction);
  to.activation = fromC<Alg>(rnn.activation);
  to.alpha = rnn.alpha;
  to.beta = rnn.beta;
  to.flags = rnn.flags;
  const std::pair<TensorDesc &, const_quern_memory_desc_t> tensors[] = {
      {to.srcLayer, rnn.src_layer_desc},
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
      {to.dstIterC, rnn.dst_iter_c_desc}};
  for (const auto &[tensor, given] : tensors)
    if (given)
      tensor = *unwrap(given);
  desc.attr = attributesOf(attr);
  return create(handle, engine, desc, nullptr);
}

/// What a caller compiled with another version of the header gives, as ours.
Result<quern_rnn_forward_t> readForward(const quern_rnn_forward_t *given) {
  constexpr size_t least = offsetof(quern_rnn_forward_t, src_layer_desc), known = sizeof(quern_rnn_forward_t);
  if (given->size < least)
    return invalidArguments("size is ", given->size, "; quern_rnn_forward_t has ", known, " bytes");
  const char *bytes = reinterpret_cast<const char *>(given);
  if (given->size > known && std::any_of(bytes + known, bytes + given->size, [](char byte) { return byte != 0; }))
    return unimplemented("size is ", given->size, " and there is something behind byte ", known,
                         ", all that this library knows");
  quern_rnn_forward_t rnn = {};
  std::memcpy(&rnn, given, std::min(given->size, known));
  return rnn;
}

/// What all cells have.
quern_rnn_forward_t forwardOf(quern_prop_kind_t prop, quern_alg_kind_t cell, quern_rnn_direction_t direction,
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

} // namespace

extern "C" {

quern_status_t quern_rnn_forward_primitive_desc_create(quern_primitive_desc_t *handle, quern_engine_t engine,
                                                       const quern_rnn_forward_t *given,
                                                       const_quern_primitive_attr_t attr) noexcept {
  return guarded([&]() -> Result<void> {
    if (handle)
      *handle = nullptr;
    QUERN_REQUIRE("rnn", given);
    Result<quern_rnn_forward_t> rnn = readForward(given);
    return rnn ? createRnn(handle, engine, *rnn, attr) : Result<void>(rnn.takeError());
  });
}

quern_status_t quern_vanilla_rnn_forward_primitive_desc_create(
    quern_primitive_desc_t *handle, quern_engine_t engine, quern_prop_kind_t prop, const quern_alg_kind_t activation,
    const quern_rnn_direction_t direction, const_quern_memory_desc_t srcLayer, const_quern_memory_desc_t srcIter,
    const_quern_memory_desc_t weightsLayer, const_quern_memory_desc_t weightsIter, const_quern_memory_desc_t bias,
    const_quern_memory_desc_t dstLayer, const_quern_memory_desc_t dstIter, unsigned flags, float alpha, float beta,
    const_quern_primitive_attr_t attr) noexcept {
  quern_rnn_forward_t rnn = forwardOf(prop, quern_vanilla_rnn, direction, flags, srcLayer, srcIter, weightsLayer,
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
  quern_rnn_forward_t rnn = forwardOf(prop, quern_vanilla_lstm, direction, flags, srcLayer, srcIter, weightsLayer,
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
  const quern_rnn_forward_t rnn = forwardOf(prop, quern_vanilla_gru, direction, flags, srcLayer, srcIter, weightsLayer,
                                            weightsIter, bias, dstLayer, dstIter);
  return guarded([&] { return createRnn(handle, engine, rnn, attr); });
}

quern_status_t quern_lbr_gru_forward_primitive_desc_create(
    quern_primitive_desc_t *handle, quern_engine_t engine, quern_prop_kind_t prop, quern_rnn_direction_t direction,
    const_quern_memory_desc_t srcLayer, const_quern_memory_desc_t srcIter, const_quern_memory_desc_t weightsLayer,
    const_quern_memory_desc_t weightsIter, const_quern_memory_desc_t bias, const_quern_memory_desc_t dstLayer,
    const_quern_memory_desc_t dstIter, unsigned flags, const_quern_primitive_attr_t attr) noexcept {
  const quern_rnn_forward_t rnn = forwardOf(prop, quern_lbr_gru, direction, flags, srcLayer, srcIter, weightsLayer,
                                            weightsIter, bias, dstLayer, dstIter);
  return guarded([&] { return createRnn(handle, engine, rnn, attr); });
}

quern_status_t quern_augru_forward_primitive_desc_create(
    quern_primitive_desc_t *handle, quern_engine_t engine, quern_prop_kind_t prop, quern_rnn_direction_t direction,
    const_quern_memory_desc_t srcLayer, const_quern_memory_desc_t srcIter, const_quern_memory_desc_t attention,
    const_quern_memory_desc_t weightsLayer, const_quern_memory_desc_t weightsIter, const_quern_memory_desc_t bias,
    const_quern_memory_desc_t dstLayer, const_quern_memory_desc_t dstIter, unsigned flags,
    const_quern_primitive_attr_t attr) noexcept {
  quern_rnn_forward_t rnn = forwardOf(prop, quern_vanilla_augru, direction, flags, srcLayer, srcIter, weightsLayer,
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
  quern_rnn_forward_t rnn = forwardOf(prop, quern_lbr_augru, direction, flags, srcLayer, srcIter, weightsLayer,
                                      weightsIter, bias, dstLayer, dstIter);
  rnn.attention_desc = attention;
  return guarded([&] { return createRnn(handle, engine, rnn, attr); });
}

} // extern "C"
