//===- Emitter.h - What the emitters of rows have in common --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Emission pulls: a value is written where it is first needed, at the outermost level at which it is invariant (kernel,
// row, step), and found in that level's cache afterwards. Code of a row goes before the loop of the current sweep, so
// that nested regions (lane loops, blocks of a sum) may only use addresses that were asked for outside of them.
// A step has slots. What a slot is, and how its lanes lie in memory, is the target's: a vector of the row or of as many
// rows on the CPU, a position of a work-item on a device.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_EMITTER_H
#define QUERN_SCHEDULE_ROWS_EMITTER_H

#include "Schedule/Build/KernelBuilder.h"
#include "Schedule/Rows/Chain.h"

#include <map>

namespace quern::rows {

class RowEmitter : protected KernelBuilder {
protected:
  enum class Level { Kernel, Row, Step };
  /// A reduction of the current sweep: its combiner, and a value for each accumulator, of which
  /// one for each row is left.
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

  // What slots are, and how their lanes lie in memory.
  virtual Level levelOf(const Access &access) { return access.row.isStill() ? Level::Row : Level::Step; }
  /// Whether the slots of a step are at places of their own.
  virtual bool slotsDiffer(const Access &access) { return !access.row.isStill(); }
  /// From a step's first position along the row to that of a slot.
  virtual int64_t offsetOf(int64_t slot) = 0;
  /// The address of a slot behind the first, if it is known by how much it differs from that of one before; else null.
  virtual Value placeByOther(const Access &access, int64_t slot) = 0;
  /// A slot of an operand in memory and those that are moved with it: `slot` becomes the first.
  virtual Values load(const Access &access, int64_t &slot) = 0;
  /// An index of the loops at a slot, in 32 bits.
  virtual Value numberOf(const Access &access, int64_t slot);
  /// The lanes of a slot that the row has; null: all.
  virtual Value inRow(int64_t slot) = 0;
  /// Whether a reduction has a second accumulator, for what rounding took from the sum.
  virtual bool keepsLost(mlir::Operation *) { return false; }
  virtual mlir::TypedAttr startOf(Stage &stage, unsigned k) { return stage.inits[k]; }
  /// Combines what the accumulators of each have.
  virtual void combineParts(llvm::MutableArrayRef<Reduction>) {}
  virtual void storeRowOutputs(llvm::ArrayRef<RowOutput> outputs) = 0;
  /// The results of stage `i` where they are not known.
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
  /// A maxnumf or minnumf whose accumulator cannot be NaN is one compare-and-select (one instruction) where the target
  /// has none for it; NaN terms lose, as required.
  Value combine(mlir::Operation *like, Value term, Value accumulator);
  /// Adds a term to a sum, and to `lost` what rounding took from the sum (Knuth's TwoSum).
  void addKeepingLost(Value &sum, Value &lost, Value term);
  /// An infinite sum has a NaN for what it lost, which does not count.
  Value addLost(Value sum, Value lost);
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
  int64_t lanesOfValue = 0;             ///< 0: it is a scalar
  bool hasNumberMax = false;            ///< as the strategy has it
  int64_t columns = 1;                  ///< accumulators side by side: slots take them by turns
  int64_t rowsOfStep = 1;               ///< slots that are rows of their own; the others are parts of these
  int sweep = 0;                        ///< the current one
  mlir::Operation *sweepLoop = nullptr; ///< over the row; null between loops
  llvm::SmallVector<Value, 6> parallel; ///< current index of each parallel dim
  Value position;                       ///< along the row, of the current step
  int64_t positionAlign = 1;            ///< what that is a multiple of

  using AddressKey = std::tuple<const void *, Size, Sizes, Curves, Walk, int64_t>;
  using StageKey = std::pair<int, int64_t>;
  std::map<AddressKey, Value> kernelLoads;
  struct RowCache {
    std::map<AddressKey, Value> loads;
    std::map<std::tuple<Size, Sizes, Curves>, Value> bases;
    std::map<StageKey, Values> values;
  } ofRow;
  struct StepCache {
    std::map<AddressKey, Value> loads, places;
    std::map<int64_t, Value> positions;
    std::map<StageKey, Values> values;
  } ofStep;
};

} // namespace quern::rows

#endif // QUERN_SCHEDULE_ROWS_EMITTER_H
