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

#include "Schedule/Contraction/PointValues.h"

#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

func::FuncOp OpenEmitter::emit() {
  KernelTraits traits;
  traits.name = (problem.getName() + "_kernel").str();
  traits.plan = plan.text();
  traits.scratchBytes = plan.scratchBytes;
  if (plan.panel > plan.width())
    traits.space = plan.panel / plan.width();
  traits.space.addLoop(chain.columns, plan.panel ? std::max<int64_t>(1, plan.width() / plan.panel) : plan.width());
  traits.space.addLoop(chain.rows, plan.chunkRows);
  constexpr double usualRows = 32, usualSteps = 256;
  traits.nsPerIteration = usualRows * usualSteps * static_cast<double>(plan.vectors) * plan.strategy.nsPerOperation;
  beginKernel(problem, problem, traits, chain.prologue);
  const AtOperation scope(*this, own.loc());
  auto loop = beginSpace();
  if (!plan.panel)
    atEntry([&] {
      sums = view(0, plan.chunkRows * plan.width(), plan.waitingType());
      copy = view(plan.copyBytes, plan.wholeSteps * plan.width(), plan.copyType());
      return sums;
    });
  emitIteration(loop.getInductionVar());
  return finishKernel();
}

void OpenEmitter::emitIteration(Value iteration) {
  Value chunks = atEntry([&] { return index(ceilDiv(chain.rows, plan.chunkRows)); });
  Value tile = create<arith::DivUIOp>(iteration, chunks), chunk = create<arith::RemUIOp>(iteration, chunks);
  tileColumn = linear(0, {{tile, plan.width()}});
  Value columns = plan.panel ? linear(0, {{index(chain.columns), plan.panel}}) : index(chain.columns);
  count = min(sub(columns, tileColumn), index(plan.width()));
  whole = create<arith::DivUIOp>(count, index(plan.lanes));
  started = create<arith::DivUIOp>(linear(plan.lanes - 1, {{count, 1}}), index(plan.lanes));
  rows.begin = linear(0, {{chunk, plan.chunkRows}});
  rows.end = min(linear(plan.chunkRows, {{rows.begin, 1}}), index(chain.rows));
  const Range all{index(0), index(own.reduced[0].extent)};
  if (plan.panel)
    return sumPart(all, Rhs::InPanels, Sums::Done);
  auto isUpTo = [&](Value size, int64_t most) -> Value {
    return create<arith::CmpIOp>(arith::CmpIPredicate::sle, size, index(most));
  };
  Value isFull = create<arith::CmpIOp>(arith::CmpIPredicate::eq, count, index(plan.width()));
  Value hasFewRows = isUpTo(index(chain.rows), plan.fewRows), isWhole = both(isFull, isUpTo(all.end, plan.wholeSteps));
  auto emitCopied = [&] {
    copyPart(all);
    emitWhole(all, plan.heights, Rhs::Copied);
  };
  if (plan.hasDots)
    isWhole = create<arith::SelectOp>(hasFewRows, create<arith::ConstantOp>(b.getBoolAttr(false)), isWhole);
  choose(
      isWhole,
      [&] {
        if (own.isStrided())
          emitCopied();
        else
          choose(hasFewRows, [&] { emitWhole(all, plan.fewHeights, Rhs::InPlace); }, emitCopied);
      },
      [&] { emitInParts(isFull, hasFewRows); });
}

/// Emits the blocks of a full tile over all of K.
void OpenEmitter::emitWhole(Range k, ArrayRef<int64_t> heights, Rhs from) {
  forBlocks(heights, [&](Value row, int64_t height) {
    emitBlock({row, height, {index(0), plan.vectors}, k, from, Sums::Done});
  });
}

void OpenEmitter::emitInParts(Value isFull, Value hasFewRows) {
  startSums();
  auto forParts = [&](int64_t length, function_ref<void(Range)> body) {
    Value depth = index(own.reduced[0].extent);
    forRange(index(0), depth, [&](Value begin) { body({begin, min(linear(length, {{begin, 1}}), depth)}); }, length);
  };
  auto emitParts = [&] {
    forParts(plan.steps, [&](Range k) {
      copyPart(k);
      sumPart(k, Rhs::Copied, Sums::Waiting);
    });
  };
  if (plan.hasDots)
    choose(hasFewRows, [&] { forParts(plan.steps * plan.lanes, [&](Range k) { emitDots(k); }); }, emitParts);
  else if (!own.isStrided())
    choose(
        both(hasFewRows, isFull),
        [&] {
          forParts(plan.steps, [&](Range k) {
            forBlocks(plan.fewHeights, [&](Value row, int64_t height) {
              emitBlock({row, height, {index(0), plan.vectors}, k, Rhs::InPlace, Sums::Waiting});
            });
          });
        },
        emitParts);
  else
    emitParts();
  emitEpilogue();
}

