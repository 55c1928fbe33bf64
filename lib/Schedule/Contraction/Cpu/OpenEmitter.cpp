//===- OpenEmitter.cpp - Products with open sizes -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An iteration is a chunk of rows of a tile of columns. Its sums wait in scratch while it processes one slice of K
// after another: f32 slices are added in f64 if sums may be reordered; otherwise sums are accumulated in the order of
// K. A tile that the columns do not fill is summed one vector at a time. For a few rows rhs is not copied, because it
// is read little more than once: whole tiles read it in place, and if columns are contiguous along K and sums may be
// reordered, each sum is the reduction of a vector along K.
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Cpu/OpenEmitter.h"

#include "Schedule/Contraction/Cpu/Epilogue.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

namespace {

enum class Rhs { Copied, InPlace, InPanels };
enum class Sums { Waiting, Done }; ///< state of the sums after one slice of K, or after all of K

/// Range of vectors of the tile.
struct Vectors {
  Value first;
  int64_t count;
};

struct OpenBlock {
  Value row;
  int64_t height;
  Vectors of;
  IndexRange k;
  Rhs from;
  Sums sumsOf;
  Values places = {};   ///< addresses of waiting sums
  Values inPanels = {}; ///< address of each vector at the first step
};

class OpenEmitter {
public:
  explicit OpenEmitter(const OpenPlan &plan)
      : ir(plan.chain.problem), plan(plan), chain(plan.chain), own(chain.products[0]),
        sumType(VectorType::get({plan.lanes}, chain.sumType())) {}
  func::FuncOp emit();

private:
  void emitIteration(Value iteration);
  void startTile(Value iteration);
  void emitDots(IndexRange k);
  Value addTo(Value waiting, Value sum);
  void emitDots(IndexRange k, Value row, int64_t height, Value column, int64_t columns);
  void startSums();
  void sumSlice(IndexRange k, Rhs from, Sums sumsOf);
  Values startBlock(OpenBlock &block);
  Value loadStep(const OpenBlock &block, Value step, int64_t v, bool isWhole);
  void finishBlock(const OpenBlock &block, const Values &after);
  void emitBlock(OpenBlock block);
  void emitWhole(IndexRange k, ArrayRef<int64_t> heights, Rhs from, Sums sumsOf);
  void emitInSlices(Value isFull, Value hasFewRows);
  Value sumsAt(Value row, Value column);
  void emitEpilogue();
  /// Runs the epilogue on a vector of columns of a row or, for 0 lanes, on a single column.
  void finishPoint(const Row &row, const ColumnLanes &at, Value sum);
  /// Returns the lhs operands of the dots of a row at a step.
  SmallVector<Value, 4> lhsOf(const Product &product, Value row, Value step);

