//===- Emitter.cpp - The kernel of a contraction and its tiles ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Adjacent iterations are chunks of one tile, which read the same panel of rhs. Every sum is accumulated in the order
// of K, however rows are split, so results do not depend on which thread computes which iteration.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Cpu/Emitter.h"

#include "Schedule/Build/Bodies.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

#include <numeric>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

ContractionEmitter::ContractionEmitter(const ContractionPlan &plan)
    : NumberEmitter(plan.chain.problem), plan(plan), chain(plan.chain), problem(chain.problem) {}

func::FuncOp ContractionEmitter::emit() {
  KernelTraits traits;
  traits.name = (problem.getName() + "_kernel").str();
  traits.plan = plan.text();
  traits.space = plan.tiles * plan.chunks;
  if (chain.rows.isOpen())
    traits.space.addLoop(chain.rows, plan.chunkRows);
  traits.nsPerIteration = plan.nsPerIteration();
  int64_t scratchElements = plan.scratchElements();
  traits.scratchBytes = plan.scratchBytes;
  beginKernel(problem, problem, traits, chain.prologue);
  const AtOperation scope(*this, chain.products[0].loc());
  const bool takesSeveral = plan.slices && plan.slices->tiles > 1;
  scf::ForOp loop = takesSeveral ? makeSlicedLoop() : create<scf::ForOp>(kernel.begin(), kernel.end(), index(1));
  entry = loop;
  if (plan.matrices)
    matrices::release(b, loc);
  create<func::ReturnOp>();
  if (scratchElements)
    scratch = atEntry([&] {
      auto type = MemRefType::get({scratchElements}, chain.sumType());
      return create<memref::ViewOp>(type, kernel.scratch, index(0), ValueRange()).getResult();
    });
  if (chain.rows.isOpen())
    atEntry([&] {
      openRows = index(chain.rows);
      openChunks = create<arith::DivUIOp>(linear(plan.chunkRows - 1, {{openRows, 1}}), index(plan.chunkRows));
      return openChunks;
    });
  if (plan.matrices)
    startMatrices();
  b.setInsertionPointToStart(loop.getBody());
  if (takesSeveral)
    emitSlicedLoop(loop.getInductionVar());
  else
    emitIteration(loop.getInductionVar());
  return finishKernel();
}

void ContractionEmitter::emitIteration(Value iteration) {
  Value here = iteration, chunk = index(0);
  if (plan.chunks > 1 || openChunks) {
    Value chunks = openChunks ? openChunks : index(plan.chunks);
    here = create<arith::DivUIOp>(iteration, chunks);
    chunk = create<arith::RemUIOp>(iteration, chunks);
  }
  if (plan.slices)
    return emitSlices({here, linear(1, {{here, 1}})}, chunk);
  if (plan.tail != Tail::Separate || plan.tiles == 1)
    return emitTile(here, chunk, plan.tail == Tail::Separate);
  Value isLast = create<arith::CmpIOp>(arith::CmpIPredicate::eq, here, index(plan.tiles - 1));
  choose(isLast, [&] { emitTile(here, chunk, true); }, [&] { emitTile(here, chunk, false); });
}

/// Returns the mask of a vector's existing columns, each repeated `perColumn` times.
Value ContractionEmitter::columnMask(Value first, int64_t perColumn) {
  return prefixMask(create<arith::SubIOp>(index(plan.columns() * perColumn), linear(0, {{first, perColumn}})),
                    plan.lanes * perColumn);
}

/// Returns true if a vector may have no columns in the last masked tile.
bool ContractionEmitter::mayMiss(int64_t vector) const {
  return tile.isMasked && (plan.tiles - 1) * plan.width() + vector * plan.lanes >= plan.columns();
}

ContractionEmitter::ColumnLanes ContractionEmitter::lanesOf(int64_t vector) {
  ColumnLanes lanes{tile.first, vector * plan.lanes, {}, plan.lanes};
  if (tile.isMasked)
    lanes.mask = columnMask(linear(lanes.offset, {{tile.first, 1}}), 1);
  else
    lanes.count = std::clamp<int64_t>(tile.count - lanes.offset, 0, plan.lanes);
  return lanes;
}

