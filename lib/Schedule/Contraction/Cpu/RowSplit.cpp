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
  for (auto [product, dot] : llvm::zip_equal(chain.products, plan.dots)) {
    const int64_t sums = std::min<int64_t>(static_cast<int64_t>(product.sums.size()), plan.groupSize);
    const int64_t one = plan.kUnroll(product, dot) > 1 ? 0 : 1; // the broadcast element
    const int64_t vectors = sums * plan.columnVectors;
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
    const bool isWidened = llvm::any_of(llvm::zip_equal(chain.products, plan.dots), [&](auto pair) {
      auto &[product, dot] = pair;
      return plan.rowsPerLhsLoad(product, dot) > 1 && !isPackedDot(dot) && !product.lhs.conversions.empty();
    });
    extra += isWidened ? 2 : ofRow && plan.rowsPerPatch() == 1 ? 1 : 0;
  }
  const int64_t most = ofRow ? std::min(strategy.maxRows, strategy.indexedRegisters) : strategy.maxRows;
  const int64_t rows =
      std::min((strategy.registers - extra - used) / (plan.groupSize * plan.columnVectors + ofRow), most);
  return std::max<int64_t>(rows / plan.rowsPerPatch() * plan.rowsPerPatch(), 1);
}

/// Chunks have more rows if rhs is copied for them, and twice that if several tiles share a copy of lhs.
int64_t RowSplit::rowsOfChunk() const {
  return plan.slices && plan.slices->hasRhs
             ? std::max(strategy.sliceRows * (plan.slices->hasLhs ? 2 : 1), strategy.chunkRows)
             : strategy.chunkRows;
}

/// Returns true if a tile reads rhs without long strides.
bool RowSplit::isContiguous(const Product &product) const {
  return !product.isStrided() &&
         (product.reduced.empty() ||
          product.reduced.back().rhs.known() * bytesOf(product.rhs.element()) <= strategy.maxStreamStrideBytes);
}

/// Returns the minimum height that is about as fast as the maximum. Lower blocks are cheap if a tile's rhs is read
/// without long strides, needs no conversion for every block, and stays in L1 (L2 for an open number of rows, which
/// needs lower blocks in any case).
int64_t RowSplit::minRows() const {
  int64_t most = maxRows();
  auto isCheap = [&](const Product &product, Dot dot) {
    return isContiguous(product) && dot != Dot::Halves && !isRounded(dot) &&
           (isPackedDot(dot) || product.rhs.conversions.empty());
  };
  bool isNear = plan.bytesOfTile() <= static_cast<double>(chain.rows.isOpen() ? strategy.l2Bytes : strategy.l1Bytes);
  for (auto [product, dot] : llvm::zip_equal(chain.products, plan.dots))
    isNear &= isCheap(product, dot);
  if (!isNear)
    return most;
  const int64_t least =
      std::max(chain.rows.isOpen() ? ceilDiv(2 * most, 3) : ceilDiv(most, 2), ceilDiv(strategy.minSums, plan.perRow));
  return std::min<int64_t>(most, llvm::alignTo(least, plan.rowsPerPatch()));
}

/// Returns the preferred divisor of all block heights.
int64_t RowSplit::unitOfRows() const { return chain.rows.isMultipleOf(plan.rowsPerPatch()) ? plan.rowsPerPatch() : 1; }

/// Returns as few blocks as registers allow; a few more if all heights are then equal, which halves the code.
int64_t RowSplit::fewestBlocks() const {
  int64_t rows = chain.rows.known(), fewest = ceilDiv(rows, maxRows());
  for (int64_t blocks = fewest; blocks * minRows() <= rows; ++blocks)
    if (rows % (blocks * unitOfRows()) == 0)
      return blocks;
  return fewest;
}

