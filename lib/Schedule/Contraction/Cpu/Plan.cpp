//===- Plan.cpp - What the contraction recipe decides --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Exceeding the registers is a cliff, so a block takes as many rows as fit beside one step's vectors and a broadcast element, and rows are
// split evenly over blocks. Where rhs comes from beyond the first level of the cache, the first block that reads a panel does most of the
// work, at the pace of memory: it is tall, and has the sums of as few accumulators as keep it busy. Where the target has registers of a
// matrix, a block is 2 x 2 of them, or 1 x 4 of few rows, beside which those of a step fit. Whether a tile fits a packing is tried with
// numbers: the vectors of all tiles must lie alike.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Cpu/Plan.h"

#include "Schedule/Build/Bodies.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;
using namespace quern;
using namespace quern::contractions;

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

class Planner {
public:
  Planner(Plan &plan, std::string &whyNot) : plan(plan), chain(plan.chain), strategy(plan.strategy), whyNot(whyNot) {}
  LogicalResult run();

private:
  bool chooseTile(int64_t columnVectors);
  bool chooseTiles(int64_t most);
  bool fits(const Product &product);
  bool isTogether(const Product &product) const;
  int64_t mostRows() const;
  int64_t leastRows() const;
  int64_t blocksOfRows() const;
  bool isFar() const;
  bool suitsGroups(int64_t groupSize) const;
  bool shouldPrefetch() const;
  void chooseGroups();
  bool splitFarRows();
  int64_t rowsOfChunk() const { return plan.stepsOfCut ? std::max(strategy.cutRows, strategy.chunkRows) : strategy.chunkRows; }
  int64_t widest() const;
  bool takesMatrices();
  void splitMatrices();
  void chooseCut();
  void placeCopies();
  void splitRows();
  void splitOpenRows();
  void chooseTail();
  void groupProducts();

  Plan &plan;
  const Chain &chain;
  const ContractionStrategy &strategy;
  std::string &whyNot;
};

/// Whether the vectors of every tile lie as those of the first do, with their lanes side by side. What a tile has beyond the factor's
/// columns is not read.
bool Planner::fits(const Product &product) {
  int64_t width = plan.width(), stride = product.rhsAt(width);
  bool isUniform = true;
  for (int64_t tile = 0; tile < plan.tiles; ++tile) {
    int64_t base = product.rhsAt(tile * width);
    isUniform &= base == tile * stride;
    for (int64_t column = 0; column < width && tile * width + column < product.readable; column += plan.lanes) {
      int64_t first = product.rhsAt(tile * width + column), live = std::min(plan.lanes, product.readable - tile * width - column);
      if (first - base != product.rhsAt(column) ||
          product.rhsAt(tile * width + column + live - 1) != first + (live - 1) * product.laneStride())
        return false;
    }
  }
  plan.tileStrides.push_back(isUniform ? stride : 0);
  return true;
}

bool Planner::chooseTile(int64_t columnVectors) {
  plan.columnVectors = columnVectors;
  plan.groupSize = static_cast<int64_t>(chain.accumulators.size());
  plan.perRow = plan.groupSize * columnVectors;
  plan.tiles = ceilDiv(chain.columns, plan.width());
  plan.tileStrides.clear();
  return llvm::all_of(chain.products, [&](const Product &product) { return fits(product); });
}

/// Sums, the vectors of a step and one element of lhs are in registers; where a product is an instruction of its own, its result too.
int64_t Planner::mostRows() const {
  int64_t used = 1, extra = 0;
  for (auto [product, dot] : llvm::zip_equal(chain.products, plan.dots)) {
    int64_t sums = std::min<int64_t>(static_cast<int64_t>(product.sums.size()), plan.groupSize);
    used = std::max<int64_t>(used, sums * plan.columnVectors * registersOfRhs(product, dot));
    extra = std::max<int64_t>(extra, dot == Dot::MulAdd || isRounded(dot) || dot == Dot::Shifted ? 2 : dot == Dot::Halves ? 3 : 1);
  }
  return std::clamp<int64_t>((strategy.registers - extra - used) / (plan.groupSize * plan.columnVectors), 1, strategy.maxRows);
}

