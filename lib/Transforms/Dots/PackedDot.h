//===- PackedDot.h - Products of packed elements -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What ExpandDots finds, and what the instructions of each architecture are written with. Internal to expandDots().
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TRANSFORMS_DOTS_PACKEDDOT_H
#define QUERN_TRANSFORMS_DOTS_PACKEDDOT_H

#include "Transforms/Transforms.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace quern {

/// acc[lane] + Σ first[k] * second[lane, k], or of first[lane, k].
struct PackedDot {
  mlir::Value first, second; ///< before extensions and roundings
  bool isFirstSigned = true, isSecondSigned = true;
  bool isFirstOne = true; ///< the same for all lanes
  int64_t lanes = 0, packed = 0;
  mlir::Type element() const { return mlir::getElementTypeOrSelf(second.getType()); }
};

/// acc[patch, row, column] + Σ first[row, k] * second[patch, column, k], for two rows and two columns each.
struct PatchDot {
  mlir::Value first, second; ///< before extensions
  bool isFirstSigned = true, isSecondSigned = true;
  int64_t patches = 0, packed = 0;
  mlir::Type element() const { return mlir::getElementTypeOrSelf(second.getType()); }
};

/// Writes instructions in the place of a product.
class DotBuilder {
public:
  /// `made` has what was written for values that several products share.
  DotBuilder(mlir::vector::ContractionOp op, const PackedDot &dot, llvm::DenseMap<mlir::Value, mlir::Value> &made)
      : op(op), dot(dot), made(made), b(op), loc(op.getLoc()) {}

protected:
  mlir::Value call(llvm::StringRef name, mlir::Type type, llvm::ArrayRef<mlir::Value> operands);
  /// Made once for each value, behind its definition.
  mlir::Value once(mlir::Value from, llvm::function_ref<mlir::Value()> make);
  /// The first word of `word`, a pair or four that is one for all lanes, as a register of them.
  mlir::Value broadcastFirst(mlir::Value word, mlir::VectorType words);
  /// A number of 32 bits as a register of such pairs or fours.
  mlir::Value broadcastWord(mlir::Value word);
  /// lanes x packed elements in one dimension; what they were shaped from where that is known.
  mlir::Value flat(mlir::Value shaped);
  /// The f32 that `v` was rounded from to bf16; null if it was not.
  static mlir::Value roundedFrom(mlir::Value v);

  mlir::vector::ContractionOp op;
  const PackedDot &dot;
  llvm::DenseMap<mlir::Value, mlir::Value> &made;
  mlir::OpBuilder b;
  mlir::Location loc;
};

/// On vectors of one dimension: of acc all patches, of the factors what is in them. Null if the level has no
/// instruction for it.
mlir::Value aarch64Patch(mlir::OpBuilder &b, mlir::Location loc, const PatchDot &dot, VectorIsa isa, mlir::Value acc,
                         mlir::Value first, mlir::Value second);

/// Null if the level has no instruction for it.
mlir::Value x86Dot(mlir::vector::ContractionOp op, const PackedDot &dot, VectorIsa isa,
                   llvm::DenseMap<mlir::Value, mlir::Value> &made);
mlir::Value aarch64Dot(mlir::vector::ContractionOp op, const PackedDot &dot, VectorIsa isa,
                       llvm::DenseMap<mlir::Value, mlir::Value> &made);

} // namespace quern

#endif // QUERN_TRANSFORMS_DOTS_PACKEDDOT_H