/// Emits dots along K for few rows.
void OpenEmitter::emitDots(Range k) {
  Value end = sub(count, create<arith::RemUIOp>(count, index(plan.dotColumns)));
  auto dots = [&](Value from, Value to, int64_t columns) {
    forRange(
        from, to,
        [&](Value column) {
          forBlocks(plan.fewHeights, [&](Value row, int64_t height) { emitDots(k, row, height, column, columns); });
        },
        columns);
  };
  dots(index(0), end, plan.dotColumns);
  dots(end, count, 1);
}

/// Adds the sum of a slice of K to the one that waits in scratch.
Value OpenEmitter::addTo(Value waiting, Value sum) {
  if (plan.addsWide)
    sum = create<arith::ExtFOp>(waiting.getType(), sum);
  return isa<FloatType>(plan.waitingType()) ? create<arith::AddFOp>(waiting, sum).getResult()
                                            : create<arith::AddIOp>(waiting, sum).getResult();
}

/// Sums some rows and columns: by vectors along K, then the remainder of K.
void OpenEmitter::emitDots(Range k, Value row, int64_t height, Value column, int64_t columns) {
  Value whole = sub(k.end, create<arith::RemUIOp>(sub(k.end, k.begin), index(plan.lanes)));
  auto sumAlong = [&](Value begin, Value end, int64_t lanes) {
    auto load = [&](const Product::Factor &factor, Value at) {
      auto type = VectorType::get({lanes}, factor.element());
      return convert(b, factor, create<vector::LoadOp>(type, argument(factor.base), ValueRange{at}));
    };
    const Values before(height * columns, zeros(VectorType::get({lanes}, chain.sumType())));
    return loop(begin, end, index(lanes), before, [&](Value step, Values carried) {
      Values rhs;
      for (int64_t j = 0; j < columns; ++j)
        rhs.push_back(load(own.rhs, rhsAt(step, linear(j, {{column, 1}}))));
      for (int64_t i = 0; i < height; ++i) {
        Value lhs = load(
            own.lhs, linear(own.lhs.offset, {{row, own.lhsRow}, {index(i), own.lhsRow}, {step, own.reduced[0].lhs}}));
        for (int64_t j = 0; j < columns; ++j) {
          Value &sum = carried[i * columns + j];
          sum = accumulate(b, plan.product, plan.dot, lhs, rhs[j], sum);
        }
      }
      return carried;
    });
  };
  const Values wide = sumAlong(k.begin, whole, plan.lanes), left = sumAlong(whole, k.end, 1);
  for (int64_t i = 0; i < height; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      Value at = sumsAt(row, linear(i * plan.width() + j, {{column, 1}}));
      Value sum = create<vector::ExtractOp>(left[i * columns + j], 0);
      sum = create<vector::ReductionOp>(vector::CombiningKind::ADD, wide[i * columns + j], sum,
                                        arith::FastMathFlags::reassoc);
      Value before = create<memref::LoadOp>(sums, ValueRange{at});
      create<memref::StoreOp>(addTo(before, sum), sums, ValueRange{at});
    }
}

/// Returns the address in scratch of the sum of a row and a column of the tile.
Value OpenEmitter::sumsAt(Value row, Value column) {
  return linear(0, {{row, plan.width()}, {rows.begin, -plan.width()}, {column, 1}});
}

void OpenEmitter::startSums() {
  TypedAttr fill = chain.accumulators[0].fill;
  if (plan.addsWide)
    fill = b.getF64FloatAttr(cast<FloatAttr>(fill).getValueAsDouble());
  Value start = splat(fill, plan.lanes);
  forRange(rows.begin, rows.end, [&](Value row) {
    for (int64_t v = 0; v < plan.vectors; ++v)
      create<vector::StoreOp>(start, sums, ValueRange{sumsAt(row, index(v * plan.lanes))});
  });
}

void OpenEmitter::forSteps(Range k, Values &carried, StepBody body) {
  const int64_t length = plan.stepLength();
  Value left, end = k.end;
  if (length > 1) {
    left = create<arith::RemUIOp>(sub(k.end, k.begin), index(length));
    end = sub(k.end, left);
  }
  auto take = [&](Value to, int64_t elements) {
    carried = loop(elements < length ? end : k.begin, to, index(elements), carried,
                   [&](Value step, Values now) { return body(step, std::move(now), elements); });
  };
  take(end, length);
  for (int64_t elements = 1; elements < length; ++elements) {
    Value isLeft = create<arith::CmpIOp>(arith::CmpIPredicate::eq, left, index(elements));
    take(create<arith::SelectOp>(isLeft, k.end, end), elements);
  }
}

