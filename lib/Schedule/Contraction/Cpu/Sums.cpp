//===- Sums.cpp - The loops over K of a block ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A step loads the vectors of rhs once and uses them for every row of the block, one element of lhs at a time. Loops
// carry only the sums that they change. Loops over K that differ only in their buffers are merged under an outer loop,
// whose index selects the buffers.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Build/Bodies.h"
#include "Schedule/Build/CpuMemory.h"
#include "Schedule/Contraction/Cpu/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

/// Returns the address of a tile in rhs.
Value ContractionEmitter::tileAddress(unsigned product, Value at, Value firstColumn) {
  if (int64_t stride = plan.tileStrides[product])
    return linear(0, {{at, stride}});
  ArrayRef<Product::Column> columns = chain.products[product].columns;
  int64_t width = plan.width();
  for (; columns.size() > 1 && width % columns[0].extent.known() == 0;
       columns = columns.drop_front()) // a digit that is zero for every tile
    width /= columns[0].extent.known();
  Value rest = width == plan.width() ? firstColumn : linear(0, {{at, width}}), address = index(0);
  for (auto [i, dim] : llvm::enumerate(columns)) {
    bool isLast = i + 1 == columns.size();
    Value digit = isLast ? rest : create<arith::RemUIOp>(rest, index(dim.extent)).getResult();
    address = linear(0, {{address, 1}, {digit, dim.stride}});
    if (!isLast)
      rest = create<arith::DivUIOp>(rest, index(dim.extent));
  }
  return address;
}

/// Returns true if the sums contain, after those of the rows, the corrections of this step's shifted dots.
bool ContractionEmitter::sumsShift(const ContractionPlan::Step &step, size_t sums, int64_t rows) const {
  return plan.dots[step[0]] == Dot::Shifted && static_cast<int64_t>(sums) > rows * plan.perRow;
}

void ContractionEmitter::emitShift() {
  if (!plan.sumsShiftOnce)
    return;
  tile.shift.assign(plan.perRow, splat(b.getI32IntegerAttr(0), plan.lanes));
  for (ArrayRef<ContractionPlan::Step> bufferSets : plan.loops)
    if (plan.dots[bufferSets[0][0]] == Dot::Shifted)
      emitSums(bufferSets, index(0), /*rows=*/0, tile.shift);
}

/// Emits the sums of a block. Patches sum pairs of rows; an odd last row is paired with zeros.
void ContractionEmitter::emitSums(ArrayRef<ContractionPlan::Step> bufferSets, Value row, int64_t rows, Values &sums) {
  if (!isPatch(plan.dots[bufferSets[0][0]]))
    return emitLoops(bufferSets, row, rows, sums);
  Values patches(ArrayRef(sums).take_front(static_cast<size_t>(rows * plan.perRow)));
  patches.resize(static_cast<size_t>(llvm::alignTo(rows, 2) * plan.perRow));
  auto change = [&](function_ref<RowPair(OpBuilder &, Location, RowPair)> to) {
    for (int64_t i = 0; i < rows; i += 2)
      for (unsigned accumulator = group.first; accumulator < group.end; ++accumulator)
        for (int64_t v = 0; v < plan.columnVectors; ++v) {
          Value &first = patches[sumIndex(i, accumulator, v)], &second = patches[sumIndex(i + 1, accumulator, v)];
          std::tie(first, second) = to(b, loc, {first, second ? second : zeros(first.getType())});
        }
  };
  change(contractions::patchesOf);
  emitLoops(bufferSets, row, rows, patches);
  change(contractions::rowsOf);
  std::copy_n(patches.begin(), rows * plan.perRow, sums.begin());
}