/// Computes the addresses of a tile's vectors. A vector without columns reads the tile's first vector in rhs, and the
/// last whole vector elsewhere.
void ContractionEmitter::placeVectors(Value at) {
  SmallVector<ColumnLanes, 4> ofRhs;
  Values exist;
  for (int64_t v = 0; v < plan.columnVectors; ++v) {
    ColumnLanes lanes = lanesOf(v), read = lanes;
    Value exists;
    if (mayMiss(v)) {
      Value column = linear(lanes.offset, {{tile.first, 1}});
      exists = create<arith::CmpIOp>(arith::CmpIPredicate::slt, column, index(plan.columns()));
      read = {create<arith::SelectOp>(exists, column, tile.first), 0,
              create<arith::SelectOp>(exists, lanes.mask, ofRhs[0].mask), plan.lanes};
      lanes = {create<arith::SelectOp>(exists, column, index(plan.columns() - plan.lanes)), 0, lanes.mask, plan.lanes};
    }
    exist.push_back(exists);
    ofRhs.push_back(read);
    tile.vectors.push_back(lanes);
  }
  for (auto [n, product] : llvm::enumerate(chain.products)) {
    Value base = tileAddress(n, at, tile.first);
    auto &places = tile.rhs.emplace_back();
    for (int64_t v = 0; v < plan.columnVectors; ++v) {
      RhsAddress place{base, ofRhs[v].count ? product.rhsAt(v * plan.lanes) : 0, ofRhs[v]};
      if (exist[v]) {
        place.base = create<arith::SelectOp>(exist[v], linear(place.offset, {{base, 1}}), base);
        place.offset = 0;
      }
      places.push_back(place);
    }
  }
}

void ContractionEmitter::startTile(Value at, bool isLast) {
  tile = {};
  tile.first = isLast ? index((plan.tiles - 1) * plan.width()) : linear(0, {{at, plan.width()}});
  tile.count = isLast ? plan.columns() - (plan.tiles - 1) * plan.width() : plan.width();
  tile.isMasked = plan.tail == Tail::Masked;
  tile.scratch = index(0);
  placeVectors(at);
  group = {0, static_cast<unsigned>(chain.accumulators.size())};
}

void ContractionEmitter::emitTile(Value at, Value chunk, bool isLast) {
  startTile(at, isLast);
  emitShift();
  if (plan.matrices)
    return emitMatrixChunk(chunk);
  const unsigned accumulators = group.end, size = static_cast<unsigned>(plan.groupSize);
  RowRange rows;
  for (unsigned first = 0; first < accumulators; first += size) {
    group = {first, std::min(first + size, accumulators)};
    rows = forBlocks(chunk, [&](Value row, int64_t height) { emitBlock(row, height); });
  }
  if (scratch)
    emitScratchRows(rows.begin, rows.end);
}

ContractionEmitter::RowRange ContractionEmitter::forBlocks(Value chunk, BlockBody body) {
  return chain.rows.isOpen() ? forOpenBlocks(chunk, body)
         : plan.chunks == 1  ? forAllBlocks(body)
                             : forBlocksOf(chunk, body);
}

/// Emits all rows as one chunk.
ContractionEmitter::RowRange ContractionEmitter::forAllBlocks(function_ref<void(Value, int64_t)> body) {
  chunkRow = index(0);
  auto emitBlocks = [&](int64_t begin, int64_t end, int64_t firstRow, int64_t height) {
    forCount(begin, end, [&](Value block) { body(linear(firstRow - begin * height, {{block, height}}), height); });
  };
  emitBlocks(0, plan.tallBlocks, 0, plan.tallRows);
  emitBlocks(plan.tallBlocks, plan.blocks, plan.tallBlocks * plan.tallRows, plan.blockRows);
  return {index(0), index(chain.rows)};
}

Value ContractionEmitter::firstRowOf(Value block) {
  if (!plan.tallBlocks)
    return linear(0, {{block, plan.blockRows}});
  Value tall = create<arith::MinSIOp>(block, index(plan.tallBlocks));
  return linear(0, {{block, plan.blockRows}, {tall, plan.tallRows - plan.blockRows}});
}

/// Returns the rows of a chunk, if their number is known.
ContractionEmitter::RowRange ContractionEmitter::rowsOf(Value chunk) {
  if (plan.chunks == 1)
    return {index(0), index(chain.rows)};
  Value first = linear(0, {{chunk, plan.blocksPerChunk}});
  return {firstRowOf(first), firstRowOf(min(linear(plan.blocksPerChunk, {{first, 1}}), index(plan.blocks)))};
}

/// Emits the rows of one of several chunks.
ContractionEmitter::RowRange ContractionEmitter::forBlocksOf(Value chunk, function_ref<void(Value, int64_t)> body) {
  Value first = linear(0, {{chunk, plan.blocksPerChunk}});
  Value last = create<arith::MinSIOp>(linear(plan.blocksPerChunk, {{first, 1}}), index(plan.blocks));
  auto emitBlocks = [&](Value begin, Value end, int64_t height) {
    int64_t firstRow = height == plan.blockRows ? plan.tallBlocks * (plan.tallRows - height) : 0;
    forRange(begin, end, [&](Value block) { body(linear(firstRow, {{block, height}}), height); });
  };
  chunkRow = firstRowOf(first);
  Value low = first;
  if (plan.tallBlocks) {
    emitBlocks(first, create<arith::MinSIOp>(last, index(plan.tallBlocks)), plan.tallRows);
    low = create<arith::MaxSIOp>(first, index(plan.tallBlocks));
  }
  emitBlocks(low, last, plan.blockRows);
  return {chunkRow, firstRowOf(last)};
}

