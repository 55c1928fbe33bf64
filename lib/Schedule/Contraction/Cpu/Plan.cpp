//===- Plan.cpp - Planning a contraction on a CPU -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Chooses the columns of a tile, for which RowSplit then chooses the rows. Whether a tile fits a packing is tested by
// computing addresses: the vectors of all tiles must have the same form.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Cpu/Plan.h"

#include "Schedule/Build/Bodies.h"
#include "Schedule/Build/CpuMemory.h"
#include "Schedule/Build/Transpose.h"
#include "Schedule/Contraction/Cpu/RowSplit.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

namespace {

class ContractionPlanner {
public:
  ContractionPlanner(ContractionPlan &plan, std::string &whyNot)
      : plan(plan), chain(plan.chain), strategy(plan.strategy), tile(plan.tile), k(plan.k), scratch(plan.scratch),
        rows(plan), whyNot(whyNot) {}
  LogicalResult run();

private:
  bool chooseTile(int64_t columnVectors);
  bool chooseTiles(int64_t most);
  bool fits(const Product &product);
  bool isBeyondFirst(int64_t vectors) const;
  int64_t widest() const;
  bool takesMatrices();
  void placeCopies();
  void placeSlices(const KSlices &slices);
  void placeMatrices();
  void placeTransposedInputs();
  void chooseTail();
  void groupProducts();

