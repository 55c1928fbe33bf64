//===- KSlices.cpp - Slices of K, one after another -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// All blocks of a chunk process one slice of K before any starts the next. The tile reads rhs from a copy with
// contiguous vectors. A transposed lhs (contiguous rows) is copied too, once for all tiles of an iteration. Sums wait
// in scratch between slices and are still accumulated in the order of K.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Cpu/KSlices.h"

#include "Schedule/Contraction/Cpu/Epilogue.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

/// Minimum steps for prefetching sums: fewer steps are multiplied about as fast as their sums are fetched.
constexpr int64_t minPrefetchSteps = 256;

/// Runs `body` for the tiles; the last one has separate code if the plan's tail is separate.
void SliceEmitter::forTiles(IndexRange tiles, function_ref<void(Tile &)> body) const {
  auto emit = [&](Value number, bool isLast) {
    Tile tile(ir, chain, plan.tile, number, isLast);
    if (slices.parts > 1 && slices.tiles > 1) {
      const int64_t ofTile = plan.scratch.rows * plan.tile.sumsOfRow();
      tile.scratch = ir.linear(0, {{number, ofTile}, {tiles.begin, -ofTile}});
    }
    body(tile);
  };
  const bool isLastApart = plan.tile.tail == Tail::Separate;
  if (plan.tile.tiles == 1 || (slices.tiles == 1 && !isLastApart))
    return emit(tiles.begin, isLastApart);
  Value last = ir.index(plan.tile.tiles - 1);
  ir.forRange(tiles.begin, isLastApart ? ir.min(tiles.end, last) : tiles.end,
              [&](Value number) { emit(number, false); });
  if (isLastApart)
    ir.forRange(ir.max(tiles.begin, last), tiles.end, [&](Value number) { emit(number, true); });
}

void SliceEmitter::emit(IndexRange tiles, Value chunk) const {
  const IndexRange range = rows.rowsOf(chunk);
  if (slices.parts == 1)
    return emitSlice(tiles, chunk, range, ir.index(0));
  const AccumulatorGroup all = rows.allAccumulators();
  forTiles(tiles, [&](Tile &tile) {
    blocks.startTile(tile, {});
    ir.forRange(range.begin, range.end, [&](Value row) { blocks.start(tile, {row, 1, range.begin, all}); });
  });
  ir.forRange(
      ir.index(0), ir.index(slices.product.steps()), [&](Value begin) { emitSlice(tiles, chunk, range, begin); },
      slices.steps);
  forTiles(tiles, [&](Tile &tile) { ScratchEpilogue(ir, plan, tile, scratch, range.begin, range).emit(); });
}

/// Computes one slice of K, or all of K, for the tiles of an iteration.
void SliceEmitter::emitSlice(IndexRange tiles, Value chunk, IndexRange range, Value begin) const {
  Value end = ir.min(ir.linear(slices.steps, {{begin, 1}}), ir.index(slices.product.steps()));
  KSlice slice{begin, end, {}, {}};
  if (slices.hasLhs)
    copyLhs(slice, range);
  forTiles(tiles, [&](Tile &tile) {
    if (slices.hasRhs)
      copyRhs(slice, tile);
    if (slices.parts > 1) {
      rows.forBlocks(chunk, [&](const RowBlock &block) { blocks.addSlice(tile, slice, block); });
      return;
    }
    blocks.startTile(tile, slice);
    rows.forBlocks(chunk, [&](const RowBlock &block) {
      if (slices.steps >= minPrefetchSteps)
        prefetchStarts(tile, block);
      blocks.emit(tile, slice, block);
    });
    if (scratch)
      ScratchEpilogue(ir, plan, tile, scratch, range.begin, range).emit();
  });
}

/// Prefetches the initial sums of the next block: its rows are too far from each other for hardware prefetchers.
void SliceEmitter::prefetchStarts(const Tile &tile, const RowBlock &block) const {
  for (const Accumulator &accumulator : chain.accumulators) {
    if (accumulator.start || accumulator.fill || !accumulator.at.isArgument())
      continue;
    for (int64_t i = 0; i < block.rows; ++i)
      tile.forVectors([&](int64_t v) {
        TilePoint next(ir, plan.tile.lanes, {block.row, block.rows + i}, tile.vectors[v], plan.tile.columns);
        ir.prefetch(ir.buffer(accumulator.at.base), next.addressOf(accumulator.at), /*locality=*/3, /*isWrite=*/true);
      });
  }
}

