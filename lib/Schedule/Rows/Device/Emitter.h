//===- Emitter.h - Emission of rows for a device --------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Every value is a scalar of one work-item. If rows are held in registers, all values of a row stay cached.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_DEVICE_EMITTER_H
#define QUERN_SCHEDULE_ROWS_DEVICE_EMITTER_H

#include "Schedule/Device/GroupMemory.h"
#include "Schedule/Rows/Device/Plan.h"
#include "Schedule/Rows/Emitter.h"

namespace quern::schedule::rows {

class DeviceRowEmitter : RowEmitter {
public:
  explicit DeviceRowEmitter(DeviceRowPlan &plan) : RowEmitter(plan.chain), plan(plan) {}
  /// Inserts the kernel after `after`.
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
  bool isCompensated(mlir::Operation *like) override;
  Value inRow(int64_t slot) override { return isCut(slot) ? inRowAtEnd : Value(); }

  // Boxes: the rows of a group as one contiguous range of memory (Boxes.cpp).
  struct Box {
    const Access *access;
    Value memory; ///< buffer in group memory
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
  /// Returns the number of slots of an operand that a work-item moves in one access.
  int64_t neighbors(const Access &access) { return plan.width > 1 && plan.isInVectors(access) ? plan.width : 1; }
  bool isCut(int64_t slot) const { return cutFrom >= 0 && slot >= cutFrom; }
  Values loadSlot(const Access &access, int64_t &slot) override;
  void write(const Access &access, int64_t slot, llvm::ArrayRef<Value> elements);

  DeviceRowPlan &plan;
  Value local, item;    ///< the work-item's index in its group and its position along the row
  Value exists;         ///< whether the work-item has a row; null: always
  Value inRowAtEnd;     ///< whether the work-item has the last slots of the step
  int64_t cutFrom = -1; ///< first of those slots; -1: every work-item has all
  Value aligned;        ///< whether narrow elements that are moved together start at whole words; null: always
  /// Rows are counted in 32 bits: if the driver forms vectors of work-items, gathers then need half the instructions.
  bool isNarrow = false;
  Value group; ///< index of the work-item's group
  llvm::SmallVector<Box, 3> readBoxed, writtenBoxed;
  int64_t memories = 0; ///< number of group memory variables
};

} // namespace quern::schedule::rows

#endif // QUERN_SCHEDULE_ROWS_DEVICE_EMITTER_H
