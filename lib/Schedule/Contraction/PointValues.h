//===- PointValues.h - Elementwise ops at a point ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A point is what one value stands for: a vector of columns on a CPU, one column of a work-item on a device.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_POINTVALUES_H
#define QUERN_SCHEDULE_CONTRACTION_POINTVALUES_H

#include "Schedule/Contraction/Chain.h"

#include "mlir/IR/Builders.h"

namespace quern::contractions {

/// What has been computed or read at a point, by where it lies.
class KnownValues {
public:
  void set(const TileAccess &at, mlir::Value value) { values.push_back({at, value}); }
  /// What was set last; null: nothing was.
  mlir::Value find(const TileAccess &at) const;

private:
  llvm::SmallVector<std::pair<TileAccess, mlir::Value>, 16> values;
};

/// How an op reads.
struct PointReader {
  llvm::function_ref<mlir::Value(mlir::Value scalar)> captured;
  llvm::function_ref<mlir::Value(const TileAccess &)> load;         ///< of memory
  llvm::function_ref<void(mlir::Operation *clone)> adapt = nullptr; ///< gives a clone its type
};

/// The results of an op at a point.
llvm::SmallVector<mlir::Value> evaluate(mlir::OpBuilder &b, const PointOp &point, const KnownValues &known,
                                        const PointReader &reader);

} // namespace quern::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_POINTVALUES_H
