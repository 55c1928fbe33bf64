//===- Emitter.h - Code that the emitters of rows share -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A value is emitted on demand, where it is first used, at the outermost level at which it is invariant (kernel, row,
// step), and cached at that level. Code of the row level is inserted before the loop of the current sweep, so nested
// regions (lane loops, blocks of a sum) may only use addresses that were requested outside of them. A step has slots.
// The target defines a slot and the addresses of its lanes: a vector of one row or of several rows on the CPU, a
// position of a work-item on a device.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_EMITTER_H
#define QUERN_SCHEDULE_ROWS_EMITTER_H

#include "Schedule/Build/KernelBuilder.h"
#include "Schedule/Rows/Chain.h"

#include <map>

namespace quern::schedule::rows {

class RowEmitter : protected KernelBuilder {
protected:
  enum class Level { Kernel, Row, Step };
  /// A reduction of the current sweep: its combiner, and the values of its accumulators, or one value per row after
  /// combineParts().
  struct Reduction {
    mlir::Operation *like;
    Values parts;
  };
  struct RowOutput {
    const Access *access;
    int64_t slot;
    Value value;
  };

  explicit RowEmitter(RowChain &chain) : KernelBuilder(chain.problem), chain(chain) {}
  virtual ~RowEmitter() = default;

  // The target's definition of slots and of the addresses of their lanes.
  virtual Level levelOf(const Access &access) { return access.row.isStill() ? Level::Row : Level::Step; }
  /// Returns true if the slots of a step have different addresses.
  virtual bool slotsDiffer(const Access &access) { return !access.row.isStill(); }
  /// Returns the distance along the row from a step's first position to that of a slot.
  virtual int64_t offsetOf(int64_t slot) = 0;
  /// Returns the address of a slot after the first, derived from an earlier slot's; null if their distance is not
  /// known.
  virtual Value placeByOther(const Access &access, int64_t slot) = 0;
  /// Loads a slot of an operand, and those that are moved with it; `slot` becomes the first of them.
  virtual Values loadSlot(const Access &access, int64_t &slot) = 0;
  /// Returns a loop index at a slot, in 32 bits.
  virtual Value numberOf(const Access &access, int64_t slot);
  /// Returns the mask of the lanes of a slot that are within the row, or a condition for a scalar; null: all are.
  virtual Value inRow(int64_t slot) = 0;
  /// Returns true if a reduction has a second accumulator, for the rounding error of its sum.
  virtual bool isCompensated(mlir::Operation *) { return false; }
  virtual mlir::TypedAttr startOf(Stage &stage, unsigned k) { return stage.inits[k]; }
  /// Combines the accumulators of each reduction into one value per row.
  virtual void combineParts(llvm::MutableArrayRef<Reduction>) {}
  virtual void storeRowOutputs(llvm::ArrayRef<RowOutput> outputs) = 0;
  /// Emits the results of stage `i`, which are not cached.
  virtual Values compute(int i, int64_t slot);

  // Values of stages.
  Values values(int i, int64_t slot);
  Values emitBody(Stage &stage, int64_t slot);
  Value operand(const Access &access, int64_t slot);
  Value captured(Value scalar) { return KernelBuilder::captured(scalar, lanesOfValue); }
  Value splat(mlir::TypedAttr scalar) { return KernelBuilder::splat(scalar, lanesOfValue); }

  // Reductions.
  template <typename F> void forEachReduction(F f) {
    for (auto [i, stage] : llvm::enumerate(chain.stages))
      if (stage.reduces && stage.sweep == sweep)
        for (unsigned k = 0; k < stage.outs.size(); ++k) {
          const AtOperation scope(*this, stage.op.getLoc());
          f(static_cast<int>(i), stage, k);
        }
  }
  /// Emits the combiner. On targets without an instruction for maxnumf and minnumf, these become a compare and a
  /// select, which is correct because the accumulator is never NaN, and NaN terms lose.
  Value combine(mlir::Operation *like, Value term, Value accumulator);
  /// Adds a term to a sum, and the rounding error to `error` (Knuth's TwoSum).
  void addCompensated(Value &sum, Value &error, Value term);
  /// Returns the sum plus the error. The error of an infinite sum is NaN and is ignored.
  Value addError(Value sum, Value error);
  Values freshAccumulators();
  void accumulate(Stage &stage, int64_t slot, llvm::MutableArrayRef<Value> &accumulators);
  void finishReductions(llvm::ArrayRef<Value> accumulators);
  void writeRowOutputs();

  // Memory.
  Value rowBase(const Access &access);
  Value positionOf(int64_t slot);
  Value place(const Access &access, int64_t slot);
  Value read(const Access &access, int64_t slot);

  RowChain &chain;
  int64_t lanesOfValue = 0;             ///< lanes of a value; 0: a scalar
  bool hasNumberMax = false;            ///< true if the target has an instruction for maxnumf and minnumf
  int64_t columns = 1;                  ///< accumulators of a reduction; slots use them in turn
  int64_t rowsOfStep = 1;               ///< slots that are different rows; further slots are parts of these
  int sweep = 0;                        ///< the current sweep
  mlir::Operation *sweepLoop = nullptr; ///< the loop over the row; null between loops
  llvm::SmallVector<Value, 6> parallel; ///< current index of each parallel dim
  Value position;                       ///< position along the row of the current step
  int64_t positionAlign = 1;            ///< known divisor of `position`

  using AddressKey = std::tuple<const void *, Size, Sizes, NonlinearAccesses, AccessFunction, int64_t>;
  using StageKey = std::pair<int, int64_t>;
  std::map<AddressKey, Value> kernelLoads;
  struct RowCache {
    std::map<AddressKey, Value> loads;
    std::map<std::tuple<Size, Sizes, NonlinearAccesses>, Value> bases;
    std::map<StageKey, Values> values;
  } ofRow;
  struct StepCache {
    std::map<AddressKey, Value> loads, places;
    std::map<int64_t, Value> positions;
    std::map<StageKey, Values> values;
  } ofStep;
};

} // namespace quern::schedule::rows

#endif // QUERN_SCHEDULE_ROWS_EMITTER_H
