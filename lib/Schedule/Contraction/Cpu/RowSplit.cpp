//===- RowSplit.cpp - Splitting the rows of a tile ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Exceeding the registers is a performance cliff, so a block has as many rows as fit next to the vectors of one step
// and a broadcast element, and rows are split evenly over blocks. If rhs comes from beyond L1, the first block that
// reads a panel does most of the work, at memory speed: it is tall, and has the sums of as few accumulators as keep it
// busy. If the target has matrix registers, a block is 2 x 2 of them, or 1 x 4 for few rows, which leaves registers for
// the matrices of a step.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Cpu/RowSplit.h"

#include "Schedule/Build/Bodies.h"
#include "Schedule/Build/CpuMemory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

/// Registers hold the sums, the vectors of a step and one element of lhs; if multiplication is a separate instruction,
/// also its result. If steps are unrolled, they hold a vector of lhs for each row and a few vectors of rhs.
int64_t RowSplit::maxRows() const {
  int64_t used = 1, extra = 0, ofRow = 0;
  for (auto [product, dot] : llvm::zip_equal(chain.products, k.dots)) {
    const int64_t sums = std::min<int64_t>(static_cast<int64_t>(product.sums.size()), k.groupSize);
    const int64_t one = plan.kUnroll(product, dot) > 1 ? 0 : 1; // the broadcast element
    const int64_t vectors = sums * tile.columnVectors;
    ofRow = std::max(ofRow, 1 - one);
    const int64_t ofVector = registersOfRhs(product, dot);
    used = std::max(used, one ? vectors * ofVector
                              : std::min(vectors * ofVector, std::max(ContractionPlan::rhsVectorsInFlight, ofVector)));
    extra = std::max(extra, one + (dot == Dot::MulAdd || isRounded(dot) || dot == Dot::Shifted ? 1
                                   : dot == Dot::Halves                                        ? 2
                                                                                               : 0));
  }
  if (strategy.indexedRegisters <
      strategy.registers) { // the few indexable registers are allocated without spills if one stays free
    const bool isWidened = llvm::any_of(llvm::zip_equal(chain.products, k.dots), [&](auto pair) {
      auto &[product, dot] = pair;
      return plan.rowsPerLhsLoad(product, dot) > 1 && !isPackedDot(dot) && !product.lhs.conversions.empty();
    });
    extra += isWidened ? 2 : ofRow && k.rowsPerPatch() == 1 ? 1 : 0;
  }
  const int64_t most = ofRow ? std::min(strategy.maxRows, strategy.indexedRegisters) : strategy.maxRows;
  const int64_t rows = std::min((strategy.registers - extra - used) / (k.groupSize * tile.columnVectors + ofRow), most);
  return std::max<int64_t>(rows / k.rowsPerPatch() * k.rowsPerPatch(), 1);
}

/// Returns the wanted number of rows of a chunk: more if rhs is copied for them, and twice that if lhs is also copied.
int64_t RowSplit::rowsOfChunk() const {
  return k.slices && k.slices->hasRhs ? std::max(strategy.sliceRows * (k.slices->hasLhs ? 2 : 1), strategy.chunkRows)
                                      : strategy.chunkRows;
}

/// Returns true if a tile reads rhs without long strides.
bool RowSplit::isContiguous(const Product &product) const {
  return !product.isStrided() &&
         (product.reduced.empty() ||
          product.reduced.back().rhs.known() * bytesOf(product.rhs.element()) <= strategy.maxStreamStrideBytes);
}

/// Returns the minimum height that is about as fast as the maximum. Lower blocks, down to `least` rows, are cheap if a
/// tile's rhs is read without long strides, needs no conversion for every block, and stays in a cache of `nearBytes`.
int64_t RowSplit::minRows(int64_t nearBytes, int64_t least) const {
  int64_t most = maxRows();
  auto isCheap = [&](const Product &product, Dot dot) {
    return isContiguous(product) && dot != Dot::Halves && !isRounded(dot) &&
           (isPackedDot(dot) || product.rhs.conversions.empty());
  };
  bool isNear = plan.bytesOfTile() <= static_cast<double>(nearBytes);
  for (auto [product, dot] : llvm::zip_equal(chain.products, k.dots))
    isNear &= isCheap(product, dot);
  if (!isNear)
    return most;
  least = std::max(least, ceilDiv(strategy.minSums, tile.perRow));
  return std::min<int64_t>(most, llvm::alignTo(least, k.rowsPerPatch()));
}

/// Returns the preferred divisor of all block heights.
int64_t RowSplit::unitOfRows() const { return chain.rows.isMultipleOf(k.rowsPerPatch()) ? k.rowsPerPatch() : 1; }

