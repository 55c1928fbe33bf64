//===- Verify.h - Parts of the softmax verifier ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks shared by Verify.cpp, which lists the constraints, and VerifyAttributes.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_SOFTMAX_VERIFY_H
#define QUERN_PRIMITIVES_SOFTMAX_VERIFY_H

#include "Desc/PrimitiveDesc.h"

namespace quern::softmax {

/// Checks C15 to C17 for one tensor with a layout, whatever its role.
Result<void> checkLayout(std::string_view name, const TensorDesc &tensor);

/// Checks C11, C12, C15 to C26, C30 and C31 for the attributes; the tensors must be verified. Resolves `any` in binary
/// post-ops.
Result<void> checkAttributes(const SoftmaxDesc &softmax, Attributes &attr);

} // namespace quern::softmax

#endif // QUERN_PRIMITIVES_SOFTMAX_VERIFY_H
