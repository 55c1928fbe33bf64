//===- Emitter.h - Emission of products for a device ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every value is a scalar of one work-item. Bounds of loops over K are uniform in a sub-group, as shuffles require, and
// the number of panels is uniform in a group, as barriers require. Rows and columns past the last one repeat its
// computation and are not written. Sums.cpp writes the loops over K, Emitter.cpp everything else.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_DEVICE_EMITTER_H
#define QUERN_SCHEDULE_CONTRACTION_DEVICE_EMITTER_H

#include "Schedule/Contraction/Builder.h"
#include "Schedule/Contraction/Device/Plan.h"

namespace quern::schedule::contractions {

class DeviceEmitter : ContractionBuilder {
public:
  explicit DeviceEmitter(const DevicePlan &plan);
  /// Writes the kernel after the problem.
  mlir::func::FuncOp emit();

private:
  /// A product while its loops over K are written.
  struct Current {
    const Product &product;
    const DeviceProduct &plan;
    Values outer;         ///< indices of all loops over K except the innermost
    Values lhsOfLane;     ///< addresses that the lane reads, by load of several steps
    Values rhsOfColumn;   ///< by vector: address of the lane's column
    Value panel, inPanel; ///< memory, and the lane's address in this part's panel; null: rhs is read in place
    Value length;         ///< steps of each part
    Value first;          ///< first step of the panel, or 0; other steps are relative to it
  };

  // The kernel and its points (Emitter.cpp).
  void emitPlace(Value item);
  void makePanels();
  void finish(llvm::ArrayRef<Value> sums);
  void emitPointsOfMemory(Value memory, Value base);
  Value exists(Value row, Value column);
  /// Emits the epilogue of a point, if it exists.
  void emitPoint(Value row, Value column, llvm::function_ref<Value(unsigned)> sum);
  unsigned sumIndex(int64_t row, unsigned accumulator, int64_t vector) const {
    return static_cast<unsigned>((row * plan.vectors + vector) * static_cast<int64_t>(chain.accumulators.size()) +
                                 accumulator);
  }

  // Sums over K (Sums.cpp).
  void emitProduct(unsigned number, Values &sums);
  void findFactors(Current &own);
  void emitPart(Current &own, Values &sums);
  void emitPanels(Current &own, Value begin, Value end, Values &sums);
  bool hasWholePanels(const Current &own) const;
  void copySteps(const Current &own, Value count);
  void copyColumns(const Current &own, Value count);
  void emitSteps(const Current &own, Value begin, Value end, Values &sums);
  /// Writes `count` steps from k, whose lhs the lanes have read together; 0: a single step.
  void emitStep(const Current &own, Value k, int64_t count, Values &sums);
  void carry(Value begin, Value end, int64_t step, Values &sums, llvm::function_ref<void(Value)> body);
  Values lhsOfRows(const Product &product);
  Values loadLhs(const Product &product, Value at);
  Value loadRhs(const Product &product, Value at);
  Value readRhs(const Current &own, size_t sum, int64_t vector, Value k, int64_t unrollIndex);
  Value columnOfLane(const Product &product, int64_t vector);
  Value columnAddress(const Product &product, Value column);
  Values elementsOf(const Product &product, const Product::Factor &factor, Value word);
  Value converted(const Product::Factor &factor, Value v);
  Value ofLane(Value v, int64_t lane);
  Value rowOf(Value row, bool mayBeBeyond);
  Value readable(const Product &product, Value column);
  Value least(Value x, Value y);
  /// Returns the same number, hidden from the device's compiler.
  Value hidden(Value number) { return linear(0, {{number, 1}, {zero, 1}}); }

  const DevicePlan &plan;
  const Chain &chain;
  mlir::func::FuncOp problem;
  Value lane, block, part;            ///< indices in the sub-group, in the group, and of the part of K
  Value zero;                         ///< zero, but unknown to the device's compiler
  Value rowCount, columnCount;        ///< rows and columns of the problem
  Value tile, firstRow;               ///< the tile and first row of the sub-group
  Values columns;                     ///< by vector: the lane's column
  llvm::DenseMap<Type, Value> panels; ///< memory by element type
  int64_t memories = 0;
};

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_DEVICE_EMITTER_H
