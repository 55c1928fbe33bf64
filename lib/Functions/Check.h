//===- Check.h - What of a caller's function is taken ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_FUNCTIONS_CHECK_H
#define QUERN_FUNCTIONS_CHECK_H

#include "Support/Error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace quern::functions {

/// What a function may contain: as the caller gives it, or on memrefs, as it was read.
enum class Form { Given, Read };

/// Whether every type and operation is one that docs/embedding.md lists; else the first that is not, with its place.
Result<void> check(mlir::func::FuncOp function, Form form);

/// Whether an operation of a function is one of them, and what it gives.
Result<void> checkOperation(mlir::Operation &op, Form form);

/// The strides and the offset of a memref, in elements; fails if its layout is not strided. MLIR has no strides for
/// dense memrefs without elements: they have those of dims of 1 in place of 0.
mlir::LogicalResult stridesOf(mlir::MemRefType type, llvm::SmallVectorImpl<int64_t> &strides, int64_t &offset);

/// The memory that a memref is a view of.
mlir::Value rootOf(mlir::Value memref);

} // namespace quern::functions

#endif // QUERN_FUNCTIONS_CHECK_H
