//===- Emitter.h - Writing planned products for a device -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every value is a work-item's own scalar. Bounds of loops over K are the same for all of a sub-group, as shuffles
// demand, and the number of panels is the same for all of a group, as barriers do. Rows and columns beyond the last one
// are computed as the last one, and not written. DeviceContractionSums.cpp writes the loops over K,
// DeviceContractionEmitter.cpp all else.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_DEVICE_EMITTER_H
#define QUERN_SCHEDULE_CONTRACTION_DEVICE_EMITTER_H

#include "Schedule/Contraction/Device/Plan.h"
#include "Schedule/Contraction/Numbers.h"
#include "Schedule/Contraction/PointValues.h"

namespace quern::contractions {

class DeviceEmitter : NumberEmitter {
public:
  explicit DeviceEmitter(const DevicePlan &plan);
  /// Writes the kernel behind the problem.
  mlir::func::FuncOp emit();

private:
  struct Point {
    Value row, column;
  };
  /// A product while its loops over K are written.
  struct Current {
    const Product &product;
    const DeviceProduct &plan;
    Values outer;         ///< indices of all loops over K but the innermost
    Values lhsOfLane;     ///< by load of some steps: where the lane reads
    Values rhsOfColumn;   ///< by vector: where the lane's column begins
    Value panel, inPanel; ///< memory, and where this part's begins for the lane; null: rhs is read where it lies
    Value length;         ///< of each part, in steps
    Value first;          ///< the step at which the panel begins, or 0; others count from there
  };

  // The kernel and its points (DeviceContractionEmitter.cpp).
  void emitPlace(Value item);
  void makePanels();
  void finish(llvm::ArrayRef<Value> sums);
  void emitPointsOfMemory(Value memory, Value base);
  Value exists(const Point &point);
  void emitPoint(const Point &point, llvm::function_ref<Value(unsigned)> sum);
  Value startOf(const Accumulator &accumulator, const Point &point);
  Values evaluate(const PointOp &op, const Point &point, const KnownValues &known);
  Value load(const TileAccess &access, const Point &point);
  void store(Value v, const TileAccess &access, const Point &point);
  Value addressOf(const TileAccess &access, const Point &point);
  unsigned sumIndex(int64_t row, unsigned accumulator, int64_t vector) const {
    return static_cast<unsigned>((row * plan.vectors + vector) * static_cast<int64_t>(chain.accumulators.size()) +
                                 accumulator);
  }

  // Sums over K (DeviceContractionSums.cpp).
  void emitProduct(unsigned number, Values &sums);
  void findFactors(Current &own);
  void emitPart(Current &own, Values &sums);
  void emitPanels(Current &own, Value begin, Value end, Values &sums);
  bool hasWholePanels(const Current &own) const;
  void copySteps(const Current &own, Value count);
  void copyColumns(const Current &own, Value count);
  void emitSteps(const Current &own, Value begin, Value end, Values &sums);
  /// `count` steps from k on, whose lhs the lanes have read together; 0: a step by itself.
  void emitStep(const Current &own, Value k, int64_t count, Values &sums);
  void carry(Value begin, Value end, int64_t step, Values &sums, llvm::function_ref<void(Value)> body);
  Values lhsOfRows(const Product &product);
  Values loadLhs(const Product &product, Value at);
  Value loadRhs(const Product &product, Value at);
  Value readRhs(const Current &own, size_t sum, int64_t vector, Value k, int64_t further);
  Value columnOfLane(const Product &product, int64_t vector);
  Value columnAddress(const Product &product, Value column);
  Values elementsOf(const Product &product, const Product::Factor &factor, Value word);
  Value converted(const Product::Factor &factor, Value v);
  Value ofLane(Value v, int64_t lane);
  Value rowOf(Value row, bool mayBeBeyond);
  Value readable(const Product &product, Value column);
  Value least(Value x, Value y);
  Value ceilDiv(Value x, int64_t y);
  /// The same number, which no compiler knows.
  Value hidden(Value number) { return linear(0, {{number, 1}, {zero, 1}}); }

  const DevicePlan &plan;
  const Chain &chain;
  mlir::func::FuncOp problem;
  Value lane, block, part;            ///< of the work-item in its sub-group, and of that in the group
  Value zero;                         ///< that no compiler knows
  Value rowCount, columnCount;        ///< of the problem
  Value tile, firstRow;               ///< of the sub-group
  Values columns;                     ///< by vector: the lane's
  llvm::DenseMap<Type, Value> panels; ///< memory by the type of elements
  int64_t memories = 0;
};

/// What lies in a panel, one for each column: a factor ready to be multiplied, or what is packed, as an integer.
mlir::Type panelElement(const Product &product);

} // namespace quern::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_DEVICE_EMITTER_H
