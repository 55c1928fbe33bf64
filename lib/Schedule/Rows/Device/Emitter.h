//===- Emitter.h - Writing planned rows for work-items -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every value is a work-item's own scalar. Where a row is held, nothing is ever forgotten.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_DEVICE_EMITTER_H
#define QUERN_SCHEDULE_ROWS_DEVICE_EMITTER_H

#include "Schedule/Device/GroupMemory.h"
#include "Schedule/Rows/Device/Plan.h"
#include "Schedule/Rows/Emitter.h"

namespace quern::rows {

class DeviceRowEmitter : RowEmitter {
public:
  explicit DeviceRowEmitter(DeviceRowPlan &plan) : RowEmitter(plan.chain), plan(plan) {}
  /// Writes the kernel behind `after`.
  mlir::func::FuncOp emit(mlir::Operation *after);

private:
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
  Value reduceSubGroup(mlir::Operation *like, Value v, int64_t width);
  void combineParts(llvm::MutableArrayRef<Reduction> reductions) override;
  void reduceGroup(llvm::MutableArrayRef<Reduction> reductions);
  void writeElements(int64_t count);
  bool mayOverwriteRead(const Access &output);
  void storeRowOutputs(llvm::ArrayRef<RowOutput> outputs) override;
  bool keepsLost(mlir::Operation *like) override;
  Value inRow(int64_t slot) override { return isCut(slot) ? inRowAtEnd : Value(); }

  // Boxes: rows of a group as one run of memory (Boxes.cpp).
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

  // Memory.
  int64_t offsetOf(int64_t slot) override { return plan.offsetOf(slot); }
  Value placeByOther(const Access &access, int64_t slot) override;
  /// Slots that a work-item moves at once of an operand.
  int64_t neighbours(const Access &access) { return plan.width > 1 && plan.isInVectors(access) ? plan.width : 1; }
  bool isCut(int64_t slot) const { return cutFrom >= 0 && slot >= cutFrom; }
  Values load(const Access &access, int64_t &slot) override;
  void write(const Access &access, int64_t slot, llvm::ArrayRef<Value> elements);

  DeviceRowPlan &plan;
  Value local, item;    ///< of the work-item: in its group, and along its row
  Value exists;         ///< null: every work-item has a row
  Value inRowAtEnd;     ///< of the step's last slots side by side, where not all work-items have them
  int64_t cutFrom = -1; ///< the first of those slots; -1: all have all
  Value aligned;        ///< narrow elements that are moved at once lie in whole words; null: none are
  /// Rows are counted in 32 bits: gathers of such offsets are half as many where vectors are made of work-items.
  bool isNarrow = false;
  Value group; ///< the index of the work-item's
  llvm::SmallVector<Box, 3> readBoxed, writtenBoxed;
  int64_t memories = 0; ///< variables of the group
};

} // namespace quern::rows

#endif // QUERN_SCHEDULE_ROWS_DEVICE_EMITTER_H