/// Runs `body` for the steps of a slice, each with its indices along K.
void SliceEmitter::forSteps(const KSlice &slice, function_ref<void(Value step, ArrayRef<Value> k)> body) const {
  if (!slices.hasPairs)
    return ir.forRange(slice.begin, slice.end, [&](Value k) { body(k, k); });
  const bool isOdd = slices.wholeSteps < slices.product.steps();
  Value whole = ir.index(slices.wholeSteps);
  ir.forRange(slice.begin, isOdd ? ir.min(slice.end, whole) : slice.end,
              [&](Value step) { body(step, {ir.linear(0, {{step, 2}}), ir.linear(1, {{step, 2}})}); });
  if (isOdd)
    ir.forRange(ir.max(slice.begin, whole), slice.end, [&](Value step) { body(step, ir.linear(0, {{step, 2}})); });
}

/// Returns a vector in the form in which a copy stores it.
Value SliceEmitter::copyOf(const Product::Factor &from, const Product::Factor &to, ArrayRef<Value> k,
                           function_ref<Value(Value)> load) const {
  Value first = load(k[0]);
  if (slices.hasPairs)
    return makePairs(ir.b, chain.products[0], first,
                     k.size() > 1 ? load(k[1]) : ir.zeros(VectorType::get({plan.tile.lanes}, ir.b.getBF16Type())));
  return to.conversions.empty() ? convert(ir.b, from, first) : first;
}

Value SliceEmitter::bufferOf(int64_t bytes, int64_t elements, Type element) const {
  return ir.atEntry([&] { return ir.scratchBuffer(bytes, elements, element); });
}

/// Copies vectors of rows of lhs; the last vector overlaps the one before it.
void SliceEmitter::copyLhs(KSlice &slice, IndexRange range) const {
  const Product &from = chain.products[0], &to = slices.product;
  const int64_t lanes = plan.tile.lanes;
  Value copy = bufferOf(plan.scratch.lhsCopies[0], slices.steps * slices.lhsStride, slices.copied(to.lhs)),
        source = ir.buffer(from.lhs.base);
  Value lastRow = ir.sub(range.end, ir.index(lanes));
  forSteps(slice, [&](Value step, ArrayRef<Value> k) {
    ir.forRange(
        range.begin, range.end,
        [&](Value at) {
          Value row = ir.min(at, lastRow);
          Value v = copyOf(from.lhs, to.lhs, k, [&](Value element) {
            Value place = ir.linear(from.lhs.offset, {{row, from.lhsRow}, {element, from.reduced[0].lhs}});
            return ir.load(source, place, lanes);
          });
          Value place = ir.linear(0, {{row, to.packed},
                                      {range.begin, -to.packed},
                                      {step, slices.lhsStride},
                                      {slice.begin, -slices.lhsStride}});
          ir.store(v, copy, place);
        },
        lanes);
  });
  slice.lhs = copy;
}

void SliceEmitter::copyRhs(KSlice &slice, const Tile &tile) const {
  const Product &from = chain.products[0], &to = slices.product;
  Value copy = bufferOf(plan.scratch.rhsCopies[0], slices.steps * plan.tile.elementsOfStep(to), slices.copied(to.rhs));
  Value source = ir.buffer(from.rhs.base);
  forSteps(slice, [&](Value step, ArrayRef<Value> k) {
    for (size_t sum = 0; sum < from.sums.size(); ++sum)
      tile.forVectors([&](int64_t v) {
        Value loaded =
            copyOf(from.rhs, to.rhs, k, [&](Value element) { return tile.loadRhs(0, source, element, sum, v); });
        ir.store(loaded, copy, slice.rhsAt(ir, plan, step, sum, v));
      });
  });
  slice.rhs = copy;
}
