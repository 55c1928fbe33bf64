//===- Kind.cpp - Cell, direction and presence of tensors -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Verify.cpp lists the constraints.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Verify.h"

#include <tuple>

namespace quern::rnn {
namespace {

/// Checks C2.
Result<void> checkPropagation(const RnnDesc &rnn) {
  if (isForward(rnn.prop) || isBackward(rnn))
    return {};
  return invalidArguments("propagation kind '", nameOf(rnn.prop), "' (", static_cast<int32_t>(rnn.prop),
                          ") is not one of rnn: fwd_t, fwd_i, bwd (rnn C2)");
}

/// Checks C3 to C6.
Result<void> checkAlgorithm(const RnnDesc &rnn) {
  if (gatesOf(rnn.cell) == 0)
    return invalidArguments("cell '", nameOf(rnn.cell), "' (", static_cast<int32_t>(rnn.cell),
                            ") is not one of rnn, lstm, gru, lbr_gru, augru, lbr_augru (rnn C3)");
  if (rnn.direction < RnnDirection::Left2Right || rnn.direction > RnnDirection::BidirectionalSum)
    return invalidArguments("direction '", nameOf(rnn.direction), "' (", static_cast<int32_t>(rnn.direction),
                            ") is not one of left2right, right2left, bidirectional_concat, bidirectional_sum (rnn C4)");
  bool isKnown = rnn.activation == Alg::EltwiseRelu || rnn.activation == Alg::EltwiseTanh ||
                 rnn.activation == Alg::EltwiseLogistic;
  if (rnn.cell == Alg::VanillaRnn && !isKnown)
    return invalidArguments("activation '", nameOf(rnn.activation), "' (", static_cast<int32_t>(rnn.activation),
                            ") is not one of relu, tanh, logistic (rnn C5)");
  if (rnn.cell != Alg::VanillaRnn && rnn.activation != Alg::Undef)
    return invalidArguments("activation '", nameOf(rnn.activation), "' is given; cell ", nameOf(rnn.cell),
                            " has none (rnn C5)");
  constexpr uint32_t known = RnnDiffWeightsOverwrite | RnnStackConcatenated;
  if (rnn.flags & ~known)
    return invalidArguments("flags are ", rnn.flags,
                            "; known are 1 (diff weights overwritten) and 65536 (stack of both directions)",
                            " (rnn C6)");
  return {};
}

/// Returns the name of the first required tensor that is absent, or null.
const char *findMissing(const RnnDesc &rnn) {
  for (const auto &[name, desc] : {std::pair{"src_layer", &rnn.srcLayer}, std::pair{"weights_layer", &rnn.weightsLayer},
                                   std::pair{"weights_iter", &rnn.weightsIter}, std::pair{"dst_layer", &rnn.dstLayer}})
    if (desc->isZero())
      return name;
  return isBackward(rnn) && rnn.diffDstLayer.isZero() ? "diff_dst_layer" : nullptr;
}

/// Checks C7 and C46.
Result<void> checkPresence(const RnnDesc &rnn) {
  const char *missing = findMissing(rnn);
  if (isBackward(rnn)) {
    if (missing)
      return invalidArguments("backward rnn needs ", missing, ", which is absent (rnn C46)");
    for (const NamedTensor &tensor : gradientTensors(rnn))
      if (tensor.isOutput && !tensor.desc.isZero())
        return {};
    return invalidArguments("backward rnn has no gradient to write; it needs at least one of diff_src_layer, "
                            "diff_weights_layer and the others (rnn C46)");
  }
  if (missing)
    return invalidArguments("forward rnn needs ", missing, ", which is absent (rnn C7)");
  for (const NamedTensor &tensor : gradientTensors(rnn))
    if (!tensor.desc.isZero())
      return invalidArguments("forward rnn does not use ", tensor.name, " (rnn C7)");
  return {};
}

/// Checks C47.
Result<void> checkGradients(const RnnDesc &rnn) {
  const std::vector<NamedTensor> tensors = forwardTensors(rnn);
  for (const NamedTensor &gradient : gradientTensors(rnn))
    if (const NamedTensor &tensor = tensorOfGradient(gradient.argument, tensors);
        !gradient.desc.isZero() && tensor.desc.isZero())
      return invalidArguments(gradient.name, " is given and ", tensor.name, " is absent (rnn C47)");
  return {};
}

/// Checks C8.
Result<void> checkCells(const RnnDesc &rnn) {
  for (const auto &[name, desc] :
       {std::pair{"src_iter_c", &rnn.srcIterC}, std::pair{"dst_iter_c", &rnn.dstIterC},
        std::pair{"weights_peephole", &rnn.weightsPeephole}, std::pair{"weights_projection", &rnn.weightsProjection}})
    if (!desc->isZero() && !isLstm(rnn))
      return invalidArguments("cell ", nameOf(rnn.cell), " does not use ", name, "; lstm does (rnn C8)");
  if (!isLstm(rnn))
    return {};
  for (const auto &[name, state, cell] :
       {std::tuple{"src_iter", &rnn.srcIter, &rnn.srcIterC}, std::tuple{"dst_iter", &rnn.dstIter, &rnn.dstIterC}})
    if (state->isZero() != cell->isZero())
      return invalidArguments(name, state->isZero() ? "" : "_c", " is absent and ", name, state->isZero() ? "_c" : "",
                              " is given; an lstm has both or neither (rnn C8)");
  return {};
}

/// Checks C9.
Result<void> checkAttention(const RnnDesc &rnn) {
  if (hasAttention(rnn) == !rnn.attention.isZero())
    return {};
  if (hasAttention(rnn))
    return invalidArguments("cell ", nameOf(rnn.cell), " needs attention, which is absent (rnn C9)");
  return invalidArguments("cell ", nameOf(rnn.cell), " does not use attention; augru and lbr_augru do (rnn C9)");
}

} // namespace

Result<void> checkKind(const RnnDesc &rnn) {
  for (auto check : {checkPropagation, checkAlgorithm, checkPresence, checkCells, checkAttention, checkGradients})
    QUERN_RETURN_IF_ERROR(check(rnn));
  return {};
}

} // namespace quern::rnn
