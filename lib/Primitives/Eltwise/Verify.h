//===- Verify.h - Parts of the eltwise verifier ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks shared by Verify.cpp, which lists the constraints, and VerifyAttributes.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_ELTWISE_VERIFY_H
#define QUERN_PRIMITIVES_ELTWISE_VERIFY_H

#include "Desc/PrimitiveDesc.h"

namespace quern::eltwise {

/// Checks C17 to C19 for one tensor with a layout, whatever its role.
Result<void> checkLayout(std::string_view name, const TensorDesc &tensor);

/// Checks C10, C11 and C17 to C28; the tensors must be verified. Resolves `any` in binary post-ops.
Result<void> checkAttributes(const EltwiseDesc &eltwise, Attributes &attr);

} // namespace quern::eltwise

#endif // QUERN_PRIMITIVES_ELTWISE_VERIFY_H