/// Returns the smallest number of blocks that registers allow; a few more if all heights are then equal, which halves
/// the code.
int64_t RowSplit::fewestBlocks() const {
  const int64_t rows = chain.rows.known(), most = maxRows(), fewest = ceilDiv(rows, most);
  for (int64_t blocks = fewest; blocks * minRows(strategy.l1Bytes, ceilDiv(most, 2)) <= rows; ++blocks)
    if (rows % (blocks * unitOfRows()) == 0)
      return blocks;
  return fewest;
}

/// Decides what is copied; returns false if nothing is. rhs is copied if many rows read more of it than L2 keeps at
/// such strides, or read strided columns. Both factors are copied if lhs is contiguous along rows, of which a block
/// would read a few in every step. Copies are converted, and pairs of bf16 are made of steps that are not adjacent.
bool RowSplit::copies(KSlices &slices) const {
  const Product &product = slices.product;
  slices.hasRhs = true;
  slices.isTransposed = product.lhsRow == 1 && product.reduced[0].lhs.known() >= chain.rows.known();
  slices.hasLhs =
      slices.isTransposed && product.packed == 1 && !isPackedDot(k.dots[0]) && !chain.rows.isBelow(tile.lanes);
  slices.hasPairs = slices.hasLhs && makesPairs(product, strategy);
  const bool isWide =
      !isContiguous(product) && (slices.hasLhs || plan.bytesOfTile() > static_cast<double>(strategy.sliceBytes));
  return slices.hasPairs ||
         (!chain.rows.isBelow(std::max(strategy.minCopyRows, maxRows() + 1)) && (product.isStrided() || isWide));
}

/// Slices K if factors are copied, or if several blocks read more of rhs than L2 keeps.
void RowSplit::chooseSlices() {
  k.slices.reset();
  if (chain.products.size() > 1 || chain.products[0].reduced.size() != 1 || tile.columns < tile.lanes)
    return;
  KSlices slices;
  slices.product = chain.products[0];
  slices.wholeSteps = slices.product.steps();
  k.dots[0] = chooseDot(slices.product, strategy);
  if (!copies(slices)) {
    // A cache line of lhs has elements of all rows, however few of them a block reads.
    const double ofLhs =
        slices.isTransposed
            ? static_cast<double>(chain.rows.known() * slices.product.steps() * bytesOf(slices.product.lhs.element()))
            : 0;
    const bool isBeyondSecond =
        chain.rows.mayExceed(maxRows()) && plan.bytesOfTile() + ofLhs > static_cast<double>(strategy.l2Bytes);
    if (isBeyondSecond && isContiguous(slices.product) && chain.accumulators.size() == 1) {
      slices.hasRhs = slices.hasLhs = false;
      k.slices = std::move(slices);
    }
    return;
  }
  if (slices.hasPairs) {
    k.dots[0] = Dot::Pairs;
    slices.product.packed = slices.product.taken = 2;
    slices.product.reduced[0].extent = ceilDiv(slices.wholeSteps, 2);
    slices.wholeSteps /= 2;
  } else if (k.dots[0] <= Dot::Fma && slices.product.packed == 1) {
    slices.product.rhs.conversions.clear();
    if (slices.hasLhs)
      slices.product.lhs.conversions.clear();
  }
  k.slices = std::move(slices);
}

/// Sets the layout of the copy of `rows` rows of lhs and returns the bytes of one step. A step is an odd number of
/// cache lines, so that consecutive steps map to different cache sets.
int64_t RowSplit::placeLhs(int64_t rows) {
  Product &product = k.slices->product;
  const int64_t element = bytesOf(k.slices->copied(product.lhs));
  const int64_t lines = ceilDiv(rows * product.packed * element, lineBytes) | 1;
  k.slices->lhsStride = lines * lineBytes / element;
  product.lhs.offset = 0;
  product.lhsRow = product.packed;
  product.reduced[0].lhs = k.slices->lhsStride;
  return lines * lineBytes;
}