void ContractionEmitter::emitLoops(ArrayRef<ContractionPlan::Step> bufferSets, Value row, int64_t rows, Values &sums) {
  const ContractionPlan::Step &step = bufferSets.front();
  const int64_t ofRows = llvm::alignTo(rows, rowsOfDot(plan.dots[step[0]]));
  const AtOperation scope(*this, chain.products[step.front()].loc());
  SmallVector<unsigned> live;
  for (unsigned accumulator = group.first; accumulator < group.end; ++accumulator) {
    auto sumsInto = [&](unsigned product) {
      return llvm::any_of(chain.products[product].sums,
                          [&](const Product::Sum &sum) { return sum.accumulator == accumulator; });
    };
    if (!llvm::any_of(step, sumsInto))
      continue;
    for (int64_t i = 0; i < ofRows + (sumsShift(step, sums.size(), rows) ? 1 : 0); ++i)
      for (int64_t v = 0; v < plan.columnVectors; ++v)
        live.push_back(sumIndex(i, accumulator, v));
  }
  if (live.empty())
    return;
  auto bufferOf = [&](const Product::Factor &factor) { return kernel.arguments.lookup(factor.base); };
  Buffers buffers;
  Values k;
  const Product &first = plan.summed(step[0]);
  ArrayRef<Product::Reduced> reduced = chain.products[step.front()].reduced;
  std::function<void(unsigned)> nest = [&](unsigned depth) {
    if (depth == reduced.size())
      return emitStep(step, buffers, k, row, rows, sums);
    bool isSliced = depth == 0 && slice.begin;
    Value begin = isSliced ? slice.begin : index(0), end = isSliced ? slice.end : index(reduced[depth].extent);
    auto loopOver = [&](Value from, Value to, int64_t by, function_ref<void()> body) {
      auto emit = [&](Value at) {
        k.push_back(at);
        body();
        k.pop_back();
      };
      carry(from, to, by, live, sums, emit);
    };
    const int64_t together = depth + 1 < reduced.size() || !rows ? 1 : plan.kUnroll(first, plan.dots[step[0]]);
    if (together > 1) {
      const bool isDivisible = first.reduced[depth].extent.isMultipleOf(together); // also in each slice of K
      Value whole = isDivisible ? end : endOfWholeGroups(begin, end, together);
      loopOver(begin, whole, together, [&] { emitSteps(step, buffers, k, row, rows, sums, together); });
      if (isDivisible)
        return;
      begin = whole;
    }
    loopOver(begin, end, 1, [&] { nest(depth + 1); });
  };
  auto chooseBuffers = [&](ArrayRef<Value> isReached) { // isReached[i - 1]: iteration i or a later one
    auto choose = [&](function_ref<Value(const ContractionPlan::Step &)> bufferIn) {
      Value chosen = bufferIn(bufferSets[0]);
      for (size_t i = 1; i < bufferSets.size(); ++i)
        chosen = create<arith::SelectOp>(isReached[i - 1], bufferIn(bufferSets[i]), chosen);
      return chosen;
    };
    buffers.lhs = slice.lhs
                      ? slice.lhs
                      : choose([&](const ContractionPlan::Step &own) { return bufferOf(chain.products[own[0]].lhs); });
    for (size_t n = 0; n < step.size(); ++n)
      buffers.rhs.push_back(
          choose([&](const ContractionPlan::Step &own) { return bufferOf(chain.products[own[n]].rhs); }));
  };
  const auto count = static_cast<int64_t>(bufferSets.size());
  if (count == 1) {
    chooseBuffers({});
    return nest(0);
  }
  carry(index(0), index(count), 1, live, sums, [&](Value bufferSet) {
    Values isReached;
    for (int64_t i = 1; i < count; ++i)
      isReached.push_back(create<arith::CmpIOp>(arith::CmpIPredicate::sge, bufferSet, index(i)));
    chooseBuffers(isReached);
    nest(0);
  });
}

/// Returns the end of the last whole group of `steps` steps.
Value ContractionEmitter::endOfWholeGroups(Value begin, Value end, int64_t steps) {
  const std::optional<int64_t> from = getConstantIntValue(begin), to = getConstantIntValue(end);
  if (from && to)
    return index(*to - (*to - *from) % steps);
  return sub(end, create<arith::RemUIOp>(sub(end, begin), index(steps)));
}

/// Emits a loop that carries the live sums.
void ContractionEmitter::carry(Value begin, Value end, int64_t by, ArrayRef<unsigned> live, Values &sums,
                               function_ref<void(Value)> body) {
  auto now = [&] { return llvm::map_to_vector(live, [&](unsigned i) { return sums[i]; }); };
  auto set = [&](const Values &values) {
    for (auto [i, value] : llvm::zip_equal(live, values))
      sums[i] = value;
  };
  set(loop(begin, end, index(by), now(), [&](Value at, const Values &carried) {
    set(carried);
    body(at);
    return now();
  }));
}