/// Vectors of one accumulator side by side. Blocks of few rows are wider: more sums are then in flight, and a step reads longer runs.
int64_t Planner::widest() const {
  int64_t accumulators = chain.accumulators.size(), wanted = strategy.vectors, registers = strategy.registers;
  if (plan.matrices)
    return std::clamp<int64_t>(wanted / accumulators, 1, ceilDiv(chain.columns, plan.lanes));
  if (chain.rows * wanted < strategy.leastSums)
    wanted = strategy.leastSums / chain.rows;
  bool isStrided = llvm::any_of(chain.products, [&](const Product &product) {
    return !product.reduced.empty() && product.reduced.back().rhs * bytesOf(product.rhs.element()) >= strategy.nearStrideBytes;
  });
  if (isStrided)
    wanted = std::max(wanted, chain.rows == 1 ? registers / 2 : (registers - 1) / (chain.rows + 1));
  return std::clamp<int64_t>(wanted / accumulators, 1, ceilDiv(chain.columns, plan.lanes));
}

/// Whether a tile walks rhs as it lies.
bool Planner::isTogether(const Product &product) const {
  return !product.columnStride &&
         (product.reduced.empty() || product.reduced.back().rhs * bytesOf(product.rhs.element()) <= strategy.togetherBytes);
}

/// The lowest height that is about as fast as the highest, or of an open number of rows, which takes lower ones besides: while what a tile
/// reads of rhs lies together and stays in the first level of the cache, or in the second where lower ones are there anyway, and need not
/// be converted for every block.
int64_t Planner::leastRows() const {
  int64_t most = mostRows();
  auto isCheap = [&](const Product &product, Dot dot) {
    return isTogether(product) && dot != Dot::Halves && !isRounded(dot) && (isPackedDot(dot) || product.rhs.conversions.empty());
  };
  bool isNear = plan.bytesOfTile() <= static_cast<double>(chain.openRows ? strategy.nearBytes : strategy.nearestBytes);
  for (auto [product, dot] : llvm::zip_equal(chain.products, plan.dots))
    isNear &= isCheap(product, dot);
  return isNear
             ? std::min(most, std::max(chain.openRows ? ceilDiv(2 * most, 3) : ceilDiv(most, 2), ceilDiv(strategy.leastSums, plan.perRow)))
             : most;
}

/// As few as registers allow; a few more where their heights are then the same, which halves the code.
int64_t Planner::blocksOfRows() const {
  int64_t fewest = ceilDiv(chain.rows, mostRows());
  for (int64_t blocks = fewest; blocks * leastRows() <= chain.rows; ++blocks)
    if (chain.rows % blocks == 0)
      return blocks;
  return fewest;
}

/// Copies rhs, a part of K at a time, where many rows read more of it than the second level of the cache keeps at such strides. Columns
/// that are strided are always copied.
void Planner::chooseCut() {
  plan.stepsOfCut = 0;
  const Product &product = chain.products[0];
  if (chain.products.size() > 1 || product.reduced.size() != 1 || chain.openRows ||
      chain.rows < std::max(strategy.leastCopyRows, mostRows() + 1) || chain.columns < plan.lanes)
    return;
  if (!product.columnStride && (isTogether(product) || plan.bytesOfTile() <= static_cast<double>(strategy.cutBytes)))
    return;
  plan.stepsOfCut = std::max<int64_t>(16, strategy.cutBytes / (plan.elementsOfStep(product) * bytesOf(product.rhs.element())));
  plan.stepsOfCut = ceilDiv(product.steps(), ceilDiv(product.steps(), plan.stepsOfCut));
}

/// Whether blocks of rows read a panel again from beyond the first level of the cache.
bool Planner::isFar() const {
  return !plan.matrices && !plan.stepsOfCut && plan.bytesOfTile() > static_cast<double>(strategy.nearestBytes) &&
         llvm::all_of(chain.products, [&](const Product &product) { return isTogether(product); });
}

