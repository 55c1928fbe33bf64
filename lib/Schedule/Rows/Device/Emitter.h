//===- Emitter.h - Writing planned rows for work-items -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every value is a work-item's own scalar. As in RowEmitter, emission pulls: what is needed is written where it is first asked for, in
// front of the loop of a sweep if it is the row's, and found in a cache afterwards. Where a row is held, nothing is ever forgotten.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_DEVICE_EMITTER_H
#define QUERN_SCHEDULE_ROWS_DEVICE_EMITTER_H

#include "Schedule/Build/KernelBuilder.h"
#include "Schedule/Device/GroupMemory.h"
#include "Schedule/Rows/Bodies.h"
#include "Schedule/Rows/Device/Plan.h"

#include "mlir/IR/Builders.h"

#include <map>

namespace quern::rows {

class DeviceRowEmitter : KernelBuilder {
public:
  explicit DeviceRowEmitter(DeviceRowPlan &plan) : KernelBuilder(plan.chain.problem), plan(plan), chain(plan.chain) {}
  /// Writes the kernel behind `after`.
  mlir::func::FuncOp emit(mlir::Operation *after);

private:
  using AddressKey = std::tuple<const void *, int64_t, Strides, Curves, Walk, int64_t>;

  // The row of a work-item.
  void emitPlace();
  void emitStaticIndices(Value row);
  Value isRow();
  void emitAlignment();
  Value narrowed(Value v);
  Value laneOfItem();
  Value subGroupOfItem();

  // Sweeps.
  void emitSweep();
  void emitStep(Value at, int64_t count, bool endsInRow, Values &accumulators);
  void emitLoop(Value from, Value to, int64_t by, int64_t count, Values &accumulators);
  Values freshAccumulators();
  void addTerm(mlir::Operation *like, llvm::MutableArrayRef<Value> accumulator, Value term);
  void finishReductions(Values accumulators);
  Value reduceSubGroup(mlir::Operation *like, Value v, int64_t width);
  void reduceGroup(llvm::MutableArrayRef<std::pair<mlir::Operation *, Value>> results);
  void writeElements(int64_t count);
  bool mayOverwriteRead(const Access &output);
  void writeRowOutputs();
  bool isWide(mlir::Operation *like) const;
  template <typename F> void forEachReduction(F f) {
    for (auto [i, stage] : llvm::enumerate(chain.stages))
      if (stage.reduces && plan.sweepOf[i] == sweep)
        for (unsigned k = 0; k < stage.outs.size(); ++k)
          f(static_cast<int>(i), stage, k);
  }

  // Boxes: rows of a group as one run of memory (DeviceRowBoxes.cpp).
  struct Box {
    const Access *access;
    Value memory; ///< of the group
    int64_t pitch;
  };
  Box *boxOf(const Access &access, bool isWritten);
  void makeBoxes();
  void moveBox(const Box &box, bool isWritten);
  void readBoxes();
  void writeBoxes();
  Value loadBoxed(const Box &box, int64_t slot);
  void storeBoxed(const Box &box, int64_t slot, Value v);

  // Values.
  Values values(int stage, int64_t slot);
  Values emitBody(Stage &stage, llvm::ArrayRef<Value> blockArguments);
  Value operand(const Access &access, int64_t slot);
  Value combine(mlir::Operation *like, Value term, Value accumulator) { return rows::combine(b, like, term, accumulator); }

  // Memory.
  Value walk(Value at, const Walk &way);
  Value rowBase(const Access &access);
  Value positionOf(int64_t slot);
  Value place(const Access &access, int64_t slot);
  /// Slots that a work-item moves at once of an operand.
  int64_t neighbours(const Access &access) { return plan.width > 1 && plan.isInVectors(access) ? plan.width : 1; }
  bool isCut(int64_t slot) const { return cutFrom >= 0 && slot >= cutFrom; }
  Values chooseValues(Value condition, mlir::TypeRange types, llvm::function_ref<Values()> then, llvm::function_ref<Values()> otherwise);
  Values load(const Access &access, int64_t slot);
  Value read(const Access &access, int64_t slot);
  void write(const Access &access, int64_t slot, llvm::ArrayRef<Value> elements);

  DeviceRowPlan &plan;
  RowChain &chain;
  mlir::Operation *sweepLoop = nullptr; ///< over the row; null outside
  int sweep = 0;
  Value local, item;                    ///< of the work-item: in its group, and along its row
  llvm::SmallVector<Value, 6> parallel; ///< index along each parallel dim
  Value exists;                         ///< null: every work-item has a row
  Value position;                       ///< of the step's first slot; null: the work-item's first of the row
  Value inRow;                          ///< of the step's last slots side by side, where not all work-items have them
  int64_t cutFrom = -1;                 ///< the first of those slots; -1: all have all
  Value aligned;                        ///< narrow elements that are moved at once lie in whole words; null: none are
  bool isNarrow = false; ///< rows are counted in 32 bits: gathers of such offsets are half as many where vectors are made of work-items
  Value group;           ///< the index of the work-item's
  llvm::SmallVector<Box, 3> readBoxed, writtenBoxed;
  int64_t memories = 0; ///< variables of the group

  std::map<AddressKey, Value> rowLoads, stepLoads, places;
  std::map<std::tuple<int64_t, Strides, Curves>, Value> rowBases;
  std::map<int64_t, Value> positions;
  std::map<int, Values> rowValues;
  std::map<std::pair<int, int64_t>, Values> stepValues;
};

} // namespace quern::rows

#endif // QUERN_SCHEDULE_ROWS_DEVICE_EMITTER_H