  ContractionPlan &plan;
  const Chain &chain;
  const ContractionStrategy &strategy;
  ColumnPlan &tile;
  KPlan &k;
  ScratchPlan &scratch;
  RowSplit rows;
  std::string &whyNot;
};

/// Registers that a single row needs in addition to its sums: an element of lhs and a vector of rhs.
constexpr int64_t besideSums = 2;

/// Returns true if every tile's vectors have the same relative addresses as those of the first, with equally spaced
/// lanes. Columns of a tile past those of the factor are not read. Appends the product's stride to `tile.strides`.
bool ContractionPlanner::fits(const Product &product) {
  int64_t width = tile.width(), stride = product.rhsAt(width), readable = product.readable.known();
  bool isUniform = true;
  for (int64_t n = 0; n < tile.tiles; ++n) {
    int64_t base = product.rhsAt(n * width);
    isUniform &= base == n * stride;
    for (int64_t column = 0; column < width && n * width + column < readable; column += tile.lanes) {
      int64_t first = product.rhsAt(n * width + column), live = std::min(tile.lanes, readable - n * width - column);
      if (first - base != product.rhsAt(column) ||
          product.rhsAt(n * width + column + live - 1) != first + (live - 1) * product.laneStride().known())
        return false;
    }
  }
  tile.strides.push_back(isUniform ? stride : 0);
  return true;
}

bool ContractionPlanner::chooseTile(int64_t columnVectors) {
  tile.columnVectors = columnVectors;
  k.groupSize = static_cast<int64_t>(chain.accumulators.size());
  tile.perRow = k.groupSize * columnVectors;
  tile.tiles = ceilDiv(tile.columns, tile.width());
  tile.strides.clear();
  return llvm::all_of(chain.products, [&](const Product &product) { return fits(product); });
}

/// Returns true if this many vectors of each product read more of rhs than L1 keeps.
bool ContractionPlanner::isBeyondFirst(int64_t vectors) const {
  int64_t bytes = 0;
  for (const Product &product : chain.products)
    bytes += product.steps() * product.packed * vectors * tile.lanes * bytesOf(product.rhs.element());
  return bytes > strategy.l1Bytes;
}

/// Returns the maximum number of vectors of each accumulator in a tile. Blocks of few rows are wider: more sums are
/// then in flight, and a step reads longer runs. If narrower tiles let a few more rows form one block, rhs is read
/// once.
int64_t ContractionPlanner::widest() const {
  int64_t accumulators = chain.accumulators.size(), wanted = strategy.vectors, registers = strategy.registers;
  auto ofAccumulator = [&] { return std::clamp<int64_t>(wanted / accumulators, 1, ceilDiv(tile.columns, tile.lanes)); };
  if (plan.matrices || chain.rows.isOpen())
    return ofAccumulator();
  const int64_t rows = llvm::alignTo(chain.rows.known(), k.rowsPerPatch()), ofOneBlock = (registers - 1) / (rows + 1);
  if (chain.rows.isBelow(ceilDiv(strategy.minSums, wanted)))
    wanted = std::min(strategy.minSums, registers - besideSums) / rows;
  if (accumulators == 1 && ofOneBlock > 1 && ofOneBlock < wanted && isBeyondFirst(wanted))
    wanted = ofOneBlock;
  bool isStrided = llvm::any_of(chain.products, [&](const Product &product) {
    return !product.reduced.empty() &&
           product.reduced.back().rhs.known() * bytesOf(product.rhs.element()) >= strategy.aliasingStrideBytes;
  });
  if (isStrided)
    wanted = std::max(wanted, rows == 1 ? registers / 2 : ofOneBlock);
  return ofAccumulator();
}

/// Returns true if matrix registers can compute all products and enough of each matrix is used. They do not support
/// masks, which a panel that ends within a vector needs.
bool ContractionPlanner::takesMatrices() {
  int64_t steps = 0;
  SmallVector<Dot, 4> dots;
  for (auto [product, byVectors] : llvm::zip_equal(chain.products, k.dots)) {
    std::optional<Dot> dot = chooseMatrixDot(product, byVectors);
    if (!dot || product.isStrided() || !product.readable.isMultipleOf(tile.lanes))
      return false;
    dots.push_back(*dot);
    steps += product.steps();
  }
  if (!strategy.hasMatrices || chain.rows.isBelow(strategy.minMatrixRows) || steps < strategy.minMatrixSteps)
    return false;
  k.dots = dots;
  return true;
}

/// Places the copies of a slice of K.
void ContractionPlanner::placeSlices(const KSlices &slices) {
  scratch.rhsCopies[0] = scratch.bytes;
  if (slices.hasRhs)
    scratch.bytes += slices.steps * tile.elementsOfStep(slices.product) * bytesOf(slices.copied(slices.product.rhs));
  scratch.lhsCopies[0] = scratch.bytes;
  if (slices.hasLhs)
    scratch.bytes += slices.steps * slices.lhsStride * bytesOf(slices.copied(slices.product.lhs));
}

/// Places the copies of the steps that do not fill a matrix; products that share lhs share its copy.
void ContractionPlanner::placeMatrices() {
  for (const KPlan::Step &step : k.steps())
    if (stepsLeft(chain.products[step[0]])) {
      scratch.lhsCopies[step[0]] = scratch.bytes;
      scratch.bytes += scratch.rows * matrices::rowBytes;
      for (unsigned product : step) {
        scratch.rhsCopies[product] = scratch.bytes;
        scratch.bytes += chain.products[product].sums.size() * tile.columnVectors * matrices::rows * matrices::rowBytes;
      }
    }
  scratch.configuration = scratch.bytes;
  scratch.bytes += matrices::configurationBytes;
}

/// Places the copies after the sums.
void ContractionPlanner::placeCopies() {
  scratch.elements = (k.slices && k.slices->parts > 1 ? k.slices->tiles : 1) * scratch.rows * tile.sumsOfRow();
  scratch.bytes = scratch.elements * bytesOf(chain.sumType());
  scratch.lhsCopies.assign(chain.products.size(), 0);
  scratch.rhsCopies = scratch.lhsCopies;
  if (k.slices)
    placeSlices(*k.slices);
  if (plan.matrices)
    placeMatrices();
  placeTransposedInputs();
}

/// Transposes inputs whose type and rows fit whole squares; others are read element by element.
void ContractionPlanner::placeTransposedInputs() {
  if (!scratch.rows || chain.rows.isOpen())
    return;
  for (const PointOp &point : chain.epilogue)
    for (const TileAccess &in : point.ins) {
      if (point.isPerColumn || !in.base || !in.isArgument() || in.column <= 1 || in.row != 1)
        continue;
      const int64_t unit = transposeUnit(in.element()), bytes = bytesOf(in.element());
      auto isSame = [&](const ScratchPlan::TransposedInput &other) { return other.input == in; };
      if (tile.lanes % unit || chain.rows.isBelow(unit) || transposeScratch(in.element(), tile.lanes) ||
          llvm::any_of(scratch.transposedInputs, isSame))
        continue;
      scratch.transposedInputs.push_back({in, scratch.bytes});
      scratch.bytes += llvm::alignTo((scratch.rows + 2 * unit) * tile.lanes * bytes, lineBytes);
    }
}

void ContractionPlanner::chooseTail() {
  bool isPartial = tile.tiles * tile.width() != tile.columns;
  if (!isPartial)
    return;
  int64_t narrowest = 64;
  auto look = [&](Type element) { narrowest = std::min<int64_t>(narrowest, element.getIntOrFloatBitWidth()); };
  auto lookAt = [&](ArrayRef<TileAccess> accesses) {
    for (const TileAccess &access : accesses)
      if (access.base && access.column == 1 && access.isArgument())
        look(access.element());
  };
  for (const Product &product : chain.products)
    if (tile.masksRhs(product))
      look(product.rhs.element());
  for (const Accumulator &accumulator : chain.accumulators) {
    lookAt(accumulator.at);
    if (accumulator.start)
      lookAt(accumulator.start->ins);
  }
  for (const PointOp &point : chain.epilogue) {
    lookAt(point.ins);
    lookAt(point.outs);
  }
  tile.tail = strategy.narrowestMask && narrowest >= strategy.narrowestMask ? Tail::Masked : Tail::Separate;
}

void ContractionPlanner::groupProducts() {
  SmallVector<KPlan::Step> steps;
  for (unsigned i = 0; i < chain.products.size(); ++i) {
    auto shares = [&](const KPlan::Step &step) {
      return k.dots[step[0]] == k.dots[i] && chain.products[step[0]].sharesLhs(chain.products[i]);
    };
    auto *found = llvm::find_if(steps, shares);
    if (found == steps.end())
      steps.push_back({i});
    else
      found->push_back(i);
  }
  auto areAlike = [&](const KPlan::Step &a, const KPlan::Step &b) {
    auto like = [&](unsigned i, unsigned j) { return chain.products[i].isAlike(chain.products[j]); };
    return llvm::equal(a, b, like);
  };
  for (KPlan::Step &step : steps)
    if (!k.loops.empty() && areAlike(k.loops.back()[0], step))
      k.loops.back().push_back(step);
    else
      k.loops.push_back({step});
}

/// Chooses tiles of at most `most` vectors for each accumulator. Prefers narrower tiles that every factor fills, if
/// their sums are independent enough and blocks have more than one row; and narrower ones again if that saves a tenth
/// of the columns computed past the last one.
bool ContractionPlanner::chooseTiles(int64_t most) {
  int64_t vectors = ceilDiv(tile.columns, tile.lanes), even = ceilDiv(vectors, ceilDiv(vectors, most));
  auto isBalanced = [&] { return tile.columnVectors == 1 || plan.matrices || chain.rows == 1 || rows.maxRows() > 1; };
  auto fillsTiles = [&] {
    return llvm::none_of(chain.products, [&](const Product &product) { return tile.readsPastEnd(product); });
  };
  const int64_t accumulators = static_cast<int64_t>(chain.accumulators.size());
  const int64_t inRow = chain.rows.mayExceed(1) ? 2 : strategy.minSums / 2;
  const int64_t least = ceilDiv(inRow, accumulators);
  int64_t best = 0;
  auto computed = [&](int64_t width) { return ceilDiv(vectors, width) * width; };
  for (int64_t next = even; next >= least; --next) {
    const bool isLean = best && accumulators == 1 && 10 * computed(next) <= 9 * computed(best);
    if ((!best || isLean) && chooseTile(next) && isBalanced() && fillsTiles())
      best = next;
  }
  if (best)
    return chooseTile(best);
  bool found = chooseTile(even) && isBalanced();
  for (int64_t next = most; next >= 1 && !found; --next)
    found = chooseTile(next) && isBalanced();
  return found;
}

LogicalResult ContractionPlanner::run() {
  tile.columns = chain.columns.known();
  tile.lanes = strategy.vectorBytes / bytesOf(chain.sumType());
  for (const Product &product : chain.products)
    k.dots.push_back(chooseDot(product, strategy));
  if (takesMatrices())
    plan.matrices.emplace();
  if (!chooseTiles(widest())) {
    whyNot = "the packing of a factor does not fit vectors of " + std::to_string(tile.lanes) + " lanes";
    return failure();
  }
  rows.run();
  bool isNarrower = true; // so that threads have tiles to share
  while (isNarrower && !chain.rows.isOpen() && tile.columnVectors > 1 && tile.perRow > 2 &&
         tile.tiles * plan.rows.chunks < strategy.minTiles && plan.nsPerIteration() > strategy.nsOfTile) {
    int64_t before = tile.columnVectors;
    isNarrower = chooseTiles(before / 2) || !chooseTiles(before);
    rows.run();
  }
  if (!plan.matrices && rows.maxRows() == 1 && tile.perRow + besideSums > strategy.registers) {
    whyNot = std::to_string(chain.accumulators.size()) + " accumulators do not fit " +
             std::to_string(strategy.registers) + " registers";
    return failure();
  }
  chooseTail();
  groupProducts();
  k.prefetches = rows.shouldPrefetch();
  placeCopies();
  return success();
}

} // namespace

