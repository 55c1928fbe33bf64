//===- Verify.h - Parts of the RNN verifier -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Verify.cpp lists the constraints; these are the steps of the verification, in this order.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_RNN_VERIFY_H
#define QUERN_PRIMITIVES_RNN_VERIFY_H

#include "Desc/PrimitiveDesc.h"
#include "Desc/Target.h"
#include "Primitives/Arguments.h"
#include "Primitives/Rnn/Shape.h"

#include <vector>

namespace quern::rnn {

struct NamedTensor {
  const char *name;
  int32_t argument;
  const TensorDesc &desc;
  bool isOutput;
};
/// What forward reads and writes and backward reads, absent tensors too.
std::vector<NamedTensor> forwardTensors(const RnnDesc &rnn);
/// The gradients of backward, those that it reads first, absent ones too.
std::vector<NamedTensor> gradientTensors(const RnnDesc &rnn);
/// Both, in the order of the emitted function's arguments but for the workspace, which is the last input of backward
/// and the last output of forward.
std::vector<NamedTensor> allTensors(const RnnDesc &rnn);
/// Whether it is a gradient of weights or bias, which is added to what its buffer holds unless a flag says otherwise.
inline bool isOfWeights(const NamedTensor &gradient) {
  return gradient.argument >= arg::diffWeights && gradient.argument <= arg::diffBias;
}
/// The tensor whose gradient has this argument.
const NamedTensor &tensorOfGradient(int32_t gradient, const std::vector<NamedTensor> &tensors);

/// C2 to C9, C46, C47: the kind of the problem and which tensors it has.
Result<void> checkKind(const RnnDesc &rnn);
/// C10 to C24, C33, C39, C45, C48: every tensor's rank and dims.
Result<void> checkDims(const RnnDesc &rnn);
/// Of an execution's tensors, of a problem that hasOpenWidths(): their dims, and C39.
Result<void> checkGivenWidths(const RnnDesc &given);
/// C34 to C38, C51: types.
Result<void> checkTypes(const RnnDesc &rnn);
/// C25, C32, C40, C41: layouts, of tensors without `any`.
Result<void> checkLayouts(const RnnDesc &rnn, const Attributes &attr, const Target &target);
/// C26 to C28, C42 to C44: attributes.
Result<void> checkAttributes(const RnnDesc &rnn, const Attributes &attr);
/// C49: `hint` is the forward problem of a backward one, or null.
Result<void> checkHint(const RnnDesc &rnn, const PrimitiveDesc *hint);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_VERIFY_H