/// Decides what is copied. rhs is copied if many rows read more of it than L2 keeps at such strides; strided columns
/// are always copied. Both factors are copied if lhs is contiguous along rows, of which a block would read a few in
/// every step. Copies are converted, and pairs of bf16 are made of steps that are not adjacent.
bool RowSplit::copies(KSlices &slices) const {
  const Product &product = slices.product;
  slices.hasRhs = true;
  slices.isTransposed = product.lhsRow == 1 && product.reduced[0].lhs.known() >= chain.rows.known();
  slices.hasLhs =
      slices.isTransposed && product.packed == 1 && !isPackedDot(plan.dots[0]) && !chain.rows.isBelow(plan.lanes);
  slices.hasPairs = slices.hasLhs && makesPairs(product, strategy);
  const bool isWide =
      !isContiguous(product) && (slices.hasLhs || plan.bytesOfTile() > static_cast<double>(strategy.sliceBytes));
  return slices.hasPairs ||
         (!chain.rows.isBelow(std::max(strategy.minCopyRows, maxRows() + 1)) && (product.isStrided() || isWide));
}

/// K is sliced if factors are copied, or if several blocks read more of rhs than L2 keeps.
void RowSplit::chooseSlices() {
  plan.slices.reset();
  if (chain.products.size() > 1 || chain.products[0].reduced.size() != 1 || chain.rows.isOpen() ||
      plan.columns() < plan.lanes)
    return;
  KSlices slices;
  slices.product = chain.products[0];
  slices.wholeSteps = slices.product.steps();
  plan.dots[0] = chooseDot(slices.product, strategy);
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
      plan.slices = std::move(slices);
    }
    return;
  }
  if (slices.hasPairs) {
    plan.dots[0] = Dot::Pairs;
    slices.product.packed = slices.product.taken = 2;
    slices.product.reduced[0].extent = ceilDiv(slices.wholeSteps, 2);
    slices.wholeSteps /= 2;
  } else if (plan.dots[0] <= Dot::Fma && slices.product.packed == 1) {
    slices.product.rhs.conversions.clear();
    if (slices.hasLhs)
      slices.product.lhs.conversions.clear();
  }
  plan.slices = std::move(slices);
}

/// Sets the layout of the copy of `rows` rows of lhs and returns the bytes of one step. A step is an odd number of
/// cache lines, so that consecutive steps map to different cache sets.
int64_t RowSplit::placeLhs(int64_t rows) {
  Product &product = plan.slices->product;
  const int64_t element = bytesOf(plan.copied(product.lhs));
  const int64_t lines = ceilDiv(rows * product.packed * element, lineBytes) | 1;
  plan.slices->lhsStride = lines * lineBytes / element;
  product.lhs.offset = 0;
  product.lhsRow = product.packed;
  product.reduced[0].lhs = plan.slices->lhsStride;
  return lines * lineBytes;
}

