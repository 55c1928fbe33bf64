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

#include "Schedule/Contraction/Builder.h"
#include "Schedule/Contraction/Chain.h"

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

/// A point, whose values are vectors of `lanes` elements, or scalars if `lanes` is 0. Derived classes access memory.
class EpiloguePoint {
public:
  using Value = mlir::Value;

  EpiloguePoint(ContractionBuilder &ir, int64_t lanes) : ir(ir), lanes(lanes) {}
  virtual ~EpiloguePoint() = default;
  virtual Value load(const TileAccess &access) = 0;
  virtual void store(Value v, const TileAccess &access) = 0;

  /// Computes the results of an op.
  llvm::SmallVector<Value> evaluate(const PointOp &op, const KnownValues &known = {});
  /// Returns the initial value of a sum.
  Value startOf(const Accumulator &accumulator);
  /// Stores the sums that are results, and computes and stores the results of the epilogue.
  void finish(const Chain &chain, llvm::function_ref<Value(unsigned accumulator)> sum, KnownValues known = {});

protected:
  /// Returns the type of a value with these elements.
  mlir::Type typeOf(mlir::Type element) const {
    return lanes ? mlir::Type(mlir::VectorType::get({lanes}, element)) : element;
  }

  ContractionBuilder &ir;
  const int64_t lanes;
};

/// Returns sum + x * y of floats or integers, rounded once if `isFma`.
mlir::Value multiplyAdd(mlir::OpBuilder &b, mlir::Location loc, bool isFma, mlir::Value x, mlir::Value y,
                        mlir::Value sum);

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_POINTVALUES_H
