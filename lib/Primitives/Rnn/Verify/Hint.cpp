//===- Hint.cpp - Matching a forward hint with a backward problem ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Everything that the workspace depends on must be equal, so that backward can read the forward problem's workspace.
// Layouts may differ: weights are packed differently for backward. Verify.cpp lists the constraints.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Rnn/Verify.h"

#include <algorithm>

namespace quern::rnn {
namespace {

bool sameKind(const RnnDesc &a, const RnnDesc &b) {
  const bool isStacked = a.weightsLayer.dims[0] > 1; // otherwise the flag has no effect
  const bool hasSlope = a.cell == Alg::VanillaRnn && a.activation == Alg::EltwiseRelu;
  return a.cell == b.cell && a.direction == b.direction && a.activation == b.activation &&
         (!hasSlope || a.alpha == b.alpha) && (!isStacked || ((a.flags ^ b.flags) & RnnStackConcatenated) == 0);
}

} // namespace

Result<void> checkHint(const RnnDesc &rnn, const PrimitiveDesc *hint) {
  if (!hint || !isBackward(rnn))
    return {};
  const auto *boxed = std::get_if<Boxed<RnnDesc>>(&hint->op);
  if (!boxed)
    return invalidArguments("the hint is of kind ", nameOf(hint->kind()), "; it must be forward rnn (rnn C49)");
  const RnnDesc &forward = **boxed;
  if (forward.prop != PropKind::ForwardTraining)
    return invalidArguments("the hint's propagation kind is '", nameOf(forward.prop),
                            "'; only fwd_t writes a workspace (rnn C49)");
  if (!sameKind(forward, rnn))
    return invalidArguments(
        "the hint's cell, activation, direction or stack differs from the backward problem's: it has "
        "cell ",
        nameOf(forward.cell), ", direction ", nameOf(forward.direction), " (rnn C49)");
  const std::vector<NamedTensor> theirs = forwardTensors(forward);
  for (const NamedTensor &ours : forwardTensors(rnn)) {
    const NamedTensor &other = *std::find_if(
        theirs.begin(), theirs.end(), [&](const NamedTensor &tensor) { return tensor.argument == ours.argument; });
    if (!std::ranges::equal(ours.desc.shape(), other.desc.shape()) || ours.desc.dataType != other.desc.dataType)
      return invalidArguments("the hint's ", ours.name,
                              " differs from the backward problem's in dims or type (rnn C49)");
  }
  return {};
}

} // namespace quern::rnn