/// Chooses the length of slices, and the number of tiles that share a copy of lhs.
void RowSplit::sizeSlices() {
  KSlices &slices = *plan.slices;
  Product &product = slices.product;
  auto rowsOfLast = [&] {
    const int64_t blocks = (plan.chunks - 1) * plan.blocksPerChunk;
    return chain.rows.known() - blocks * plan.blockRows -
           std::min(blocks, plan.tallBlocks) * (plan.tallRows - plan.blockRows);
  };
  while (slices.hasLhs && rowsOfLast() < plan.lanes) // the rows that its copy reads at a time
    plan.chunks = ceilDiv(plan.blocks, ++plan.blocksPerChunk);
  const int64_t rows = std::min(chain.rows.known(), plan.blocksPerChunk * plan.tallest());
  int64_t bytes =
      plan.elementsOfStep(product) * bytesOf(slices.hasRhs ? plan.copied(product.rhs) : product.rhs.element());
  if (slices.isTransposed && !slices.hasLhs)
    bytes += chain.rows.known() * bytesOf(product.lhs.element());
  const int64_t steps = product.steps();
  constexpr int64_t fewBlocks = 4; // at this number, the first waits for memory as long as the others compute
  slices.fetchesNext = !slices.hasRhs && !slices.isTransposed && plan.blocksPerChunk <= fewBlocks;
  const int64_t bytesOfPart =
      slices.fetchesNext ? strategy.l1Bytes * 2 / 3 : strategy.sliceBytes * (slices.hasRhs && !slices.hasLhs ? 1 : 2);
  int64_t most = bytesOfPart / bytes;
  if (slices.hasLhs)
    most = std::min(most, 16 * strategy.sliceBytes / placeLhs(rows));
  slices.parts = ceilDiv(steps, std::max<int64_t>(16, most));
  slices.steps =
      ceilDiv(ceilDiv(steps, slices.parts), plan.kUnroll(product, plan.dots[0])) * plan.kUnroll(product, plan.dots[0]);
  slices.parts = ceilDiv(steps, slices.steps);
  if (chain.epilogueOps() > strategy.inlineOps || slices.parts > 1)
    plan.scratchRows = rows;
  if (!slices.isTransposed)
    return;
  const int64_t sums = rows * plan.perRow * plan.lanes * bytesOf(chain.sumType());
  const int64_t tiles = slices.parts > 1 ? std::clamp<int64_t>(strategy.l2Bytes / sums, 1, plan.tiles) : plan.tiles;
  slices.tiles = ceilDiv(plan.tiles, ceilDiv(plan.tiles, tiles));
}

/// Returns true if blocks of rows read a panel again from beyond L1.
bool RowSplit::isBeyondL1() const {
  return !plan.matrices && !(plan.slices && plan.slices->hasRhs) &&
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
      int64_t vectors = plan.columnVectors * llvm::count_if(product.sums, [&](const Product::Sum &sum) {
                          return static_cast<int64_t>(sum.accumulator) >= first &&
                                 static_cast<int64_t>(sum.accumulator) < first + groupSize;
                        });
      const int64_t step = product.reduced.empty() ? 0 : product.reduced.back().rhs.known();
      if (vectors && (vectors < 2 || step > vectors * plan.lanes * product.packed))
        return false;
    }
  return true;
}

/// Chooses small groups if the sums of all accumulators, which are kept in scratch in any case, leave registers for
/// only some of the rows. Each group reads all rows of lhs again, which must stay in L2 together with the tile's rhs.
void RowSplit::chooseGroups() {
  auto accumulators = static_cast<int64_t>(chain.accumulators.size());
  plan.groupSize = accumulators;
  double bytesOfLhs = 0;
  for (const Product &product : chain.products)
    bytesOfLhs +=
        static_cast<double>(chain.rows.known() * product.steps() * product.packed * bytesOf(product.lhs.element()));
  if (bytesOfLhs + plan.bytesOfTile() > 1.5 * static_cast<double>(strategy.l2Bytes))
    return;
  if (!isBeyondL1() || plan.isShifted() || chain.epilogueOps() <= strategy.inlineOps ||
      !chain.rows.mayExceed(maxRows()))
    return;
  const int64_t ofAll = maxRows();
  plan.groupSize = 1;
  while (plan.groupSize < accumulators && !suitsGroups(plan.groupSize))
    ++plan.groupSize;
  if (maxRows() <= ofAll)
    plan.groupSize = accumulators;
}

/// Chooses tall blocks and one block of the remaining rows that has enough independent sums. Blocks of three or more
/// vectors are too low for one of them to do most of the work.
bool RowSplit::splitBeyondL1() {
  const int64_t most = maxRows(), vectors = plan.groupSize * plan.columnVectors, rows = chain.rows.known();
  if (!isBeyondL1() || rows <= most || vectors > 2)
    return false;
  for (int64_t height = most; 3 * height >= 2 * most; --height)
    if (int64_t left = rows % height; !left || left * vectors >= strategy.minRestSums) {
      plan.blocks = ceilDiv(rows, height);
      plan.tallBlocks = left ? plan.blocks - 1 : 0;
      plan.tallRows = height;
      plan.blockRows = left ? left : height;
      return true;
    }
  return false;
}