/// Emits the rows of a chunk if their number is open: as many of the tallest blocks as fit, then lower ones.
ContractionEmitter::RowRange ContractionEmitter::forOpenBlocks(Value chunk, function_ref<void(Value, int64_t)> body) {
  chunkRow = linear(0, {{chunk, plan.chunkRows}});
  Value end = create<arith::MinSIOp>(linear(plan.chunkRows, {{chunkRow, 1}}), openRows), from = chunkRow;
  for (int64_t height : plan.heights) {
    Value to = end;
    if (height > 1) {
      Value left = create<arith::SubIOp>(end, from);
      to = create<arith::SubIOp>(end, create<arith::RemUIOp>(left, index(height)));
    }
    forRange(from, to, [&](Value row) { body(row, height); }, height);
    from = to;
  }
  return {chunkRow, end};
}

/// Computes a block of sums completely, and stores them to scratch or runs the epilogue on them.
void ContractionEmitter::emitBlock(Value row, int64_t rows) {
  Values sums = startSums(row, rows);
  if (plan.isShifted() && !plan.sumsShiftOnce) // accumulated like the sums of one more row
    sums.append(plan.perRow, splat(b.getI32IntegerAttr(0), plan.lanes));
  for (ArrayRef<ContractionPlan::Step> bufferSets : plan.loops)
    emitSums(bufferSets, row, rows, sums);
  if (static_cast<int64_t>(sums.size()) > rows * plan.perRow) {
    Values shift(sums.end() - plan.perRow, sums.end());
    sums.truncate(static_cast<size_t>(rows * plan.perRow));
    subtractShift(shift, sums);
  }
  if (scratch)
    return storeSums(row, sums);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t v = 0; v < plan.columnVectors; ++v)
      emitPoint({row, i}, tile.vectors[v], [&](unsigned accumulator) { return sums[sumIndex(i, accumulator, v)]; }, {});
}

ContractionEmitter::Values ContractionEmitter::startSums(Value row, int64_t rows) {
  Values sums(rows * plan.perRow);
  for (unsigned n = group.first; n < group.end; ++n) {
    const Accumulator &accumulator = chain.accumulators[n];
    bool isShared = accumulator.startsAlike();
    for (int64_t v = 0; v < plan.columnVectors; ++v)
      for (int64_t i = 0; i < rows; ++i) {
        Value &sum = sums[sumIndex(i, n, v)];
        if (isShared && i)
          sum = sums[sumIndex(0, n, v)];
        else
          sum = startOf(accumulator, {row, i}, tile.vectors[v]);
      }
  }
  if (plan.sumsShiftOnce)
    subtractShift(tile.shift, sums);
  return sums;
}

/// Returns the address of a row's sums in scratch.
Value ContractionEmitter::scratchAt(Value row) {
  return linear(0, {{tile.scratch, 1}, {row, plan.perRow * plan.lanes}, {chunkRow, -plan.perRow * plan.lanes}});
}

void ContractionEmitter::storeSums(Value row, ArrayRef<Value> sums) {
  Value at = scratchAt(row);
  for (auto [n, sum] : llvm::enumerate(sums))
    if (sum) // only the group has sums
      create<vector::StoreOp>(sum, scratch, ValueRange{linear(static_cast<int64_t>(n) * plan.lanes, {{at, 1}})});
}

Value ContractionEmitter::startOf(const Accumulator &accumulator, const Row &row, const ColumnLanes &lanes) {
  if (accumulator.start)
    return evaluate(*accumulator.start, row, lanes, {})[0];
  return accumulator.fill ? splat(accumulator.fill, plan.lanes) : load(accumulator.at, row, lanes);
}

void ContractionEmitter::subtractShift(ArrayRef<Value> shift, Values &sums) {
  // The difference is computed once if all rows start from the same value.
  Values first(ArrayRef(sums).take_front(shift.size())), results;
  for (auto [n, sum] : llvm::enumerate(sums)) {
    size_t at = n % shift.size();
    bool isNew = n < shift.size() || sum != first[at];
    results.push_back(isNew ? create<arith::SubIOp>(sum, shift[at]).getResult() : results[at]);
  }
  sums = std::move(results);
}
