//===- Emitter.h - Emission of contractions on a CPU ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Emitter.cpp writes the kernel, its iterations and row blocks, Sums.cpp the loops over K, KSlices.cpp those over
// slices of K, Matrices.cpp all of these for matrix registers, and Epilogue.cpp the elementwise ops and memory accesses
// at points of the tile.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CPU_EMITTER_H
#define QUERN_SCHEDULE_CONTRACTION_CPU_EMITTER_H

#include "Schedule/Contraction/Cpu/Plan.h"
#include "Schedule/Contraction/Numbers.h"
#include "Schedule/Contraction/PointValues.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <functional>
#include <map>

namespace quern::schedule::contractions {

class ContractionEmitter : NumberEmitter {
public:
  explicit ContractionEmitter(const ContractionPlan &plan);
  /// Writes the kernel after the problem.
  mlir::func::FuncOp emit();

private:
  /// The columns of one vector: all of its lanes, those of a mask, or the first `count`. A vector whose mask is empty
  /// is placed on columns that exist, because an access without an active lane takes hundreds of cycles if it touches
  /// an unmapped page.
  struct ColumnLanes {
    Value first;    ///< a column, usually the first of the tile
    int64_t offset; ///< column of lane 0 relative to `first`: a constant, so that adjacent vectors share an address
    Value mask;     ///< null: no mask
    int64_t count;
  };
  /// Address of a vector of rhs: a value plus a constant, so that adjacent vectors share the value.
  struct RhsAddress {
    Value base;
    int64_t offset;
    ColumnLanes lanes;
  };
  /// The tile that is being written.
  struct Tile {
    Value first;       ///< first column
    Value scratch;     ///< first element of its sums
    int64_t count = 0; ///< existing columns; the tile's width if it is masked
    bool isMasked = false;
    llvm::SmallVector<ColumnLanes, 4> vectors;               ///< lanes of each vector of columns
    llvm::SmallVector<llvm::SmallVector<RhsAddress>, 4> rhs; ///< addresses by product and vector of columns
    Values shift; ///< by sum of a row: the correction of shifted dots, if it is summed once
  };
  /// A row of the tile: a value plus a constant.
  struct Row {
    Value value;
    int64_t offset = 0;
  };
  /// Accumulators whose sums a block has.
  struct AccumulatorGroup {
    unsigned first = 0, end = 0;
    bool contains(unsigned accumulator) const { return accumulator >= first && accumulator < end; }
  };
  /// The buffers of one iteration of merged loops over K (ContractionPlan::loops).
  struct Buffers {
    Value lhs;
    Values rhs; ///< one buffer for each product of the step
  };
  /// The slice of K that is being summed; null values without slices.
  struct KSlice {
    Value begin, end;
    Value lhs; ///< copy in scratch, by step and row of the chunk; null: not copied
    Value rhs; ///< copy in scratch, by step, sum and vector of columns; null: not copied
  };
  /// A vector of rhs in a step.
  struct Loaded {
    unsigned product, accumulator, vector, half; ///< `half`: for patches, the half of the vector's columns
    llvm::SmallVector<Value, 4> elements;
  };

  /// The lhs operands of the dots of a step, by row or pair of rows.
  using LhsOfRows = llvm::SmallVector<llvm::SmallVector<Value, 4>>;

  // Kernel, tiles and blocks (Emitter.cpp).
  void emitIteration(Value iteration);
  void emitTile(Value at, Value chunk, bool isLast);
  void startTile(Value at, bool isLast);
  struct RowRange {
    Value begin, end;
  };
  using BlockBody = llvm::function_ref<void(Value row, int64_t rows)>;
  RowRange forBlocks(Value chunk, BlockBody body);
  RowRange forAllBlocks(BlockBody body);
  RowRange forBlocksOf(Value chunk, BlockBody body);
  RowRange forOpenBlocks(Value chunk, BlockBody body);
  RowRange rowsOf(Value chunk);
  Value firstRowOf(Value block);
  void emitBlock(Value row, int64_t rows);
  Value scratchAt(Value row);
  void storeSums(Value row, mlir::ArrayRef<Value> sums);
  Values startSums(Value row, int64_t rows);
  Value startOf(const Accumulator &accumulator, const Row &row, const ColumnLanes &lanes);
  void subtractShift(mlir::ArrayRef<Value> shift, Values &sums);
  void placeVectors(Value at);
  bool mayMiss(int64_t vector) const;
  ColumnLanes lanesOf(int64_t vector);
  Value columnMask(Value first, int64_t perColumn);
  unsigned sumIndex(int64_t row, unsigned accumulator, int64_t vector) const {
    return static_cast<unsigned>((row * plan.columnVectors + vector) * static_cast<int64_t>(chain.accumulators.size()) +
                                 accumulator);
  }

  // Sums over one slice of K after another, for some tiles (KSlices.cpp).
  struct TileRange {
    Value begin, end;
  };
  mlir::scf::ForOp makeSlicedLoop();
  void emitSlicedLoop(Value at);
  void emitSlices(TileRange tiles, Value chunk);
  void forTiles(TileRange tiles, llvm::function_ref<void()> body);
  void emitPart(TileRange tiles, Value chunk, RowRange rows, Value begin);
  void prefetchStarts(Value row, int64_t rows);
  void copyLhs(RowRange rows);
  void copyRhs();
  void forSteps(llvm::function_ref<void(Value step, llvm::ArrayRef<Value> k)> body);
  Value copyOf(const Product::Factor &from, const Product::Factor &to, llvm::ArrayRef<Value> k,
               llvm::function_ref<Value(Value k)> load);
  Value copiesAt(int64_t bytes, int64_t elements, Type element);
  Value copyAt(Value step, size_t sum, int64_t vector);
  Value loadCopy(Value step, size_t sum, int64_t vector);