void OpenEmitter::forSteps(Range k, function_ref<void(Value, bool)> body) {
  Values none;
  forSteps(k, none, [&](Value step, const Values &, int64_t elements) {
    body(step, elements == plan.stepLength());
    return Values();
  });
}

/// Adds a slice of K, or all of it, to the sums of all columns of the tile.
void OpenEmitter::sumPart(Range k, Rhs from, Sums sumsOf) {
  Value fillsTile = create<arith::CmpIOp>(arith::CmpIPredicate::eq, started, index(plan.vectors));
  choose(
      fillsTile,
      [&] {
        forBlocks(plan.heights, [&](Value row, int64_t height) {
          emitBlock({row, height, {index(0), plan.vectors}, k, from, sumsOf});
        });
      },
      [&] {
        forRange(index(0), started, [&](Value vector) {
          forBlocks(plan.singleHeights,
                    [&](Value row, int64_t height) { emitBlock({row, height, {vector, 1}, k, from, sumsOf}); });
        });
      });
}

/// Emits as many of the tallest blocks as fit, then lower ones.
void OpenEmitter::forBlocks(ArrayRef<int64_t> heights, function_ref<void(Value, int64_t)> body) {
  Value from = rows.begin;
  for (int64_t height : heights) {
    Value to = rows.end;
    if (height > 1)
      to = sub(rows.end, create<arith::RemUIOp>(sub(rows.end, from), index(height)));
    forRange(from, to, [&](Value row) { body(row, height); }, height);
    from = to;
  }
}

SmallVector<Value, 4> OpenEmitter::lhsOf(const Product &product, Value row, Value step) {
  Value at = linear(0, {{row, 1}, {step, own.reduced[0].lhs}});
  auto element = [&](int64_t i) -> Value {
    return create<memref::LoadOp>(argument(own.lhs.base), ValueRange{linear(i, {{at, 1}})});
  };
  if (isPackedDot(plan.dot) && product.taken == product.packed)
    return prepareLhs(b, product, plan.dot, loadVector(own.lhs, at, product.taken), plan.lanes);
  const auto elements = llvm::map_to_vector<4>(llvm::seq(product.taken), element);
  return prepareLhs(b, product, plan.dot, elements, plan.lanes);
}

/// Returns the initial sums of a block, and sets their addresses in scratch.
OpenEmitter::Values OpenEmitter::startBlock(Block &block) {
  Values before;
  for (int64_t i = 0; i < block.height * block.of.count; ++i) {
    const auto [row, v] = std::div(i, block.of.count);
    if (block.sumsOf == Sums::Done) {
      before.push_back(splat(chain.accumulators[0].fill, plan.lanes));
      continue;
    }
    Value at = sumsAt(block.row, linear(0, {{block.of.first, plan.lanes}}));
    block.places.push_back(linear(row * plan.width() + v * plan.lanes, {{at, 1}}));
    before.push_back(plan.addsWide
                         ? zeros(sumType)
                         : create<vector::LoadOp>(sumType, sums, ValueRange{block.places.back()}).getResult());
  }
  for (int64_t v = 0; block.from == Rhs::InPanels && v < block.of.count; ++v)
    block.inPanels.push_back(placeInPanels(block.of, v));
  return before;
}

/// Loads a vector of rhs at a step.
Value OpenEmitter::loadStep(const Block &block, Value step, int64_t v, bool isWhole) {
  const int64_t elements = plan.lanes * plan.product.packed;
  const Value first = block.of.first;
  if (block.from == Rhs::InPanels) {
    const Size stride = own.reduced[0].rhs;
    return loadVector(
        own.rhs,
        linear(0, {{block.inPanels[v], 1}, {step, own.packed > 1 ? Size(stride.known() / own.packed) : stride}}),
        elements);
  }
  if (block.from == Rhs::Copied)
    return create<vector::LoadOp>(VectorType::get({elements}, plan.copyType()), copy,
                                  ValueRange{linear(v * elements, {{copyAt(step, block.k.begin, first), 1}})});
  if (plan.makesPairs)
    return pairsOf(step, linear(v * plan.lanes, {{first, plan.lanes}}), isWhole);
  return loadRhs(linear(v * plan.lanes, {{rhsAt(step, linear(0, {{first, plan.lanes}})), 1}}));
}

void OpenEmitter::finishBlock(const Block &block, const Values &after) {
  for (auto [i, sum] : llvm::enumerate(after)) {
    const auto [row, v] = std::div(static_cast<int64_t>(i), block.of.count);
    if (block.sumsOf == Sums::Done) {
      emitPoint(linear(row, {{block.row, 1}}), linear(v * plan.lanes, {{block.of.first, plan.lanes}}), plan.lanes, sum);
      continue;
    }
    Value place = block.places[i], all = sum;
    if (plan.addsWide)
      all = addTo(create<vector::LoadOp>(waitingType, sums, ValueRange{place}), sum);
    create<vector::StoreOp>(all, sums, ValueRange{place});
  }
}

