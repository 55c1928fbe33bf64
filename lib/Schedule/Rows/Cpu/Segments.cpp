//===- Segments.cpp - Vectors that hold whole rows -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Lane l of a vector is position l mod C of row l / C, where C is the length of a row; lanes after the last row are
// idle. Shuffles of a reduction never cross rows, so rows do not see each other's NaN or infinities. The result is in
// every lane of the row, or, for some sums, in its first lane. A vector may be several registers, which the code
// generator splits.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Cpu/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern::schedule;
using namespace quern::schedule::rows;

/// Returns a vector whose lane l is lane source(l) of `v`; -1: undefined.
Value WholeRowEmitter::permuted(Value v, int64_t count, function_ref<int64_t(int64_t)> source) {
  auto lanes = llvm::map_to_vector(llvm::seq<int64_t>(0, count), source);
  return create<vector::ShuffleOp>(v, v, lanes);
}

/// Reduces a vector that holds one row: registers are combined first, then halves of one register. Every lane of one
/// register has the result.
Value WholeRowEmitter::reduceOneRow(Operation *like, Value v) {
  int64_t lanes = vectors.lanes;
  for (; lanes > vectors.registerLanes; lanes /= 2) {
    Value low = permuted(v, lanes / 2, [](int64_t l) { return l; });
    Value high = permuted(v, lanes / 2, [&](int64_t l) { return l + lanes / 2; });
    v = combine(like, low, high);
  }
  for (int64_t distance = std::min<int64_t>(lanes, llvm::PowerOf2Ceil(chain.rowExtent.known())) / 2; distance;
       distance /= 2)
    v = combine(like, permuted(v, lanes, [&](int64_t l) { return l ^ distance; }), v);
  return v;
}

/// Moves position `position(p)` of each row to position p; -1: undefined.
Value WholeRowEmitter::permutedInRows(Value v, function_ref<int64_t(int64_t)> position) {
  int64_t extent = chain.rowExtent.known(), live = vectors.wholeRows * extent;
  return permuted(v, vectors.lanes, [&](int64_t l) {
    int64_t from = l < live ? position(l % extent) : -1;
    return from < 0 ? -1 : l - l % extent + from;
  });
}

/// Reduces several rows whose length is a power of two or whose op is idempotent. All lanes of a row get the result, by
/// exchanges or by doubling windows, which may count an element twice.
Value WholeRowEmitter::reduceManyRows(Operation *like, Value v) {
  int64_t extent = chain.rowExtent.known();
  bool exchanges = llvm::isPowerOf2_64(extent);
  for (int64_t window = 1; window < extent;) {
    int64_t step = std::min(window, extent - window);
    v = combine(like, permutedInRows(v, [&](int64_t p) { return exchanges ? p ^ step : (p + step) % extent; }), v);
    window += step;
  }
  return v;
}

/// Sums each row into its first lane by halving the remainder. Doubling windows would give each lane a different order
/// of summation.
Value WholeRowEmitter::sumToFirstLanes(Operation *like, Value v) {
  int64_t extent = chain.rowExtent.known();
  for (int64_t left = extent; left > 1; left = llvm::divideCeil(left, 2)) {
    int64_t half = llvm::divideCeil(left, 2);
    Value sum = combine(
        like, permutedInRows(v, [&](int64_t p) { return p + half < left    ? p + half
                                                        : p + half == left ? p
                                                                           : -1; }), v);
    if (left % 2) { // the middle element has no partner
      SmallVector<bool> paired(vectors.lanes);
      for (int64_t l = 0; l < vectors.lanes; ++l)
        paired[l] = l % extent != half - 1;
      sum = create<arith::SelectOp>(constant(DenseElementsAttr::get(vec(b.getI1Type()), paired)), sum, v);
    }
    v = sum;
  }
  return v;
}

void WholeRowEmitter::reduceRows(int i) {
  Stage &stage = chain.stages[i];
  const AtOperation scope(*this, stage.op.getLoc());
  Values results = llvm::map_to_vector(stage.inits, [&](TypedAttr init) { return splat(init); });
  MutableArrayRef<Value> accumulators(results);
  accumulate(stage, 0, accumulators);
  for (auto [k, v] : llvm::enumerate(results)) {
    Operation *like = stage.combiner(k);
    if (vectors.wholeRows > 1) {
      bool first = isa<arith::AddFOp, arith::AddIOp>(like) && !llvm::isPowerOf2_64(chain.rowExtent.known());
      reduced[i].push_back({first ? sumToFirstLanes(like, v) : reduceManyRows(like, v), !first});
    } else {
      reduced[i].push_back({reduceOneRow(like, v), true});
    }
  }
}