/// Whether each product has two vectors in a step, or none, with the sums of every group (with one, loads take longer than sums), and they
/// are all that lies there: where gates alternate, each group would fetch the panels of the others.
bool Planner::suitsGroups(int64_t groupSize) const {
  auto accumulators = static_cast<int64_t>(chain.accumulators.size());
  for (const Product &product : chain.products)
    for (int64_t first = 0; first < accumulators; first += groupSize) {
      int64_t vectors =
          plan.columnVectors * llvm::count_if(product.sums, [&](const Product::Sum &sum) {
            return static_cast<int64_t>(sum.accumulator) >= first && static_cast<int64_t>(sum.accumulator) < first + groupSize;
          });
      const int64_t step = product.reduced.empty() ? 0 : product.reduced.back().rhs;
      if (vectors && (vectors < 2 || step > vectors * plan.lanes * product.packed))
        return false;
    }
  return true;
}

/// Small groups where the sums of all accumulators leave registers for a part of the rows only, and are kept in scratch anyway. Each reads
/// all rows of lhs again, which must stay in the second level beside what the tile reads of rhs.
void Planner::chooseGroups() {
  auto accumulators = static_cast<int64_t>(chain.accumulators.size());
  plan.groupSize = accumulators;
  double bytesOfLhs = 0;
  for (const Product &product : chain.products)
    bytesOfLhs += static_cast<double>(chain.rows * product.steps() * product.packed * bytesOf(product.lhs.element()));
  if (bytesOfLhs + plan.bytesOfTile() > 1.5 * static_cast<double>(strategy.nearBytes))
    return;
  if (!isFar() || plan.isShifted() || chain.epilogueOps() <= strategy.inlineOps || chain.rows <= mostRows())
    return;
  plan.groupSize = 1;
  while (plan.groupSize < accumulators && !suitsGroups(plan.groupSize))
    ++plan.groupSize;
}

/// Tall blocks, and one of the rows that are left, whose sums do not wait for each other. Blocks of three vectors and more are too low for
/// one of them to do most of the work.
bool Planner::splitFarRows() {
  const int64_t most = mostRows(), vectors = plan.groupSize * plan.columnVectors;
  if (!isFar() || chain.rows <= most || vectors > 2)
    return false;
  for (int64_t height = most; 3 * height >= 2 * most; --height)
    if (int64_t left = chain.rows % height; !left || left * vectors >= strategy.leastSums) {
      plan.blocks = ceilDiv(chain.rows, height);
      plan.tallBlocks = left ? plan.blocks - 1 : 0;
      plan.tallRows = height;
      plan.blockRows = left ? left : height;
      return true;
    }
  return false;
}

/// A single block that reads rhs from the second level does not wait for it; the instructions would cost a tenth of its time.
bool Planner::shouldPrefetch() const {
  bool isReadAgain = chain.openRows || plan.blocks > 1;
  bool isBeyondSecond = plan.bytesOfTile() * static_cast<double>(plan.tiles) > static_cast<double>(strategy.nearBytes);
  return isFar() && plan.tallest() > 1 && (isReadAgain || isBeyondSecond);
}

void Planner::splitOpenRows() {
  plan.blockRows = leastRows();
  plan.chunkRows = std::max<int64_t>(1, strategy.chunkRows / plan.blockRows) * plan.blockRows;
  plan.heights = {plan.blockRows};
  for (int64_t height = 8; height; height /= 2)
    if (height < plan.blockRows)
      plan.heights.push_back(height);
  plan.scratchRows = chain.epilogueOps() > strategy.inlineOps ? plan.chunkRows : 0;
}

