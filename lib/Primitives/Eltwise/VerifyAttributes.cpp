//===- VerifyAttributes.cpp - Attributes that eltwise supports ------------===//
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
#include "Primitives/Eltwise/Verify.h"
#include "Primitives/PostOpChecks.h"

namespace quern {
namespace {

/// Checks C11 and C21.
Result<void> checkParams(const Quantization &quantization, const TensorDesc &tensor) {
  return checkParams(quantization, tensor, {"eltwise", " (eltwise C11)", " (eltwise C21)", " (eltwise C21)"});
}

/// Rules for C10, C11, C17 to C19 and C21 to C24.
constexpr PostOpRules postOpRules = {
    "eltwise",        elementTypes,     eltwise::checkLayout, checkParams,      " (eltwise C10)",
    " (eltwise C23)", " (eltwise C11)", " (eltwise C24)",     " (eltwise C22)", ""};

/// Checks C11, C20, C21 and C24.
Result<void> checkQuantization(const Quantization &quantization, const std::vector<PostOp> &postOps) {
  if (quantization.argument == arg::src || quantization.argument == arg::dst)
    return unimplemented("eltwise is not implemented with ", quantization.of(), " (eltwise C20)");
  return checkOfPostOp(quantization, postOps, postOpRules);
}

} // namespace

Result<void> eltwise::checkAttributes(const EltwiseDesc &eltwise, Attributes &attr) {
  if (!attr.rnn.isIdentity())
    return unimplemented("eltwise does not support RNN quantization parameters (eltwise C26)");
  if (!isForward(eltwise.prop))
    return checkNoAttributes(attr, "backward eltwise", " (eltwise C25)");
  QUERN_RETURN_IF_ERROR(checkPostOps(attr.postOps, eltwise.dst, postOpRules));
  auto check = [&](const Quantization &quantization) { return checkQuantization(quantization, attr.postOps); };
  QUERN_RETURN_IF_ERROR(checkEach(attr, check));
  return checkDropout(attr.dropout, eltwise.dst, {"eltwise", " (eltwise C27)", " (eltwise C28)"});
}

} // namespace quern
