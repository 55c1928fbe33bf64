//===- Verify.h - Parts of the binary verifier ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks shared by Verify.cpp, which lists the constraints, and VerifyAttributes.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_BINARY_VERIFY_H
#define QUERN_PRIMITIVES_BINARY_VERIFY_H

#include "Desc/PrimitiveDesc.h"

namespace quern::binary {

/// Checks C16 to C18 for one tensor with a layout, whatever its role.
Result<void> checkLayout(std::string_view name, const TensorDesc &tensor);

/// Checks C9 to C11 and C15 to C26 for the attributes; the tensors must be verified. Resolves `any` in binary post-ops.
Result<void> checkAttributes(const BinaryDesc &binary, Attributes &attr);

} // namespace quern::binary

#endif // QUERN_PRIMITIVES_BINARY_VERIFY_H
