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
#include "Primitives/Rnn/Shape.h"

#include <vector>

namespace quern::rnn {

struct NamedTensor {
  const char *name;
  int32_t argument;
  const TensorDesc &desc;
  bool isOutput;
};
/// The tensors of forward, absent ones too, in the order of the emitted function's arguments.
std::vector<NamedTensor> forwardTensors(const RnnDesc &rnn);

/// C2 to C10 and C37, C38: the kind of the problem and which tensors it has.
Result<void> checkKind(const RnnDesc &rnn);
/// C11 to C24, C45: every tensor's rank and dims.
Result<void> checkDims(const RnnDesc &rnn);
/// C31 to C36: types.
Result<void> checkTypes(const RnnDesc &rnn);
/// C25, C26, C39 to C43: layouts, of tensors without `any`.
Result<void> checkLayouts(const RnnDesc &rnn, const Attributes &attr, const Target &target);
/// C27 to C30, C44: attributes.
Result<void> checkAttributes(const RnnDesc &rnn, const Attributes &attr);

} // namespace quern::rnn

#endif // QUERN_PRIMITIVES_RNN_VERIFY_H