SmallVector<int64_t, 6> contractions::heightsFrom(int64_t tallest) {
  SmallVector<int64_t, 6> heights{tallest};
  for (int64_t height = 8; height; height /= 2)
    if (height < tallest)
      heights.push_back(height);
  return heights;
}

int64_t contractions::stepsLeft(const Product &product) {
  return product.taken < product.packed ? product.steps() : product.steps() % matrices::rows;
}

SmallVector<KPlan::Step, 4> KPlan::steps() const {
  SmallVector<Step, 4> all;
  for (ArrayRef<Step> bufferSets : loops)
    all.append(bufferSets.begin(), bufferSets.end());
  return all;
}

int64_t ContractionPlan::indexedBytesOfStep(const Product &product, Dot dot) const {
  const int64_t elements = isPackedDot(dot) ? 1 : product.packed;
  return isPatch(dot) ? strategy.patchBytes : elements * bytesOf(chain.sumType());
}

int64_t ContractionPlan::kUnroll(const Product &product, Dot dot) const {
  if (product.reduced.empty() || product.taken < product.packed || dot == Dot::Halves || matrices)
    return 1;
  const Product::Reduced &loop = product.reduced.back();
  const int64_t steps = strategy.indexedBytes / indexedBytesOfStep(product, dot);
  return loop.lhs == product.packed && !loop.extent.isBelow(steps) ? std::max<int64_t>(steps, 1) : 1;
}

