//===- VerifyAttributes.cpp - Attributes that a binary supports -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Verify.cpp lists the constraints. The modes (scratchpad, fpmath, accumulation, deterministic) are permissions and
// always accepted.
//
//===----------------------------------------------------------------------===//
#include "Primitives/Arguments.h"
#include "Primitives/Binary/Verify.h"
#include "Primitives/DropoutChecks.h"
#include "Primitives/PostOpChecks.h"

namespace quern {
namespace {

/// Checks C9, C20 and, with the citation `groupsCitation`, that there are no groups.
Result<void> checkVector(const Quantization &quantization, const TensorDesc &tensor, std::string_view groupsCitation) {
  return checkParams(quantization, tensor,
                     {"a binary", " (binary C9)", groupsCitation, " (binary C20)", scaleTypesWithPowers});
}

/// Checks C9, C20 and C23.
Result<void> checkOperandVector(const Quantization &quantization, const TensorDesc &tensor) {
  return checkVector(quantization, tensor, " (binary C23)");
}

/// Rules for C9 to C11, C15 to C18, C20, C22 and C23.
constexpr PostOpRules postOpRules = {"a binary",      elementTypes,    binary::checkLayout, checkOperandVector,
                                     " (binary C10)", " (binary C15)", " (binary C9)",      " (binary C23)",
                                     " (binary C22)", " (binary C11)"};

/// Checks C9, C19 and C20 for src or src_1.
Result<void> checkScales(const Quantization &scales, const TensorDesc &tensor) {
  QUERN_RETURN_IF_ERROR(checkVector(scales, tensor, " (binary C19)"));
  for (int d = 0; d < tensor.ndims; ++d)
    if (scales.isMasked(d) && tensor.dims[d] == runtimeDim)
      return unimplemented("a binary is not implemented with ", scales.of(), " along dim ", d,
                           ", which is known only at execution (binary C19)");
  return {};
}

/// Checks C9, C19 to C21 and C23.
Result<void> checkQuantization(const Quantization &quantization, const BinaryDesc &binary,
                               const std::vector<PostOp> &postOps) {
  int32_t argument = quantization.argument;
  bool isOperand = argument == arg::src || argument == arg::src1 || argument == arg::dst ||
                   (argument == arg::src2 && !binary.src2.isZero());
  if (!isOperand)
    return checkOfPostOp(quantization, postOps, postOpRules);
  if (!quantization.isScales)
    return unimplemented("a binary is not implemented with ", quantization.of(), " (binary C21)");
  if (argument != arg::src && argument != arg::src1)
    return unimplemented("a binary is not implemented with ", quantization.of(),
                         "; it is for those of src and src_1 (binary C19)");
  return checkScales(quantization, argument == arg::src ? binary.src : binary.src1);
}

} // namespace

Result<void> binary::checkAttributes(const BinaryDesc &binary, Attributes &attr) {
  if (!attr.rnn.isIdentity())
    return unimplemented("a binary does not support RNN quantization parameters (binary C24)");
  QUERN_RETURN_IF_ERROR(checkPostOps(attr.postOps, binary.dst, postOpRules));
  auto check = [&](const Quantization &quantization) { return checkQuantization(quantization, binary, attr.postOps); };
  QUERN_RETURN_IF_ERROR(checkEach(attr, check));
  return checkDropout(attr.dropout, binary.dst, {"a binary", " (binary C25)", " (binary C26)"});
}

} // namespace quern
