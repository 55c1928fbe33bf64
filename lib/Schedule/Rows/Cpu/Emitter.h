//===- Emitter.h - Writing a planned chain as loops and vectors ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Emission pulls: a value is written where it is first needed, at the outermost level at which it is invariant (kernel, row group, step),
// and found in that level's cache afterwards. Row-level code goes before the loop of the current sweep, so that nested regions (lane
// loops, blocks of a sum) may only use addresses that were asked for outside of them.
// RowEmitter.cpp writes the kernel and its loops, RowSpace.cpp what an iteration is, RowSplit.cpp what the chunks of a row have in common,
// RowValues.cpp the stages, RowByteSums.cpp sums of bytes, RowAddressing.cpp everything that touches memory but vectors over several
// blocks (RowPieces.cpp) and vectors that hold whole rows (RowSegments.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_ROWS_CPU_EMITTER_H
#define QUERN_SCHEDULE_ROWS_CPU_EMITTER_H

#include "Schedule/Build/KernelBuilder.h"
#include "Schedule/Rows/Bodies.h"
#include "Schedule/Rows/Cpu/Plan.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <map>

namespace quern::rows {

class RowEmitter : KernelBuilder {
public:
  explicit RowEmitter(RowPlan &plan);
  /// Writes a kernel of all sweeps behind `after`; of one sweep if the rows are split.
  mlir::func::FuncOp emit(mlir::Operation *after, int sweep = 0);

private:
  /// What a step will store: (stage, slot, results).
  using KeptValues = llvm::SmallVector<std::tuple<int, int64_t, Values>>;

  /// Which lanes of a slot exist: all, a fixed number, or as many as are left at run time.
  struct Lanes {
    int64_t fixed = -1;
    Value left;   ///< from the first lane to the end; may be negative or more than there are lanes
    Value mask;   ///< of `left`, where masks are used
    Value count;  ///< of `left`, where lanes move one by one
    Value isFull; ///< of `left`, likewise
    /// Across rows, how many lanes behind those of slot 0 memory is accessed, if not at a known place: a slot without lanes goes where slot
    /// 0 does. Its own place may be beyond the buffer, and an access whose fault is suppressed costs as much as hundreds of others.
    Value reach;
    bool all() const { return fixed < 0 && !left; }
    /// One lane is a scalar access: shorter, and x86 selection in LLVM 22 writes too much for a truncating store under such a mask.
    bool isScalar() const { return fixed == 1; }
  };

  /// How an accumulator is carried from block to block: a sum of f32 in f64, one of f64 as sum and error, one of bytes that is taken in 16
  /// bits in 32, anything else as it is.
  struct WideSum {
    bool isWide = false;
    mlir::Type type; ///< element of the parts
    unsigned parts = 1;
    bool isSigned = false; ///< of bytes
  };

  // The kernel and its loops.
  void makeKernel(mlir::Operation *after);
  void emitParallelIndices(Value iteration);
  void emitLimitedIndices(int limit, Value count);
  Value countOf(int dim);
  void emitRowGroup();
  void emitStreamedSweep();
  Value mayStream();
  void emitSweep();
  Values emitLoop(Value begin, Value end, int64_t stepLength, int64_t slots, Values accumulators);
  Values emitBlockedLoop(Value first, Value last, bool isWhole, int64_t stepLength);
  void emitTail(int64_t main, Values &accumulators);
  void emitOpenSweep(int64_t stepLength, Values &accumulators);
  Value endOfWholeSteps(int64_t length);
  Lanes lastLanes();
  void emitStep(Value at, int64_t slots, Values &accumulators);
  void emitSlot(int64_t slot, Values &accumulators, KeptValues &kept);
  void writeKept(KeptValues &kept);
  void prefetchNextGroup(int64_t slots);
  void finishReductions(llvm::ArrayRef<Value> accumulators);
  void writeRowOutputs();
  bool hasLongSum(int64_t steps);
  Values freshAccumulators();
  template <typename F> void forEachReduction(F f) {
    for (auto [i, stage] : llvm::enumerate(chain.stages))
      if (stage.reduces && plan.stages[i].sweep == currentSweep)
        for (unsigned k = 0; k < stage.outs.size(); ++k)
          f(static_cast<int>(i), stage, k);
  }

  // Chunks of split rows.
  Value emitChunkIndex(Value iteration);
  void emitChunk(int64_t stepLength);
  void emitLastTail(int64_t main, Values &accumulators);
  Value partialsOf(int stage, unsigned k);
  Value partialPlace(Value ofChunk, int64_t slot);
  void storePartials();
  Values combinePartials(int stage, int64_t slot);

  // Values of stages.
  Values values(int stage, int64_t slot);
  Values emitStage(int stage, int64_t slot);
  Values emitBody(Stage &stage, llvm::ArrayRef<Value> blockArguments);
  Value operand(const Access &access, int64_t slot);
  Value addHalves(Stage &stage, int64_t slot, Value accumulator);
  Value widenHalves(bool isSigned, Value halves);
  Value addNeighbours(Stage &stage, int64_t slot, Value accumulator);
  Value captured(Value scalar) { return KernelBuilder::captured(scalar, lanesHere()); }
  Value combine(mlir::Operation *like, Value term, Value accumulator) { return rows::combine(b, like, term, accumulator); }
  Value combineAll(mlir::Operation *like, Values parts);
  Value reduceLanes(mlir::Operation *like, Value vector);
  WideSum wideSumOf(Stage &stage, unsigned k);
  void addToWide(const WideSum &sum, llvm::MutableArrayRef<Value> parts, Value term);
  Value narrowed(const WideSum &sum, llvm::ArrayRef<Value> parts);