/// Sums some rows of one or all vectors of the tile over a slice of K, or all of it.
void OpenEmitter::emitBlock(Block block) {
  Values sumsOfBlock = startBlock(block), rowsOfLhs;
  for (int64_t i = 0; i < block.height; ++i)
    rowsOfLhs.push_back(linear(own.lhs.offset, {{block.row, own.lhsRow}, {index(i), own.lhsRow}}));
  forSteps(block.k, sumsOfBlock, [&](Value step, Values carried, int64_t taken) {
    if (block.from == Rhs::InPlace)
      prefetchRhs(step);
    Product product = plan.product;
    product.taken = taken;
    SmallVector<SmallVector<Value, 4>, 4> rhs;
    for (int64_t v = 0; v < block.of.count; ++v)
      rhs.push_back(prepareRhs(b, product, plan.dot, loadStep(block, step, v, taken == plan.stepLength()), plan.lanes));
    for (int64_t i = 0; i < block.height; ++i) {
      const auto lhs = lhsOf(product, rowsOfLhs[i], step);
      for (int64_t v = 0; v < block.of.count; ++v) {
        Value &sum = carried[i * block.of.count + v];
        sum = accumulate(b, product, plan.dot, lhs, rhs[v], sum);
      }
    }
    return carried;
  });
  finishBlock(block, sumsOfBlock);
}

/// Emits whole vectors of columns, then one column at a time.
void OpenEmitter::emitEpilogue() {
  Value end = linear(0, {{whole, plan.lanes}});
  forRange(rows.begin, rows.end, [&](Value row) {
    forRange(index(0), end, [&](Value column) { emitPoint(row, column, plan.lanes); }, plan.lanes);
    forRange(end, count, [&](Value column) { emitPoint(row, column, 0); });
  });
}

/// Emits `lanes` columns from a column of the tile, or for 0 lanes that column. A null `sum` is loaded from scratch.
void OpenEmitter::emitPoint(Value row, Value column, int64_t lanes, Value sum) {
  auto store = [&](Value value, const TileAccess &access) {
    Value memref = argument(access.base);
    Value at = linear(access.offset, {{row, access.row}, {tileColumn, access.column}, {column, access.column}});
    if (lanes)
      create<vector::StoreOp>(value, memref, ValueRange{at});
    else
      create<memref::StoreOp>(value, memref, ValueRange{at});
  };
  KnownValues known;
  const Accumulator &accumulator = chain.accumulators[0];
  if (!sum) {
    Value at = sumsAt(row, column);
    sum = lanes ? create<vector::LoadOp>(waitingType, sums, ValueRange{at}).getResult()
                : create<memref::LoadOp>(sums, ValueRange{at}).getResult();
    if (plan.addsWide)
      sum = create<arith::TruncFOp>(lanes ? Type(sumType) : chain.sumType(), sum);
  }
  known.set(accumulator.at, sum);
  if (accumulator.isStored)
    store(sum, accumulator.at);
  for (const PointOp &point : chain.epilogue) {
    const AtOperation scope(*this, locationOf(point));
    auto adapt = [&](Operation *clone) {
      if (lanes)
        clone->getResult(0).setType(VectorType::get({lanes}, clone->getResult(0).getType()));
    };
    const auto results =
        contractions::evaluate(b, point, known,
                               {.captured = [&](Value scalar) { return captured(scalar, lanes); },
                                .load = [&](const TileAccess &access) { return load(access, row, column, lanes); },
                                .adapt = adapt});
    for (auto [out, value] : llvm::zip_equal(point.outs, results)) {
      known.set(out, value);
      if (out.isArgument())
        store(value, out);
    }
  }
}

Value OpenEmitter::load(const TileAccess &access, Value row, Value column, int64_t lanes) {
  Value memref = argument(access.base);
  Value at = linear(access.offset, {{row, access.row}, {tileColumn, access.column}, {column, access.column}});
  if (lanes && access.column)
    return create<vector::LoadOp>(VectorType::get({lanes}, access.element()), memref, ValueRange{at});
  SmallVector<Value, 1> indices;
  if (cast<MemRefType>(memref.getType()).getRank())
    indices.push_back(at);
  Value element = create<memref::LoadOp>(memref, indices);
  return lanes ? create<vector::BroadcastOp>(VectorType::get({lanes}, access.element()), element).getResult() : element;
}

func::FuncOp quern::schedule::contractions::emitOpen(const OpenPlan &plan) { return OpenEmitter(plan).emit(); }
