//===- Verify.h - Parts of the binary verifier ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Verify.cpp lists the constraints; this is what its two files share.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_BINARY_VERIFY_H
#define QUERN_PRIMITIVES_BINARY_VERIFY_H

#include "Desc/PrimitiveDesc.h"

namespace quern::binary {

/// Of one tensor with a layout, whatever its role: C16 to C18.
Result<void> checkLayout(std::string_view name, const TensorDesc &tensor);

/// C9 to C11 and C19 to C24, for tensors that are verified. Resolves `any` in binary post-ops.
Result<void> checkAttributes(const BinaryDesc &binary, Attributes &attr);

} // namespace quern::binary

#endif // QUERN_PRIMITIVES_BINARY_VERIFY_H