/// Whether matrices can compute all products, and enough of each matrix is used. A panel that ends within one is read by masks, which they
/// have not.
bool Planner::takesMatrices() {
  int64_t steps = 0;
  SmallVector<Dot, 4> dots;
  for (auto [product, byVectors] : llvm::zip_equal(chain.products, plan.dots)) {
    std::optional<Dot> dot = chooseMatrixDot(product, byVectors);
    if (!dot || product.columnStride || product.readable % plan.lanes)
      return false;
    dots.push_back(*dot);
    steps += product.steps();
  }
  if (!strategy.hasMatrices || (!chain.openRows && chain.rows < strategy.leastMatrixRows) || steps < strategy.leastMatrixSteps)
    return false;
  plan.dots = dots;
  return true;
}

/// Rows into matrices of one height, as many chunks as strategy.chunkRows says.
void Planner::splitMatrices() {
  Matrices &own = *plan.matrices;
  plan.chunkRows = std::max<int64_t>(1, strategy.chunkRows / matrices::rows) * matrices::rows;
  plan.scratchRows = plan.chunkRows;
  own.down = 2;
  if (!chain.openRows) {
    int64_t count = ceilDiv(chain.rows, matrices::rows), ofChunk = plan.chunkRows / matrices::rows;
    own.height = ceilDiv(chain.rows, count);
    own.down = std::min<int64_t>(2, std::min(count, ofChunk));
    plan.chunkRows = own.height * ceilDiv(count, ceilDiv(count, ofChunk));
    plan.chunks = ceilDiv(chain.rows, plan.chunkRows);
    plan.scratchRows = std::min(chain.rows, plan.chunkRows);
  }
  constexpr int64_t sums = 4;
  own.across = ceilDiv(plan.perRow, ceilDiv(plan.perRow, sums / own.down));
}

/// Copies lie behind the sums, those of lhs once for the products that share it.
void Planner::placeCopies() {
  Matrices &own = *plan.matrices;
  own.lhsCopies.assign(chain.products.size(), 0);
  own.rhsCopies = own.lhsCopies;
  for (const Plan::Step &step : plan.steps())
    if (stepsLeft(chain.products[step[0]])) {
      own.lhsCopies[step[0]] = plan.scratchBytes;
      plan.scratchBytes += plan.scratchRows * matrices::rowBytes;
      for (unsigned product : step) {
        own.rhsCopies[product] = plan.scratchBytes;
        plan.scratchBytes += chain.products[product].sums.size() * plan.columnVectors * matrices::rows * matrices::rowBytes;
      }
    }
  own.configuration = plan.scratchBytes;
  plan.scratchBytes += matrices::configurationBytes;
}

void Planner::splitRows() {
  if (plan.matrices)
    return splitMatrices();
  plan.sumsShiftOnce = plan.isShifted() && (chain.openRows || chain.rows >= mostRows());
  chooseCut();
  if (chain.openRows)
    return splitOpenRows();
  chooseGroups();
  if (!splitFarRows()) {
    plan.blocks = blocksOfRows();
    plan.blockRows = chain.rows / plan.blocks;
    plan.tallBlocks = chain.rows % plan.blocks;
    plan.tallRows = plan.blockRows + 1;
  }
  int64_t tallest = plan.tallest();
  plan.blocksPerChunk = ceilDiv(plan.blocks, std::min(plan.blocks, ceilDiv(chain.rows, rowsOfChunk())));
  plan.chunks = ceilDiv(plan.blocks, plan.blocksPerChunk);
  if (chain.epilogueOps() > strategy.inlineOps || plan.stepsOfCut)
    plan.scratchRows = std::min(chain.rows, plan.blocksPerChunk * tallest);
}

void Planner::chooseTail() {
  bool isPartial = plan.tiles * plan.width() != chain.columns;
  if (!isPartial)
    return;
  int64_t narrowest = 64;
  auto look = [&](Type element) { narrowest = std::min<int64_t>(narrowest, element.getIntOrFloatBitWidth()); };
  auto lookAt = [&](ArrayRef<TileAccess> accesses) {
    for (const TileAccess &access : accesses)
      if (access.base && access.column && access.isArgument())
        look(access.element());
  };
  for (const Product &product : chain.products)
    if (plan.masksRhs(product))
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
  plan.tail = strategy.narrowestMask && narrowest >= strategy.narrowestMask ? Tail::Masked : Tail::Separate;
}

