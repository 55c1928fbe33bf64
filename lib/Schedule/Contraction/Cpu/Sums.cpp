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
#include "Schedule/Contraction/Cpu/Sums.h"

#include "Schedule/Build/Bodies.h"
#include "Schedule/Build/CpuMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <utility>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

namespace {

using Step = KPlan::Step;
using Operands = SmallVector<Value, 4>;
/// The lhs operands of the dots of a step, by row or pair of rows.
using LhsOfRows = SmallVector<Operands>;

/// A vector of rhs in a step.
struct Loaded {
  unsigned product, accumulator, vector, half; ///< `half`: for patches, the half of the vector's columns
  Operands elements;
};

/// Merged loops over K, for the sums of one block.
class LoopSums {
public:
  LoopSums(ContractionBuilder &ir, const ContractionPlan &plan, const Tile &tile, const KSlice &slice,
           const RowBlock &block, ArrayRef<Step> bufferSets, Values &sums)
      : ir(ir), plan(plan), chain(plan.chain), columns(plan.tile), tile(tile), slice(slice), block(block),
        bufferSets(bufferSets), step(bufferSets.front()), first(plan.summed(step[0])), dot(plan.k.dots[step[0]]),
        units(ceilDiv(block.rows, rowsOfDot(dot))), sums(sums),
        addsShift(dot == Dot::Shifted && static_cast<int64_t>(sums.size()) > block.rows * columns.perRow) {}
  void emit();

private:
  void findLiveSums();
  void chooseBuffers(ArrayRef<Value> isReached);
  void nest(unsigned depth);
  void carry(Value begin, Value end, int64_t by, function_ref<void(Value)> body);
  void emitStep();
  void emitSteps(int64_t together);
  void emitRuns(ArrayRef<LhsOfRows> ofSteps);
  void loadStep(function_ref<void(Loaded)> take);
  void prefetch(unsigned number, size_t n, size_t sum, int64_t vector);
  void addTo(int64_t unit, ArrayRef<Value> lhs, const Loaded &rhs);
  Value lhsAt(Value row);
  Values loadLhs(Value at);
  Value loadLhs(Value at, int64_t together);
  Operands lhsOfUnit(ArrayRef<Value> ofRows, int64_t unit, int64_t step);
  /// Calls `body` for each vector of rhs that a step of `product` multiplies into sums of the block's group.
  void forVectors(const Product &product, function_ref<void(size_t which, unsigned accumulator, int64_t v)> body) {
    for (auto [which, sum] : llvm::enumerate(product.sums))
      if (block.group.contains(sum.accumulator))
        tile.forVectors([&](int64_t v) { body(which, sum.accumulator, v); });
  }
  /// Returns the address of a vector of rhs in memory.
  Value rhsAt(unsigned number, size_t which, int64_t v) {
    return tile.rhsAt(number, k, which, v, unrollOffset(number));
  }
  int64_t unrollOffset(unsigned number) {
    return unrollIndex ? unrollIndex * chain.products[number].reduced.back().rhs.known() : 0;
  }

