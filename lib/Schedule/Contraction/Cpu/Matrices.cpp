//===- Matrices.cpp - Sums in matrix registers ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A step along K is 16 vector steps: an lhs matrix has up to 16 rows of 64 bytes each, an rhs matrix 16 packed vectors.
// Registers are configured once in a call, with full-width rows: matrices of sums and of lhs have one height. A partial
// step is multiplied from copies that are padded with zeros in both factors, because zero times NaN is not zero. If the
// height does not divide a chunk of rows, the last matrix overlaps the one before it and recomputes some rows. Blocks
// store their sums to scratch; the elementwise ops read them, each row once, and add the initial values of the sums.
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Cpu/Emitter.h"

#include "Schedule/Build/Bodies.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <utility>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

static int64_t elementsOfRow(const Product::Factor &factor) { return matrices::rowBytes / bytesOf(factor.element()); }

/// Number of steps of whole matrices.
static int64_t wholeSteps(const Product &product) { return (product.steps() - stepsLeft(product)) / matrices::rows; }

/// Elements of rhs from one step of a vector to the next.
static int64_t rhsStep(const Product &product) { return product.reduced.empty() ? 0 : product.reduced[0].rhs.known(); }

/// Emits, before the entry: the height of matrices, their configuration, and zeros in the padding of the copies.
void ContractionEmitter::startMatrices() {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(entry);
  const Matrices &own = *plan.matrices;
  if (own.height) {
    matrixHeight = index(own.height);
  } else { // as even as possible
    Value count = create<arith::DivUIOp>(linear(matrices::rows - 1, {{openRows, 1}}), index(matrices::rows));
    count = create<arith::MaxSIOp>(count, index(1));
    matrixHeight = create<arith::DivUIOp>(create<arith::AddIOp>(openRows, linear(-1, {{count, 1}})), count);
  }
  Value height = create<arith::IndexCastOp>(b.getI8Type(), matrixHeight), at = index(own.configuration);
  Value configuration = matrices::configuration(b, loc, height, own.firstRhs());
  create<vector::StoreOp>(configuration, kernel.scratch, ValueRange{at});
  matrices::configure(b, loc, {kernel.scratch, at});
  lhsCopies.resize(chain.products.size());
  rhsCopies.resize(chain.products.size());
  auto view = [&](const Product::Factor &factor, int64_t rows, int64_t bytes) -> Value {
    auto type = MemRefType::get({rows * elementsOfRow(factor)}, factor.element());
    return create<memref::ViewOp>(type, kernel.scratch, index(bytes), ValueRange());
  };
  for (auto [n, product] : llvm::enumerate(chain.products)) {
    if (own.lhsCopies[n])
      lhsCopies[n] = view(product.lhs, plan.scratchRows, own.lhsCopies[n]);
    if (!own.rhsCopies[n])
      continue;
    int64_t rows = static_cast<int64_t>(product.sums.size()) * plan.columnVectors * matrices::rows,
            elements = elementsOfRow(product.rhs);
    rhsCopies[n] = view(product.rhs, rows, own.rhsCopies[n]);
    Value zero = zeros(VectorType::get({elements}, product.rhs.element()));
    forRange( // no constants in here: they are inserted before the entry
        index(0), index(rows * elements),
        [&](Value at) { create<vector::StoreOp>(zero, rhsCopies[n], ValueRange{at}); }, elements);
  }
}

void ContractionEmitter::emitMatrixChunk(Value chunk) {
  Value begin = linear(0, {{chunk, plan.chunkRows}});
  Value end = min(linear(plan.chunkRows, {{begin, 1}}), index(chain.rows));
  Value lastRow = sub(end, matrixHeight);
  chunkRow = min(begin, lastRow);
  for (const ContractionPlan::Step &step : plan.steps())
    copyLeftSteps(step, end);
  int64_t height = plan.matrices->height;
  Value count = height && plan.chunks == 1
                    ? index((chain.rows.known() + height - 1) / height)
                    : create<arith::DivUIOp>(sub(linear(-1, {{end, 1}, {matrixHeight, 1}}), begin), matrixHeight);
  for (int64_t first = 0; first < plan.perRow; first += plan.matrices->across)
    forMatrices(count, [&](Value from, int64_t down) {
      MatrixBlock block{{}, first, std::min(plan.matrices->across, plan.perRow - first)};
      for (int64_t i = 0; i < down; ++i) {
        Value at = linear(i, {{from, 1}}),
              row = height ? linear(0, {{at, height}}) : create<arith::MulIOp>(at, matrixHeight).getResult();
        block.rows.push_back(min(linear(0, {{begin, 1}, {row, 1}}), lastRow));
      }
      emitMatrixBlock(block);
    });
  emitScratchRows(begin, end);
}

/// Splits `count` vertically adjacent matrices into as many of the tallest blocks as fit, then lower ones.
void ContractionEmitter::forMatrices(Value count, function_ref<void(Value from, int64_t down)> body) {
  Value from = index(0);
  for (int64_t down = plan.matrices->down; down; --down) {
    std::optional<int64_t> known = getConstantIntValue(count), begin = getConstantIntValue(from);
    int64_t end = known.value_or(0) / down * down;
    Value to =
        known ? index(end) : create<arith::SubIOp>(count, create<arith::RemUIOp>(count, index(down))).getResult();
    if (!known || end - *begin > down)
      forRange(from, to, [&](Value at) { body(at, down); }, down);
    else if (end > *begin)
      body(from, down);
    from = to;
  }
}

