//===- Check.h - Checks of types and operations ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_FUNCTIONS_CHECK_H
#define QUERN_FUNCTIONS_CHECK_H

#include "Support/Error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace quern::functions {

/// Form of a function: as the caller passes it, or on memrefs, after reading.
enum class Form { Given, Read };

/// Checks that every type and operation is one that docs/embedding.md lists. Fails with the first other one and its
/// location.
Result<void> check(mlir::func::FuncOp function, Form form);

/// Checks one operation of a function and its result types.
Result<void> checkOperation(mlir::Operation &op, Form form);

/// Returns the strides and the offset of a memref, in elements; fails if its layout is not strided. Unlike in MLIR, a
/// dense memref without elements has strides: those of a memref with dims of 1 instead of 0.
mlir::LogicalResult stridesOf(mlir::MemRefType type, llvm::SmallVectorImpl<int64_t> &strides, int64_t &offset);

/// Returns the memory that a memref is a view of.
mlir::Value rootOf(mlir::Value memref);

} // namespace quern::functions

#endif // QUERN_FUNCTIONS_CHECK_H