  ContractionBuilder &ir;
  const ContractionPlan &plan;
  const Chain &chain;
  const ColumnPlan &columns;
  const Tile &tile;
  const KSlice &slice;
  const RowBlock &block;
  ArrayRef<Step> bufferSets;
  const Step &step; ///< the products of a step, with the first buffers
  const Product &first;
  const Dot dot;
  const int64_t units; ///< rows, or pairs of rows of patches
  Values &sums;
  const bool addsShift;       ///< true if the sums contain corrections after those of the rows
  SmallVector<unsigned> live; ///< indices of the sums that change
  Value lhsBuffer;
  Values rhsBuffers;       ///< one for each product of the step
  Values k;                ///< indices of the loops around the present step
  int64_t unrollIndex = 0; ///< index of the unrolled step whose rhs is being read
};

void LoopSums::emit() {
  const KernelBuilder::AtOperation scope(ir, chain.products[step.front()].loc());
  findLiveSums();
  if (live.empty())
    return;
  const auto count = static_cast<int64_t>(bufferSets.size());
  if (count == 1) {
    chooseBuffers({});
    return nest(0);
  }
  carry(ir.index(0), ir.index(count), 1, [&](Value bufferSet) {
    Values isReached;
    for (int64_t i = 1; i < count; ++i)
      isReached.push_back(ir.compare(arith::CmpIPredicate::sge, bufferSet, i));
    chooseBuffers(isReached);
    nest(0);
  });
}

void LoopSums::findLiveSums() {
  for (unsigned accumulator = block.group.first; accumulator < block.group.end; ++accumulator) {
    auto sumsInto = [&](unsigned product) {
      return llvm::any_of(chain.products[product].sums,
                          [&](const Product::Sum &sum) { return sum.accumulator == accumulator; });
    };
    if (!llvm::any_of(step, sumsInto))
      continue;
    for (int64_t i = 0; i < units * rowsOfDot(dot) + (addsShift ? 1 : 0); ++i)
      for (int64_t v = 0; v < columns.columnVectors; ++v)
        live.push_back(columns.sumIndex(i, accumulator, v));
  }
}

/// Selects the buffers of the current iteration of the outer loop. `isReached[i - 1]` is true from iteration i on.
void LoopSums::chooseBuffers(ArrayRef<Value> isReached) {
  auto choose = [&](function_ref<Value(const Step &)> baseIn) {
    Value chosen = ir.buffer(baseIn(bufferSets[0]));
    for (size_t i = 1; i < bufferSets.size(); ++i)
      chosen = ir.create<arith::SelectOp>(isReached[i - 1], ir.buffer(baseIn(bufferSets[i])), chosen);
    return chosen;
  };
  lhsBuffer = slice.lhs ? slice.lhs : choose([&](const Step &own) { return chain.products[own[0]].lhs.base; });
  for (size_t n = 0; n < step.size(); ++n)
    rhsBuffers.push_back(choose([&](const Step &own) { return chain.products[own[n]].rhs.base; }));
}

/// Emits the loops over K from `depth` on.
void LoopSums::nest(unsigned depth) {
  ArrayRef<Product::Reduced> reduced = chain.products[step.front()].reduced;
  if (depth == reduced.size())
    return emitStep();
  bool isSliced = depth == 0 && slice.begin;
  Value begin = isSliced ? slice.begin : ir.index(0), end = isSliced ? slice.end : ir.index(reduced[depth].extent);
  auto loopOver = [&](Value from, Value to, int64_t by, function_ref<void()> body) {
    carry(from, to, by, [&](Value at) {
      k.push_back(at);
      body();
      k.pop_back();
    });
  };
  const int64_t together = depth + 1 < reduced.size() || !block.rows ? 1 : plan.kUnroll(first, dot);
  if (together > 1) {
    const bool isDivisible = first.reduced[depth].extent.isMultipleOf(together); // also in each slice of K
    Value whole = isDivisible ? end : ir.endOfWhole(begin, end, together);
    loopOver(begin, whole, together, [&] { emitSteps(together); });
    if (isDivisible)
      return;
    begin = whole;
  }
  loopOver(begin, end, 1, [&] { nest(depth + 1); });
}

/// Emits a loop that carries the live sums.
void LoopSums::carry(Value begin, Value end, int64_t by, function_ref<void(Value)> body) {
  auto now = [&] { return llvm::map_to_vector(live, [&](unsigned i) { return sums[i]; }); };
  auto set = [&](const Values &values) {
    for (auto [i, value] : llvm::zip_equal(live, values))
      sums[i] = value;
  };
  set(ir.loop(begin, end, ir.index(by), now(), [&](Value at, const Values &carried) {
    set(carried);
    body(at);
    return now();
  }));
}

void LoopSums::loadStep(function_ref<void(Loaded)> take) {
  for (auto [n, number] : llvm::enumerate(step)) {
    const Product &product = plan.summed(number);
    forVectors(product, [&](size_t which, unsigned accumulator, int64_t v) {
      prefetch(number, n, which, v);
      auto takeLoaded = [&](Value loaded, unsigned half) {
        for (Value &element : prepareRhs(ir.b, product, dot, loaded, columns.lanes))
          take({number, accumulator, static_cast<unsigned>(v), half++, {element}});
      };
      if (isPatch(dot) && !slice.rhs && !columns.masksRhs(product)) { // one register after another
        Value at = rhsAt(number, which, v);
        const int64_t ofRegister = columns.lanes * product.packed / 2;
        for (unsigned half : {0U, 1U})
          takeLoaded(ir.load(rhsBuffers[n], ir.linear(half * ofRegister, {{at, 1}}), ofRegister), half);
        return;
      }
      Value loaded = slice.rhs ? ir.load(slice.rhs, slice.rhsAt(ir, plan, k[0], which, v, unrollIndex),
                                         columns.lanes * product.packed)
                               : tile.loadRhs(number, rhsBuffers[n], k, which, v, unrollOffset(number));
      if (isPatch(dot))
        takeLoaded(loaded, 0);
      else
        take({number, accumulator, static_cast<unsigned>(v), 0, prepareRhs(ir.b, product, dot, loaded, columns.lanes)});
    });
  }
}

/// Prefetches the panel, which hardware prefetchers follow only to the end of a page, and only into L2; the next tile's
/// panel follows this one. If the plan requests it, also prefetches the same vector of the next slice of K into L2.
void LoopSums::prefetch(unsigned number, size_t n, size_t sum, int64_t vector) {
  const ContractionStrategy &strategy = plan.strategy;
  const Product &product = chain.products[number];
  const int64_t element = bytesOf(product.rhs.element());
  auto ask = [&](int64_t elements, unsigned locality) {
    ir.prefetch(rhsBuffers[n], ir.linear(elements, {{rhsAt(number, sum, vector), 1}}), locality);
  };
  const bool startsLine = vector % std::max<int64_t>(1, lineBytes / (columns.lanes * product.packed * element)) == 0;
  if (plan.k.prefetches && block.rows > 1 && startsLine) {
    if (strategy.l2PrefetchBytes)
      ask(strategy.l2PrefetchBytes / element, 3);
    if (strategy.memoryPrefetchBytes && block.rows == plan.rows.tallest())
      ask(strategy.memoryPrefetchBytes / element, 2);
  }
  if (slice.begin && plan.k.slices->fetchesNext && block.rows == plan.rows.blockRows)
    ask(plan.k.slices->steps * plan.k.slices->product.reduced[0].rhs.known(), 2);
}

/// Returns the address of a row's elements of lhs.
Value LoopSums::lhsAt(Value row) {
  SmallVector<ContractionBuilder::Term> terms{{row, first.lhsRow}};
  for (auto [at, loop] : llvm::zip_equal(k, first.reduced))
    terms.push_back({at, loop.lhs});
  if (slice.lhs)
    terms.append({{block.scratchRow, -first.lhsRow.known()}, {slice.begin, -first.reduced[0].lhs.known()}});
  return ir.linear(first.lhs.offset, terms);
}

/// Adds the products with a vector of rhs to the sums of a row, or to the patches of a pair of rows.
void LoopSums::addTo(int64_t unit, ArrayRef<Value> lhs, const Loaded &rhs) {
  const Product &product = plan.summed(rhs.product);
  if (isPatch(dot)) {
    Value &sum = sums[columns.sumIndex(2 * unit + rhs.half, rhs.accumulator, rhs.vector)];
    sum = accumulatePatches(ir.b, product, lhs[0], rhs.elements[0], sum);
    return;
  }
  Value &sum = sums[columns.sumIndex(unit, rhs.accumulator, rhs.vector)];
  sum = accumulate(ir.b, product, dot, lhs, rhs.elements, sum);
}

/// Returns the lhs operands of a row, or of the patches of a pair of rows, at a step. `ofRows` has the elements of
/// several steps by row.
Operands LoopSums::lhsOfUnit(ArrayRef<Value> ofRows, int64_t unit, int64_t step) {
  if (!isPatch(dot))
    return lhsOfStep(ir.b, first, dot, ofRows[unit], step, columns.lanes);
  const auto top = static_cast<size_t>(2 * unit);
  Value second = ofRows[std::min(top + 1, ofRows.size() - 1)]; // the sums of a missing second row are not used
  return {patchOfLhs(ir.b, first, ofRows[top], second, step)};
}

/// Loads the elements of several steps or rows as one vector.
Value LoopSums::loadLhs(Value at, int64_t together) {
  return prepareLhsOfSteps(ir.b, first, dot, ir.load(lhsBuffer, at, together * first.packed));
}

/// Emits several steps whose lhs elements are one vector per row. Only a few vectors of rhs are loaded at a time.
void LoopSums::emitSteps(int64_t together) {
  Value at = lhsAt(block.row);
  Values prepared;
  SmallVector<SmallVector<Value>> patches(
      together); // loaded for all steps at once, so that rows need no registers afterwards
  for (int64_t i = 0; i < block.rows; ++i) {
    prepared.push_back(loadLhs(ir.linear(0, {{at, 1}, {ir.index(i), first.lhsRow}}), together));
    if (isPatch(dot) && (i % 2 || i + 1 == block.rows))
      for (auto [which, ofStep] : llvm::enumerate(patches))
        ofStep.push_back(lhsOfUnit(prepared, i / 2, static_cast<int64_t>(which))[0]);
  }
  auto lhsAtStep = [&](int64_t which) {
    LhsOfRows lhs;
    for (int64_t i = 0; i < units; ++i)
      if (isPatch(dot))
        lhs.push_back({patches[static_cast<size_t>(which)][static_cast<size_t>(i)]});
      else
        lhs.push_back(lhsOfUnit(prepared, i, which));
    if (addsShift)
      lhs.push_back(prepareShift(ir.b, first, columns.lanes));
    return lhs;
  };
  if (plan.loadsRuns(step, block.rows))
    return emitRuns(llvm::map_to_vector(llvm::seq<int64_t>(0, together), lhsAtStep));
  for (unrollIndex = 0; unrollIndex < together; ++unrollIndex) {
    const LhsOfRows lhs = lhsAtStep(unrollIndex);
    SmallVector<Loaded, ContractionPlan::rhsVectorsInFlight> vectors;
    auto addVectors = [&] {
      for (const Loaded &rhs : vectors)
        for (auto [i, own] : llvm::enumerate(lhs))
          addTo(static_cast<int64_t>(i), own, rhs);
      vectors.clear();
    };
    loadStep([&](Loaded rhs) {
      vectors.push_back(std::move(rhs));
      if (isPatch(dot) || vectors.size() == ContractionPlan::rhsVectorsInFlight)
        addVectors();
    });
    addVectors();
  }
  unrollIndex = 0;
}

/// Loads one vector of rhs after another, each for all steps.
void LoopSums::emitRuns(ArrayRef<LhsOfRows> ofSteps) {
  for (auto [n, number] : llvm::enumerate(step)) {
    const Product &product = plan.summed(number);
    const int64_t ofVector = columns.lanes * product.packed, all = ofVector * static_cast<int64_t>(ofSteps.size());
    forVectors(product, [&](size_t which, unsigned accumulator, int64_t v) {
      Value run = ir.load(rhsBuffers[n], rhsAt(number, which, v), all);
      for (auto [i, lhs] : llvm::enumerate(ofSteps)) {
        const int64_t from = static_cast<int64_t>(i) * ofVector;
        Value own = ir.create<vector::ShuffleOp>(run, run, llvm::to_vector(llvm::seq(from, from + ofVector)));
        Operands elements = prepareRhs(ir.b, product, dot, own, columns.lanes);
        auto add = [&](unsigned half, Operands factors) {
          const Loaded rhs{number, accumulator, static_cast<unsigned>(v), half, std::move(factors)};
          for (auto [unit, of] : llvm::enumerate(lhs))
            addTo(static_cast<int64_t>(unit), of, rhs);
        };
        if (!isPatch(dot)) {
          add(0, elements);
          continue;
        }
        for (auto [half, element] : llvm::enumerate(elements))
          add(static_cast<unsigned>(half), {element});
      }
    });
  }
}

/// Emits one step. A single row, or pair of rows of patches, uses each vector of rhs only once, which frees its
/// register. Patches have as many vectors of rhs as sums of a pair, so lhs is kept in registers instead.
void LoopSums::emitStep() {
  const int64_t rows = block.rows, together = plan.rowsPerLhsLoad(first, dot);
  Value from = lhsAt(block.row);
  Value ofRows; // starts at row `begin`
  int64_t begin = -1;
  auto lhsOf = [&](int64_t i) {
    auto placeOf = [&](int64_t which) { return ir.linear(0, {{from, 1}, {ir.index(which), first.lhsRow}}); };
    if (together == 1 || rows < together)
      return prepareLhs(ir.b, first, dot, loadLhs(placeOf(i)), columns.lanes);
    if (const int64_t wanted = std::min(i / together * together, rows - together); wanted != begin) {
      begin = wanted; // overlaps the previous rows if the height is not a multiple
      ofRows = loadLhs(placeOf(begin), together);
    }
    return lhsOfStep(ir.b, first, dot, ofRows, i - begin, columns.lanes);
  };
  auto lhsOfRows = [&](int64_t unit) {
    if (!isPatch(dot))
      return lhsOf(unit);
    Values pair;
    for (int64_t i = 2 * unit; i < std::min(rows, 2 * unit + 2); ++i)
      pair.push_back(lhsOf(i)[0]);
    return lhsOfUnit(pair, 0, 0);
  };
  const bool isShiftAlone = !rows && 2 * columns.perRow >= plan.strategy.registers;
  if (((rows == 1 || isPatch(dot)) && !addsShift) || isShiftAlone) {
    auto lhs = llvm::map_to_vector(llvm::seq<int64_t>(0, units), lhsOfRows);
    if (isShiftAlone)
      lhs.push_back(prepareShift(ir.b, first, columns.lanes));
    return loadStep([&](const Loaded &rhs) {
      for (auto [i, own] : llvm::enumerate(lhs))
        addTo(static_cast<int64_t>(i), own, rhs);
    });
  }
  SmallVector<Loaded> vectors;
  loadStep([&](Loaded rhs) { vectors.push_back(std::move(rhs)); });
  auto addRow = [&](int64_t i, ArrayRef<Value> lhs) {
    for (const Loaded &rhs : vectors)
      addTo(i, lhs, rhs);
  };
  for (int64_t i = 0; i < units; ++i)
    addRow(i, lhsOfRows(i));
  if (addsShift)
    addRow(rows, prepareShift(ir.b, first, columns.lanes));
}

/// Loads the lhs elements of a row at a step: packed elements as one vector if all are multiplied, others one by one.
Values LoopSums::loadLhs(Value at) {
  if (isPackedDot(dot) && first.taken == first.packed)
    return {ir.load(lhsBuffer, at, first.packed)};
  Values elements;
  for (int64_t i = 0; i < first.taken; ++i)
    elements.push_back(ir.loadScalar(lhsBuffer, ir.linear(i, {{at, 1}})));
  return elements;
}

} // namespace