/// Chooses the length of slices, and the number of tiles that share a copy of lhs.
void RowSplit::sizeSlices() {
  KSlices &slices = *k.slices;
  Product &product = slices.product;
  auto rowsOfLast = [&] {
    const int64_t blocks = (split.chunks - 1) * split.blocksPerChunk;
    return chain.rows.known() - blocks * split.blockRows -
           std::min(blocks, split.tallBlocks) * (split.tallRows - split.blockRows);
  };
  while (slices.hasLhs && rowsOfLast() < tile.lanes) // the rows that its copy reads at a time
    split.chunks = ceilDiv(split.blocks, ++split.blocksPerChunk);
  const int64_t rows = std::min(chain.rows.known(), split.blocksPerChunk * split.tallest());
  int64_t bytes =
      tile.elementsOfStep(product) * bytesOf(slices.hasRhs ? slices.copied(product.rhs) : product.rhs.element());
  if (slices.isTransposed && !slices.hasLhs)
    bytes += chain.rows.known() * bytesOf(product.lhs.element());
  const int64_t steps = product.steps();
  constexpr int64_t fewBlocks = 4; // at this number, the first waits for memory as long as the others compute
  slices.fetchesNext = !slices.hasRhs && !slices.isTransposed && split.blocksPerChunk <= fewBlocks;
  const int64_t bytesOfPart =
      slices.fetchesNext ? strategy.l1Bytes * 2 / 3 : strategy.sliceBytes * (slices.hasRhs && !slices.hasLhs ? 1 : 2);
  int64_t most = bytesOfPart / bytes;
  if (slices.hasLhs)
    most = std::min(most, 16 * strategy.sliceBytes / placeLhs(rows));
  slices.parts = ceilDiv(steps, std::max<int64_t>(16, most));
  slices.steps =
      ceilDiv(ceilDiv(steps, slices.parts), plan.kUnroll(product, k.dots[0])) * plan.kUnroll(product, k.dots[0]);
  slices.parts = ceilDiv(steps, slices.steps);
  if (chain.epilogueOps() > strategy.inlineOps || slices.parts > 1)
    scratch.rows = rows;
  if (!slices.isTransposed)
    return;
  const int64_t sums = rows * tile.perRow * tile.lanes * bytesOf(chain.sumType());
  const int64_t tiles = slices.parts > 1 ? std::clamp<int64_t>(strategy.l2Bytes / sums, 1, tile.tiles) : tile.tiles;
  slices.tiles = ceilDiv(tile.tiles, ceilDiv(tile.tiles, tiles));
}

/// Returns true if blocks of rows read a panel again from beyond L1.
bool RowSplit::isBeyondL1() const {
  return !plan.matrices && !(k.slices && k.slices->hasRhs) &&
         plan.bytesOfTile() > static_cast<double>(strategy.l1Bytes) &&
         llvm::all_of(chain.products, [&](const Product &product) { return isContiguous(product); });
}

/// Returns true if each product has, with the sums of every group, two vectors in a step or none: with one, loads take
/// longer than sums. Adjacent steps must also have no other vectors between them: if gates alternate, each group would
/// fetch the panels of the others.
bool RowSplit::suitsGroups(int64_t groupSize) const {
  auto accumulators = static_cast<int64_t>(chain.accumulators.size());
  for (const Product &product : chain.products)
    for (int64_t first = 0; first < accumulators; first += groupSize) {
      int64_t vectors = tile.columnVectors * llvm::count_if(product.sums, [&](const Product::Sum &sum) {
                          return static_cast<int64_t>(sum.accumulator) >= first &&
                                 static_cast<int64_t>(sum.accumulator) < first + groupSize;
                        });
      const int64_t step = product.reduced.empty() ? 0 : product.reduced.back().rhs.known();
      if (vectors && (vectors < 2 || step > vectors * tile.lanes * product.packed))
        return false;
    }
  return true;
}

/// Chooses small groups if the sums of all accumulators, which are kept in scratch in any case, leave registers for
/// only some of the rows. Each group reads all rows of lhs again, which must stay in L2 together with the tile's rhs.
void RowSplit::chooseGroups() {
  auto accumulators = static_cast<int64_t>(chain.accumulators.size());
  k.groupSize = accumulators;
  double bytesOfLhs = 0;
  for (const Product &product : chain.products)
    bytesOfLhs +=
        static_cast<double>(chain.rows.known() * product.steps() * product.packed * bytesOf(product.lhs.element()));
  if (bytesOfLhs + plan.bytesOfTile() > 1.5 * static_cast<double>(strategy.l2Bytes))
    return;
  if (!isBeyondL1() || k.isShifted() || chain.epilogueOps() <= strategy.inlineOps || !chain.rows.mayExceed(maxRows()))
    return;
  const int64_t ofAll = maxRows();
  k.groupSize = 1;
  while (k.groupSize < accumulators && !suitsGroups(k.groupSize))
    ++k.groupSize;
  if (maxRows() <= ofAll)
    k.groupSize = accumulators;
}

