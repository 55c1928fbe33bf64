//===- VerifyAttributes.cpp - Attributes that a reorder supports ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Verify.cpp lists the constraints. The modes (scratchpad, fpmath, accumulation, deterministic) are permissions and
// always accepted.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Primitives/PostOpChecks.h"
#include "Primitives/Reorder/Compensation.h"
#include "Primitives/Reorder/Verify.h"

namespace quern {
namespace {

constexpr QuantizationRules paramRules = {
    "a reorder",
    " (reorder C7)",
    "",
    " (reorder C21)",
    scaleTypesWithPowers,
    {DataType::S32, DataType::S8, DataType::U8, DataType::S4, DataType::U4, DataType::F32}};

/// Checks C7 and C21.
Result<void> checkParams(const Quantization &quantization, const TensorDesc &tensor) {
  return checkParams(quantization, tensor, paramRules);
}

/// Checks C18 to C20 and C28 for a post-op's tensor.
Result<void> checkOperandLayout(std::string_view name, const TensorDesc &operand) {
  if (operand.extras.flags != 0)
    return unimplemented("a reorder is not implemented for compensation in ", name, "; its flags are ",
                         operand.extras.flags, " (reorder C20)");
  return reorder::checkLayout(name, operand);
}

/// Checks C7, C21 and C25.
Result<void> checkParamsOfPostOp(const Quantization &quantization, const TensorDesc &tensor) {
  QuantizationRules rules = paramRules;
  rules.groups = " (reorder C25)";
  return checkParams(quantization, tensor, rules);
}

/// Rules for C7, C10, C11, C18 to C21 and C23 to C25.
constexpr PostOpRules postOpRules = {"a reorder",      reorder::types,   checkOperandLayout, checkParamsOfPostOp,
                                     " (reorder C10)", " (reorder C24)", " (reorder C7)",    " (reorder C25)",
                                     " (reorder C23)", " (reorder C11)"};

/// Checks C8.
Result<void> checkGroups(const Quantization &quantization, const TensorDesc &tensor) {
  const std::vector<int64_t> &groups = quantization.params.groups;
  if (groups.empty())
    return {};
  if (tensor.ndims < 2)
    return invalidArguments(quantization.of(), " have groups over two dims; the tensor is of rank ", tensor.ndims,
                            " (reorder C8)");
  for (int i = 0; i < 2; ++i) {
    int d = tensor.ndims - 2 + i;
    if (groups[i] != 1 && !quantization.isMasked(d))
      return invalidArguments(quantization.of(), " have groups of ", groups[i], " along dim ", d,
                              ", which is not in their mask, ", quantization.params.mask, " (reorder C8)");
    if (tensor.dims[d] != runtimeDim && tensor.dims[d] % groups[i] != 0)
      return invalidArguments(quantization.of(), " have groups of ", groups[i], ", which do not divide dim ", d, " of ",
                              tensor.dims[d], " (reorder C8)");
  }
  return {};
}

/// Checks C22 and C28.
Result<void> checkRuntimeDims(const Quantization &quantization, const TensorDesc &tensor) {
  const QuantParams &params = quantization.params;
  for (int d = 0; d < tensor.ndims; ++d) {
    if (!quantization.isMasked(d) || tensor.dims[d] != runtimeDim)
      continue;
    for (int grouped = 0; grouped <= d; ++grouped) // a group's stride must be a constant
      if (const int64_t group = arg::groupAlong(params, tensor.ndims, grouped); group != 1)
        return unimplemented("a reorder is not implemented with ", quantization.of(), " in groups of ", group,
                             " along dim ", grouped, "; dim ", d, " is known only at execution (reorder C22)");
    if (bitsOf(params.dataType) < 8)
      return unimplemented("a reorder is not implemented with ", quantization.of(), " of type ",
                           nameOf(params.dataType), " along dim ", d,
                           ", which is known only at execution (reorder C28)");
  }
  return {};
}

/// Checks C7 to C9, C21, C22, C25 and C28.
Result<void> checkQuantization(const Quantization &quantization, const ReorderDesc &reorder,
                               const std::vector<PostOp> &postOps) {
  if (quantization.argument != arg::src && quantization.argument != arg::dst)
    return checkOfPostOp(quantization, postOps, postOpRules);
  const TensorDesc &tensor = quantization.argument == arg::src ? reorder.src : reorder.dst;
  if (!quantization.isScales && isFloating(tensor.dataType))
    return invalidArguments(quantization.of(), " are given; the tensor is of type ", nameOf(tensor.dataType),
                            ", and only integers have zero points (reorder C9)");
  for (auto check : {checkParams, checkGroups, checkRuntimeDims})
    QUERN_RETURN_IF_ERROR(check(quantization, tensor));
  return {};
}

/// Checks C26.
Result<void> checkRnnRole(const ReorderDesc &reorder, reorder::RnnRole role) {
  const TensorDesc &src = reorder.src, &dst = reorder.dst;
  if (role == reorder::RnnRole::Weights) {
    bool isType = dst.dataType == DataType::S8 && (isFloating(src.dataType) || src.dataType == DataType::S8);
    if (isType && (dst.ndims == 4 || dst.ndims == 5) && dst.elements() != runtimeDim)
      return {};
    return unimplemented("a reorder is not implemented for RNN weights from ", nameOf(src.dataType), " to ",
                         nameOf(dst.dataType), " of rank ", dst.ndims,
                         "; it is for a floating type or s8 to s8, rank 4 or 5 and known dims", " (reorder C26)");
  }
  bool isType = isFloating(src.dataType) && (dst.dataType == DataType::U8 || dst.dataType == DataType::S8);
  if (isType && (dst.ndims == 3 || dst.ndims == 4))
    return {};
  return unimplemented("a reorder is not implemented for RNN data from ", nameOf(src.dataType), " to ",
                       nameOf(dst.dataType), " of rank ", dst.ndims,
                       "; it is for a floating type to u8 or s8, and rank 3 or 4 (reorder C26)");
}

/// Checks C12, C26 and C27.
Result<void> checkRnn(const ReorderDesc &reorder, const Attributes &attr) {
  reorder::RnnRole role = reorder::rnnRoleOf(reorder, attr);
  if (role == reorder::RnnRole::None)
    return {};
  if (!attr.scales.empty() || !attr.zeroPoints.empty() || !attr.postOps.empty())
    return unimplemented("a reorder is not implemented with RNN quantization in addition to ",
                         !attr.scales.empty()       ? "scales"
                         : !attr.zeroPoints.empty() ? "zero points"
                                                    : "post-ops",
                         " (reorder C27)");
  if (Result<void> ok = checkRnnRole(reorder, role); !ok || role == reorder::RnnRole::Data)
    return ok;
  reorder::RnnWeightsScales scales = reorder::rnnWeightsScalesOf(reorder, attr);
  if (scales.values.empty())
    return {};
  int64_t wanted = 1;
  for (int d = 0; d < reorder.dst.ndims; ++d)
    wanted *= scales.mask >> d & 1 ? reorder.dst.dims[d] : 1;
  if (scales.mask >> reorder.dst.ndims != 0 || wanted != static_cast<int64_t>(scales.values.size()))
    return invalidArguments("RNN weights have ", scales.values.size(), " scales; mask ", scales.mask,
                            " over these dims needs ", wanted, " (reorder C12)");
  return {};
}

} // namespace

Result<void> reorder::checkAttributes(const ReorderDesc &reorder, Attributes &attr) {
  QUERN_RETURN_IF_ERROR(checkRnn(reorder, attr));
  QUERN_RETURN_IF_ERROR(checkPostOps(attr.postOps, reorder.dst, postOpRules));
  return checkEach(
      attr, [&](const Quantization &quantization) { return checkQuantization(quantization, reorder, attr.postOps); });
}

} // namespace quern