/// Returns the results of a reduction or a per-row stage: in each lane of the row, or compact in one register,
/// depending on the form that is being emitted.
WholeRowEmitter::Values WholeRowEmitter::compute(int i, int64_t slot) {
  bool single = vectors.wholeRows == 1;
  int64_t extent = chain.rowExtent.known(), live = vectors.wholeRows * extent, rows = vectors.wholeRows,
          registerLanes = vectors.registerLanes;
  Values results;
  if (chain.stages[i].reduces) {
    for (auto [v, everywhere] : reduced[i]) {
      if (compact)
        v = single ? v : permuted(v, registerLanes, [&](int64_t l) { return l < rows ? l * extent : -1; });
      else if (single && vectors.lanes > registerLanes)
        v = permuted(v, vectors.lanes, [&](int64_t l) { return l % registerLanes; });
      else if (!everywhere)
        v = permutedInRows(v, [](int64_t) { return 0; });
      results.push_back(v);
    }
  } else if (compact || !vectors.compactsRows || chain.stages[i].isElementwise()) {
    results = RowEmitter::compute(i, slot);
  } else {
    changeForm();
    results = values(i, slot);
    changeForm();
    for (Value &v : results)
      v = permuted(v, vectors.lanes, [&](int64_t l) {
        return single ? l % registerLanes : l < live ? l / extent : -1;
      });
  }
  return results;
}

void WholeRowEmitter::changeForm() {
  compact = !compact;
  lanesOfValue = compact ? vectors.registerLanes : vectors.lanes;
  std::swap(ofRow.values, otherValues);
}

void WholeRowEmitter::emitIteration(Value iteration) {
  // Whole rows are moved at once, so their memory accesses belong to the last operation.
  const AtOperation scope(*this, chain.stages.back().op.getLoc());
  emitParallelIndices(iteration);
  position = index(0);
  auto some = [&] {
    limitRows();
    emitRowsOfVector();
  };
  if (!vectors.hasPartialVector() || !chain.dims[vectors.vectorDim].extent.isOpen() || !vectors.masksFreely())
    return some();
  // Masks of full registers cost as much as the arithmetic of a short row.
  auto all = [&] {
    partial.assign(1, wholeVector());
    emitRowsOfVector();
    ofRow = {}, ofStep = {};
    otherValues.clear(), reduced.clear();
  };
  Value isWhole = create<arith::CmpIOp>(arith::CmpIPredicate::uge, rowsLeft(), index(vectors.wholeRows));
  choose(isWhole, all, some);
}

/// Emits all stages for the rows of a vector. Everything is computed before anything is written, because the rows may
/// be overwritten in place.
void WholeRowEmitter::emitRowsOfVector() {
  SmallVector<std::pair<const Access *, Value>> outputs;
  for (auto [i, stage] : llvm::enumerate(chain.stages)) {
    if (stage.reduces)
      reduceRows(i);
    if (stage.writesArgument)
      for (auto [access, v] : llvm::zip_equal(stage.outs, values(i, 0)))
        outputs.push_back({&access, v});
  }
  for (auto [access, v] : outputs)
    storeSlot(*access, 0, v);
}

WholeRowEmitter::SlotLanes WholeRowEmitter::wholeVector() {
  const int64_t live = vectors.wholeRows * chain.rowExtent.known();
  SlotLanes lanes;
  lanes.fixed = live < vectors.lanes ? live : -1;
  return lanes;
}

Value WholeRowEmitter::rowsLeft() {
  return create<arith::SubIOp>(index(chain.dims[vectors.vectorDim].extent), parallel[vectors.vectorDim]);
}

/// Sets the vector's lanes: those of its rows, fewer in the last iteration if the number of rows is not a multiple.
void WholeRowEmitter::limitRows() {
  int64_t rows = vectors.wholeRows;
  if (!vectors.hasPartialVector()) {
    partial.assign(1, wholeVector());
    return;
  }
  SlotLanes lanes;
  Value left = rowsLeft();
  rowsHere = create<arith::MinUIOp>(left, index(rows));
  lanes.left = mul(rowsHere, chain.rowExtent);
  if (vectors.masksFreely())
    lanes.mask = prefixMask(lanes.left);
  else
    lanes.isFull = create<arith::CmpIOp>(arith::CmpIPredicate::uge, left, index(rows));
  partial.assign(1, lanes);
}

/// Loads the first `count` elements from `at` on; the other lanes are undefined.
Value WholeRowEmitter::loadFirst(Value memref, Value at, int64_t count) {
  if (count == vectors.lanes || vectors.masksFreely())
    return load(memref, at, vectors.lanes, count < vectors.lanes ? prefixMask(count) : Value());
  Value joined;
  cutIntoPieces(count, [&](int64_t begin, int64_t size) {
    Value piece = load(memref, add(at, begin), size);
    Value spread =
        permuted(piece, vectors.lanes, [&](int64_t l) { return l >= begin && l < begin + size ? l - begin : -1; });
    auto merged = llvm::map_to_vector(llvm::seq<int64_t>(0, vectors.lanes),
                                      [&](int64_t l) { return l < begin ? l : l + vectors.lanes; });
    joined = joined ? create<vector::ShuffleOp>(joined, spread, merged).getResult() : spread;
  });
  return joined;
}

