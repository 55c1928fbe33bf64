//===- PackedElements.h - Tensors of half bytes ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Elements of i4 and f4E2M1FN are stored two to a byte, the even one in the lower half, and two iterations must not
// write halves of the same byte. Recipes support only whole bytes, so problems are rewritten before they are scheduled:
// to compute both elements of a byte in one iteration or, if these are not adjacent in every operand, to operate on
// whole bytes in memory that the kernels of an execution share.
//===----------------------------------------------------------------------===//
#ifndef QUERN_TRANSFORMS_PACKED_PACKEDELEMENTS_H
#define QUERN_TRANSFORMS_PACKED_PACKEDELEMENTS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace quern {

/// Returns true for a memref of half bytes.
bool isPacked(mlir::Type type);

/// Rewrites elementwise linalg ops on memrefs of half bytes to iterate over pairs. The loop along which the halves of a
/// byte are adjacent has half the extent, operands that are contiguous along it are accessed as integers of twice the
/// width, and the body computes twice. Leaves a module unchanged if an op that writes half bytes cannot be rewritten;
/// inputs that cannot be paired are kept. The problems of a program have different arguments and are rewritten one by
/// one.
void pairElements(mlir::ModuleOp module);

/// Rewrites the problems of `module`, which have the same arguments unless a program calls them. Each memref of half
/// bytes becomes one of bytes, as the caller stores it, and the problems access an additional memref of i8 with
/// `quern.shared = <its byte offset>`. Appends `@<name>_pack<i>` for an argument that is written, from its first
/// element on and without gaps (`@<name>_packlast<i>` for the last of an odd number of elements), and prepends
/// `@<name>_unpack<i>` for one that is read or written with gaps; <name> is the first problem's. Packing and unpacking
/// are elementwise on pairs of elements. Each problem of a program has its own functions, which the program calls
/// around it. Fails with a reason on a memref of unknown size.
mlir::LogicalResult unpackElements(mlir::ModuleOp module, std::string &whyNot);

} // namespace quern

#endif // QUERN_TRANSFORMS_PACKED_PACKEDELEMENTS_H
