//===- OpenEmitter.cpp - The kernel of a product of open sizes ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An iteration is a chunk of rows of a tile of columns. Its sums wait in scratch while it takes one part of K after the
// other: of f32 in f64, if the order of sums is free, and else each is taken in the order of K. A tile that the columns
// do not fill is summed one vector at a time. For a few rows rhs is not copied, being read once or little more: whole
// tiles are summed from where it lies, and of columns that lie along K each sum is one of vectors along K, if sums may
// be taken in any order.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Cpu/Open.h"

#include "Schedule/Build/Bodies.h"
#include "Schedule/Build/Transpose.h"
#include "Schedule/Contraction/Numbers.h"
#include "Schedule/Contraction/PointValues.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace quern;
using namespace quern::contractions;

namespace {

class OpenEmitter : NumberEmitter {
public:
  explicit OpenEmitter(const OpenPlan &plan)
      : NumberEmitter(plan.chain.problem), plan(plan), chain(plan.chain), problem(chain.problem),
        own(chain.products[0]), sumType(VectorType::get({plan.lanes}, chain.sumType())),
        waitingType(VectorType::get({plan.lanes}, plan.waitingType())) {}
  func::FuncOp emit();

private:
  struct Range {
    Value begin, end;
  };
  /// Vectors of the tile that a block has.
  struct Vectors {
    Value first;
    int64_t count;
  };
  Value ceilDiv(Size size, int64_t by) { return create<arith::DivUIOp>(linear(by - 1, {{index(size), 1}}), index(by)); }
  Value view(int64_t bytes, int64_t elements, Type element) {
    auto type = MemRefType::get({elements}, element);
    return create<memref::ViewOp>(type, kernel.scratch, index(bytes), ValueRange());
  }
  void emitIteration(Value iteration);
  void emitDots(Range k);
  Value addTo(Value waiting, Value sum);
  void emitDots(Range k, Value row, int64_t height, Value column, int64_t columns);
  void startSums();
  void copyPart(Range k);
  void copyRuns(Range k);
  void copyTransposed(Range k);
  void copySquare(Value vector, Value k, Value partBegin);
  void copyElements(Value vector, Range k, Value partBegin);
  void copyEnd(Value step, Value partBegin);
  Value copyAt(Value k, Value partBegin, Value vector);
  void sumPart(Range k);
  void forBlocks(ArrayRef<int64_t> heights, function_ref<void(Value row, int64_t height)> body);
  void emitBlock(Value row, int64_t height, Vectors of, Range k, bool fromCopy = true);
  Value sumsAt(Value row, Value column);
  void emitEpilogue();
  void emitPoint(Value row, Value column, int64_t lanes);
  Value load(const TileAccess &access, Value row, Value column, int64_t lanes);
  Value rhsAt(Value k, Value column) {
    return linear(own.sums[0].offset,
                  {{k, own.reduced[0].rhs}, {tileColumn, own.columns[0].stride}, {column, own.columns[0].stride}});
  }
  Value loadRhs(Value at) {
    auto type = VectorType::get({plan.lanes}, own.rhs.element());
    return convert(b, own.rhs, create<vector::LoadOp>(type, argument(own.rhs.base), ValueRange{at}));
  }
  /// What rhs has of the tile some steps later, whose rows lie too far apart for a prefetcher of the machine's. Behind
  /// the end it is no access.
  void prefetchRhs(Value step) {
    constexpr int64_t ahead = 16, line = 64;
    const int64_t bytes = own.rhs.element().getIntOrFloatBitWidth() / 8;
    for (int64_t column = 0; column < plan.width(); column += line / bytes)
      create<memref::PrefetchOp>(argument(own.rhs.base), ValueRange{rhsAt(linear(ahead, {{step, 1}}), index(column))},
                                 /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
  }
  Value argument(Value base) { return kernel.arguments.lookup(base); }

  const OpenPlan &plan;
  const Chain &chain;
  func::FuncOp problem;
  const Product &own;              ///< as it lies in memory
  VectorType sumType, waitingType; ///< of a sum in a register, and in scratch
  Value sums, copy;                ///< scratch
  Value tileColumn;                ///< the first of the tile
  Value count;                     ///< columns of the tile
  Value whole, started;            ///< its whole vectors, and all
  Range rows;                      ///< of the chunk
};

func::FuncOp OpenEmitter::emit() {
  KernelTraits traits;
  traits.name = (problem.getName() + "_kernel").str();
  traits.plan = plan.text();
  traits.scratchBytes = plan.scratchBytes;
  auto count = [&](Size size, int64_t of) {
    if (size.isOpen())
      traits.factors.append({size.openIndex(), of});
    else
      traits.space *= llvm::divideCeil(size.known(), of);
  };
  count(chain.columns, plan.width());
  count(chain.rows, plan.chunkRows);
  constexpr double usualRows = 32, usualSteps = 256;
  traits.nsPerIteration = usualRows * usualSteps * static_cast<double>(plan.vectors) * plan.strategy.nsPerOperation;
  kernel = makeKernel(problem, problem, traits);
  b.setInsertionPointToEnd(&kernel.function.getBody().front());
  clonePrologue(b, kernel, problem, chain.prologue, [&](Size size) { return index(size); });
  const AtOperation scope(*this, own.loc());
  auto loop = create<scf::ForOp>(kernel.begin(), kernel.end(), index(1));
  entry = loop;
  create<func::ReturnOp>();
  atEntry([&] {
    sums = view(0, plan.chunkRows * plan.width(), plan.waitingType());
    copy = view(plan.copyBytes, plan.steps * plan.width(), chain.sumType());
    return sums;
  });
  b.setInsertionPointToStart(loop.getBody());
  emitIteration(loop.getInductionVar());
  kernel.function.walk([](scf::ForOp inner) { moveLoopInvariantCode(inner); });
  return kernel.function;
}

void OpenEmitter::emitIteration(Value iteration) {
  Value chunks = atEntry([&] { return ceilDiv(chain.rows, plan.chunkRows); });
  Value tile = create<arith::DivUIOp>(iteration, chunks), chunk = create<arith::RemUIOp>(iteration, chunks);
  tileColumn = linear(0, {{tile, plan.width()}});
  count = smaller(difference(index(chain.columns), tileColumn), index(plan.width()));
  whole = create<arith::DivUIOp>(count, index(plan.lanes));
  started = create<arith::DivUIOp>(linear(plan.lanes - 1, {{count, 1}}), index(plan.lanes));
  rows.begin = linear(0, {{chunk, plan.chunkRows}});
  rows.end = smaller(linear(plan.chunkRows, {{rows.begin, 1}}), index(chain.rows));
  startSums();
  auto forParts = [&](int64_t length, function_ref<void(Range)> body) {
    Value depth = index(own.reduced[0].extent);
    forRange(
        index(0), depth, [&](Value begin) { body({begin, smaller(linear(length, {{begin, 1}}), depth)}); }, length);
  };
  auto emitParts = [&] {
    forParts(plan.steps, [&](Range k) {
      copyPart(k);
      sumPart(k);
    });
  };
  Value areFew = create<arith::CmpIOp>(arith::CmpIPredicate::sle, index(chain.rows), index(plan.fewRows));
  if (plan.hasDots)
    choose(b, loc, areFew, [&] { forParts(plan.steps * plan.lanes, [&](Range k) { emitDots(k); }); }, emitParts);
  else if (!own.isStrided())
    choose(
        b, loc, both(areFew, create<arith::CmpIOp>(arith::CmpIPredicate::eq, count, index(plan.width()))),
        [&] {
          forParts(plan.steps, [&](Range k) {
            forBlocks(plan.fewHeights, [&](Value row, int64_t height) {
              emitBlock(row, height, {index(0), plan.vectors}, k, /*fromCopy=*/false);
            });
          });
        },
        emitParts);
  else
    emitParts();
  emitEpilogue();
}

/// Of few rows.
void OpenEmitter::emitDots(Range k) {
  Value end = difference(count, create<arith::RemUIOp>(count, index(plan.dotColumns)));
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

/// What a part of K adds to what waits in scratch.
Value OpenEmitter::addTo(Value waiting, Value sum) {
  if (plan.addsWide)
    sum = create<arith::ExtFOp>(waiting.getType(), sum);
  return isa<FloatType>(plan.waitingType()) ? create<arith::AddFOp>(waiting, sum).getResult()
                                            : create<arith::AddIOp>(waiting, sum).getResult();
}

/// The sums of some rows and columns: vectors along K, then what is left of K.
void OpenEmitter::emitDots(Range k, Value row, int64_t height, Value column, int64_t columns) {
  Value whole = difference(k.end, create<arith::RemUIOp>(difference(k.end, k.begin), index(plan.lanes)));
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

/// Where the sum of a row and a column of the tile waits.
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

/// Where a vector of the tile lies at a step.
Value OpenEmitter::copyAt(Value k, Value partBegin, Value vector) {
  return linear(0, {{k, plan.width()}, {partBegin, -plan.width()}, {vector, plan.lanes}});
}

void OpenEmitter::copyPart(Range k) {
  if (plan.transposes)
    return copyTransposed(k);
  if (!own.isStrided())
    return copyRuns(k);
  forRange(index(0), started, [&](Value vector) { copyElements(vector, k, k.begin); });
}

/// Of columns that lie side by side.
void OpenEmitter::copyRuns(Range k) {
  auto move = [&](Value step, Value vector) {
    create<vector::StoreOp>(loadRhs(rhsAt(step, linear(0, {{vector, plan.lanes}}))), copy,
                            ValueRange{copyAt(step, k.begin, vector)});
  };
  Value isWhole = create<arith::CmpIOp>(arith::CmpIPredicate::eq, count, index(plan.width()));
  choose(
      b, loc, isWhole,
      [&] {
        forRange(k.begin, k.end, [&](Value step) {
          prefetchRhs(step);
          for (int64_t v = 0; v < plan.vectors; ++v)
            move(step, index(v));
        });
      },
      [&] {
        forRange(k.begin, k.end,
                 [&](Value step) { forRange(index(0), whole, [&](Value vector) { move(step, vector); }); });
        forRange(whole, started, [&](Value vector) { copyElements(vector, k, k.begin); });
      });
}

/// Of columns that lie along K: squares where all lanes exist, single elements elsewhere.
void OpenEmitter::copyTransposed(Range k) {
  const int64_t unit = transposeUnit(own.rhs.element());
  Value length = difference(k.end, k.begin);
  Value end = difference(k.end, create<arith::RemUIOp>(length, index(unit)));
  forRange(index(0), whole, [&](Value vector) {
    forRange(k.begin, end, [&](Value at) { copySquare(vector, at, k.begin); }, unit);
    copyElements(vector, {end, k.end}, k.begin);
  });
  forRange(whole, started, [&](Value vector) { copyElements(vector, k, k.begin); });
}

/// As many steps from k on as a square has columns.
void OpenEmitter::copySquare(Value vector, Value k, Value partBegin) {
  const Type element = own.rhs.element();
  const int64_t unit = transposeUnit(element);
  auto type = VectorType::get({unit}, element);
  Value first = rhsAt(k, linear(0, {{vector, plan.lanes}}));
  auto gather = [&](Value, int64_t row) {
    SmallVector<Value> pieces;
    for (int64_t lane = row; lane < plan.lanes; lane += unit)
      pieces.push_back(create<vector::LoadOp>(
          type, argument(own.rhs.base), ValueRange{linear(0, {{first, 1}, {index(lane), own.columns[0].stride}})}));
    return joinVectors(b, loc, pieces);
  };
  auto sink = [&](Value, ArrayRef<Value> columns) {
    Value at = copyAt(k, partBegin, vector);
    for (auto [j, column] : llvm::enumerate(columns))
      create<vector::StoreOp>(convert(b, own.rhs, column), copy,
                              ValueRange{linear(static_cast<int64_t>(j) * plan.width(), {{at, 1}})});
  };
  transposeSquares(b, loc, element, plan.lanes, {gather, sink}, Value(), [&](int64_t i) { return index(i); });
}

/// A vector of the tile one by one; what has no column is zero.
void OpenEmitter::copyElements(Value vector, Range k, Value partBegin) {
  const auto one = VectorType::get({1}, own.rhs.element());
  Value first = linear(0, {{vector, plan.lanes}});
  Value exist = smaller(difference(count, first), index(plan.lanes));
  forRange(k.begin, k.end, [&](Value step) {
    Value at = copyAt(step, partBegin, vector);
    create<vector::StoreOp>(zeros(sumType), copy, ValueRange{at});
    forRange(index(0), exist, [&](Value lane) {
      Value column = linear(0, {{first, 1}, {lane, 1}});
      Value loaded = create<memref::LoadOp>(argument(own.rhs.base), ValueRange{rhsAt(step, column)});
      Value converted = convert(b, own.rhs, create<vector::BroadcastOp>(one, loaded));
      create<memref::StoreOp>(create<vector::ExtractOp>(converted, 0), copy,
                              ValueRange{linear(0, {{at, 1}, {lane, 1}})});
    });
  });
}

void OpenEmitter::sumPart(Range k) {
  Value fillsTile = create<arith::CmpIOp>(arith::CmpIPredicate::eq, started, index(plan.vectors));
  choose(
      b, loc, fillsTile,
      [&] {
        forBlocks(plan.heights,
                  [&](Value row, int64_t height) { emitBlock(row, height, {index(0), plan.vectors}, k); });
      },
      [&] {
        forRange(index(0), started, [&](Value vector) {
          forBlocks(plan.singleHeights, [&](Value row, int64_t height) { emitBlock(row, height, {vector, 1}, k); });
        });
      });
}

/// As many of the tallest blocks as there are, then lower ones.
void OpenEmitter::forBlocks(ArrayRef<int64_t> heights, function_ref<void(Value, int64_t)> body) {
  Value from = rows.begin;
  for (int64_t height : heights) {
    Value to = rows.end;
    if (height > 1)
      to = difference(rows.end, create<arith::RemUIOp>(difference(rows.end, from), index(height)));
    forRange(from, to, [&](Value row) { body(row, height); }, height);
    from = to;
  }
}

/// The sums of some rows in one or all vectors of the tile, along a part of K.
void OpenEmitter::emitBlock(Value row, int64_t height, Vectors of, Range k, bool fromCopy) {
  Values places, before, rowsOfLhs;
  for (int64_t i = 0; i < height; ++i) {
    Value at = sumsAt(row, linear(0, {{of.first, plan.lanes}}));
    for (int64_t v = 0; v < of.count; ++v) {
      places.push_back(linear(i * plan.width() + v * plan.lanes, {{at, 1}}));
      before.push_back(plan.addsWide ? zeros(sumType)
                                     : create<vector::LoadOp>(sumType, sums, ValueRange{places.back()}).getResult());
    }
    rowsOfLhs.push_back(linear(own.lhs.offset, {{row, own.lhsRow}, {index(i), own.lhsRow}}));
  }
  const Values after = loop(k.begin, k.end, index(1), before, [&](Value step, Values carried) {
    if (!fromCopy)
      prefetchRhs(step);
    Value at = fromCopy ? copyAt(step, k.begin, of.first) : rhsAt(step, linear(0, {{of.first, plan.lanes}}));
    SmallVector<SmallVector<Value, 4>, 4> rhs;
    for (int64_t v = 0; v < of.count; ++v) {
      Value place = linear(v * plan.lanes, {{at, 1}});
      Value loaded = fromCopy ? create<vector::LoadOp>(sumType, copy, ValueRange{place}).getResult() : loadRhs(place);
      rhs.push_back(prepareRhs(b, plan.product, plan.dot, loaded, plan.lanes));
    }
    for (int64_t i = 0; i < height; ++i) {
      Value element = create<memref::LoadOp>(argument(own.lhs.base),
                                             ValueRange{linear(0, {{rowsOfLhs[i], 1}, {step, own.reduced[0].lhs}})});
      const auto lhs = prepareLhs(b, plan.product, plan.dot, element, plan.lanes);
      for (int64_t v = 0; v < of.count; ++v) {
        Value &sum = carried[i * of.count + v];
        sum = accumulate(b, plan.product, plan.dot, lhs, rhs[v], sum);
      }
    }
    return carried;
  });
  for (auto [place, sum] : llvm::zip_equal(places, after)) {
    Value all = sum;
    if (plan.addsWide)
      all = addTo(create<vector::LoadOp>(waitingType, sums, ValueRange{place}), sum);
    create<vector::StoreOp>(all, sums, ValueRange{place});
  }
}

/// Whole vectors of columns, then one column at a time.
void OpenEmitter::emitEpilogue() {
  Value end = linear(0, {{whole, plan.lanes}});
  forRange(rows.begin, rows.end, [&](Value row) {
    forRange(index(0), end, [&](Value column) { emitPoint(row, column, plan.lanes); }, plan.lanes);
    forRange(end, count, [&](Value column) { emitPoint(row, column, 0); });
  });
}

/// Some lanes from a column of the tile on, or for 0 lanes that column.
void OpenEmitter::emitPoint(Value row, Value column, int64_t lanes) {
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
  Value at = sumsAt(row, column);
  Value sum = lanes ? create<vector::LoadOp>(waitingType, sums, ValueRange{at}).getResult()
                    : create<memref::LoadOp>(sums, ValueRange{at}).getResult();
  if (plan.addsWide)
    sum = create<arith::TruncFOp>(lanes ? Type(sumType) : chain.sumType(), sum);
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

} // namespace

func::FuncOp quern::contractions::emitOpen(const OpenPlan &plan) { return OpenEmitter(plan).emit(); }
