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
#include "Schedule/Contraction/Cpu/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

/// Fewer steps are multiplied about as fast as their sums are fetched.
constexpr int64_t minPrefetchSteps = 256;

/// Runs `body` for the tiles; the last one has separate code if the plan's tail does.
void ContractionEmitter::forTiles(TileRange tiles, function_ref<void()> body) {
  const KSlices &slices = *plan.slices;
  const Value first = tiles.begin, end = tiles.end;
  auto emit = [&](Value number, bool isLast) {
    startTile(number, isLast);
    if (slices.parts > 1 && slices.tiles > 1) {
      const int64_t ofTile = plan.scratchRows * plan.perRow * plan.lanes;
      tile.scratch = linear(0, {{number, ofTile}, {first, -ofTile}});
    }
    body();
  };
  const bool isLastApart = plan.tail == Tail::Separate;
  if (plan.tiles == 1 || (slices.tiles == 1 && !isLastApart))
    return emit(first, isLastApart);
  Value last = index(plan.tiles - 1);
  forRange(first, isLastApart ? min(end, last) : end, [&](Value number) { emit(number, false); });
  if (isLastApart)
    forRange(max(first, last), end, [&](Value number) { emit(number, true); });
}

/// Creates a loop over groups of tiles if all rows are one chunk, otherwise over chunks.
scf::ForOp ContractionEmitter::makeSlicedLoop() {
  if (plan.chunks == 1)
    return create<scf::ForOp>(kernel.begin(), kernel.end(), index(plan.slices->tiles));
  Value tiles = index(plan.tiles), end = linear(plan.tiles - 1, {{kernel.end(), 1}});
  return create<scf::ForOp>(create<arith::DivUIOp>(kernel.begin(), tiles), create<arith::DivUIOp>(end, tiles),
                            index(1));
}

/// The iterations of one chunk that this call computes share the copy of lhs.
void ContractionEmitter::emitSlicedLoop(Value at) {
  const int64_t together = plan.slices->tiles;
  if (plan.chunks == 1)
    return emitSlices({at, min(linear(together, {{at, 1}}), kernel.end())}, index(0));
  Value begin = max(linear(0, {{kernel.begin(), 1}, {at, -plan.tiles}}), index(0)),
        end = min(linear(0, {{kernel.end(), 1}, {at, -plan.tiles}}), index(plan.tiles));
  forRange(
      begin, end, [&](Value first) { emitSlices({first, min(linear(together, {{first, 1}}), end)}, at); }, together);
}

void ContractionEmitter::emitSlices(TileRange tiles, Value chunk) {
  const KSlices &slices = *plan.slices;
  const RowRange rows = rowsOf(chunk);
  if (slices.parts == 1)
    return emitPart(tiles, chunk, rows, index(0));
  chunkRow = rows.begin;
  forTiles(tiles, [&] {
    emitShift();
    forRange(rows.begin, rows.end, [&](Value row) { storeSums(row, startSums(row, 1)); });
  });
  forRange(
      index(0), index(slices.product.steps()), [&](Value begin) { emitPart(tiles, chunk, rows, begin); }, slices.steps);
  forTiles(tiles, [&] {
    chunkRow = rows.begin;
    emitScratchRows(rows.begin, rows.end);
  });
}

/// Computes one slice of K, or all of K, for the tiles of an iteration.
void ContractionEmitter::emitPart(TileRange tiles, Value chunk, RowRange rows, Value begin) {
  const KSlices &slices = *plan.slices;
  slice = {begin, min(linear(slices.steps, {{begin, 1}}), index(slices.product.steps())), {}, {}};
  if (slices.hasLhs)
    copyLhs(rows);
  forTiles(tiles, [&] {
    if (slices.hasRhs)
      copyRhs();
    if (slices.parts == 1) {
      emitShift();
      forBlocks(chunk, [&](Value row, int64_t height) {
        if (slices.steps >= minPrefetchSteps)
          prefetchStarts(row, height);
        emitBlock(row, height);
      });
      chunkRow = rows.begin;
      return scratch ? emitScratchRows(rows.begin, rows.end) : void();
    }
    forBlocks(chunk, [&](Value row, int64_t height) {
      Values sums;
      for (int64_t n = 0; n < height * plan.perRow; ++n)
        sums.push_back(create<vector::LoadOp>(vec(chain.sumType()), scratch,
                                              ValueRange{linear(n * plan.lanes, {{scratchAt(row), 1}})}));
      emitSums(plan.loops[0], row, height, sums);
      storeSums(row, sums);
    });
  });
  slice = {};
}