void ContractionEmitter::loadStep(const ContractionPlan::Step &step, const Buffers &buffers, ArrayRef<Value> k,
                                  int64_t rows, function_ref<void(Loaded)> take) {
  for (auto [n, number] : llvm::enumerate(step)) {
    const Product &product = plan.summed(number);
    for (auto [which, sum] : llvm::enumerate(product.sums))
      for (int64_t v = 0; group.contains(sum.accumulator) && v < plan.columnVectors && tile.vectors[v].count; ++v) {
        if (plan.prefetches && rows > 1)
          prefetch(number, buffers.rhs[n], k, which, v, rows);
        if (slice.begin && plan.slices->fetchesNext && rows == plan.blockRows)
          prefetchNext(buffers.rhs[n], rhsAt(number, k, which, v));
        const Dot dot = plan.dots[number];
        auto takeLoaded = [&](Value loaded, unsigned half) {
          for (Value &element : prepareRhs(b, product, dot, loaded, plan.lanes))
            take({number, sum.accumulator, static_cast<unsigned>(v), half++, {element}});
        };
        if (isPatch(dot) && !slice.rhs && !plan.masksRhs(product)) { // one register after another
          Value at = rhsAt(number, k, which, v);
          const int64_t ofRegister = plan.lanes * product.packed / 2;
          for (unsigned half : {0U, 1U})
            takeLoaded(
                loadVector(buffers.rhs[n], linear(half * ofRegister, {{at, 1}}), ofRegister, Value(), ofRegister),
                half);
          continue;
        }
        Value loaded = slice.rhs ? loadCopy(k[0], which, v) : loadRhs(number, buffers.rhs[n], k, which, v);
        if (isPatch(dot))
          takeLoaded(loaded, 0);
        else
          take({number, sum.accumulator, static_cast<unsigned>(v), 0, prepareRhs(b, product, dot, loaded, plan.lanes)});
      }
  }
}

/// Returns the address of a row's elements of lhs.
Value ContractionEmitter::lhsAt(const Product &product, ArrayRef<Value> k, Value row) {
  SmallVector<Term> terms{{row, product.lhsRow}};
  for (auto [at, loop] : llvm::zip_equal(k, product.reduced))
    terms.push_back({at, loop.lhs});
  if (slice.lhs)
    terms.append({{chunkRow, -product.lhsRow.known()}, {slice.begin, -product.reduced[0].lhs.known()}});
  return linear(product.lhs.offset, terms);
}

/// Adds to the sums of a row, or of the patches of a pair of rows.
void ContractionEmitter::addTo(Values &sums, int64_t rows, Dot dot, ArrayRef<Value> lhs, const Loaded &rhs) {
  const Product &product = plan.summed(rhs.product);
  if (isPatch(dot)) {
    Value &sum = sums[sumIndex(2 * rows + rhs.half, rhs.accumulator, rhs.vector)];
    sum = accumulatePatches(b, product, lhs[0], rhs.elements[0], sum);
    return;
  }
  Value &sum = sums[sumIndex(rows, rhs.accumulator, rhs.vector)];
  sum = accumulate(b, product, dot, lhs, rhs.elements, sum);
}

/// Returns the operands of a row, or of the patches of a pair, for one of the steps that `ofRows` has.
SmallVector<Value, 4> ContractionEmitter::lhsOfRows(const Product &product, Dot dot, ArrayRef<Value> ofRows,
                                                    int64_t rows, int64_t step) {
  if (!isPatch(dot))
    return lhsOfStep(b, product, dot, ofRows[rows], step, plan.lanes);
  const auto first = static_cast<size_t>(2 * rows);
  Value second = ofRows[std::min(first + 1, ofRows.size() - 1)]; // the sums of a missing second row are not used
  return {patchOfLhs(b, product, ofRows[first], second, step)};
}

