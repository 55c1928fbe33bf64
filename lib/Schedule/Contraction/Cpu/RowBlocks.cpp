//===- RowBlocks.cpp - Loops over the row blocks of a chunk ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Cpu/RowBlocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

RowBlocks::RowBlocks(ContractionBuilder &ir, const Chain &chain, const BlockPlan &plan)
    : ir(ir), plan(plan), count(chain.rows), all{0, static_cast<unsigned>(chain.accumulators.size())} {
  if (count.isOpen())
    openChunks = ir.atEntry([&] { return ir.index(ir.ceilDiv(count, plan.chunkRows)); });
}

IndexRange RowBlocks::forBlocks(Value chunk, Body body) const {
  if (openChunks) {
    Value begin = ir.linear(0, {{chunk, plan.chunkRows}});
    Value end = ir.min(ir.linear(plan.chunkRows, {{begin, 1}}), ir.index(count));
    ir.forHeights(plan.heights, {begin, end}, [&](Value row, int64_t height) { body({row, height, begin, all}); });
    return {begin, end};
  }
  return plan.chunks == 1 ? forAllBlocks(body) : forBlocksOf(chunk, body);
}

/// Emits all rows as one chunk.
IndexRange RowBlocks::forAllBlocks(Body body) const {
  Value zero = ir.index(0);
  auto emitBlocks = [&](int64_t begin, int64_t end, int64_t firstRow, int64_t height) {
    ir.forCount(begin, end, [&](Value block) {
      body({ir.linear(firstRow - begin * height, {{block, height}}), height, zero, all});
    });
  };
  emitBlocks(0, plan.tallBlocks, 0, plan.tallRows);
  emitBlocks(plan.tallBlocks, plan.blocks, plan.tallBlocks * plan.tallRows, plan.blockRows);
  return {zero, ir.index(count)};
}

Value RowBlocks::firstRowOf(Value block) const {
  if (!plan.tallBlocks)
    return ir.linear(0, {{block, plan.blockRows}});
  Value tall = ir.min(block, plan.tallBlocks);
  return ir.linear(0, {{block, plan.blockRows}, {tall, plan.tallRows - plan.blockRows}});
}

IndexRange RowBlocks::rowsOf(Value chunk) const {
  if (plan.chunks == 1)
    return {ir.index(0), ir.index(count)};
  Value first = ir.linear(0, {{chunk, plan.blocksPerChunk}});
  return {firstRowOf(first), firstRowOf(ir.min(ir.linear(plan.blocksPerChunk, {{first, 1}}), plan.blocks))};
}

/// Emits the rows of one of several chunks.
IndexRange RowBlocks::forBlocksOf(Value chunk, Body body) const {
  Value first = ir.linear(0, {{chunk, plan.blocksPerChunk}});
  Value last = ir.min(ir.linear(plan.blocksPerChunk, {{first, 1}}), plan.blocks);
  Value begin = firstRowOf(first);
  auto emitBlocks = [&](Value from, Value to, int64_t height) {
    int64_t firstRow = height == plan.blockRows ? plan.tallBlocks * (plan.tallRows - height) : 0;
    ir.forRange(from, to, [&](Value block) { body({ir.linear(firstRow, {{block, height}}), height, begin, all}); });
  };
  Value low = first;
  if (plan.tallBlocks) {
    emitBlocks(first, ir.min(last, plan.tallBlocks), plan.tallRows);
    low = ir.max(first, plan.tallBlocks);
  }
  emitBlocks(low, last, plan.blockRows);
  return {begin, firstRowOf(last)};
}
