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
#include "Schedule/Contraction/Cpu/Matrices.h"

#include "Schedule/Build/Bodies.h"
#include "Schedule/Contraction/Cpu/Epilogue.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <utility>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;

static int64_t elementsOfRow(const Product::Factor &factor) { return matrices::rowBytes / bytesOf(factor.element()); }

/// Returns the number of steps with whole matrices.
static int64_t wholeSteps(const Product &product) { return (product.steps() - stepsLeft(product)) / matrices::rows; }

/// Returns the number of elements of rhs from a vector to the same vector of the next step.
static int64_t rhsStep(const Product &product) { return product.reduced.empty() ? 0 : product.reduced[0].rhs.known(); }

MatrixEmitter::MatrixEmitter(ContractionBuilder &ir, const ContractionPlan &plan, Value scratch)
    : ir(ir), plan(plan), chain(plan.chain), own(*plan.matrices), scratch(scratch) {
  OpBuilder::InsertionGuard guard(ir.b);
  ir.b.setInsertionPoint(ir.entry);
  computeHeight();
  configure();
  placeCopies();
}

void MatrixEmitter::computeHeight() {
  if (own.height) {
    height = ir.index(own.height);
    return;
  }
  // The heights are as even as possible.
  Value rows = ir.index(chain.rows), count = ir.max(ir.index(ir.ceilDiv(rows, matrices::rows)), 1);
  height = ir.floorDiv(ir.add(rows, ir.linear(-1, {{count, 1}})), count);
}

void MatrixEmitter::configure() {
  Value bytes = ir.create<arith::IndexCastOp>(ir.b.getI8Type(), height), at = ir.index(plan.scratch.configuration);
  Value configuration = matrices::configuration(ir.b, ir.loc, bytes, own.firstRhs());
  ir.store(configuration, ir.kernel.scratch, at);
  matrices::configure(ir.b, ir.loc, {ir.kernel.scratch, at});
}

void MatrixEmitter::placeCopies() {
  lhsCopies.resize(chain.products.size());
  rhsCopies.resize(chain.products.size());
  auto view = [&](const Product::Factor &factor, int64_t rows, int64_t bytes) {
    return ir.scratchBuffer(bytes, rows * elementsOfRow(factor), factor.element());
  };
  for (auto [n, product] : llvm::enumerate(chain.products)) {
    if (plan.scratch.lhsCopies[n])
      lhsCopies[n] = view(product.lhs, plan.scratch.rows, plan.scratch.lhsCopies[n]);
    if (!plan.scratch.rhsCopies[n])
      continue;
    int64_t rows = static_cast<int64_t>(product.sums.size()) * plan.tile.columnVectors * matrices::rows,
            elements = elementsOfRow(product.rhs);
    rhsCopies[n] = view(product.rhs, rows, plan.scratch.rhsCopies[n]);
    Value zero = ir.zeros(VectorType::get({elements}, product.rhs.element()));
    ir.forRange( // no constants in here: they are inserted before the entry
        ir.index(0), ir.index(rows * elements), [&](Value at) { ir.store(zero, rhsCopies[n], at); }, elements);
  }
}

void MatrixEmitter::emitChunk(const Tile &tile, Value chunk) {
  Value begin = ir.linear(0, {{chunk, plan.rows.chunkRows}});
  Value end = ir.min(ir.linear(plan.rows.chunkRows, {{begin, 1}}), ir.index(chain.rows));
  Value lastRow = ir.sub(end, height);
  chunkRow = ir.min(begin, lastRow);
  for (const KPlan::Step &step : plan.k.steps())
    copyLeftSteps(tile, step, end);
  Value count = own.height && plan.rows.chunks == 1
                    ? ir.index((chain.rows.known() + own.height - 1) / own.height)
                    : ir.floorDiv(ir.sub(ir.linear(-1, {{end, 1}, {height, 1}}), begin), height);
  for (int64_t first = 0; first < plan.tile.perRow; first += own.across)
    forMatrices(count, [&](Value from, int64_t down) {
      MatrixBlock block{{}, first, std::min(own.across, plan.tile.perRow - first)};
      for (int64_t i = 0; i < down; ++i) {
        Value at = ir.linear(i, {{from, 1}}),
              row = own.height ? ir.linear(0, {{at, own.height}}) : ir.create<arith::MulIOp>(at, height).getResult();
        block.rows.push_back(ir.min(ir.linear(0, {{begin, 1}, {row, 1}}), lastRow));
      }
      emitBlock(tile, block);
    });
  ScratchEpilogue(ir, plan, tile, scratch, chunkRow, {begin, end}).emit();
}

/// Splits `count` vertically adjacent matrices into as many of the tallest blocks as fit, then lower ones.
void MatrixEmitter::forMatrices(Value count, function_ref<void(Value from, int64_t down)> body) {
  Value from = ir.index(0);
  for (int64_t down = own.down; down; --down) {
    std::optional<int64_t> known = getConstantIntValue(count), begin = getConstantIntValue(from);
    int64_t end = known.value_or(0) / down * down;
    Value to = known ? ir.index(end)
                     : ir.create<arith::SubIOp>(count, ir.create<arith::RemUIOp>(count, ir.index(down))).getResult();
    if (!known || end - *begin > down)
      ir.forRange(from, to, [&](Value at) { body(at, down); }, down);
    else if (end > *begin)
      body(from, down);
    from = to;
  }
}

