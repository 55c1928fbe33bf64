//===- PointValues.h - Elementwise ops at a point ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A point is what one value represents: a vector of columns on a CPU, one column of a work-item on a device.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_POINTVALUES_H
#define QUERN_SCHEDULE_CONTRACTION_POINTVALUES_H

#include "Schedule/Contraction/Chain.h"

#include "mlir/IR/Builders.h"

namespace quern::schedule::contractions {

/// Values that have been computed or read at a point, by address.
class KnownValues {
public:
  void set(const TileAccess &at, mlir::Value value) { values.push_back({at, value}); }
  /// Returns the value that was set last, or null.
  mlir::Value find(const TileAccess &at) const;

private:
  llvm::SmallVector<std::pair<TileAccess, mlir::Value>, 16> values;
};

/// Callbacks through which an op reads its operands.
struct PointReader {
  llvm::function_ref<mlir::Value(mlir::Value scalar)> captured;
  llvm::function_ref<mlir::Value(const TileAccess &)> load;         ///< reads memory
  llvm::function_ref<void(mlir::Operation *clone)> adapt = nullptr; ///< sets the types of a clone
};

/// Computes the results of an op at a point.
llvm::SmallVector<mlir::Value> evaluate(mlir::OpBuilder &b, const PointOp &point, const KnownValues &known,
                                        const PointReader &reader);

/// Returns sum + x * y of floats or integers, rounded once if `isFma`.
mlir::Value multiplyAdd(mlir::OpBuilder &b, mlir::Location loc, bool isFma, mlir::Value x, mlir::Value y,
                        mlir::Value sum);

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_POINTVALUES_H
