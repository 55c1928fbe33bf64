//===- Verify.h - Parts of the reorder verifier ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Declarations shared by Verify.cpp, which lists the constraints, and VerifyAttributes.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_REORDER_VERIFY_H
#define QUERN_PRIMITIVES_REORDER_VERIFY_H

#include "Desc/PrimitiveDesc.h"
#include "Primitives/TypeSets.h"

namespace quern::reorder {

/// Types of the elements that a reorder reads or writes.
inline constexpr TypeSet types = {DataType::F64,    DataType::F32,  DataType::BF16,   DataType::F16, DataType::F8E5M2,
                                  DataType::F8E4M3, DataType::E8M0, DataType::F4E2M1, DataType::S32, DataType::S8,
                                  DataType::U8,     DataType::S4,   DataType::U4};

/// Checks C18, C19 and the known dims of C28 for one tensor with a layout, whatever its role.
Result<void> checkLayout(std::string_view name, const TensorDesc &tensor);

/// Checks C7 to C12 and C18 to C28 for the attributes; the tensors must be verified. Resolves `any` in binary post-ops.
Result<void> checkAttributes(const ReorderDesc &reorder, Attributes &attr);

} // namespace quern::reorder

#endif // QUERN_PRIMITIVES_REORDER_VERIFY_H