/// Emits several steps whose lhs elements are one vector per row. Only a few vectors of rhs are loaded at a time.
void ContractionEmitter::emitSteps(const ContractionPlan::Step &step, const Buffers &buffers, ArrayRef<Value> k,
                                   Value row, int64_t rows, Values &sums, int64_t together) {
  const Product &first = plan.summed(step[0]);
  const Dot dot = plan.dots[step[0]];
  Value at = lhsAt(first, k, row);
  Values prepared;
  SmallVector<SmallVector<Value>> patches(
      together); // loaded for all steps at once, so that rows need no registers afterwards
  for (int64_t i = 0; i < rows; ++i) {
    auto type = VectorType::get({together * first.packed}, cast<MemRefType>(buffers.lhs.getType()).getElementType());
    Value place = linear(0, {{at, 1}, {index(i), first.lhsRow}});
    prepared.push_back(prepareLhsOfSteps(b, first, dot, create<vector::LoadOp>(type, buffers.lhs, ValueRange{place})));
    if (isPatch(dot) && (i % 2 || i + 1 == rows))
      for (auto [which, ofStep] : llvm::enumerate(patches))
        ofStep.push_back(lhsOfRows(first, dot, prepared, i / 2, static_cast<int64_t>(which))[0]);
  }
  auto lhsAtStep = [&](int64_t which) {
    LhsOfRows lhs;
    for (int64_t i = 0; i < contractions::ceilDiv(rows, rowsOfDot(dot)); ++i)
      if (isPatch(dot))
        lhs.push_back({patches[static_cast<size_t>(which)][static_cast<size_t>(i)]});
      else
        lhs.push_back(lhsOfRows(first, dot, prepared, i, which));
    if (sumsShift(step, sums.size(), rows))
      lhs.push_back(prepareShift(b, first, plan.lanes));
    return lhs;
  };
  if (plan.loadsRuns(step, rows))
    return emitRuns(step, buffers, k, llvm::map_to_vector(llvm::seq<int64_t>(0, together), lhsAtStep), sums);
  for (unrollIndex = 0; unrollIndex < together; ++unrollIndex) {
    const LhsOfRows lhs = lhsAtStep(unrollIndex);
    SmallVector<Loaded, ContractionPlan::rhsVectorsInFlight> vectors;
    auto addVectors = [&] {
      for (const Loaded &rhs : vectors)
        for (auto [i, own] : llvm::enumerate(lhs))
          addTo(sums, static_cast<int64_t>(i), dot, own, rhs);
      vectors.clear();
    };
    loadStep(step, buffers, k, rows, [&](Loaded rhs) {
      vectors.push_back(std::move(rhs));
      if (isPatch(dot) || vectors.size() == ContractionPlan::rhsVectorsInFlight)
        addVectors();
    });
    addVectors();
  }
  unrollIndex = 0;
}

/// Loads one vector of rhs after another, each for all steps.
void ContractionEmitter::emitRuns(const ContractionPlan::Step &step, const Buffers &buffers, ArrayRef<Value> k,
                                  ArrayRef<LhsOfRows> ofSteps, Values &sums) {
  for (auto [n, number] : llvm::enumerate(step)) {
    const Product &product = plan.summed(number);
    const Dot dot = plan.dots[number];
    const int64_t ofVector = plan.lanes * product.packed, all = ofVector * static_cast<int64_t>(ofSteps.size());
    for (auto [which, sum] : llvm::enumerate(product.sums))
      for (int64_t v = 0; group.contains(sum.accumulator) && v < plan.columnVectors && tile.vectors[v].count; ++v) {
        Value run = loadVector(buffers.rhs[n], rhsAt(number, k, which, v), all, Value(), all);
        for (auto [unrollIndex, lhs] : llvm::enumerate(ofSteps)) {
          const int64_t from = static_cast<int64_t>(unrollIndex) * ofVector;
          Value own = create<vector::ShuffleOp>(run, run, llvm::to_vector(llvm::seq(from, from + ofVector)));
          Values elements(prepareRhs(b, product, dot, own, plan.lanes));
          auto add = [&](unsigned half, Values factors) {
            const Loaded rhs{number, sum.accumulator, static_cast<unsigned>(v), half, {std::move(factors)}};
            for (auto [i, of] : llvm::enumerate(lhs))
              addTo(sums, static_cast<int64_t>(i), dot, of, rhs);
          };
          if (!isPatch(dot)) {
            add(0, elements);
            continue;
          }
          for (auto [half, element] : llvm::enumerate(elements))
            add(static_cast<unsigned>(half), {element});
        }
      }
  }
}

