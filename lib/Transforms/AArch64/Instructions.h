//===- Instructions.h - AArch64's instructions on vectors ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// NEON's are on registers of 128 bits. SVE's are on registers of any length, of which a vector of fixed length is a
// part for LLVM, and all where the function says how long they are.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TRANSFORMS_AARCH64_INSTRUCTIONS_H
#define QUERN_TRANSFORMS_AARCH64_INSTRUCTIONS_H

#include "Transforms/Transforms.h"

#include "mlir/IR/Builders.h"

namespace quern::aarch64 {

/// Whether dot() and byteSums() take vectors of so many 32-bit lanes.
bool hasDots(VectorIsa isa, int64_t lanes);
/// `name` (bfdot, sdot, udot, usdot) of a register: acc + products of what is packed in each lane.
mlir::Value dot(mlir::OpBuilder &b, mlir::Location loc, VectorIsa isa, llvm::StringRef name, mlir::Value acc,
                mlir::Value first, mlir::Value second);
/// `name` (bfmmla, smmla, ummla, usmmla) of a register: acc + first · second, of two rows of 128 bits that are the same
/// for the two columns that are in each 128 bits of second.
mlir::Value patch(mlir::OpBuilder &b, mlir::Location loc, VectorIsa isa, llvm::StringRef name, mlir::Value acc,
                  mlir::Value first, mlir::Value second);
/// acc + the sum of the four bytes of each lane.
mlir::Value byteSums(mlir::OpBuilder &b, mlir::Location loc, VectorIsa isa, bool areSigned, mlir::Value bytes,
                     mlir::Value acc);
/// The nearest integers of four f32, even ones of two: the nearest that there is beyond the range, 0 of NaN.
mlir::Value toNearest(mlir::OpBuilder &b, mlir::Location loc, mlir::Value floats);

} // namespace quern::aarch64

#endif // QUERN_TRANSFORMS_AARCH64_INSTRUCTIONS_H
