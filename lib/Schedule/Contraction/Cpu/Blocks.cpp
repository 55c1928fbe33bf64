//===- Blocks.cpp - The sums of a block, from start to epilogue -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Cpu/Blocks.h"

#include "Schedule/Contraction/Cpu/Epilogue.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

void BlockEmitter::startTile(Tile &tile, const KSlice &slice) const {
  if (!plan.k.sumsShiftOnce)
    return;
  tile.shift.assign(plan.tile.perRow, ir.splat(ir.b.getI32IntegerAttr(0), plan.tile.lanes));
  const RowBlock noRows{ir.index(0), 0, ir.index(0), {0, static_cast<unsigned>(chain.accumulators.size())}};
  for (ArrayRef<KPlan::Step> bufferSets : plan.k.loops)
    if (plan.k.dots[bufferSets[0][0]] == Dot::Shifted)
      addProducts(ir, plan, tile, slice, noRows, bufferSets, tile.shift);
}

void BlockEmitter::emit(const Tile &tile, const KSlice &slice, const RowBlock &block) const {
  const int64_t ofRows = block.rows * plan.tile.perRow;
  Values sums = startSums(tile, block);
  if (plan.k.isShifted() && !plan.k.sumsShiftOnce) // accumulated like the sums of one more row
    sums.append(plan.tile.perRow, ir.splat(ir.b.getI32IntegerAttr(0), plan.tile.lanes));
  for (ArrayRef<KPlan::Step> bufferSets : plan.k.loops)
    addProducts(ir, plan, tile, slice, block, bufferSets, sums);
  if (static_cast<int64_t>(sums.size()) > ofRows) {
    Values shift(sums.end() - plan.tile.perRow, sums.end());
    sums.truncate(static_cast<size_t>(ofRows));
    subtractShift(shift, sums);
  }
  if (scratch)
    return store(tile, block, sums);
  for (int64_t i = 0; i < block.rows; ++i)
    tile.forVectors([&](int64_t v) {
      TilePoint(ir, plan.tile.lanes, {block.row, i}, tile.vectors[v], plan.tile.columns)
          .finish(chain, [&](unsigned accumulator) { return sums[plan.tile.sumIndex(i, accumulator, v)]; });
    });
}

void BlockEmitter::addSlice(const Tile &tile, const KSlice &slice, const RowBlock &block) const {
  Values sums;
  for (int64_t n = 0; n < block.rows * plan.tile.perRow; ++n) {
    Value at = ir.linear(n * plan.tile.lanes, {{tile.sumsAt(block.row, block.scratchRow), 1}});
    sums.push_back(ir.load(scratch, at, plan.tile.lanes));
  }
  addProducts(ir, plan, tile, slice, block, plan.k.loops[0], sums);
  store(tile, block, sums);
}

Values BlockEmitter::startSums(const Tile &tile, const RowBlock &block) const {
  Values sums(block.rows * plan.tile.perRow);
  for (unsigned n = block.group.first; n < block.group.end; ++n) {
    const Accumulator &accumulator = chain.accumulators[n];
    bool isShared = accumulator.startsAlike();
    for (int64_t v = 0; v < plan.tile.columnVectors; ++v)
      for (int64_t i = 0; i < block.rows; ++i) {
        Value &sum = sums[plan.tile.sumIndex(i, n, v)];
        if (isShared && i)
          sum = sums[plan.tile.sumIndex(0, n, v)];
        else
          sum = TilePoint(ir, plan.tile.lanes, {block.row, i}, tile.vectors[v], plan.tile.columns).startOf(accumulator);
      }
  }
  if (plan.k.sumsShiftOnce)
    subtractShift(tile.shift, sums);
  return sums;
}

void BlockEmitter::store(const Tile &tile, const RowBlock &block, ArrayRef<Value> sums) const {
  Value at = tile.sumsAt(block.row, block.scratchRow);
  for (auto [n, sum] : llvm::enumerate(sums))
    if (sum) // only the group has sums
      ir.store(sum, scratch, ir.linear(static_cast<int64_t>(n) * plan.tile.lanes, {{at, 1}}));
}

void BlockEmitter::subtractShift(ArrayRef<Value> shift, Values &sums) const {
  // The difference is computed once if all rows start from the same value.
  Values first(ArrayRef(sums).take_front(shift.size())), results;
  for (auto [n, sum] : llvm::enumerate(sums)) {
    size_t at = n % shift.size();
    bool isNew = n < shift.size() || sum != first[at];
    results.push_back(isNew ? ir.create<arith::SubIOp>(sum, shift[at]).getResult() : results[at]);
  }
  sums = std::move(results);
}
