//===- Emitter.h - Emission of row chains on a CPU ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// VectorEmitter emits the parts that all kernels share: the iteration space (Space.cpp), memory accesses
// (Addressing.cpp) and vectors over several blocks (Pieces.cpp). SweepEmitter processes a row in loops (Emitter.cpp,
// Values.cpp), in several forms (Forms.cpp), with non-temporal stores (Stream.cpp), rows in chunks (Split.cpp) and sums
// of bytes (ByteSums.cpp). WholeRowEmitter holds whole rows in a vector (Segments.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_CPU_EMITTER_H
#define QUERN_SCHEDULE_ROWS_CPU_EMITTER_H

#include "Schedule/Rows/Cpu/Plan.h"
#include "Schedule/Rows/Emitter.h"

namespace quern::schedule::rows {

/// Emits kernels in which a slot is one vector.
class VectorEmitter : protected RowEmitter {
public:
  /// Inserts a kernel after `after`.
  mlir::func::FuncOp emit(mlir::Operation *after);

protected:
  explicit VectorEmitter(const RowPlan &plan);
  /// Emits all iterations of a call. emitIteration() emits one of them.
  virtual void emitSpace() { emitRows(); }
  virtual void emitIteration(Value iteration) = 0;
  void emitRows();

  /// The lanes of a slot that exist: all, a fixed number, or a number known at run time.
  struct SlotLanes {
    int64_t fixed = -1;
    Value left;   ///< lanes from the slot's first to the end; may be negative or exceed the lanes of a vector
    Value mask;   ///< the mask for `left`, if masks are used
    Value count;  ///< `left` limited to the vector, if lanes are moved one by one
    Value isFull; ///< whether all lanes exist, if lanes are moved one by one
    /// Across rows: the distance in lanes from slot 0 at which memory is accessed, or null if it is known. A slot
    /// without lanes accesses the memory of slot 0: its own addresses may be outside the buffer, and a suppressed fault
    /// costs as much as hundreds of accesses.
    Value reach;
    bool all() const { return fixed < 0 && !left; }
    /// Returns true for one lane, which is a scalar access: that is shorter, and for a truncating store under such a
    /// mask LLVM 22 writes too many bytes on x86.
    bool isScalar() const { return fixed == 1; }
  };

  // The iteration space and its limits.
  void emitParallelIndices(Value iteration);
  void emitLimitedIndices(int limit, Value count);
  Index countOf(int dim);
  void limitLanes();
  Value lanesLeft(int64_t slot);
  const SlotLanes &lanesOf(int64_t slot);
  Value maskOf(const SlotLanes &lanes);
  Value prefixMask(int64_t count) { return KernelBuilder::prefixMask(count, vectors.lanes); }
  Value prefixMask(Value left);
  Value inRow(int64_t slot) override;
  Value numberOf(const Access &access, int64_t slot) override;

  // Memory.
  Level levelOf(const Access &access) override;
  bool slotsDiffer(const Access &access) override;
  int64_t offsetOf(int64_t slot) override { return slot * vectors.lanes * depth; }
  Value placeByOther(const Access &access, int64_t slot) override;
  Values loadSlot(const Access &access, int64_t &slot) override;
  virtual void storeSlot(const Access &access, int64_t slot, Value v);
  void storeRowOutputs(llvm::ArrayRef<RowOutput> outputs) override;
  template <typename F> void forEachPiece(const Access &access, int64_t slot, F f);
  Value joinPieces(const Access &access, int64_t slot);
  void storePieces(const Access &access, int64_t slot, Value v);
  Value gatherLanes(const Access &access, int64_t slot);
  void scatterLanes(const Access &access, int64_t slot, Value v);
  /// Emits a loop over the lanes of a slot that exist; f(lane, address) emits its body. `once`: lanes that share an
  /// address need only one iteration.
  virtual void forEachLane(const Access &access, int64_t slot, llvm::function_ref<void(Value, Value)> f,
                           bool once = false);
  Value scratchView(int64_t offset, int64_t length, mlir::Type element);
  mlir::VectorType vec(Type element) { return mlir::VectorType::get({lanesOfValue}, element); }

  const RowPlan &plan;
  const RowVectors &vectors;               ///< part of the plan
  bool streaming = false;                  ///< true if full vectors use non-temporal stores for streamed destinations
  int64_t depth = 1;                       ///< row positions that one lane of the current step covers
  llvm::SmallVector<SlotLanes, 8> partial; ///< lanes of the first slots; further slots have all lanes
  const SlotLanes everyLane;
  std::map<std::pair<int64_t, const void *>, Value> scratchViews;
};

/// Processes rows in loops. If rows are split into chunks, each kernel performs one sweep over a chunk.
class SweepEmitter : public VectorEmitter {
public:
  /// `first` is the first sweep that the kernel performs; if the rows are split, it performs only this one.
  SweepEmitter(const RowPlan &plan, int first) : VectorEmitter(plan), form(&plan.forms.usual) { sweep = first; }

private:
  /// The values that a step will store: (stage, slot, results).
  using KeptValues = llvm::SmallVector<std::tuple<int, int64_t, Values>>;