  // Vectors of whole rows.
  void emitWholeRows();
  void limitRows();
  void reduceRows(int stage);
  Values valuesOfRows(int stage);
  Value reduceOneRow(mlir::Operation *like, Value vector);
  Value reduceManyRows(mlir::Operation *like, Value vector);
  Value sumToFirstLanes(mlir::Operation *like, Value vector);
  Value permutedInRows(Value v, llvm::function_ref<int64_t(int64_t)> position);
  Value permuted(Value v, int64_t count, llvm::function_ref<int64_t(int64_t)> source);
  Value readRows(const Access &access);
  void writeRows(const Access &access, Value v);
  Value loadFirst(Value memref, Value at, int64_t count);
  void storeFirst(Value v, Value memref, Value at, int64_t count);
  void cutIntoPieces(int64_t count, llvm::function_ref<void(int64_t, int64_t)> f);
  void forEachRowLane(const Access &access, llvm::function_ref<void(Value, Value)> f, bool once);

  // Memory.
  Value splat(mlir::TypedAttr scalar) { return KernelBuilder::splat(scalar, lanesHere()); }
  Value walk(Value at, const Walk &way, int64_t align = 1);
  Value rowBase(const Access &access);
  Value place(const Access &access, int64_t slot);
  Value read(const Access &access, int64_t slot);
  Value readLanes(const Access &access, int64_t slot);
  Value readOfPair(const Access &access, int64_t slot);
  void write(const Access &access, int64_t slot, Value v);
  template <typename F> void forEachPiece(const Access &access, int64_t slot, F f);
  Value joinPieces(const Access &access, int64_t slot);
  void storePieces(const Access &access, int64_t slot, Value v);
  Value gatherLanes(const Access &access, int64_t slot);
  void scatterLanes(const Access &access, int64_t slot, Value v);
  template <typename F> void forEachLane(const Access &access, int64_t slot, F f, bool once = false);
  Value scratchView(int64_t offset, int64_t length, mlir::Type element);
  Value loadKept(int64_t offset, mlir::Type element, int64_t slot);
  void storeKept(int64_t offset, int64_t slot, Value v);
  Value keptPlace(int64_t slot);
  void limitLanes();
  Value lanesLeft(int64_t slot);
  const Lanes &lanesOf(int64_t slot);
  Value maskOf(const Lanes &lanes);
  Value prefixMask(int64_t count) { return KernelBuilder::prefixMask(count, plan.lanes); }
  Value prefixMask(Value left);

  int64_t lanesHere() const { return compact ? plan.registerLanes : plan.lanes; }
  mlir::VectorType vec(Type element) { return mlir::VectorType::get({lanesHere()}, element); }

  RowPlan &plan;
  RowChain &chain;
  Value row, chunk;                     ///< of the current iteration, if rows are split
  mlir::scf::ForOp rows;                ///< over the iteration space
  mlir::Operation *sweepLoop = nullptr; ///< over the row; null between loops
  int currentSweep = 0;
  bool streaming = false;              ///< full vectors go past the caches to streamed destinations
  int64_t columns = 1;                 ///< vectors side by side in this sweep
  int64_t depth = 1;                   ///< row positions that a lane of the current step takes
  Value position;                      ///< along the row, of the current step
  llvm::SmallVector<Lanes, 8> partial; ///< by slot; a slot beyond has all lanes
  const Lanes everyLane;
  Lanes last;                           ///< of a row of open length
  Value rowsHere;                       ///< of a vector of whole rows, if the last one has fewer
  bool compact = false;                 ///< one lane for each of those rows, while a per-row stage is emitted
  llvm::SmallVector<Value, 6> parallel; ///< current index of each parallel dim

  // Caches, outermost level first.
  std::map<int64_t, Value> wholeSteps;
  std::map<std::pair<int64_t, const void *>, Value> scratchViews;
  std::map<std::pair<int, unsigned>, Value> partialViews;
  using AddressKey = std::tuple<const void *, int64_t, Strides, Curves, Walk, int64_t>;
  using StageKey = std::pair<int, int64_t>;
  std::map<AddressKey, Value> kernelLoads, rowLoads, stepLoads;
  std::map<std::pair<const void *, const void *>, Value> stepPairs; ///< by operand and place: the even lanes of two vectors
  int64_t pairedSlots = 0;                                          ///< slots that may be read in pairs
  std::map<std::tuple<int64_t, Strides, Curves>, Value> rowBases;
  std::map<AddressKey, Value> places;
  std::map<int64_t, Value> keptPlaces;
  std::map<StageKey, Values> rowValues, compactValues, stepValues;
  std::map<int, llvm::SmallVector<std::pair<Value, bool>, 2>> reduced; ///< of a stage: in every lane of the row, or in the first
};

} // namespace quern::rows

#endif // QUERN_SCHEDULE_ROWS_CPU_EMITTER_H
