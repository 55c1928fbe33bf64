//===- MatrixInstructions.h - Matrix registers of x86 ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Emits the operations of AMX. Registers are identified by number. The program configures the number of rows of each
// register by 64 bytes in memory, so these numbers can be computed at run time.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TRANSFORMS_X86_MATRIXINSTRUCTIONS_H
#define QUERN_TRANSFORMS_X86_MATRIXINSTRUCTIONS_H

#include "mlir/IR/Builders.h"

namespace quern::matrices {

constexpr int64_t registers = 8, rows = 16; ///< `rows` is the maximum
constexpr int64_t rowBytes = 64, configurationBytes = 64;

/// Element types of a product: pairs of bf16 into f32, or groups of four bytes into i32, named by the signs of lhs and
/// rhs.
enum class Elements { Bf16Pairs, SignedSigned, SignedUnsigned, UnsignedSigned, UnsignedUnsigned };

/// A location in a memref of rank 1: `at` counts elements from its start.
struct MatrixPlace {
  mlir::Value memref, at;
};

/// Returns the bytes that configure() reads, as vector<64xi8>: the first `count` registers have `height` rows (i8), the
/// others the maximum.
mlir::Value configuration(mlir::OpBuilder &b, mlir::Location loc, mlir::Value height, int64_t count);
/// Loads the configuration of the registers from memory and clears them.
void configure(mlir::OpBuilder &b, mlir::Location loc, MatrixPlace from);
/// Releases the registers. A function that has configured them must end with this.
void release(mlir::OpBuilder &b, mlir::Location loc);
void clear(mlir::OpBuilder &b, mlir::Location loc, int64_t matrix);
/// Load and store a matrix. `stride` is the number of bytes from one row to the next, an index.
void load(mlir::OpBuilder &b, mlir::Location loc, int64_t matrix, MatrixPlace from, mlir::Value stride);
void store(mlir::OpBuilder &b, mlir::Location loc, int64_t matrix, MatrixPlace to, mlir::Value stride);
/// sums[i, j] += Σ over k and the elements packed in 32 bits, lhs[i, k] * rhs[k, j].
void multiply(mlir::OpBuilder &b, mlir::Location loc, Elements elements, int64_t sums, int64_t lhs, int64_t rhs);

} // namespace quern::matrices

#endif // QUERN_TRANSFORMS_X86_MATRIXINSTRUCTIONS_H
