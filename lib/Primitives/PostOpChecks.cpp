//===- PostOpChecks.cpp - Verification of post-ops ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Primitives/PostOpChecks.h"

#include "Primitives/Arguments.h"

namespace quern {
namespace {

Result<void> checkOperand(const std::string &name, TensorDesc &operand, const TensorDesc &dst,
                          const PostOpRules &rules) {
  if (operand.ndims != dst.ndims)
    return invalidArguments(name, " is of rank ", operand.ndims, ", dst of rank ", dst.ndims, rules.shape);
  for (int d = 0; d < dst.ndims; ++d)
    if (operand.dims[d] != 1 && operand.dims[d] != dst.dims[d])
      return invalidArguments(
          "dim ", d, " of ", name, " is ",
          operand.dims[d] == runtimeDim ? "known only at execution" : std::to_string(operand.dims[d]),
          "; it must be 1 or dst's ",
          dst.dims[d] == runtimeDim ? "size, which is known only at execution" : std::to_string(dst.dims[d]),
          rules.shape);
  if (!rules.types.contains(operand.dataType))
    return unimplemented(rules.subject, " is not implemented for ", name, " of type ", nameOf(operand.dataType),
                         "; it is for ", rules.types.names(), rules.type);
  if (!operand.isAny())
    return rules.checkLayout(name, operand);
  Result<TensorDesc> resolved = TensorDesc::dense(operand.shape(), operand.dataType);
  if (!resolved)
    return Error{resolved.error().status, concat(name, ": ", resolved.error().message, rules.shape)};
  operand = *resolved;
  return {};
}

/// Checks the operands of binary post-op `position`.
Result<void> checkOperands(PostOp &op, size_t position, const TensorDesc &dst, const PostOpRules &rules) {
  QUERN_RETURN_IF_ERROR(checkOperand(arg::nameOf(arg::ofPostOp(position, arg::src1)), op.src1, dst, rules));
  if (op.alg != Alg::BinarySelect)
    return {};
  return checkOperand(arg::nameOf(arg::ofPostOp(position, arg::src2)), op.src2, dst, rules);
}

Result<void> checkSum(const PostOp &op, const TensorDesc &dst, const PostOpRules &rules) {
  if (op.dataType == DataType::Undef)
    return {};
  if (bitsOf(op.dataType) != bitsOf(dst.dataType))
    return invalidArguments("post-op sum reads dst as ", nameOf(op.dataType), ", which differs in size from ",
                            nameOf(dst.dataType), rules.sum);
  if (!rules.types.contains(op.dataType))
    return unimplemented(rules.subject, " is not implemented with a sum that reads dst as ", nameOf(op.dataType),
                         "; it is for ", rules.types.names(), rules.type);
  return {};
}

} // namespace

Result<void> checkPostOps(std::vector<PostOp> &postOps, const TensorDesc &dst, const PostOpRules &rules) {
  int sums = 0;
  for (size_t i = 0; i < postOps.size(); ++i) {
    PostOp &op = postOps[i];
    sums += op.kind == PostOp::Kind::Sum;
    bool supportsSum = !rules.sum.empty();
    if (op.kind == PostOp::Kind::Prelu || sums > (supportsSum ? 1 : 0))
      return unimplemented(rules.subject, " is not implemented with a ", sums > 1 ? "second " : "", "post-op ",
                           nameOf(op.kind), ", which is number ", i, "; it is for ",
                           supportsSum ? "eltwise, binary and one sum" : "eltwise and binary", rules.kinds);
    QUERN_RETURN_IF_ERROR(op.kind == PostOp::Kind::Sum      ? checkSum(op, dst, rules)
                          : op.kind == PostOp::Kind::Binary ? checkOperands(op, i, dst, rules)
                                                            : Result<void>());
  }
  return {};
}

Result<void> checkOfPostOp(const Quantization &quantization, const std::vector<PostOp> &postOps,
                           const PostOpRules &rules) {
  int32_t position = quantization.argument / arg::postOpBase - 1, operand = quantization.argument % arg::postOpBase;
  bool isOperand = position >= 0 && static_cast<size_t>(position) < postOps.size() &&
                   postOps[position].kind == PostOp::Kind::Binary &&
                   (operand == arg::src1 || (operand == arg::src2 && postOps[position].alg == Alg::BinarySelect));
  if (!isOperand)
    return invalidArguments(quantization.of(), " (argument ", quantization.argument,
                            ") are given; the problem has no such tensor", rules.missing);
  if (operand != arg::src1)
    return unimplemented(rules.subject, " is not implemented with ", quantization.of(), "; it is for those of src_1",
                         rules.params);
  const TensorDesc &tensor = postOps[position].src1;
  QUERN_RETURN_IF_ERROR(rules.checkParams(quantization, tensor));
  for (int d = 0; d < tensor.ndims; ++d)
    if (quantization.isMasked(d) && tensor.dims[d] == runtimeDim)
      return unimplemented(rules.subject, " is not implemented with ", quantization.of(), " along dim ", d,
                           ", which is known only at execution", rules.params);
  return {};
}

} // namespace quern