int64_t ContractionPlan::rowsPerLhsLoad(const Product &product, Dot dot) const {
  if (product.taken < product.packed || dot == Dot::Halves || isPatch(dot) || matrices)
    return 1;
  const int64_t rows = strategy.indexedBytes / indexedBytesOfStep(product, dot);
  return product.lhsRow == product.packed ? std::max<int64_t>(rows, 1) : 1;
}

bool ContractionPlan::loadsRuns(const KPlan::Step &step, int64_t rows) const {
  const int64_t together = kUnroll(summed(step[0]), k.dots[step[0]]);
  const auto height = static_cast<int64_t>(llvm::alignTo(rows, k.rowsPerPatch()));
  // Few registers are allocated without spills if a vector of lhs has all of them.
  const int64_t ofLhs = strategy.indexedRegisters < strategy.registers ? strategy.indexedRegisters + 2 : height;
  auto isRun = [&](unsigned number) {
    const Product &product = summed(number);
    const int64_t ofStep = tile.lanes * product.packed, bytes = together * ofStep * bytesOf(product.rhs.element());
    const int64_t ofRhs = ceilDiv(bytes, strategy.vectorBytes) + (isPackedDot(k.dots[number]) ? 0 : product.packed);
    // Registers that are longer than the indexed lhs vector are loaded whole, or widened by the load.
    const bool isWhole =
        (bytes / together) % strategy.vectorBytes == 0 || strategy.vectorBytes == strategy.indexedBytes;
    return isWhole && !product.isStrided() && !tile.masksRhs(product) && product.reduced.back().rhs == ofStep &&
           height * tile.perRow + ofLhs + ofRhs < strategy.registers;
  };
  return together > 1 && !k.slices && llvm::all_of(step, isRun);
}

Type KSlices::copied(const Product::Factor &factor) const {
  if (hasPairs)
    return BFloat16Type::get(factor.element().getContext());
  return factor.conversions.empty() ? product.sumType() : factor.element();
}

