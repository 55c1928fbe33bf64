//===- VerifyAttributes.cpp - Attributes that softmax supports ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Verify.cpp lists the constraints. The modes (scratchpad, fpmath, accumulation, deterministic) are permissions and
// always accepted.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Primitives/DropoutChecks.h"
#include "Primitives/PostOpChecks.h"
#include "Primitives/Softmax/Verify.h"

namespace quern {
namespace {

/// Checks C12, C19 and C20.
Result<void> checkParams(const Quantization &quantization, const TensorDesc &tensor) {
  return checkParams(quantization, tensor, {"softmax", " (softmax C12)", " (softmax C19)", " (softmax C20)"});
}

/// Rules for C11, C12, C15 to C17, C19, C20 and C22 to C24.
constexpr PostOpRules postOpRules = {
    "softmax",        elementTypes,     softmax::checkLayout, checkParams,      " (softmax C11)",
    " (softmax C23)", " (softmax C12)", " (softmax C24)",     " (softmax C22)", ""};

/// Checks C12, C18 to C21 and C24.
Result<void> checkQuantization(const Quantization &quantization, const SoftmaxDesc &softmax,
                               const std::vector<PostOp> &postOps) {
  if (quantization.argument != arg::src && quantization.argument != arg::dst)
    return checkOfPostOp(quantization, postOps, postOpRules);
  const TensorDesc &tensor = quantization.argument == arg::src ? softmax.src : softmax.dst;
  if (!quantization.isScales)
    return unimplemented("softmax is not implemented with ", quantization.of(), " (softmax C21)");
  QUERN_RETURN_IF_ERROR(checkParams(quantization, tensor));
  if (quantization.params.mask != 0)
    return unimplemented("softmax is not implemented with a value for each index: ", quantization.of(), " have mask ",
                         quantization.params.mask, "; it must be 0 (softmax C18)");
  return {};
}

} // namespace

Result<void> softmax::checkAttributes(const SoftmaxDesc &softmax, Attributes &attr) {
  if (!attr.rnn.isIdentity())
    return unimplemented("softmax does not support RNN quantization parameters (softmax C26)");
  if (!isForward(softmax.prop))
    return checkNoAttributes(attr, "backward softmax", " (softmax C25)");
  QUERN_RETURN_IF_ERROR(checkPostOps(attr.postOps, softmax.dst, postOpRules));
  auto check = [&](const Quantization &quantization) { return checkQuantization(quantization, softmax, attr.postOps); };
  QUERN_RETURN_IF_ERROR(checkEach(attr, check));
  return checkDropout(attr.dropout, softmax.dst, {"softmax", " (softmax C30)", " (softmax C31)"});
}

} // namespace quern
