//===- Verify.h - Parts of the reorder verifier ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Verify.cpp lists the constraints; this is what its two files share.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_REORDER_VERIFY_H
#define QUERN_PRIMITIVES_REORDER_VERIFY_H

#include "Desc/PrimitiveDesc.h"

namespace quern::reorder {

/// The types of elements that a reorder reads or writes, and their names for messages.
bool isElementType(DataType type);
inline constexpr std::string_view elementTypes = "f64, f32, bf16, f16, f8_e5m2, f8_e4m3, e8m0, f4_e2m1, s32, s8, u8, s4, u4";

/// Of one tensor with a layout, whatever its role: C18, C19.
Result<void> checkLayout(std::string_view name, const TensorDesc &tensor);

/// C7 to C12 and C20 to C27, for tensors that are verified. Resolves `any` in binary post-ops.
Result<void> checkAttributes(const ReorderDesc &reorder, Attributes &attr);

} // namespace quern::reorder

#endif // QUERN_PRIMITIVES_REORDER_VERIFY_H