  // Sums over K (Sums.cpp).
  void emitSums(llvm::ArrayRef<ContractionPlan::Step> bufferSets, Value row, int64_t rows, Values &sums);
  void emitLoops(llvm::ArrayRef<ContractionPlan::Step> bufferSets, Value row, int64_t rows, Values &sums);
  void emitShift();
  bool sumsShift(const ContractionPlan::Step &step, size_t sums, int64_t rows) const;
  void emitStep(const ContractionPlan::Step &step, const Buffers &buffers, llvm::ArrayRef<Value> k, Value row,
                int64_t rows, Values &sums);
  void emitSteps(const ContractionPlan::Step &step, const Buffers &buffers, llvm::ArrayRef<Value> k, Value row,
                 int64_t rows, Values &sums, int64_t together);
  void emitRuns(const ContractionPlan::Step &step, const Buffers &buffers, llvm::ArrayRef<Value> k,
                llvm::ArrayRef<LhsOfRows> ofSteps, Values &sums);
  void addTo(Values &sums, int64_t rows, Dot dot, llvm::ArrayRef<Value> lhs, const Loaded &rhs);
  llvm::SmallVector<Value, 4> lhsOfRows(const Product &product, Dot dot, llvm::ArrayRef<Value> ofRows, int64_t rows,
                                        int64_t step);
  Value lhsAt(const Product &product, llvm::ArrayRef<Value> k, Value row);
  void loadStep(const ContractionPlan::Step &step, const Buffers &buffers, llvm::ArrayRef<Value> k, int64_t rows,
                llvm::function_ref<void(Loaded)> take);
  Value endOfWholeGroups(Value begin, Value end, int64_t steps);
  void carry(Value begin, Value end, int64_t by, llvm::ArrayRef<unsigned> live, Values &sums,
             llvm::function_ref<void(Value)> body);
  Values loadLhs(const Product &product, Dot dot, Value buffer, Value at);
  Value loadRhs(unsigned number, Value buffer, llvm::ArrayRef<Value> k, size_t sum, int64_t vector);
  Value rhsAt(unsigned number, llvm::ArrayRef<Value> k, size_t sum, int64_t vector);
  void prefetch(unsigned number, Value buffer, llvm::ArrayRef<Value> k, size_t sum, int64_t vector, int64_t rows);
  void prefetchNext(Value buffer, Value at);
  Value loadStrided(Value buffer, Value at, const ColumnLanes &lanes, Size stride, std::optional<int64_t> columns);
  Value clampToColumns(int64_t lane, const ColumnLanes &lanes, std::optional<int64_t> columns);
  Value tileAddress(unsigned product, Value at, Value firstColumn);

  // Matrix registers (Matrices.cpp).
  struct MatrixBlock {
    Values rows;           ///< first row of each matrix, from top to bottom
    int64_t first, across; ///< first sum of a row, and number of sums
  };
  void startMatrices();
  void emitMatrixChunk(Value chunk);
  void forMatrices(Value count, llvm::function_ref<void(Value from, int64_t down)> body);
  void copyLeftSteps(const ContractionPlan::Step &step, Value end);
  void emitMatrixBlock(const MatrixBlock &block);
  void emitMatrixStep(const ContractionPlan::Step &step, const MatrixBlock &block, Value k);
  void loadLhsMatrices(unsigned number, const MatrixBlock &block, Value k);

  // Elementwise ops (Epilogue.cpp).
  void emitScratchRows(Value begin, Value end);
  void emitScratchVector(Value vector, const ColumnLanes &lanes, Value begin, Value end);
  void emitPoint(const Row &row, const ColumnLanes &lanes, llvm::function_ref<Value(unsigned)> sum, KnownValues known);
  Values evaluate(const PointOp &point, const Row &row, const ColumnLanes &lanes, const KnownValues &known);
  void transpose(const ContractionPlan::TransposedInput &transposed, const ColumnLanes &lanes, Value begin, Value end);
  Value copyOf(const ContractionPlan::TransposedInput &transposed);
  Value transposedAt(const ContractionPlan::TransposedInput &transposed, Value row, int64_t rowOffset);
  Value load(const TileAccess &access, const Row &row, const ColumnLanes &lanes);
  void store(Value v, const TileAccess &access, const Row &row, const ColumnLanes &lanes);
  Value address(const TileAccess &access, const Row &row, const ColumnLanes &lanes);
  /// Loads `count` elements from `at`, or those of the mask; the other elements of `lanes` are zero and not read.
  Value loadVector(Value memref, Value at, int64_t lanes, Value mask, int64_t count);
  Value loadScalar(Value memref, Value at);

  mlir::VectorType vec(Type element, int64_t perLane = 1) {
    return mlir::VectorType::get({plan.lanes * perLane}, element);
  }

  const ContractionPlan &plan;
  const Chain &chain;
  mlir::func::FuncOp problem;
  Value scratch;              ///< sums of a chunk: [row][vector][accumulator][lane]
  Value openRows, openChunks; ///< run-time values of open sizes, or null
  Value chunkRow;             ///< row at which scratch begins
  bool hasTransposed = false; ///< true if the copies of plan.transposedInputs have the current vector
  KSlice slice;
  int64_t unrollIndex = 0; ///< index of the unrolled step whose rhs is being read
  AccumulatorGroup group;
  Value matrixHeight;          ///< rows of a matrix
  Values lhsCopies, rhsCopies; ///< by product: partial steps, padded with zeros
  Tile tile;
};

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_CPU_EMITTER_H