/// A single row, or pair of rows of patches, uses each vector of rhs only once, which frees its register at once.
/// Patches have as many vectors of rhs as sums of a pair, so lhs is kept in registers instead.
void ContractionEmitter::emitStep(const ContractionPlan::Step &step, const Buffers &buffers, ArrayRef<Value> k,
                                  Value row, int64_t rows, Values &sums) {
  const Product &first = plan.summed(step[0]);
  Value from = lhsAt(first, k, row);
  Dot dot = plan.dots[step[0]];
  const int64_t together = plan.rowsPerLhsLoad(first, dot);
  Value ofRows; // starts at row `begin`
  int64_t begin = -1;
  auto lhsOf = [&](int64_t i) {
    auto placeOf = [&](int64_t which) { return linear(0, {{from, 1}, {index(which), first.lhsRow}}); };
    if (together == 1 || rows < together)
      return prepareLhs(b, first, dot, loadLhs(first, dot, buffers.lhs, placeOf(i)), plan.lanes);
    if (const int64_t wanted = std::min(i / together * together, rows - together); wanted != begin) {
      begin = wanted; // overlaps the previous rows if the height is not a multiple
      auto type = VectorType::get({together * first.packed}, cast<MemRefType>(buffers.lhs.getType()).getElementType());
      Value loaded = create<vector::LoadOp>(type, buffers.lhs, ValueRange{placeOf(begin)});
      ofRows = prepareLhsOfSteps(b, first, dot, loaded);
    }
    return lhsOfStep(b, first, dot, ofRows, i - begin, plan.lanes);
  };
  auto lhsOfUnit = [&](int64_t unit) {
    if (!isPatch(dot))
      return lhsOf(unit);
    Values pair;
    for (int64_t i = 2 * unit; i < std::min(rows, 2 * unit + 2); ++i)
      pair.push_back(lhsOf(i)[0]);
    return lhsOfRows(first, dot, pair, 0, 0);
  };
  bool addsShift = sumsShift(step, sums.size(), rows);
  const bool isShiftAlone = !rows && 2 * plan.perRow >= plan.strategy.registers;
  if (((rows == 1 || isPatch(dot)) && !addsShift) || isShiftAlone) {
    auto lhs = llvm::map_to_vector(llvm::seq<int64_t>(0, contractions::ceilDiv(rows, rowsOfDot(dot))), lhsOfUnit);
    if (isShiftAlone)
      lhs.push_back(prepareShift(b, first, plan.lanes));
    return loadStep(step, buffers, k, rows, [&](const Loaded &rhs) {
      for (auto [i, own] : llvm::enumerate(lhs))
        addTo(sums, static_cast<int64_t>(i), dot, own, rhs);
    });
  }
  SmallVector<Loaded> vectors;
  loadStep(step, buffers, k, rows, [&](Loaded rhs) { vectors.push_back(std::move(rhs)); });
  auto addRow = [&](int64_t i, ArrayRef<Value> lhs) {
    for (const Loaded &rhs : vectors)
      addTo(sums, i, dot, lhs, rhs);
  };
  for (int64_t i = 0; i < contractions::ceilDiv(rows, rowsOfDot(dot)); ++i)
    addRow(i, lhsOfUnit(i));
  if (addsShift)
    addRow(rows, prepareShift(b, first, plan.lanes));
}

/// Packed elements are loaded as one vector, if all of them are multiplied.
ContractionEmitter::Values ContractionEmitter::loadLhs(const Product &product, Dot dot, Value buffer, Value at) {
  if (isPackedDot(dot) && product.taken == product.packed)
    return {
        create<vector::LoadOp>(VectorType::get({product.packed}, cast<MemRefType>(buffer.getType()).getElementType()),
                               buffer, ValueRange{at})};
  Values elements;
  for (int64_t i = 0; i < product.taken; ++i)
    elements.push_back(loadScalar(buffer, linear(i, {{at, 1}})));
  return elements;
}

