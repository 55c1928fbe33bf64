//===- Instructions.h - AArch64 vector instructions -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// NEON instructions operate on 128-bit registers. SVE registers may have any length: for LLVM, a fixed-length vector is
// a part of one, or all of it if the function's attributes fix the register length.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TRANSFORMS_AARCH64_INSTRUCTIONS_H
#define QUERN_TRANSFORMS_AARCH64_INSTRUCTIONS_H

#include "Transforms/Transforms.h"

#include "mlir/IR/Builders.h"

namespace quern::aarch64 {

/// Returns true if dot() and byteSums() support vectors of `lanes` 32-bit lanes.
bool hasDots(const Target &target, int64_t lanes);
/// Emits `name` (bfdot, sdot, udot, usdot): acc + the products of the elements packed in each lane.
mlir::Value dot(mlir::OpBuilder &b, mlir::Location loc, const Target &target, llvm::StringRef name, mlir::Value acc,
                mlir::Value first, mlir::Value second);
/// Emits `name` (bfmmla, smmla, ummla, usmmla): acc + first · second. `first` is two rows in 128 bits, which are used
/// for every 128 bits of `second`, each of which has two columns.
mlir::Value patch(mlir::OpBuilder &b, mlir::Location loc, const Target &target, llvm::StringRef name, mlir::Value acc,
                  mlir::Value first, mlir::Value second);
/// Returns acc + the sum of the four bytes of each lane.
mlir::Value byteSums(mlir::OpBuilder &b, mlir::Location loc, const Target &target, bool isSigned, mlir::Value bytes,
                     mlir::Value acc);
/// Rounds four f32 to the nearest integers, ties to even. Saturates out of range; NaN becomes 0.
mlir::Value toNearest(mlir::OpBuilder &b, mlir::Location loc, mlir::Value floats);

} // namespace quern::aarch64

#endif // QUERN_TRANSFORMS_AARCH64_INSTRUCTIONS_H