void Planner::groupProducts() {
  SmallVector<Plan::Step> steps;
  for (unsigned i = 0; i < chain.products.size(); ++i) {
    auto shares = [&](const Plan::Step &step) {
      return plan.dots[step[0]] == plan.dots[i] && chain.products[step[0]].sharesLhs(chain.products[i]);
    };
    auto *found = llvm::find_if(steps, shares);
    if (found == steps.end())
      steps.push_back({i});
    else
      found->push_back(i);
  }
  auto areAlike = [&](const Plan::Step &a, const Plan::Step &b) {
    auto like = [&](unsigned i, unsigned j) { return chain.products[i].isAlike(chain.products[j]); };
    return llvm::equal(a, b, like);
  };
  for (Plan::Step &step : steps)
    if (!plan.loops.empty() && areAlike(plan.loops.back()[0], step))
      plan.loops.back().push_back(step);
    else
      plan.loops.push_back({step});
}

/// Tiles of at most so many vectors for each accumulator; rather narrower ones than such that a factor does not fill, if their sums do not
/// wait for each other, or such that leave registers for a single row.
bool Planner::chooseTiles(int64_t most) {
  int64_t vectors = ceilDiv(chain.columns, plan.lanes), even = ceilDiv(vectors, ceilDiv(vectors, most));
  auto isBalanced = [&] { return plan.columnVectors == 1 || plan.matrices || chain.rows == 1 || mostRows() > 1; };
  auto areFilled = [&] { return llvm::none_of(chain.products, [&](const Product &product) { return plan.readsPastEnd(product); }); };
  const int64_t accumulators = static_cast<int64_t>(chain.accumulators.size());
  const int64_t inRow = chain.rows > 1 ? 2 : strategy.leastSums / 2;
  const int64_t least = ceilDiv(inRow, accumulators);
  for (int64_t next = even; next >= least; --next)
    if (chooseTile(next) && isBalanced() && areFilled())
      return true;
  bool found = chooseTile(even) && isBalanced();
  for (int64_t next = most; next >= 1 && !found; --next)
    found = chooseTile(next) && isBalanced();
  return found;
}

LogicalResult Planner::run() {
  plan.lanes = strategy.vectorBytes / bytesOf(chain.sumType());
  for (const Product &product : chain.products)
    plan.dots.push_back(chooseDot(product, strategy));
  if (takesMatrices())
    plan.matrices.emplace();
  if (!chooseTiles(widest())) {
    whyNot = "the packing of a factor does not fit vectors of " + std::to_string(plan.lanes) + " lanes";
    return failure();
  }
  splitRows();
  bool isNarrower = true; // so that threads have tiles to share
  while (isNarrower && !chain.openRows && plan.columnVectors > 1 && plan.perRow > 2 && plan.tiles * plan.chunks < strategy.leastTiles &&
         plan.nsPerIteration() > strategy.nsOfTile) {
    int64_t before = plan.columnVectors;
    isNarrower = chooseTiles(before / 2) || !chooseTiles(before);
    splitRows();
  }
  if (!plan.matrices && mostRows() == 1 && plan.perRow + 2 > strategy.registers) {
    whyNot = std::to_string(chain.accumulators.size()) + " accumulators do not fit " + std::to_string(strategy.registers) + " registers";
    return failure();
  }
  chooseTail();
  groupProducts();
  plan.prefetches = shouldPrefetch();
  plan.scratchBytes = plan.scratchRows * plan.perRow * plan.lanes * bytesOf(chain.sumType());
  plan.rhsCopy = plan.scratchBytes;
  if (plan.stepsOfCut)
    plan.scratchBytes += plan.stepsOfCut * plan.elementsOfStep(chain.products[0]) * bytesOf(chain.products[0].rhs.element());
  if (plan.matrices)
    placeCopies();
  return success();
}

} // namespace

