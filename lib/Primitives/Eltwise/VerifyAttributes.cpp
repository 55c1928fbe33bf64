//===- VerifyAttributes.cpp - Which attributes eltwise takes --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Verify.cpp has the list of constraints. The modes (scratchpad, fpmath, accumulation, deterministic) are permissions, accepted as they
// are.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Primitives/DropoutChecks.h"
#include "Primitives/Eltwise/Verify.h"
#include "Primitives/PostOpChecks.h"

namespace quern {
namespace {

/// C25.
Result<void> checkNone(const Attributes &attr) {
  if (!attr.scales.empty())
    return unimplemented("backward eltwise takes no scales, which ", arg::nameOf(attr.scales.begin()->first), " has (eltwise C25)");
  if (!attr.zeroPoints.empty())
    return unimplemented("backward eltwise takes no zero points, which ", arg::nameOf(attr.zeroPoints.begin()->first),
                         " has (eltwise C25)");
  if (!attr.postOps.empty())
    return unimplemented("backward eltwise takes no post-ops; ", attr.postOps.size(), " are given, the first is ",
                         nameOf(attr.postOps[0].kind), " (eltwise C25)");
  if (attr.dropout.isSet())
    return unimplemented("backward eltwise takes no dropout (eltwise C25)");
  return {};
}

bool isParamType(DataType type, bool isScale) {
  if (isScale)
    return type == DataType::F32 || type == DataType::BF16 || type == DataType::F16;
  return type == DataType::S32 || type == DataType::S8 || type == DataType::U8 || type == DataType::F32;
}

/// C11, C21.
Result<void> checkParams(const Quantization &quantization, const TensorDesc &tensor) {
  const QuantParams &params = quantization.params;
  if (params.mask >> tensor.ndims != 0)
    return invalidArguments(quantization.of(), " have mask ", params.mask, "; a tensor of rank ", tensor.ndims, " allows 0 to ",
                            (1 << tensor.ndims) - 1, " (eltwise C11)");
  if (!params.groups.empty())
    return unimplemented("eltwise is not implemented with groups, which the ", quantization.of(), " have (eltwise C21)");
  if (!isParamType(params.dataType, quantization.isScales))
    return unimplemented(quantization.of(), " are of type ", nameOf(params.dataType), "; eltwise takes ",
                         quantization.isScales ? "f32, bf16, f16" : "s32, s8, u8, f32", " (eltwise C21)");
  return {};
}

/// C10, C11, C17 to C19, C21 to C24.
constexpr PostOpRules postOpRules = {
    "eltwise",        eltwise::isElementType, eltwise::elementTypes, eltwise::checkLayout, checkParams, " (eltwise C10)",
    " (eltwise C23)", " (eltwise C11)",       " (eltwise C24)",      " (eltwise C22)",     ""};

/// C11, C20, C24.
Result<void> checkQuantization(const Quantization &quantization, const std::vector<PostOp> &postOps) {
  if (quantization.argument == arg::src || quantization.argument == arg::dst)
    return unimplemented("eltwise is not implemented with ", quantization.of(), " (eltwise C20)");
  return checkOfPostOp(quantization, postOps, postOpRules);
}

} // namespace

Result<void> eltwise::checkAttributes(const EltwiseDesc &eltwise, Attributes &attr) {
  if (!attr.rnn.isIdentity())
    return unimplemented("eltwise does not take RNN quantization parameters (eltwise C26)");
  if (!isForward(eltwise.prop))
    return checkNone(attr);
  if (Result<void> ok = checkPostOps(attr.postOps, eltwise.dst, postOpRules); !ok)
    return ok;
  for (const auto &[argument, params] : attr.scales)
    if (Result<void> ok = checkQuantization({true, argument, params}, attr.postOps); !ok)
      return ok;
  for (const auto &[argument, params] : attr.zeroPoints)
    if (Result<void> ok = checkQuantization({false, argument, params}, attr.postOps); !ok)
      return ok;
  return checkDropout(attr.dropout, eltwise.dst, {"eltwise", " (eltwise C27)", " (eltwise C28)"});
}

} // namespace quern