double ContractionPlan::bytesOfTile() const {
  double bytes = 0;
  for (const Product &product : chain.products)
    bytes += static_cast<double>(product.steps() * product.packed * tile.width() * bytesOf(product.rhs.element())) *
             static_cast<double>(product.sums.size());
  return bytes;
}

/// Returns the maximum of the time of the arithmetic and the time to read rhs once.
double ContractionPlan::nsPerIteration() const {
  double steps = 0, matrixNs = 0;
  double height = chain.rows.isOpen() ? static_cast<double>(rows.chunkRows)
                                      : static_cast<double>(chain.rows.known()) / static_cast<double>(rows.chunks);
  for (auto [n, dot] : llvm::enumerate(k.dots)) {
    const Product &product = summed(n);
    if (matrices) {
      matrixNs += static_cast<double>(ceilDiv(product.steps(), matrices::rows) *
                                      static_cast<int64_t>(product.sums.size()) * tile.columnVectors) *
                  height / matrices::rows * strategy.nsPerMatrix;
      continue;
    }
    double ofLane = dot == Dot::Halves ? 4
                    : isPackedDot(dot) ? 1
                                       : static_cast<double>(product.taken * (dot == Dot::RoundedFma ? 2 : 1));
    steps += static_cast<double>(product.steps()) * static_cast<double>(product.sums.size()) * ofLane;
  }
  double operations =
      height * static_cast<double>(tile.columnVectors) * (steps + static_cast<double>(chain.epilogueOps()));
  return std::max(matrixNs + operations * strategy.nsPerOperation, bytesOfTile() * strategy.nsPerByte);
}

PlanAttr ContractionPlan::attribute() const {
  PlanBuilder fields(chain.problem, Recipe::Contraction);
  const bool hasOpenRows = chain.rows.isOpen();
  fields.addSize(PlanField::Rows, chain.rows)
      .add(PlanField::Columns, tile.columns)
      .add(PlanField::Products, chain.products.size())
      .add(PlanField::Dot, nameOf(k.dots[0]))
      .add(PlanField::Accumulators, chain.accumulators.size())
      .add(PlanField::KLoops, k.loops.size());
  if (matrices) {
    fields.add(PlanField::BlockRows, matrices->down).add(PlanField::BlockMatrices, matrices->across);
    if (matrices->height)
      fields.add(PlanField::MatrixRows, matrices->height);
    else
      fields.add(PlanField::MatrixRows, "up to " + std::to_string(matrices::rows));
  } else {
    fields.add(PlanField::BlockRows, rows.tallest()).add(PlanField::BlockVectors, k.groupSize * tile.columnVectors);
  }
  fields.addIf(hasGroups(), PlanField::AccumulatorGroup, k.groupSize)
      .addIf(hasOpenRows, PlanField::LowerBlocks)
      .addIf(!hasOpenRows && rows.tallBlocks, PlanField::ShortBlockRows, rows.blockRows)
      .add(PlanField::Tiles, tile.tiles)
      .add(PlanField::TileWidth, tile.width());
  if (hasOpenRows)
    fields.add(PlanField::Chunks, ceilText(chain.rows.openIndex(), rows.chunkRows));
  else
    fields.add(PlanField::Chunks, rows.chunks);
  if (const auto &slices = k.slices)
    fields.addIf(slices->hasLhs || slices->hasRhs, PlanField::Copied, slices->hasLhs ? "factors" : "rhs")
        .addIf(slices->hasPairs, PlanField::InPairs)
        .add(slices->hasRhs ? PlanField::CopiedSteps : PlanField::SliceSteps, slices->steps)
        .addIf(slices->fetchesNext, PlanField::FetchesNext)
        .addIf(slices->tiles > 1, PlanField::SharedTiles, slices->tiles);
  fields.addIf(k.prefetches, PlanField::Prefetches);
  if (!chain.epilogue.empty())
    fields.add(PlanField::EpilogueOps, chain.epilogueOps())
        .add(PlanField::EpiloguePlace, scratch.rows ? "over scratch" : "in registers");
  return fields.addIf(tile.tail != Tail::None, PlanField::Tail, tile.tail == Tail::Masked ? "masked" : "separate")
      .get();
}

LogicalResult quern::schedule::contractions::planContraction(ContractionPlan &plan, std::string &whyNot) {
  return ContractionPlanner(plan, whyNot).run();
}
