//===- PackedDot.h - Products of packed elements -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The products that expandDots() matches, and the base of the builders of each architecture. Internal to expandDots().
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TRANSFORMS_DOTS_PACKEDDOT_H
#define QUERN_TRANSFORMS_DOTS_PACKEDDOT_H

#include "Transforms/Transforms.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace quern {

/// acc[lane] + Σ first[k] * second[lane, k], or with first[lane, k].
struct PackedDot {
  mlir::Value first, second; ///< factors before integer extensions
  bool isFirstSigned = true, isSecondSigned = true;
  bool isFirstOne = true; ///< true if `first` is uniform, without lanes
  int64_t lanes = 0, packed = 0;
  mlir::Type element() const { return mlir::getElementTypeOrSelf(second.getType()); }
};

/// acc[patch, row, column] + Σ first[row, k] * second[patch, column, k], for two rows and two columns each.
struct PatchDot {
  mlir::Value first, second; ///< factors before extensions
  bool isFirstSigned = true, isSecondSigned = true;
  int64_t patches = 0, packed = 0;
  mlir::Type element() const { return mlir::getElementTypeOrSelf(second.getType()); }
};

/// Emits instructions that replace a product.
class DotBuilder {
public:
  /// `cache` has values that several products share.
  DotBuilder(mlir::vector::ContractionOp op, const PackedDot &dot, llvm::DenseMap<mlir::Value, mlir::Value> &cache)
      : op(op), dot(dot), cache(cache), b(op), loc(op.getLoc()) {}

protected:
  mlir::Value call(llvm::StringRef name, mlir::Type type, llvm::ArrayRef<mlir::Value> operands);
  /// Returns the value that `make` emits after the definition of `from`; calls `make` once for each `from`.
  mlir::Value once(mlir::Value from, llvm::function_ref<mlir::Value()> make);
  /// Broadcasts the first element of `word` as `words`: the packed elements that all lanes share.
  mlir::Value broadcastFirst(mlir::Value word, mlir::VectorType words);
  /// Broadcasts a 32-bit number and casts it to packed elements.
  mlir::Value broadcastWord(mlir::Value word);
  /// Returns lanes x packed elements as one dimension: the source of their shape cast, if there is one.
  mlir::Value flat(mlir::Value shaped);
  /// Returns the f32 value that is rounded to `v`; null if there is none.
  static mlir::Value roundedFrom(mlir::Value v);

  mlir::vector::ContractionOp op;
  const PackedDot &dot;
  llvm::DenseMap<mlir::Value, mlir::Value> &cache;
  mlir::OpBuilder b;
  mlir::Location loc;
};

/// Returns the sum of `acc` and the product, as a one-dimensional vector of all patches. `acc`, `first` and `second`
/// are also one-dimensional. Returns null if the level has no instruction for it.
mlir::Value aarch64Patch(mlir::OpBuilder &b, mlir::Location loc, const PatchDot &dot, const Target &target,
                         mlir::Value acc, mlir::Value first, mlir::Value second);

/// Emit the product with instructions of the target. Return null if the level has no instruction for it.
mlir::Value x86Dot(mlir::vector::ContractionOp op, const PackedDot &dot, const Target &target,
                   llvm::DenseMap<mlir::Value, mlir::Value> &cache);
mlir::Value aarch64Dot(mlir::vector::ContractionOp op, const PackedDot &dot, const Target &target,
                       llvm::DenseMap<mlir::Value, mlir::Value> &cache);

} // namespace quern

#endif // QUERN_TRANSFORMS_DOTS_PACKEDDOT_H