/// Returns the address of a vector of columns of one of the product's sums.
Value ContractionEmitter::rhsAt(unsigned number, ArrayRef<Value> k, size_t sum, int64_t vector) {
  const Product &product = chain.products[number];
  const RhsAddress &place = tile.rhs[number][vector];
  SmallVector<Term> terms{{place.base, 1}};
  for (auto [step, loop] : llvm::zip_equal(k, product.reduced))
    terms.push_back({step, loop.rhs});
  const int64_t ahead = unrollIndex ? unrollIndex * product.reduced.back().rhs.known() : 0;
  return linear(product.sums[sum].offset + place.offset + ahead, terms);
}

/// Hardware prefetchers follow a panel only to the end of a page, and only into L2. The next tile's panel follows this
/// one.
void ContractionEmitter::prefetch(unsigned number, Value buffer, ArrayRef<Value> k, size_t sum, int64_t vector,
                                  int64_t rows) {
  const Product &product = chain.products[number];
  int64_t element = bytesOf(product.rhs.element());
  if (vector % std::max<int64_t>(1, lineBytes / (plan.lanes * product.packed * element)))
    return; // same cache line as the vector before
  auto ask = [&](int64_t bytes, unsigned locality) {
    create<memref::PrefetchOp>(buffer, ValueRange{linear(bytes / element, {{rhsAt(number, k, sum, vector), 1}})},
                               /*isWrite=*/false, locality,
                               /*isDataCache=*/true);
  };
  if (plan.strategy.l2PrefetchBytes)
    ask(plan.strategy.l2PrefetchBytes, 3);
  if (plan.strategy.memoryPrefetchBytes && rows == plan.tallest())
    ask(plan.strategy.memoryPrefetchBytes, 2);
}

/// Prefetches the same vector of the next slice of K into L2.
void ContractionEmitter::prefetchNext(Value buffer, Value at) {
  Value next = linear(plan.slices->steps * plan.slices->product.reduced[0].rhs.known(), {{at, 1}});
  create<memref::PrefetchOp>(buffer, ValueRange{next}, /*isWrite=*/false, /*locality=*/2, /*isDataCache=*/true);
}

/// Loads a vector of columns of one of the product's sums.
Value ContractionEmitter::loadRhs(unsigned number, Value buffer, ArrayRef<Value> k, size_t sum, int64_t vector) {
  const Product &product = chain.products[number];
  const RhsAddress &place = tile.rhs[number][vector];
  Value at = rhsAt(number, k, sum, vector);
  const ColumnLanes &lanes = place.lanes;
  int64_t wide = plan.lanes * product.packed;
  if (product.isStrided())
    return loadStrided(buffer, at, lanes, product.columnStride,
                       plan.readsPastEnd(product) ? std::optional(product.readable.known()) : std::nullopt);
  if (!plan.masksRhs(product))
    return loadVector(buffer, at, wide, Value(), wide);
  Value mask = lanes.mask && product.packed > 1 ? columnMask(linear(lanes.offset, {{lanes.first, 1}}), product.packed)
                                                : lanes.mask;
  return loadVector(buffer, at, wide, mask, lanes.count * product.packed);
}

/// Returns the lane, or the last one that has a column. `columns`: number of existing columns, if masks exclude some.
Value ContractionEmitter::clampToColumns(int64_t lane, const ColumnLanes &lanes, std::optional<int64_t> columns) {
  Value own = index(std::min(lane, lanes.count - 1));
  return lanes.mask && columns
             ? create<arith::MinSIOp>(own, linear(*columns - 1 - lanes.offset, {{lanes.first, -1}})).getResult()
             : own;
}

/// Loads strided elements one by one.
Value ContractionEmitter::loadStrided(Value buffer, Value at, const ColumnLanes &lanes, Size stride,
                                      std::optional<int64_t> columns) {
  Values elements;
  for (int64_t lane = 0; lane < plan.lanes; ++lane)
    elements.push_back(loadScalar(buffer, linear(0, {{at, 1}, {clampToColumns(lane, lanes, columns), stride}})));
  return create<vector::FromElementsOp>(
      VectorType::get({plan.lanes}, cast<MemRefType>(buffer.getType()).getElementType()), elements);
}
