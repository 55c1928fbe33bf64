//===- UnpackElements.h - Tensors of half bytes in whole bytes ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Elements of 4 bits lie two to a byte, and no iteration may write half a byte that another writes. Where a recipe cannot see to that, the
// problems compute on whole bytes in memory that the kernels of an execution share.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TRANSFORMS_UNPACKELEMENTS_H
#define QUERN_TRANSFORMS_UNPACKELEMENTS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace quern {

/// Rewrites the problems of `module`, which take the same arguments: each memref of i4 or f4E2M1FN becomes one of bytes, as the caller has
/// it, and what the problems read and write is a memref of i8 more, with `quern.shared = <its byte offset>`. Appends `@<name>_pack<i>` for
/// an argument that is written, from its first element on without gaps, and prepends `@<name>_unpack<i>` for one that is read, <name> that
/// of the first problem. Both are elementwise on pairs of elements. Fails with a reason on a memref of unknown size.
mlir::LogicalResult unpackElements(mlir::ModuleOp module, std::string &whyNot);

} // namespace quern

#endif // QUERN_TRANSFORMS_UNPACKELEMENTS_H
