//===- Transpose.h - Transposing squares of elements in registers --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A *piece* is 16 bytes, `unit` elements. A *square* is unit pieces from as many rows: it becomes unit pieces of
// columns. A register holds one piece of each of several squares, one to a 128-bit part, so that unpacks within the
// parts (the same two instructions on all x86 vectors) transpose all of them at once: a perfect shuffle of the
// registers, log2(unit) times.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_BUILD_TRANSPOSE_H
#define QUERN_SCHEDULE_BUILD_TRANSPOSE_H

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

#include <cstdint>

namespace quern {

inline constexpr int64_t pieceBytes = 16;

/// Elements of a piece; rows and columns of a square.
inline int64_t transposeUnit(mlir::Type element) { return pieceBytes * 8 / element.getIntOrFloatBitWidth(); }

/// Rows that are counted at run time: `from` is the least of them, or null for 0, and others are a constant further.
/// `from` is a multiple of a power of two that is larger than that constant.
struct SquareAccess {
  /// The register of the pieces of rows from + row, from + row + unit, from + row + 2·unit, …
  llvm::function_ref<mlir::Value(mlir::Value from, int64_t row)> gather;
  /// Takes columns from + j of all squares, side by side: register j of `columns`.
  llvm::function_ref<void(mlir::Value from, llvm::ArrayRef<mlir::Value> columns)> sink;
};

/// Elements of scratch that transposing registers of `lanes` takes; 0: none.
int64_t transposeScratch(mlir::Type element, int64_t lanes);

/// Writes the transposition of the lanes / unit squares that registers of `lanes` elements hold. Squares of bytes take
/// two loops over four registers each, with `scratch` (rank 1, aligned to 64 bytes) between: straight code would be 64
/// unpacks, and instruction selection takes longer over them than over the rest of a kernel. `index` makes constants.
void transposeSquares(mlir::OpBuilder &b, mlir::Location loc, mlir::Type element, int64_t lanes,
                      const SquareAccess &access, mlir::Value scratch, llvm::function_ref<mlir::Value(int64_t)> index);

/// Vectors of one type side by side, a power of two of them, as one vector.
mlir::Value joinVectors(mlir::OpBuilder &b, mlir::Location loc, llvm::SmallVector<mlir::Value> vectors);

/// The elements of vectors of one type in turn: the first of each, then the second of each; and back.
llvm::SmallVector<mlir::Value> interleaveVectors(mlir::OpBuilder &b, mlir::Location loc,
                                                 llvm::SmallVector<mlir::Value> vectors);
llvm::SmallVector<mlir::Value> takeVectorsApart(mlir::OpBuilder &b, mlir::Location loc,
                                                llvm::SmallVector<mlir::Value> vectors);

} // namespace quern

#endif // QUERN_SCHEDULE_BUILD_TRANSPOSE_H