/// Copies the steps that do not fill a matrix, for all rows and for all vectors of the tile.
void ContractionEmitter::copyLeftSteps(const ContractionPlan::Step &step, Value end) {
  const Product &first = chain.products[step[0]];
  int64_t left = stepsLeft(first), done = wholeSteps(first) * matrices::rows;
  if (!left)
    return;
  int64_t elements = elementsOfRow(first.lhs), taken = (left - 1) * first.packed + first.taken;
  SmallVector<bool> isTaken(elements, false);
  std::fill_n(isTaken.begin(), taken, true);
  Value mask = constant(DenseElementsAttr::get(VectorType::get({elements}, b.getI1Type()), ArrayRef(isTaken)));
  forRange(chunkRow, end, [&](Value row) {
    Value at = linear(first.lhs.offset + done * first.packed, {{row, first.lhsRow}});
    Value loaded = loadVector(kernel.arguments.lookup(first.lhs.base), at, elements, mask, elements);
    create<vector::StoreOp>(loaded, lhsCopies[step[0]],
                            ValueRange{linear(0, {{row, elements}, {chunkRow, -elements}})});
  });
  for (unsigned n : step)
    forCount(0, left, [&](Value k) {
      const Product &product = chain.products[n];
      Value source = kernel.arguments.lookup(product.rhs.base);
      int64_t wide = plan.lanes * product.packed, to = 0;
      for (const Product::Sum &sum : product.sums)
        for (int64_t v = 0; v < plan.columnVectors; ++v, to += matrices::rows * wide) {
          const RhsAddress &place = tile.rhs[n][v];
          Value at =
              linear(sum.offset + place.offset + done * rhsStep(product), {{place.base, 1}, {k, rhsStep(product)}});
          Value loaded = keepTaken(b, product, loadVector(source, at, wide, Value(), wide), plan.lanes);
          create<vector::StoreOp>(loaded, rhsCopies[n], ValueRange{linear(to, {{k, wide}})});
        }
    });
}

/// Emits all of K for one block of matrices and stores the sums to scratch.
void ContractionEmitter::emitMatrixBlock(const MatrixBlock &block) {
  const Matrices &own = *plan.matrices;
  int64_t down = static_cast<int64_t>(block.rows.size()), ofRow = plan.perRow * plan.lanes;
  auto forSums = [&](function_ref<void(int64_t, int64_t)> body) {
    for (int64_t below = 0; below < down; ++below)
      for (int64_t beside = 0; beside < block.across; ++beside)
        body(below, beside);
  };
  forSums([&](int64_t below, int64_t beside) { matrices::clear(b, loc, own.sums(below, beside)); });
  for (const ContractionPlan::Step &step : plan.steps()) {
    const Product &first = chain.products[step[0]];
    forCount(0, wholeSteps(first), [&](Value k) { emitMatrixStep(step, block, k); });
    if (stepsLeft(first))
      emitMatrixStep(step, block, Value());
  }
  forSums([&](int64_t below, int64_t beside) {
    Value at = linear((block.first + beside) * plan.lanes, {{block.rows[below], ofRow}, {chunkRow, -ofRow}});
    matrices::store(b, loc, own.sums(below, beside), {scratch, at}, index(ofRow * bytesOf(chain.sumType())));
  });
}

/// Emits one step for the sums of a block; a null `k` means the step from the copies.
void ContractionEmitter::emitMatrixStep(const ContractionPlan::Step &step, const MatrixBlock &block, Value k) {
  const Matrices &own = *plan.matrices;
  int64_t next = own.firstRhs();
  bool isLhsLoaded = false;
  for (unsigned n : step) {
    const Product &product = chain.products[n];
    for (auto [number, sum] : llvm::enumerate(product.sums))
      for (int64_t v = 0; v < plan.columnVectors; ++v) {
        int64_t beside = static_cast<int64_t>(sumIndex(0, sum.accumulator, v)) - block.first;
        if (beside < 0 || beside >= block.across)
          continue;
        if (!std::exchange(isLhsLoaded, true))
          loadLhsMatrices(step[0], block, k);
        int64_t copied =
            (static_cast<int64_t>(number) * plan.columnVectors + v) * matrices::rows * plan.lanes * product.packed;
        const RhsAddress &place = tile.rhs[n][v];
        if (k)
          matrices::load(b, loc, next,
                         {kernel.arguments.lookup(product.rhs.base),
                          linear(sum.offset + place.offset, {{place.base, 1}, {k, matrices::rows * rhsStep(product)}})},
                         index(rhsStep(product) * bytesOf(product.rhs.element())));
        else
          matrices::load(b, loc, next, {rhsCopies[n], index(copied)}, index(matrices::rowBytes));
        for (int64_t below = 0; below < static_cast<int64_t>(block.rows.size()); ++below)
          matrices::multiply(b, product.loc(), elementsOf(product), own.sums(below, beside), own.lhs(below), next);
        next = next + 1 < matrices::registers ? next + 1 : own.firstRhs();
      }
  }
}

void ContractionEmitter::loadLhsMatrices(unsigned number, const MatrixBlock &block, Value k) {
  const Product &product = chain.products[number];
  int64_t elements = elementsOfRow(product.lhs);
  for (auto [below, row] : llvm::enumerate(block.rows)) {
    int64_t matrix = plan.matrices->lhs(static_cast<int64_t>(below));
    if (k)
      matrices::load(b, loc, matrix,
                     {kernel.arguments.lookup(product.lhs.base),
                      linear(product.lhs.offset, {{row, product.lhsRow}, {k, elements}})},
                     linear(0, {{index(bytesOf(product.lhs.element())), product.lhsRow}}));
    else
      matrices::load(b, loc, matrix, {lhsCopies[number], linear(0, {{row, elements}, {chunkRow, -elements}})},
                     index(matrices::rowBytes));
  }
}