/// Copies the steps that do not fill a matrix, for all rows and for all vectors of the tile.
void MatrixEmitter::copyLeftSteps(const Tile &tile, const KPlan::Step &step, Value end) {
  const Product &first = chain.products[step[0]];
  int64_t left = stepsLeft(first), done = wholeSteps(first) * matrices::rows;
  if (!left)
    return;
  int64_t elements = elementsOfRow(first.lhs), taken = (left - 1) * first.packed + first.taken;
  SmallVector<bool> isTaken(elements, false);
  std::fill_n(isTaken.begin(), taken, true);
  Value mask = ir.constant(DenseElementsAttr::get(VectorType::get({elements}, ir.b.getI1Type()), ArrayRef(isTaken)));
  ir.forRange(chunkRow, end, [&](Value row) {
    Value at = ir.linear(first.lhs.offset + done * first.packed, {{row, first.lhsRow}});
    Value loaded = ir.load(ir.buffer(first.lhs.base), at, elements, mask);
    ir.store(loaded, lhsCopies[step[0]], ir.linear(0, {{row, elements}, {chunkRow, -elements}}));
  });
  for (unsigned n : step)
    ir.forCount(0, left, [&](Value k) {
      const Product &product = chain.products[n];
      Value source = ir.buffer(product.rhs.base);
      int64_t wide = plan.tile.lanes * product.packed, to = 0;
      for (size_t sum = 0; sum < product.sums.size(); ++sum)
        for (int64_t v = 0; v < plan.tile.columnVectors; ++v, to += matrices::rows * wide) {
          Value at = tile.rhsAt(n, sum, v, done * rhsStep(product), {{k, rhsStep(product)}});
          Value loaded = keepTaken(ir.b, product, ir.load(source, at, wide), plan.tile.lanes);
          ir.store(loaded, rhsCopies[n], ir.linear(to, {{k, wide}}));
        }
    });
}

/// Emits all of K for one block of matrices and stores the sums to scratch.
void MatrixEmitter::emitBlock(const Tile &tile, const MatrixBlock &block) {
  int64_t down = static_cast<int64_t>(block.rows.size()), ofRow = plan.tile.sumsOfRow();
  auto forSums = [&](function_ref<void(int64_t, int64_t)> body) {
    for (int64_t below = 0; below < down; ++below)
      for (int64_t beside = 0; beside < block.across; ++beside)
        body(below, beside);
  };
  forSums([&](int64_t below, int64_t beside) { matrices::clear(ir.b, ir.loc, own.sums(below, beside)); });
  for (const KPlan::Step &step : plan.k.steps()) {
    const Product &first = chain.products[step[0]];
    ir.forCount(0, wholeSteps(first), [&](Value k) { emitStep(tile, step, block, k); });
    if (stepsLeft(first))
      emitStep(tile, step, block, Value());
  }
  forSums([&](int64_t below, int64_t beside) {
    Value at = ir.linear((block.first + beside) * plan.tile.lanes, {{block.rows[below], ofRow}, {chunkRow, -ofRow}});
    matrices::store(ir.b, ir.loc, own.sums(below, beside), {scratch, at}, ir.index(ofRow * bytesOf(chain.sumType())));
  });
}

/// Emits one step for the sums of a block; a null `k` means the step from the copies.
void MatrixEmitter::emitStep(const Tile &tile, const KPlan::Step &step, const MatrixBlock &block, Value k) {
  int64_t next = own.firstRhs();
  bool isLhsLoaded = false;
  for (unsigned n : step) {
    const Product &product = chain.products[n];
    for (auto [number, sum] : llvm::enumerate(product.sums))
      for (int64_t v = 0; v < plan.tile.columnVectors; ++v) {
        int64_t beside = static_cast<int64_t>(plan.tile.sumIndex(0, sum.accumulator, v)) - block.first;
        if (beside < 0 || beside >= block.across)
          continue;
        if (!std::exchange(isLhsLoaded, true))
          loadLhs(step[0], block, k);
        int64_t copied = (static_cast<int64_t>(number) * plan.tile.columnVectors + v) * matrices::rows *
                         plan.tile.lanes * product.packed;
        if (k)
          matrices::load(
              ir.b, ir.loc, next,
              {ir.buffer(product.rhs.base), tile.rhsAt(n, number, v, 0, {{k, matrices::rows * rhsStep(product)}})},
              ir.index(rhsStep(product) * bytesOf(product.rhs.element())));
        else
          matrices::load(ir.b, ir.loc, next, {rhsCopies[n], ir.index(copied)}, ir.index(matrices::rowBytes));
        for (int64_t below = 0; below < static_cast<int64_t>(block.rows.size()); ++below)
          matrices::multiply(ir.b, product.loc(), elementsOf(product), own.sums(below, beside), own.lhs(below), next);
        next = next + 1 < matrices::registers ? next + 1 : own.firstRhs();
      }
  }
}

void MatrixEmitter::loadLhs(unsigned number, const MatrixBlock &block, Value k) {
  const Product &product = chain.products[number];
  int64_t elements = elementsOfRow(product.lhs);
  for (auto [below, row] : llvm::enumerate(block.rows)) {
    int64_t matrix = own.lhs(static_cast<int64_t>(below));
    if (k)
      matrices::load(
          ir.b, ir.loc, matrix,
          {ir.buffer(product.lhs.base), ir.linear(product.lhs.offset, {{row, product.lhsRow}, {k, elements}})},
          ir.linear(0, {{ir.index(bytesOf(product.lhs.element())), product.lhsRow}}));
    else
      matrices::load(ir.b, ir.loc, matrix, {lhsCopies[number], ir.linear(0, {{row, elements}, {chunkRow, -elements}})},
                     ir.index(matrices::rowBytes));
  }
}
