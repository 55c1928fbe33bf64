//===- VerifyAttributes.cpp - Which attributes softmax takes --------------===//
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
#include "Primitives/PostOpChecks.h"
#include "Primitives/Softmax/Verify.h"

namespace quern {
namespace {

/// C25.
Result<void> checkNone(const Attributes &attr) {
  if (!attr.scales.empty())
    return unimplemented("backward softmax takes no scales, which ", arg::nameOf(attr.scales.begin()->first), " has (softmax C25)");
  if (!attr.zeroPoints.empty())
    return unimplemented("backward softmax takes no zero points, which ", arg::nameOf(attr.zeroPoints.begin()->first),
                         " has (softmax C25)");
  if (!attr.postOps.empty())
    return unimplemented("backward softmax takes no post-ops; ", attr.postOps.size(), " are given, the first is ",
                         nameOf(attr.postOps[0].kind), " (softmax C25)");
  if (attr.dropout.isSet())
    return unimplemented("backward softmax takes no dropout (softmax C25)");
  return {};
}

/// C23.
bool isOperandType(DataType type) {
  switch (type) {
  case DataType::F64:
  case DataType::F32:
  case DataType::BF16:
  case DataType::F16:
  case DataType::F8E5M2:
  case DataType::F8E4M3:
  case DataType::S32:
  case DataType::S8:
  case DataType::U8:
    return true;
  default:
    return false;
  }
}

/// C12, C19, C20.
Result<void> checkParams(const Quantization &quantization, const TensorDesc &tensor) {
  const QuantParams &params = quantization.params;
  if (params.mask >> tensor.ndims != 0)
    return invalidArguments(quantization.of(), " have mask ", params.mask, "; a tensor of rank ", tensor.ndims, " allows 0 to ",
                            (1 << tensor.ndims) - 1, " (softmax C12)");
  if (!params.groups.empty())
    return unimplemented("softmax is not implemented with groups, which the ", quantization.of(), " have (softmax C19)");
  DataType type = params.dataType;
  bool isSupported = quantization.isScales ? type == DataType::F32 || type == DataType::BF16 || type == DataType::F16
                                           : type == DataType::S32 || type == DataType::S8 || type == DataType::U8 || type == DataType::F32;
  if (!isSupported)
    return unimplemented(quantization.of(), " are of type ", nameOf(type), "; softmax takes ",
                         quantization.isScales ? "f32, bf16, f16" : "s32, s8, u8, f32", " (softmax C20)");
  return {};
}

/// C11, C12, C15 to C17, C19, C20, C22 to C24.
constexpr PostOpRules postOpRules = {"softmax",
                                     isOperandType,
                                     "f64, f32, bf16, f16, f8_e5m2, f8_e4m3, s32, s8, u8",
                                     softmax::checkLayout,
                                     checkParams,
                                     " (softmax C11)",
                                     " (softmax C23)",
                                     " (softmax C12)",
                                     " (softmax C24)",
                                     " (softmax C22)",
                                     ""};

/// C12, C18 to C21, C24.
Result<void> checkQuantization(const Quantization &quantization, const SoftmaxDesc &softmax, const std::vector<PostOp> &postOps) {
  if (quantization.argument != arg::src && quantization.argument != arg::dst)
    return checkOfPostOp(quantization, postOps, postOpRules);
  const TensorDesc &tensor = quantization.argument == arg::src ? softmax.src : softmax.dst;
  if (!quantization.isScales)
    return unimplemented("softmax is not implemented with ", quantization.of(), " (softmax C21)");
  if (Result<void> ok = checkParams(quantization, tensor); !ok)
    return ok;
  if (quantization.params.mask != 0)
    return unimplemented("softmax is not implemented with a value for each index: ", quantization.of(), " have mask ",
                         quantization.params.mask, "; it must be 0 (softmax C18)");
  return {};
}

} // namespace

Result<void> softmax::checkAttributes(const SoftmaxDesc &softmax, Attributes &attr) {
  if (!attr.rnn.isIdentity())
    return unimplemented("softmax does not take RNN quantization parameters (softmax C26)");
  if (!isForward(softmax.prop))
    return checkNone(attr);
  if (Result<void> ok = checkPostOps(attr.postOps, softmax.dst, postOpRules); !ok)
    return ok;
  for (const auto &[argument, params] : attr.scales)
    if (Result<void> ok = checkQuantization({true, argument, params}, softmax, attr.postOps); !ok)
      return ok;
  for (const auto &[argument, params] : attr.zeroPoints)
    if (Result<void> ok = checkQuantization({false, argument, params}, softmax, attr.postOps); !ok)
      return ok;
  return checkDropout(attr.dropout, softmax.dst, {"softmax", " (softmax C30)", " (softmax C31)"});
}

} // namespace quern
