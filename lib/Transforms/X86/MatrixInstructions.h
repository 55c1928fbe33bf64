//===- MatrixInstructions.h - Registers that hold a matrix ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Writes the operations of x86's AMX into IR. Registers are named by number, since it is the program that says, in 64
// bytes of memory, how many rows each of them has: all take what they hold from there, and a program may find its
// numbers of rows as late as it likes.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TRANSFORMS_X86_MATRIXINSTRUCTIONS_H
#define QUERN_TRANSFORMS_X86_MATRIXINSTRUCTIONS_H

#include "mlir/IR/Builders.h"

namespace quern::matrices {

constexpr int64_t registers = 8, rows = 16; ///< rows are the most
constexpr int64_t rowBytes = 64, configurationBytes = 64;

/// What is multiplied: pairs of bf16 into f32, or fours of bytes into i32, by the signs of lhs and rhs.
enum class Elements { Bf16Pairs, SignedSigned, SignedUnsigned, UnsignedSigned, UnsignedUnsigned };

/// A place in a memref of rank 1: `at` counts elements from its start.
struct Place {
  mlir::Value memref, at;
};

/// The bytes that configure() reads, as vector<64xi8>: the first `count` registers have `height`
/// rows (i8), the others all.
mlir::Value configuration(mlir::OpBuilder &b, mlir::Location loc, mlir::Value height, int64_t count);
/// Reads what registers hold from memory and clears them.
void configure(mlir::OpBuilder &b, mlir::Location loc, Place from);
/// Gives the registers back; a function that has configured them ends with it.
void release(mlir::OpBuilder &b, mlir::Location loc);
void clear(mlir::OpBuilder &b, mlir::Location loc, int64_t matrix);
/// Rows lie `stride` bytes (index) apart.
void load(mlir::OpBuilder &b, mlir::Location loc, int64_t matrix, Place from, mlir::Value stride);
void store(mlir::OpBuilder &b, mlir::Location loc, int64_t matrix, Place to, mlir::Value stride);
/// sums[i, j] += Σ over k and what is packed in 32 bits, lhs[i, k] * rhs[k, j].
void multiply(mlir::OpBuilder &b, mlir::Location loc, Elements elements, int64_t sums, int64_t lhs, int64_t rhs);

} // namespace quern::matrices

#endif // QUERN_TRANSFORMS_X86_MATRIXINSTRUCTIONS_H