void WholeRowEmitter::storeFirst(Value v, Value memref, Value at, int64_t count) {
  if (count == vectors.lanes || vectors.masksFreely())
    return store(v, memref, at, count < vectors.lanes ? prefixMask(count) : Value());
  cutIntoPieces(count, [&](int64_t begin, int64_t size) {
    store(permuted(v, size, [&](int64_t l) { return l + begin; }), memref, add(at, begin));
  });
}

/// Splits `count` lanes into registers and powers of two.
void WholeRowEmitter::cutIntoPieces(int64_t count, function_ref<void(int64_t, int64_t)> f) {
  for (int64_t begin = 0; begin < count;) {
    int64_t size = std::min<int64_t>(vectors.registerLanes, llvm::bit_floor(static_cast<uint64_t>(count - begin)));
    f(begin, size);
    begin += size;
  }
}

WholeRowEmitter::Values WholeRowEmitter::loadSlot(const Access &access, int64_t &slot) {
  if (vectors.lanesOf(access) == LaneKind::Same)
    return VectorEmitter::loadSlot(access, slot);
  Value memref = kernel.arguments.lookup(access.base), at = rowBase(access);
  int64_t extent = chain.rowExtent.known(), rows = vectors.wholeRows, live = rows * extent;
  auto limited = [&](const SlotLanes &lanes, int64_t count) -> Value {
    if (lanes.left && vectors.masksFreely())
      return load(memref, at, vectors.lanes, lanes.mask);
    auto all = [&] { return Values{loadFirst(memref, at, count)}; };
    return chooseValues(lanes.isFull, vec(access.elementType()), all,
                        [&] { return Values{gatherLanes(access, 0)}; })[0];
  };
  if (vectors.lanesOf(access) == LaneKind::Unit)
    return {limited(partial[0], live)};
  if (vectors.isSameForRows(access))
    return {
        permuted(loadFirst(memref, at, extent), vectors.lanes, [&](int64_t l) { return l < live ? l % extent : -1; })};
  if (!vectors.isOnePerRow(access) || (partial[0].left && !vectors.masksFreely()))
    return {gatherLanes(access, 0)};
  SlotLanes lanes = partial[0];
  if (lanes.left)
    lanes.mask = prefixMask(rowsHere);
  return {permuted(limited(lanes, rows), vectors.lanes, [&](int64_t l) { return l < live ? l / extent : -1; })};
}

void WholeRowEmitter::storeSlot(const Access &access, int64_t slot, Value v) {
  if (!access.isArgument() || vectors.lanesOf(access) == LaneKind::Same)
    return VectorEmitter::storeSlot(access, slot, v);
  Value memref = kernel.arguments.lookup(access.base), at = rowBase(access);
  int64_t extent = chain.rowExtent.known(), rows = vectors.wholeRows, count = rows * extent;
  SlotLanes lanes = partial[0];
  if (vectors.isOnePerRow(access) && (!lanes.left || vectors.masksFreely())) {
    v = permuted(v, vectors.lanes, [&](int64_t l) { return l < rows ? l * extent : -1; });
    count = rows;
    if (lanes.left)
      lanes.mask = prefixMask(rowsHere);
  } else if (vectors.lanesOf(access) != LaneKind::Unit) {
    return scatterLanes(access, 0, v);
  }
  if (lanes.left && vectors.masksFreely())
    store(v, memref, at, lanes.mask);
  else
    choose(lanes.isFull, [&] { storeFirst(v, memref, at, count); }, [&] { scatterLanes(access, 0, v); });
}

/// Emits loops over the rows of the vector that exist and over their positions.
void WholeRowEmitter::forEachLane(const Access &access, int64_t, function_ref<void(Value, Value)> f, bool once) {
  Value base = rowBase(access), count = rowsHere ? rowsHere : index(vectors.wholeRows);
  int64_t positions = once && access.row.isStill() ? 1 : chain.rowExtent.known();
  forRange(index(0), count, [&](Value row) {
    Value first = mul(row, chain.rowExtent);
    Value start = vectors.vectorDim < 0 ? base : add(base, mul(row, access.strides[vectors.vectorDim]));
    forRange(index(0), index(positions), [&](Value at) {
      f(add(first, at), access.row.isStill() ? start : add(start, addressAt(at, access.row)));
    });
  });
}