/// For slices of K: chooses blocks of maximum height and a low one for the remainder, rather than two heights with
/// about as much code. Among many blocks, a low one costs little.
bool RowSplit::splitKSlices() {
  constexpr int64_t minBlocks = 8;
  const int64_t height = maxRows(), rows = chain.rows.known(), left = rows % height;
  if (!plan.slices || rows < minBlocks * height || !left)
    return false;
  plan.blocks = ceilDiv(rows, height);
  plan.tallBlocks = plan.blocks - 1;
  plan.tallRows = height;
  plan.blockRows = left;
  return true;
}

/// A single block that reads rhs from L2 does not wait for it, and the prefetch instructions would cost a tenth of its
/// time.
bool RowSplit::shouldPrefetch() const {
  bool isReadAgain = chain.rows.isOpen() || plan.blocks > 1;
  bool isBeyondSecond = plan.bytesOfTile() * static_cast<double>(plan.tiles) > static_cast<double>(strategy.l2Bytes);
  const bool asks = strategy.l2PrefetchBytes || strategy.memoryPrefetchBytes;
  return asks && isBeyondL1() && plan.tallest() > 1 && (isReadAgain || isBeyondSecond);
}

void RowSplit::splitOpen() {
  plan.blockRows = minRows();
  plan.chunkRows = std::max<int64_t>(1, strategy.chunkRows / plan.blockRows) * plan.blockRows;
  plan.heights = {plan.blockRows};
  for (int64_t height = 8; height; height /= 2)
    if (height < plan.blockRows)
      plan.heights.push_back(height);
  plan.scratchRows = chain.epilogueOps() > strategy.inlineOps ? plan.chunkRows : 0;
}

/// Splits rows into matrices of one height, and these into chunks of strategy.chunkRows.
void RowSplit::splitMatrices() {
  Matrices &own = *plan.matrices;
  plan.chunkRows = std::max<int64_t>(1, strategy.chunkRows / matrices::rows) * matrices::rows;
  plan.scratchRows = plan.chunkRows;
  own.down = 2;
  if (!chain.rows.isOpen()) {
    int64_t rows = chain.rows.known(), count = ceilDiv(rows, matrices::rows), ofChunk = plan.chunkRows / matrices::rows;
    own.height = ceilDiv(rows, count);
    own.down = std::min<int64_t>(2, std::min(count, ofChunk));
    plan.chunkRows = own.height * ceilDiv(count, ceilDiv(count, ofChunk));
    plan.chunks = ceilDiv(rows, plan.chunkRows);
    plan.scratchRows = std::min(rows, plan.chunkRows);
  }
  constexpr int64_t sums = 4;
  own.across = ceilDiv(plan.perRow, ceilDiv(plan.perRow, sums / own.down));
}

void RowSplit::run() {
  if (plan.matrices)
    return splitMatrices();
  plan.sumsShiftOnce = plan.isShifted() && !chain.rows.isBelow(maxRows());
  chooseSlices();
  if (chain.rows.isOpen())
    return splitOpen();
  const int64_t rows = chain.rows.known();
  chooseGroups();
  if (!splitBeyondL1() && !splitKSlices()) {
    plan.blocks = fewestBlocks();
    const int64_t unit = unitOfRows(), units = rows / unit;
    plan.blockRows = units / plan.blocks * unit;
    plan.tallBlocks = units % plan.blocks;
    plan.tallRows = plan.blockRows + unit;
  }
  int64_t tallest = plan.tallest();
  plan.blocksPerChunk = ceilDiv(plan.blocks, std::min(plan.blocks, ceilDiv(rows, rowsOfChunk())));
  plan.chunks = ceilDiv(plan.blocks, plan.blocksPerChunk);
  plan.scratchRows = 0;
  if (plan.slices)
    sizeSlices();
  else if (chain.epilogueOps() > strategy.inlineOps)
    plan.scratchRows = std::min(rows, plan.blocksPerChunk * tallest);
}