/// Patches sum pairs of rows; an odd last row is paired with zeros.
void contractions::addProducts(ContractionBuilder &ir, const ContractionPlan &plan, const Tile &tile,
                               const KSlice &slice, const RowBlock &block, ArrayRef<KPlan::Step> bufferSets,
                               Values &sums) {
  const int64_t rows = block.rows, perRow = plan.tile.perRow;
  if (!isPatch(plan.k.dots[bufferSets[0][0]]))
    return LoopSums(ir, plan, tile, slice, block, bufferSets, sums).emit();
  Values patches(ArrayRef(sums).take_front(static_cast<size_t>(rows * perRow)));
  patches.resize(static_cast<size_t>(llvm::alignTo(rows, 2) * perRow));
  auto change = [&](function_ref<RowPair(OpBuilder &, Location, RowPair)> to) {
    for (int64_t i = 0; i < rows; i += 2)
      for (unsigned accumulator = block.group.first; accumulator < block.group.end; ++accumulator)
        for (int64_t v = 0; v < plan.tile.columnVectors; ++v) {
          Value &first = patches[plan.tile.sumIndex(i, accumulator, v)],
                &second = patches[plan.tile.sumIndex(i + 1, accumulator, v)];
          std::tie(first, second) = to(ir.b, ir.loc, {first, second ? second : ir.zeros(first.getType())});
        }
  };
  change(contractions::patchesOf);
  LoopSums(ir, plan, tile, slice, block, bufferSets, patches).emit();
  change(contractions::rowsOf);
  std::copy_n(patches.begin(), rows * perRow, sums.begin());
}

Value KSlice::rhsAt(ContractionBuilder &ir, const ContractionPlan &plan, Value step, size_t sum, int64_t vector,
                    int64_t ahead) const {
  const Product &product = plan.k.slices->product;
  const int64_t ofStep = plan.tile.elementsOfStep(product), ofVector = plan.tile.lanes * product.packed;
  return ir.linear((static_cast<int64_t>(sum) * plan.tile.columnVectors + vector) * ofVector + ahead * ofStep,
                   {{step, ofStep}, {begin, -ofStep}});
}