  /// The form in which an accumulator is carried from block to block. A sum of f32 is carried in f64, a sum of f64 as
  /// sum and error, a sum of bytes that is accumulated in 16 bits in 32; others are unchanged.
  struct WideSum {
    bool isWide = false;
    Type type; ///< element type of the parts
    unsigned parts = 1;
    bool isSigned = false; ///< true if the bytes are signed
  };

  // Loops.
  void emitIteration(Value iteration) override;
  void emitSweeps();
  mlir::Location locationOfSweep();
  void emitSweep();
  Values emitLoop(Value begin, Value end, int64_t stepLength, int64_t slots, Values accumulators);
  Values emitMainLoop(Value first, Value last, int64_t steps, bool isWhole, int64_t stepLength);
  void emitTail(int64_t main, Values &accumulators);
  Index endOfWholeSteps(int64_t length);
  void emitOpenTail(Index main, Values &accumulators);
  Values emitByBlocks(int64_t stepLength, llvm::function_ref<Values()> blocks);
  void emitWholeRow(int64_t stepLength, Values &accumulators);
  void emitStep(Value at, int64_t slots, Values &accumulators);
  void emitSlot(int64_t slot, llvm::MutableArrayRef<Value> accumulators, KeptValues &kept);
  void writeKept(KeptValues &kept);
  void prefetchNextGroup(int64_t slots);

  // A last sweep with non-temporal stores (Stream.cpp).
  void emitStreamedSweep();
  Value mayStream();
  Value emitMayStream();
  Value misalignmentOf(const Access &out);

  // Forms of a row, which are chosen at run time (Forms.cpp).
  void emitSpace() override;
  void emitHeld(int64_t count);
  void emitHeldRow();
  void emitHeldSweep();
  void emitByWidth();
  Value lanesAtATime();
  void emitGroup();
  void emitWidths(llvm::ArrayRef<int64_t> wholeWidths, llvm::ArrayRef<int64_t> narrowWidths);

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
  Value addNeighbors(Stage &stage, int64_t slot, Value accumulator);

  // Values that are kept from one sweep to another (Values.cpp).
  Values compute(int i, int64_t slot) override;
  Values loadSlot(const Access &access, int64_t &slot) override;
  Value keptPlace(int64_t slot);
  Value keptView(int64_t offset, mlir::Type element);
  Value loadKept(int64_t offset, mlir::Type element, int64_t slot);
  void storeKept(int64_t offset, int64_t slot, Value v);

  const RowForm *form;                 ///< form of the row that is being emitted
  Value row, chunk;                    ///< indices of the current iteration, if rows are split
  SlotLanes last;                      ///< lanes of the last vector of a row of open length
  int64_t vectorsInRegisters = 0;      ///< vectors of the row, if its values stay in registers; otherwise 0
  bool isOneBlock = false;             ///< true if each sum of the row fits one block
  Value stepLanes;                     ///< number of rows of an iteration that are processed at a time
  Value lanesHere;                     ///< number of these rows that exist
  Value streamsNow;                    ///< whether the last sweep uses non-temporal stores
  int64_t pairedSlots = 0;             ///< slots that may be read in pairs
  std::map<int64_t, Index> wholeSteps; ///< ends of whole steps of some length
  std::map<int64_t, Value> keptPlaces;
  std::map<std::pair<int, unsigned>, Value> partialViews;
};

/// Processes whole rows that are held in one vector.
class WholeRowEmitter : public VectorEmitter {
public:
  explicit WholeRowEmitter(const RowPlan &plan) : VectorEmitter(plan) {}

private:
  void emitIteration(Value iteration) override;
  void emitRowsOfVector();
  SlotLanes wholeVector();
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
  Values loadSlot(const Access &access, int64_t &slot) override;
  void storeSlot(const Access &access, int64_t slot, Value v) override;
  Value loadFirst(Value memref, Value at, int64_t count);
  void storeFirst(Value v, Value memref, Value at, int64_t count);
  void cutIntoPieces(int64_t count, llvm::function_ref<void(int64_t, int64_t)> f);
  void forEachLane(const Access &access, int64_t slot, llvm::function_ref<void(Value, Value)> f, bool once) override;

  Value rowsHere;                         ///< number of rows in the vector, if the last vector may have fewer
  bool compact = false;                   ///< true while a per-row stage is emitted with one lane for each row
  std::map<StageKey, Values> otherValues; ///< values of rows in the other form
  /// Results of each stage; true if the result is in every lane of the row, false if it is only in the first.
  std::map<int, llvm::SmallVector<std::pair<Value, bool>, 2>> reduced;
};

} // namespace quern::schedule::rows

#endif // QUERN_SCHEDULE_ROWS_CPU_EMITTER_H
