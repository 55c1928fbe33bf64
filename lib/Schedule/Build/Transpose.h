//===- Transpose.h - Transposing squares of elements in registers --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A *piece* is 16 bytes, `unit` elements. A *square* is one piece from each of `unit` rows, which becomes `unit` pieces
// of columns. A register holds one piece of each of several squares, in separate 128-bit parts. Unpacks within the
// parts (the same two instructions on all x86 vectors) therefore transpose all of the squares at once: a perfect
// shuffle of the registers, log2(unit) times.
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

/// Callbacks with row numbers that are computed at run time: `from` plus a constant. `from` may be null for 0 and is a
/// multiple of a power of two above that constant.
struct SquareAccess {
  /// Returns the register of the pieces of rows from + row, from + row + unit, from + row + 2·unit, …
  llvm::function_ref<mlir::Value(mlir::Value from, int64_t row)> gather;
  /// Consumes columns from + j of all squares: register j of `columns`.
  llvm::function_ref<void(mlir::Value from, llvm::ArrayRef<mlir::Value> columns)> sink;
};

/// Returns the number of elements of scratch that transposing registers of `lanes` needs; 0: none.
int64_t transposeScratch(mlir::Type element, int64_t lanes);

/// Emits the transposition of the lanes / unit squares that registers of `lanes` elements hold. Squares of bytes use
/// two loops over four registers each, with `scratch` (rank 1, aligned to 64 bytes) between them: straight-line code
/// would be 64 unpacks, which instruction selection spends more time on than on the rest of a kernel. `index` returns
/// constants.
void transposeSquares(mlir::OpBuilder &b, mlir::Location loc, mlir::Type element, int64_t lanes,
                      const SquareAccess &access, mlir::Value scratch, llvm::function_ref<mlir::Value(int64_t)> index);

/// Concatenates vectors of one type, whose number is a power of two.
mlir::Value joinVectors(mlir::OpBuilder &b, mlir::Location loc, llvm::SmallVector<mlir::Value> vectors);
/// Concatenates each group of `count` adjacent vectors; `count` is a power of two.
llvm::SmallVector<mlir::Value> joinAdjacent(mlir::OpBuilder &b, mlir::Location loc,
                                            llvm::SmallVector<mlir::Value> vectors, int64_t count);

/// interleaveVectors() alternates the elements of vectors of one type: the first of each, then the second of each.
/// deinterleaveVectors() is the inverse.
llvm::SmallVector<mlir::Value> interleaveVectors(mlir::OpBuilder &b, mlir::Location loc,
                                                 llvm::SmallVector<mlir::Value> vectors);
llvm::SmallVector<mlir::Value> deinterleaveVectors(mlir::OpBuilder &b, mlir::Location loc,
                                                   llvm::SmallVector<mlir::Value> vectors);

} // namespace quern

#endif // QUERN_SCHEDULE_BUILD_TRANSPOSE_H
