//===- Emitter.h - Writing a planned chain as loops and vectors ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// VectorEmitter has what an iteration is (Space.cpp) and everything that touches memory (Addressing.cpp; Pieces.cpp:
// vectors over several blocks). On top of it stand two ways to take a row: SweepEmitter in loops over it (Emitter.cpp,
// Values.cpp; OpenRows.cpp: forms by open sizes; Stream.cpp: past the caches; Split.cpp: what the chunks of a row have
// in common; ByteSums.cpp: sums of bytes), and WholeRowEmitter whole, in a vector (Segments.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_CPU_EMITTER_H
#define QUERN_SCHEDULE_ROWS_CPU_EMITTER_H

#include "Schedule/Rows/Cpu/Plan.h"
#include "Schedule/Rows/Emitter.h"

namespace quern::rows {

/// A slot is a vector.
class VectorEmitter : protected RowEmitter {
public:
  /// Writes a kernel behind `after`.
  mlir::func::FuncOp emit(mlir::Operation *after);

protected:
  explicit VectorEmitter(RowPlan &plan);
  /// All iterations, and one.
  virtual void emitSpace() { emitRows(); }
  virtual void emitIteration(Value iteration) = 0;
  void emitRows();

  /// Which lanes of a slot exist: all, a fixed number, or as many as are left at run time.
  struct Lanes {
    int64_t fixed = -1;
    Value left;   ///< from the first lane to the end; may be negative or more than there are lanes
    Value mask;   ///< of `left`, where masks are used
    Value count;  ///< of `left`, where lanes move one by one
    Value isFull; ///< of `left`, likewise
    /// Across rows, how many lanes behind those of slot 0 memory is accessed, if not at a known place: a slot without
    /// lanes goes where slot 0 does. Its own place may be beyond the buffer, and an access whose fault is suppressed
    /// costs as much as hundreds of others.
    Value reach;
    bool all() const { return fixed < 0 && !left; }
    /// One lane is a scalar access: shorter, and x86 selection in LLVM 22 writes too much for a
    /// truncating store under such a mask.
    bool isScalar() const { return fixed == 1; }
  };

  // The iteration space and its limits.
  void emitParallelIndices(Value iteration);
  void emitLimitedIndices(int limit, Value count);
  Value countOf(int dim);
  void limitLanes();
  Value lanesLeft(int64_t slot);
  const Lanes &lanesOf(int64_t slot);
  Value maskOf(const Lanes &lanes);
  Value prefixMask(int64_t count) { return KernelBuilder::prefixMask(count, plan.lanes); }
  Value prefixMask(Value left);
  Value inRow(int64_t slot) override;
  Value numberOf(const Access &access, int64_t slot) override;

  // Memory.
  Level levelOf(const Access &access) override;
  bool slotsDiffer(const Access &access) override;
  int64_t offsetOf(int64_t slot) override { return slot * plan.lanes * depth; }
  Value placeByOther(const Access &access, int64_t slot) override;
  Values load(const Access &access, int64_t &slot) override;
  virtual void store(const Access &access, int64_t slot, Value v);
  void storeRowOutputs(llvm::ArrayRef<RowOutput> outputs) override;
  template <typename F> void forEachPiece(const Access &access, int64_t slot, F f);
  Value joinPieces(const Access &access, int64_t slot);
  void storePieces(const Access &access, int64_t slot, Value v);
  Value gatherLanes(const Access &access, int64_t slot);
  void scatterLanes(const Access &access, int64_t slot, Value v);
  /// A loop over the lanes of a slot that exist; f(lane, address) writes its body. `once`: of lanes with
  /// one address, one is enough.
  virtual void forEachLane(const Access &access, int64_t slot, llvm::function_ref<void(Value, Value)> f,
                           bool once = false);
  Value scratchView(int64_t offset, int64_t length, mlir::Type element);
  mlir::VectorType vec(Type element) { return mlir::VectorType::get({lanesOfValue}, element); }

  RowPlan &plan;
  bool streaming = false;              ///< full vectors go past the caches to streamed destinations
  int64_t depth = 1;                   ///< row positions that a lane of the current step takes
  llvm::SmallVector<Lanes, 8> partial; ///< by slot; a slot beyond has all lanes
  const Lanes everyLane;
  std::map<std::pair<int64_t, const void *>, Value> scratchViews;
};

/// Rows in loops, or in chunks of which a kernel sweeps one.
class SweepEmitter : public VectorEmitter {
public:
  /// For all sweeps; if the rows are split, for one.
  SweepEmitter(RowPlan &plan, int first) : VectorEmitter(plan) { sweep = first; }

private:
  /// What a step will store: (stage, slot, results).
  using KeptValues = llvm::SmallVector<std::tuple<int, int64_t, Values>>;

  /// How an accumulator is carried from block to block: a sum of f32 in f64, one of f64 as sum and error, one of bytes
  /// that is taken in 16 bits in 32, anything else as it is.
  struct WideSum {
    bool isWide = false;
    Type type; ///< element of the parts
    unsigned parts = 1;
    bool isSigned = false; ///< of bytes
  };

