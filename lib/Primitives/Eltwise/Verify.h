//===- Verify.h - Parts of the eltwise verifier ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Verify.cpp lists the constraints; this is what its two files share.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_ELTWISE_VERIFY_H
#define QUERN_PRIMITIVES_ELTWISE_VERIFY_H

#include "Desc/PrimitiveDesc.h"

namespace quern::eltwise {

/// Of one tensor with a layout, whatever its role: C17 to C19.
Result<void> checkLayout(std::string_view name, const TensorDesc &tensor);

/// C10, C11 and C17 to C28, for tensors that are verified. Resolves `any` in binary post-ops.
Result<void> checkAttributes(const EltwiseDesc &eltwise, Attributes &attr);

} // namespace quern::eltwise

#endif // QUERN_PRIMITIVES_ELTWISE_VERIFY_H