int64_t contractions::stepsLeft(const Product &product) {
  return product.taken < product.packed ? product.steps() : product.steps() % matrices::rows;
}

SmallVector<Plan::Step, 4> Plan::steps() const {
  SmallVector<Step, 4> all;
  for (ArrayRef<Step> turns : loops)
    all.append(turns.begin(), turns.end());
  return all;
}

bool Plan::hasGroups() const { return groupSize < static_cast<int64_t>(chain.accumulators.size()); }

double Plan::bytesOfTile() const {
  double bytes = 0;
  for (const Product &product : chain.products)
    bytes += static_cast<double>(product.steps() * product.packed * width() * bytesOf(product.rhs.element())) *
             static_cast<double>(product.sums.size());
  return bytes;
}

/// What its arithmetic takes, or what reading rhs once takes, if that is more.
double Plan::nsPerIteration() const {
  double steps = 0, matrixNs = 0;
  double rows = chain.openRows ? static_cast<double>(chunkRows) : static_cast<double>(chain.rows) / static_cast<double>(chunks);
  for (auto [product, dot] : llvm::zip_equal(chain.products, dots)) {
    if (matrices) {
      matrixNs +=
          static_cast<double>(ceilDiv(product.steps(), matrices::rows) * static_cast<int64_t>(product.sums.size()) * columnVectors) * rows /
          matrices::rows * strategy.nsPerMatrix;
      continue;
    }
    double ofLane = dot == Dot::Halves ? 4 : isPackedDot(dot) ? 1 : static_cast<double>(product.taken * (dot == Dot::RoundedFma ? 2 : 1));
    steps += static_cast<double>(product.steps()) * static_cast<double>(product.sums.size()) * ofLane;
  }
  double operations = rows * static_cast<double>(columnVectors) * (steps + static_cast<double>(chain.epilogueOps()));
  return std::max(matrixNs + operations * strategy.nsPerOperation, bytesOfTile() * strategy.nsPerByte);
}

std::string Plan::text() const {
  std::string out;
  llvm::raw_string_ostream os(out);
  auto several = [](size_t count) { return count > 1 ? "s" : ""; };
  os << "contraction: " << (chain.openRows ? "?" : std::to_string(chain.rows)) << 'x' << chain.columns << ", " << chain.products.size()
     << " product" << several(chain.products.size()) << " by " << nameOf(dots[0]) << " into " << chain.accumulators.size() << " accumulator"
     << several(chain.accumulators.size()) << ", " << loops.size() << " loop" << several(loops.size()) << " over K; blocks of ";
  if (matrices)
    os << matrices->down << 'x' << matrices->across << " matrices of "
       << (matrices->height ? std::to_string(matrices->height) : "up to " + std::to_string(matrices::rows)) << " rows";
  else
    os << tallest() << 'x' << groupSize * columnVectors << " vectors";
  if (hasGroups())
    os << " for " << groupSize << " accumulator" << several(groupSize) << " at a time";
  if (chain.openRows)
    os << " and lower ones";
  else if (tallBlocks)
    os << " and of " << blockRows << (blockRows > 1 ? " rows" : " row");
  os << ", " << tiles << " tiles of " << width() << " columns x ";
  if (chain.openRows)
    os << "ceil(size " << *chain.openRows << " / " << chunkRows << ") chunks";
  else
    os << chunks << " chunks";
  if (stepsOfCut)
    os << ", rhs copied by " << stepsOfCut << " steps along K";
  if (prefetches)
    os << ", prefetch";
  if (!chain.epilogue.empty())
    os << ", " << chain.epilogueOps() << " operations after it " << (scratchRows ? "over scratch" : "in registers");
  if (tail != Tail::None)
    os << (tail == Tail::Masked ? ", masked tail" : ", separate tail");
  return out;
}

LogicalResult quern::contractions::planContraction(Plan &plan, std::string &whyNot) { return Planner(plan, whyNot).run(); }