/// Chooses tall blocks and one block of the remaining rows that has enough independent sums. Blocks of three or more
/// vectors are too low for one of them to do most of the work.
bool RowSplit::splitBeyondL1() {
  const int64_t most = maxRows(), vectors = k.groupSize * tile.columnVectors, rows = chain.rows.known();
  if (!isBeyondL1() || rows <= most || vectors > 2)
    return false;
  for (int64_t height = most; 3 * height >= 2 * most; --height)
    if (int64_t left = rows % height; !left || left * vectors >= strategy.minRestSums) {
      split.blocks = ceilDiv(rows, height);
      split.tallBlocks = left ? split.blocks - 1 : 0;
      split.tallRows = height;
      split.blockRows = left ? left : height;
      return true;
    }
  return false;
}

/// For slices of K: chooses blocks of maximum height and a low one for the remainder, rather than two heights with
/// about as much code. Among many blocks, a low one costs little.
bool RowSplit::splitKSlices() {
  constexpr int64_t minBlocks = 8;
  const int64_t height = maxRows(), rows = chain.rows.known(), left = rows % height;
  if (!k.slices || rows < minBlocks * height || !left)
    return false;
  split.blocks = ceilDiv(rows, height);
  split.tallBlocks = split.blocks - 1;
  split.tallRows = height;
  split.blockRows = left;
  return true;
}

/// A single block that reads rhs from L2 does not wait for it, and the prefetch instructions would cost a tenth of its
/// time.
bool RowSplit::shouldPrefetch() const {
  const bool isReadAgain = chain.rows.mayExceed(split.tallest());
  bool isBeyondSecond = plan.bytesOfTile() * static_cast<double>(tile.tiles) > static_cast<double>(strategy.l2Bytes);
  const bool asks = strategy.l2PrefetchBytes || strategy.memoryPrefetchBytes;
  return asks && isBeyondL1() && split.tallest() > 1 && (isReadAgain || isBeyondSecond);
}

/// An open number of rows needs lower blocks in any case, so their rhs may be in L2.
void RowSplit::splitOpen() {
  split.blockRows = minRows(strategy.l2Bytes, ceilDiv(2 * maxRows(), 3));
  split.chunkRows = std::max<int64_t>(1, strategy.chunkRows / split.blockRows) * split.blockRows;
  split.heights = heightsFrom(split.blockRows);
  scratch.rows = chain.epilogueOps() > strategy.inlineOps ? split.chunkRows : 0;
}

/// Splits rows into matrices of one height, and these into chunks of strategy.chunkRows.
void RowSplit::splitMatrices() {
  Matrices &own = *plan.matrices;
  split.chunkRows = std::max<int64_t>(1, strategy.chunkRows / matrices::rows) * matrices::rows;
  scratch.rows = split.chunkRows;
  own.down = 2;
  if (!chain.rows.isOpen()) {
    int64_t rows = chain.rows.known(), count = ceilDiv(rows, matrices::rows),
            ofChunk = split.chunkRows / matrices::rows;
    own.height = ceilDiv(rows, count);
    own.down = std::min<int64_t>(2, std::min(count, ofChunk));
    split.chunkRows = own.height * ceilDiv(count, ceilDiv(count, ofChunk));
    split.chunks = ceilDiv(rows, split.chunkRows);
    scratch.rows = std::min(rows, split.chunkRows);
  }
  constexpr int64_t sums = 4;
  own.across = ceilDiv(tile.perRow, ceilDiv(tile.perRow, sums / own.down));
}

void RowSplit::run() {
  if (plan.matrices)
    return splitMatrices();
  k.sumsShiftOnce = k.isShifted() && !chain.rows.isBelow(maxRows());
  if (chain.rows.isOpen())
    return splitOpen();
  chooseSlices();
  const int64_t rows = chain.rows.known();
  chooseGroups();
  if (!splitBeyondL1() && !splitKSlices()) {
    split.blocks = fewestBlocks();
    const int64_t unit = unitOfRows(), units = rows / unit;
    split.blockRows = units / split.blocks * unit;
    split.tallBlocks = units % split.blocks;
    split.tallRows = split.blockRows + unit;
  }
  int64_t tallest = split.tallest();
  split.blocksPerChunk = ceilDiv(split.blocks, std::min(split.blocks, ceilDiv(rows, rowsOfChunk())));
  split.chunks = ceilDiv(split.blocks, split.blocksPerChunk);
  scratch.rows = 0;
  if (k.slices)
    sizeSlices();
  else if (chain.epilogueOps() > strategy.inlineOps)
    scratch.rows = std::min(rows, split.blocksPerChunk * tallest);
}