  ContractionBuilder ir;
  const OpenPlan &plan;
  const Chain &chain;
  const Product &own; ///< the product as read from memory, not from copies
  VectorType sumType; ///< type of a sum in a register
  Value sums;         ///< sums of a chunk, in scratch
  OpenTile tile;
  std::optional<OpenRhs> rhs;
};

func::FuncOp OpenEmitter::emit() {
  func::FuncOp problem = chain.problem;
  KernelTraits traits;
  traits.name = (problem.getName() + "_kernel").str();
  traits.plan = plan.attribute();
  traits.scratchBytes = plan.scratchBytes;
  if (plan.panel > plan.width())
    traits.space = plan.panel / plan.width();
  traits.space.addLoop(chain.columns, plan.panel ? std::max<int64_t>(1, plan.width() / plan.panel) : plan.width());
  traits.space.addLoop(chain.rows, plan.chunkRows);
  constexpr double usualRows = 32, usualSteps = 256;
  traits.nsPerIteration = usualRows * usualSteps * static_cast<double>(plan.vectors) * plan.strategy.nsPerOperation;
  ir.beginKernel(problem, problem, traits, chain.prologue);
  const KernelBuilder::AtOperation scope(ir, own.loc());
  auto loop = ir.beginSpace();
  Value copy;
  if (!plan.panel)
    ir.atEntry([&] {
      sums = ir.scratchBuffer(0, plan.chunkRows * plan.width(), plan.waitingType());
      copy = ir.scratchBuffer(plan.copyBytes, plan.wholeSteps * plan.width(), plan.copyType());
    });
  rhs.emplace(ir, plan, tile, copy);
  emitIteration(loop.getInductionVar());
  return ir.finishKernel();
}

void OpenEmitter::startTile(Value iteration) {
  Value chunks = ir.atEntry([&] { return ir.index(ir.ceilDiv(chain.rows, plan.chunkRows)); });
  Value number = ir.floorDiv(iteration, chunks), chunk = ir.mod(iteration, chunks);
  tile.column = ir.linear(0, {{number, plan.width()}});
  Value columns = plan.panel ? ir.linear(0, {{ir.index(chain.columns), plan.panel}}) : ir.index(chain.columns);
  tile.count = ir.min(ir.sub(columns, tile.column), ir.index(plan.width()));
  tile.whole = ir.floorDiv(tile.count, plan.lanes);
  tile.started = ir.index(ir.ceilDiv(tile.count, plan.lanes));
  tile.rows.begin = ir.linear(0, {{chunk, plan.chunkRows}});
  tile.rows.end = ir.min(ir.linear(plan.chunkRows, {{tile.rows.begin, 1}}), ir.index(chain.rows));
}

void OpenEmitter::emitIteration(Value iteration) {
  startTile(iteration);
  const IndexRange all{ir.index(0), ir.index(own.reduced[0].extent)};
  if (plan.panel)
    return sumSlice(all, Rhs::InPanels, Sums::Done);
  Value isFull = ir.isEqual(tile.count, plan.width()), hasFewRows = ir.isAtMost(chain.rows, plan.fewRows);
  Value isWhole = ir.both(isFull, ir.isAtMost(all.end, plan.wholeSteps));
  auto emitCopied = [&] {
    rhs->copySteps(all);
    emitWhole(all, plan.heights, Rhs::Copied, Sums::Done);
  };
  if (plan.hasDots)
    isWhole = ir.create<arith::SelectOp>(hasFewRows, ir.create<arith::ConstantOp>(ir.b.getBoolAttr(false)), isWhole);
  ir.choose(
      isWhole,
      [&] {
        if (own.isStrided())
          emitCopied();
        else
          ir.choose(hasFewRows, [&] { emitWhole(all, plan.fewHeights, Rhs::InPlace, Sums::Done); }, emitCopied);
      },
      [&] { emitInSlices(isFull, hasFewRows); });
}

/// Emits the blocks of a full tile.
void OpenEmitter::emitWhole(IndexRange k, ArrayRef<int64_t> heights, Rhs from, Sums sumsOf) {
  ir.forHeights(heights, tile.rows, [&](Value row, int64_t height) {
    emitBlock({row, height, {ir.index(0), plan.vectors}, k, from, sumsOf});
  });
}

void OpenEmitter::emitInSlices(Value isFull, Value hasFewRows) {
  startSums();
  auto forSlices = [&](int64_t length, function_ref<void(IndexRange)> body) {
    Value depth = ir.index(own.reduced[0].extent);
    ir.forRange(
        ir.index(0), depth, [&](Value begin) { body({begin, ir.min(ir.linear(length, {{begin, 1}}), depth)}); },
        length);
  };
  auto emitCopied = [&] {
    forSlices(plan.steps, [&](IndexRange k) {
      rhs->copySteps(k);
      sumSlice(k, Rhs::Copied, Sums::Waiting);
    });
  };
  auto emitInPlace = [&] {
    if (plan.hasDots)
      forSlices(plan.steps * plan.lanes, [&](IndexRange k) { emitDots(k); });
    else
      forSlices(plan.steps, [&](IndexRange k) { emitWhole(k, plan.fewHeights, Rhs::InPlace, Sums::Waiting); });
  };
  if (!plan.hasDots && own.isStrided())
    emitCopied();
  else
    ir.choose(plan.hasDots ? hasFewRows : ir.both(hasFewRows, isFull), emitInPlace, emitCopied);
  emitEpilogue();
}

/// Emits dots along K for few rows.
void OpenEmitter::emitDots(IndexRange k) {
  Value end = ir.endOfWhole(ir.index(0), tile.count, plan.dotColumns);
  auto dots = [&](Value from, Value to, int64_t columns) {
    ir.forRange(
        from, to,
        [&](Value column) {
          ir.forHeights(plan.fewHeights, tile.rows,
                        [&](Value row, int64_t height) { emitDots(k, row, height, column, columns); });
        },
        columns);
  };
  dots(ir.index(0), end, plan.dotColumns);
  dots(end, tile.count, 1);
}

/// Adds the sum of a slice of K to the one that waits in scratch.
Value OpenEmitter::addTo(Value waiting, Value sum) {
  if (plan.addsWide)
    sum = ir.create<arith::ExtFOp>(waiting.getType(), sum);
  return ir.plus(waiting, sum);
}

/// Sums some rows and columns: by vectors along K, then the remainder of K.
void OpenEmitter::emitDots(IndexRange k, Value row, int64_t height, Value column, int64_t columns) {
  Value whole = ir.endOfWhole(k.begin, k.end, plan.lanes);
  auto sumAlong = [&](Value begin, Value end, int64_t lanes) {
    auto load = [&](const Product::Factor &factor, Value at) {
      return convert(ir.b, factor, ir.load(ir.buffer(factor.base), at, lanes));
    };
    const Values before(height * columns, ir.zeros(VectorType::get({lanes}, chain.sumType())));
    return ir.loop(begin, end, ir.index(lanes), before, [&](Value step, Values carried) {
      Values vectors;
      for (int64_t j = 0; j < columns; ++j)
        vectors.push_back(load(own.rhs, rhs->at(step, ir.linear(j, {{column, 1}}))));
      for (int64_t i = 0; i < height; ++i) {
        Value lhs =
            load(own.lhs,
                 ir.linear(own.lhs.offset, {{row, own.lhsRow}, {ir.index(i), own.lhsRow}, {step, own.reduced[0].lhs}}));
        for (int64_t j = 0; j < columns; ++j) {
          Value &sum = carried[i * columns + j];
          sum = accumulate(ir.b, plan.product, plan.dot, lhs, vectors[j], sum);
        }
      }
      return carried;
    });
  };
  const Values wide = sumAlong(k.begin, whole, plan.lanes), left = sumAlong(whole, k.end, 1);
  for (int64_t i = 0; i < height; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      Value at = sumsAt(row, ir.linear(i * plan.width() + j, {{column, 1}}));
      Value sum = ir.create<vector::ExtractOp>(left[i * columns + j], 0);
      sum = ir.create<vector::ReductionOp>(vector::CombiningKind::ADD, wide[i * columns + j], sum,
                                           arith::FastMathFlags::reassoc);
      ir.storeScalar(addTo(ir.loadScalar(sums, at), sum), sums, at);
    }
}

/// Returns the address in scratch of the sum of a row and a column of the tile.
Value OpenEmitter::sumsAt(Value row, Value column) {
  return ir.linear(0, {{row, plan.width()}, {tile.rows.begin, -plan.width()}, {column, 1}});
}

void OpenEmitter::startSums() {
  TypedAttr fill = chain.accumulators[0].fill;
  if (plan.addsWide)
    fill = ir.b.getF64FloatAttr(cast<FloatAttr>(fill).getValueAsDouble());
  Value start = ir.splat(fill, plan.lanes);
  ir.forRange(tile.rows.begin, tile.rows.end, [&](Value row) {
    for (int64_t v = 0; v < plan.vectors; ++v)
      ir.store(start, sums, sumsAt(row, ir.index(v * plan.lanes)));
  });
}

/// Adds a slice of K, or all of it, to the sums of all columns of the tile.
void OpenEmitter::sumSlice(IndexRange k, Rhs from, Sums sumsOf) {
  Value fillsTile = ir.isEqual(tile.started, plan.vectors);
  ir.choose(
      fillsTile, [&] { emitWhole(k, plan.heights, from, sumsOf); },
      [&] {
        ir.forRange(ir.index(0), tile.started, [&](Value vector) {
          ir.forHeights(plan.singleHeights, tile.rows,
                        [&](Value row, int64_t height) { emitBlock({row, height, {vector, 1}, k, from, sumsOf}); });
        });
      });
}

SmallVector<Value, 4> OpenEmitter::lhsOf(const Product &product, Value row, Value step) {
  Value at = ir.linear(0, {{row, 1}, {step, own.reduced[0].lhs}}), memref = ir.buffer(own.lhs.base);
  SmallVector<Value, 4> elements;
  if (isPackedDot(plan.dot) && product.taken == product.packed)
    elements.push_back(ir.load(memref, at, product.taken));
  else
    for (int64_t i = 0; i < product.taken; ++i)
      elements.push_back(ir.loadScalar(memref, ir.linear(i, {{at, 1}})));
  return prepareLhs(ir.b, product, plan.dot, elements, plan.lanes);
}

/// Returns the initial sums of a block, and sets their addresses in scratch.
Values OpenEmitter::startBlock(OpenBlock &block) {
  Values before;
  for (int64_t i = 0; i < block.height * block.of.count; ++i) {
    const auto [row, v] = std::div(i, block.of.count);
    if (block.sumsOf == Sums::Done) {
      before.push_back(ir.splat(chain.accumulators[0].fill, plan.lanes));
      continue;
    }
    Value at = sumsAt(block.row, ir.linear(0, {{block.of.first, plan.lanes}}));
    block.places.push_back(ir.linear(row * plan.width() + v * plan.lanes, {{at, 1}}));
    before.push_back(plan.addsWide ? ir.zeros(sumType) : ir.load(sums, block.places.back(), plan.lanes));
  }
  for (int64_t v = 0; block.from == Rhs::InPanels && v < block.of.count; ++v)
    block.inPanels.push_back(rhs->placeInPanels(block.of.first, v));
  return before;
}

/// Loads a vector of rhs at a step.
Value OpenEmitter::loadStep(const OpenBlock &block, Value step, int64_t v, bool isWhole) {
  if (block.from == Rhs::InPanels)
    return rhs->loadFromPanel(block.inPanels[v], step);
  if (block.from == Rhs::Copied)
    return rhs->loadCopied(step, block.k.begin, block.of.first, v);
  return rhs->load(step, ir.linear(v * plan.lanes, {{block.of.first, plan.lanes}}), isWhole);
}

void OpenEmitter::finishBlock(const OpenBlock &block, const Values &after) {
  for (auto [i, sum] : llvm::enumerate(after)) {
    const auto [row, v] = std::div(static_cast<int64_t>(i), block.of.count);
    if (block.sumsOf == Sums::Done) {
      Value first = ir.linear(0, {{tile.column, 1}, {block.of.first, plan.lanes}});
      finishPoint({ir.linear(row, {{block.row, 1}})}, {first, v * plan.lanes, {}, plan.lanes}, sum);
      continue;
    }
    Value place = block.places[i], all = sum;
    if (plan.addsWide)
      all = addTo(ir.load(sums, place, plan.lanes), sum);
    ir.store(all, sums, place);
  }
}

void OpenEmitter::finishPoint(const Row &row, const ColumnLanes &at, Value sum) {
  TilePoint(ir, at.count, row, at, chain.columns).finish(chain, [&](unsigned) { return sum; });
}

/// Sums some rows of one or all vectors of the tile over a slice of K, or all of it.
void OpenEmitter::emitBlock(OpenBlock block) {
  Values sumsOfBlock = startBlock(block), rowsOfLhs;
  for (int64_t i = 0; i < block.height; ++i)
    rowsOfLhs.push_back(ir.linear(own.lhs.offset, {{block.row, own.lhsRow}, {ir.index(i), own.lhsRow}}));
  forOpenSteps(ir, plan.stepLength(), block.k, sumsOfBlock, [&](Value step, Values carried, int64_t taken) {
    if (block.from == Rhs::InPlace)
      rhs->prefetch(step);
    Product product = plan.product;
    product.taken = taken;
    SmallVector<SmallVector<Value, 4>, 4> vectors;
    for (int64_t v = 0; v < block.of.count; ++v)
      vectors.push_back(
          prepareRhs(ir.b, product, plan.dot, loadStep(block, step, v, taken == plan.stepLength()), plan.lanes));
    for (int64_t i = 0; i < block.height; ++i) {
      const auto lhs = lhsOf(product, rowsOfLhs[i], step);
      for (int64_t v = 0; v < block.of.count; ++v) {
        Value &sum = carried[i * block.of.count + v];
        sum = accumulate(ir.b, product, plan.dot, lhs, vectors[v], sum);
      }
    }
    return carried;
  });
  finishBlock(block, sumsOfBlock);
}

/// Emits whole vectors of columns, then one column at a time.
void OpenEmitter::emitEpilogue() {
  auto emitColumns = [&](Value row, Value column, int64_t lanes) {
    Value at = sumsAt(row, column), sum = lanes ? ir.load(sums, at, lanes) : ir.loadScalar(sums, at);
    if (plan.addsWide)
      sum = ir.create<arith::TruncFOp>(lanes ? Type(sumType) : chain.sumType(), sum);
    finishPoint({row}, {ir.linear(0, {{tile.column, 1}, {column, 1}}), 0, {}, lanes}, sum);
  };
  Value end = ir.linear(0, {{tile.whole, plan.lanes}});
  ir.forRange(tile.rows.begin, tile.rows.end, [&](Value row) {
    ir.forRange(ir.index(0), end, [&](Value column) { emitColumns(row, column, plan.lanes); }, plan.lanes);
    ir.forRange(end, tile.count, [&](Value column) { emitColumns(row, column, 0); });
  });
}

} // namespace

func::FuncOp contractions::emitOpen(const OpenPlan &plan) { return OpenEmitter(plan).emit(); }
