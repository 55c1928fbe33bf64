//===- Verify.h - Parts of the RNN verifier -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Steps of the verification. Verify.cpp calls them and lists the constraints.
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
/// Returns the inputs and outputs of forward, which backward reads, including absent tensors.
std::vector<NamedTensor> forwardTensors(const RnnDesc &rnn);
/// Returns the gradients of backward, inputs first, including absent tensors.
std::vector<NamedTensor> gradientTensors(const RnnDesc &rnn);
/// Returns forwardTensors() and gradientTensors(), in the order of the emitted function's arguments. The workspace is
/// not included; it is the last input of backward and the last output of forward.
std::vector<NamedTensor> allTensors(const RnnDesc &rnn);
/// Returns true for a gradient of weights or bias, which is added to the old contents of its buffer unless a flag
/// requests overwriting.
inline bool isOfWeights(const NamedTensor &gradient) {
  return gradient.argument >= arg::diffWeights && gradient.argument <= arg::diffBias;
}
/// Returns the tensor whose gradient has this argument index.
const NamedTensor &tensorOfGradient(int32_t gradient, const std::vector<NamedTensor> &tensors);

/// Checks C2 to C9, C46 and C47: the kind of the problem and the presence of tensors.
Result<void> checkKind(const RnnDesc &rnn);
/// Checks C10 to C24, C33, C39, C45 and C48: rank and dims of every tensor.
Result<void> checkDims(const RnnDesc &rnn);
/// Checks the dims of an execution's tensors and C39, for a problem with hasOpenWidths().
Result<void> checkGivenWidths(const RnnDesc &given);
/// Checks C34 to C38 and C51: types.
Result<void> checkTypes(const RnnDesc &rnn);
/// Checks C25, C32, C40 and C41: layouts, of tensors without `any`.
Result<void> checkLayouts(const RnnDesc &rnn, const Attributes &attr, const Target &target);
/// Checks C26 to C28 and C42 to C44: attributes.
Result<void> checkAttributes(const RnnDesc &rnn, const Attributes &attr);
/// Checks C49. `hint` is the forward problem of a backward one, or null.
Result<void> checkHint(const RnnDesc &rnn, const PrimitiveDesc *hint);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_VERIFY_H