  // Loops.
  void emitIteration(Value iteration) override;
  void emitSweeps();
  mlir::Location locationOfSweep();
  void emitSweep();
  Values emitLoop(Value begin, Value end, int64_t stepLength, int64_t slots, Values accumulators);
  Values emitMainLoop(Value first, Value last, int64_t steps, bool isWhole, int64_t stepLength);
  void emitTail(int64_t main, Values &accumulators);
  void emitKnownSweep(int64_t stepLength, Values &accumulators);
  void emitStep(Value at, int64_t slots, Values &accumulators);
  void emitSlot(int64_t slot, llvm::MutableArrayRef<Value> accumulators, KeptValues &kept);
  void writeKept(KeptValues &kept);
  void prefetchNextGroup(int64_t slots);

  // A last sweep that passes the caches (Stream.cpp).
  void emitStreamedSweep();
  Value mayStream();
  Value emitMayStream();
  Value misalignmentOf(const Access &out);

  // Rows of open length and number (OpenRows.cpp).
  void emitSpace() override;
  void emitHeld(int64_t vectors);
  int64_t lengthOfBlock();
  void emitHeldRow();
  void emitHeldSweep();
  void emitByWidth(bool isLong);
  Value lanesAtATime();
  void emitGroup();
  void emitWidths(llvm::ArrayRef<int64_t> wholeWidths, llvm::ArrayRef<int64_t> narrowWidths);
  Values emitByBlocks(int64_t stepLength, llvm::function_ref<Values()> blocks);
  void emitOpenSweep(int64_t stepLength, Values &accumulators);
  Value endOfWholeSteps(int64_t length);
  Lanes lastLanes();

  // Chunks of split rows.
  Value emitChunkIndex(Value iteration);
  void emitChunk(int64_t stepLength);
  void emitLastTail(int64_t main, Values &accumulators);
  Value partialsOf(int i, unsigned k);
  Value partialPlace(Value ofChunk, int64_t slot);
  void storePartials();
  Values combinePartials(int i, int64_t slot);

  // Accumulators.
  bool hasLongSum(int64_t steps);
  mlir::TypedAttr startOf(Stage &stage, unsigned k) override;
  Value combineAll(mlir::Operation *like, Values parts);
  Value reduceLanes(mlir::Operation *like, Value accumulator);
  void combineParts(llvm::MutableArrayRef<Reduction> reductions) override;
  WideSum wideSumOf(Stage &stage, unsigned k);
  void addToWide(const WideSum &sum, llvm::MutableArrayRef<Value> parts, Value term);
  Values narrowed(llvm::ArrayRef<WideSum> sums, llvm::ArrayRef<Value> parts);
  Value widened(Value bytes, Type type, bool isSigned);
  static bool isSigned(Stage &stage);
  Value addHalves(Stage &stage, int64_t slot, Value accumulator);
  Value addNeighbours(Stage &stage, int64_t slot, Value accumulator);

  // Values that are kept from sweep to sweep.
  Values compute(int i, int64_t slot) override;
  Values load(const Access &access, int64_t &slot) override;
  Value keptPlace(int64_t slot);
  Value keptView(int64_t offset, mlir::Type element);
  Value loadKept(int64_t offset, mlir::Type element, int64_t slot);
  void storeKept(int64_t offset, int64_t slot, Value v);

  Value row, chunk;        ///< of the current iteration, if rows are split
  Lanes last;              ///< of a row of open length
  int64_t held = 0;        ///< vectors of the row, if its values stay in registers
  bool isOneBlock = false; ///< the row's sums are
  Value stepLanes;         ///< of the rows of an iteration, how many are taken at a time
  Value lanesHere;         ///< of these, how many there are
  Value streamsNow;        ///< whether the last sweep passes the caches
  int64_t pairedSlots = 0; ///< slots that may be read in pairs
  std::map<int64_t, Value> wholeSteps, keptPlaces;
  std::map<std::pair<int, unsigned>, Value> partialViews;
};

/// Vectors that hold whole rows.
class WholeRowEmitter : public VectorEmitter {
public:
  explicit WholeRowEmitter(RowPlan &plan) : VectorEmitter(plan) {}

private:
  void emitIteration(Value iteration) override;
  void emitRowsOfVector();
  Lanes wholeVector();
  Value rowsLeft();
  void limitRows();

  // Reductions and values of rows.
  void reduceRows(int i);
  Value reduceOneRow(mlir::Operation *like, Value vector);
  Value reduceManyRows(mlir::Operation *like, Value vector);
  Value sumToFirstLanes(mlir::Operation *like, Value vector);
  Values compute(int i, int64_t slot) override;
  void changeForm();
  Value permutedInRows(Value v, llvm::function_ref<int64_t(int64_t)> position);
  Value permuted(Value v, int64_t count, llvm::function_ref<int64_t(int64_t)> source);

  // Memory.
  Values load(const Access &access, int64_t &slot) override;
  void store(const Access &access, int64_t slot, Value v) override;
  Value loadFirst(Value memref, Value at, int64_t count);
  void storeFirst(Value v, Value memref, Value at, int64_t count);
  void cutIntoPieces(int64_t count, llvm::function_ref<void(int64_t, int64_t)> f);
  void forEachLane(const Access &access, int64_t slot, llvm::function_ref<void(Value, Value)> f, bool once) override;

  Value rowsHere;                         ///< of the vector, if the last one has fewer
  bool compact = false;                   ///< one lane for each of those rows, while a per-row stage is emitted
  std::map<StageKey, Values> otherValues; ///< of rows, in the other form
  /// Of a stage: in every lane of the row, or in the first.
  std::map<int, llvm::SmallVector<std::pair<Value, bool>, 2>> reduced;
};

} // namespace quern::rows

#endif // QUERN_SCHEDULE_ROWS_CPU_EMITTER_H
