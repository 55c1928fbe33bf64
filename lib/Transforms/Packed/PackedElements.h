//===- PackedElements.h - Tensors of half bytes ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Elements of i4 and f4E2M1FN lie two to a byte, the even one in the lower half, and no iteration may write half a byte
// that another writes. Recipes know whole bytes only. So problems are rewritten before they are scheduled: to compute
// both elements of a byte in one iteration, or, where these are not neighbours in every operand, to work on whole bytes
// in memory that the kernels of an execution share.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TRANSFORMS_PACKED_PACKEDELEMENTS_H
#define QUERN_TRANSFORMS_PACKED_PACKEDELEMENTS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace quern {

/// Rewrites elementwise linalg ops on memrefs of half bytes to iterate over pairs: the loop along which the halves of a
/// byte are neighbours becomes half as long, what is contiguous along it is accessed as integers of twice the width,
/// and the body computes twice. Leaves a module as it is if an op that writes half bytes does not allow it, and single
/// inputs that do not. The problems of a program have different arguments and are rewritten one by one.
void pairElements(mlir::ModuleOp module);

/// Rewrites the problems of `module`, which take the same arguments if no program calls them: each memref of half bytes
/// becomes one of bytes, as the caller has it, and what the problems read and write is a memref of i8 more, with
/// `quern.shared = <its byte offset>`. Appends `@<name>_pack<i>` for an argument that is written, from its first
/// element on without gaps, and prepends `@<name>_unpack<i>` for one that is read or written with gaps, <name> that of
/// the first problem. Both are elementwise on pairs of elements. A program's problems have each their own, which the
/// program calls around them. Fails with a reason on a memref of unknown size.
mlir::LogicalResult unpackElements(mlir::ModuleOp module, std::string &whyNot);

} // namespace quern

#endif // QUERN_TRANSFORMS_PACKED_PACKEDELEMENTS_H