/// Prefetches the initial sums of the next block: its rows are too far from each other for hardware prefetchers.
void ContractionEmitter::prefetchStarts(Value row, int64_t rows) {
  for (const Accumulator &accumulator : chain.accumulators) {
    if (accumulator.start || accumulator.fill || !accumulator.at.isArgument())
      continue;
    Value memref = kernel.arguments.lookup(accumulator.at.base);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t v = 0; v < plan.columnVectors && tile.vectors[v].count; ++v)
        create<memref::PrefetchOp>(memref, address(accumulator.at, {row, rows + i}, tile.vectors[v]), /*isWrite=*/true,
                                   /*locality=*/3, /*isDataCache=*/true);
  }
}

/// Runs `body` for the steps of a slice, each with its indices along K.
void ContractionEmitter::forSteps(function_ref<void(Value step, ArrayRef<Value> k)> body) {
  const KSlices &slices = *plan.slices;
  if (!slices.hasPairs)
    return forRange(slice.begin, slice.end, [&](Value k) { body(k, k); });
  const bool isOdd = slices.wholeSteps < slices.product.steps();
  Value whole = index(slices.wholeSteps);
  forRange(slice.begin, isOdd ? min(slice.end, whole) : slice.end,
           [&](Value step) { body(step, {linear(0, {{step, 2}}), linear(1, {{step, 2}})}); });
  if (isOdd)
    forRange(max(slice.begin, whole), slice.end, [&](Value step) { body(step, linear(0, {{step, 2}})); });
}

/// Returns a vector in the form in which a copy stores it.
Value ContractionEmitter::copyOf(const Product::Factor &from, const Product::Factor &to, ArrayRef<Value> k,
                                 function_ref<Value(Value)> load) {
  Value first = load(k[0]);
  if (plan.slices->hasPairs)
    return makePairs(b, chain.products[0], first, k.size() > 1 ? load(k[1]) : zeros(vec(b.getBF16Type())));
  return to.conversions.empty() ? convert(b, from, first) : first;
}

Value ContractionEmitter::copiesAt(int64_t bytes, int64_t elements, Type element) {
  return atEntry([&] {
    auto type = MemRefType::get({elements}, element);
    return create<memref::ViewOp>(type, kernel.scratch, index(bytes), ValueRange()).getResult();
  });
}

/// Copies rows by the vector; the last vector overlaps the one before it.
void ContractionEmitter::copyLhs(RowRange rows) {
  const KSlices &slices = *plan.slices;
  const Product &from = chain.products[0], &to = slices.product;
  Value copy = copiesAt(slices.lhsCopy, slices.steps * slices.lhsStride, plan.copied(to.lhs)),
        source = kernel.arguments.lookup(from.lhs.base);
  Value lastRow = sub(rows.end, index(plan.lanes));
  forSteps([&](Value step, ArrayRef<Value> k) {
    forRange(
        rows.begin, rows.end,
        [&](Value at) {
          Value row = min(at, lastRow);
          Value v = copyOf(from.lhs, to.lhs, k, [&](Value element) {
            Value place = linear(from.lhs.offset, {{row, from.lhsRow}, {element, from.reduced[0].lhs}});
            return loadVector(source, place, plan.lanes, Value(), plan.lanes);
          });
          Value place = linear(
              0,
              {{row, to.packed}, {rows.begin, -to.packed}, {step, slices.lhsStride}, {slice.begin, -slices.lhsStride}});
          create<vector::StoreOp>(v, copy, ValueRange{place});
        },
        plan.lanes);
  });
  slice.lhs = copy;
}

void ContractionEmitter::copyRhs() {
  const KSlices &slices = *plan.slices;
  const Product &from = chain.products[0];
  Value copy =
      copiesAt(slices.rhsCopy, slices.steps * plan.elementsOfStep(slices.product), plan.copied(slices.product.rhs));
  Value source = kernel.arguments.lookup(from.rhs.base);
  forSteps([&](Value step, ArrayRef<Value> k) {
    for (size_t sum = 0; sum < from.sums.size(); ++sum)
      for (int64_t v = 0; v < plan.columnVectors && tile.vectors[v].count; ++v) {
        Value loaded =
            copyOf(from.rhs, slices.product.rhs, k, [&](Value element) { return loadRhs(0, source, element, sum, v); });
        create<vector::StoreOp>(loaded, copy, ValueRange{copyAt(step, sum, v)});
      }
  });
  slice.rhs = copy;
}

Value ContractionEmitter::copyAt(Value step, size_t sum, int64_t vector) {
  const int64_t ofStep = plan.elementsOfStep(plan.slices->product), ofVector = plan.lanes * plan.slices->product.packed;
  return linear((static_cast<int64_t>(sum) * plan.columnVectors + vector) * ofVector + unrollIndex * ofStep,
                {{step, ofStep}, {slice.begin, -ofStep}});
}

Value ContractionEmitter::loadCopy(Value step, size_t sum, int64_t vector) {
  const Product &product = plan.slices->product;
  auto type = VectorType::get({plan.lanes * product.packed}, plan.copied(product.rhs));
  return create<vector::LoadOp>(type, slice.rhs, ValueRange{copyAt(step, sum, vector)});
}
