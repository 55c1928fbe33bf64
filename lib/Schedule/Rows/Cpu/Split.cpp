//===- Split.cpp - Few long rows in chunks -------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The plan comes first, then the emission of one sweep over one chunk. A partial result is a scalar or, across rows, a
// vector per slot. Partial results are summed in the same wider format as blocks within a chunk.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Cpu/Split.h"

#include "Schedule/Rows/Cpu/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::rows;

namespace {

/// Returns true if a chunk may be written while others are read.
bool chunksAreIndependent(const RowPlan &plan) {
  bool independent = true;
  for (Stage &writer : plan.chain.stages) {
    independent &= writer.isElementwise() || !writer.writesArgument;
    for (const Access &out : writer.outs)
      for (Stage &reader : plan.chain.stages)
        for (const Access &in : reader.ins)
          independent &= !out.isArgument() || !in.isMemoryRead() || !in.mayAlias(out) || in.sameAddress(out);
  }
  return independent;
}

/// Returns the number of iterations over whole rows; across rows, each has one vector.
int64_t rowGroups(const RowPlan &plan) {
  int64_t count =
      plan.vectors.alongRow() ? 1 : llvm::divideCeil(plan.vectors.vectorExtent().known(), plan.vectors.lanes);
  for (unsigned dim = 0; dim < plan.chain.dims.size(); ++dim)
    count *= static_cast<int>(dim) == plan.vectors.vectorDim ? 1 : plan.countOf(dim).known();
  return count;
}

/// Returns the number of bytes that a sweep reads and writes at each row position; for -1, all sweeps.
int64_t bytesPerPosition(const RowPlan &plan, int sweep) {
  int64_t width = plan.vectors.lanesAtPosition(), bytes = 0;
  llvm::SmallDenseSet<Value> counted;
  for (auto [stage, own] : llvm::zip_equal(plan.chain.stages, plan.forms.usual.stages)) {
    for (const Access &in : stage.ins)
      if (in.isMemoryRead() && !in.row.isStill() && (sweep < 0 || (own.usedIn >> sweep & 1)) &&
          counted.insert(in.base).second)
        bytes += bytesOf(in.elementType());
    bool writes = sweep < 0 ? stage.writesArgument : own.keptIn == sweep;
    for (const Access &out : stage.outs)
      bytes += writes ? bytesOf(out.elementType()) : 0;
  }
  return bytes * width;
}

} // namespace

bool quern::schedule::rows::shouldSplit(const RowPlan &plan) {
  if (plan.chain.hasOpenSpace())
    return false;
  const RowsStrategy &strategy = plan.strategy;
  int64_t length = plan.chain.rowExtent.known(), rows = rowGroups(plan);
  int64_t width = plan.vectors.alongRow() ? 1 : std::min(plan.vectors.vectorExtent().known(), plan.vectors.lanes);
  int64_t least = llvm::divideCeil(strategy.splitElements, width);
  if (rows > strategy.splitRows || length < 2 * least)
    return false;
  // Rows that stay in L2 from sweep to sweep would be evicted if all rows were swept before the next sweep.
  if (rows > 1 && length * bytesPerPosition(plan, -1) <= strategy.l2Bytes)
    return false;
  return chunksAreIndependent(plan);
}

void quern::schedule::rows::layOutSplit(RowPlan &plan) {
  const RowsStrategy &strategy = plan.strategy;
  int64_t width = plan.vectors.lanesAtPosition(), unit = 1;
  if (plan.vectors.alongRow())
    for (int sweep = 0; sweep < plan.sweeps; ++sweep) // every sweep starts a step where a chunk starts
      unit = std::lcm(unit, plan.forms.usual.columnsIn(sweep) * plan.vectors.lanes);
  int64_t row = plan.chain.rowExtent.known();
  int64_t length = std::max(llvm::divideCeil(strategy.splitElements, width), llvm::divideCeil(row, strategy.maxChunks));
  plan.space.split.chunkLength = llvm::alignTo(length, unit);
  plan.space.split.chunks = llvm::divideCeil(row, plan.space.split.chunkLength);
  int64_t count = plan.space.rows.number * plan.space.split.chunks * width;
  for (auto [stage, own] : llvm::zip_equal(plan.chain.stages, plan.forms.usual.stages))
    if (stage.reduces)
      for (TypedAttr init : stage.inits) {
        own.partials.push_back(plan.scratch.sharedBytes);
        plan.scratch.sharedBytes += llvm::alignTo(count * bytesOf(init.getType()), 64);
      }
}

double quern::schedule::rows::nsOfChunk(const RowPlan &plan, int sweep) {
  int64_t perVector = plan.forms.usual.opsIn(sweep);
  for (auto [stage, own] : llvm::zip_equal(plan.chain.stages, plan.forms.usual.stages)) {
    for (const Access &in : stage.ins)
      perVector += in.isMemoryRead() && !in.row.isStill() && (own.usedIn >> sweep & 1);
    perVector += own.keptIn == sweep;
  }
  double bytes = static_cast<double>(plan.space.split.chunkLength * bytesPerPosition(plan, sweep));
  return std::max(static_cast<double>(perVector * plan.vectors.vectorsFor(plan.space.split.chunkLength)) *
                      plan.strategy.nsPerOperation,
                  bytes * plan.strategy.nsPerFarByte);
}

/// Sets `row` and `chunk` from an iteration and returns the row.
Value SweepEmitter::emitChunkIndex(Value iteration) {
  row = plan.space.rows.number == 1 ? index(0)
                                    : create<arith::DivUIOp>(iteration, index(plan.space.split.chunks)).getResult();
  chunk = plan.space.rows.number == 1 ? iteration
                                      : create<arith::RemUIOp>(iteration, index(plan.space.split.chunks)).getResult();
  return row;
}

/// Emits the current sweep over the current chunk.
void SweepEmitter::emitChunk(int64_t stepLength) {
  int64_t length = plan.space.split.chunkLength, steps = length / stepLength,
          main = chain.rowExtent.known() / stepLength * stepLength;
  Value begin = mul(chunk, length), end = add(begin, index(length));
  bool isEven = main == length * plan.space.split.chunks;
  if (!isEven)
    end = create<arith::MinUIOp>(end, index(main));
  Values accumulators = emitMainLoop(begin, end, steps, isEven && steps % vectors.blockSteps() == 0, stepLength);
  if (main < chain.rowExtent.known())
    emitLastTail(main, accumulators);
  finishReductions(accumulators);
  storePartials();
}

/// Emits the end of a contiguous row, in its last chunk. Values of the row level are inserted before it.
void SweepEmitter::emitLastTail(int64_t main, Values &accumulators) {
  Value isLast = create<arith::CmpIOp>(arith::CmpIPredicate::eq, chunk, index(plan.space.split.chunks - 1));
  auto tail = [&] {
    sweepLoop = b.getInsertionBlock()->getParentOp();
    Values results = accumulators;
    emitTail(main, results);
    sweepLoop = nullptr;
    return results;
  };
  accumulators = chooseValues(isLast, ValueRange(accumulators).getTypes(), tail, [&] { return accumulators; });
}

/// Returns the array of a reduction's partial results: [row][chunk], and across rows also [slot] of vectors.
Value SweepEmitter::partialsOf(int i, unsigned k) {
  int64_t width = vectors.lanesAtPosition();
  auto type =
      MemRefType::get({plan.space.rows.number * plan.space.split.chunks * width}, chain.stages[i].inits[k].getType());
  Value &view = partialViews[{i, k}];
  if (!view) {
    Value at = index(form->stages[i].partials[k]);
    view = atEntry([&] { return create<memref::ViewOp>(type, kernel.shared, at, ValueRange()).getResult(); });
  }
  return view;
}

Value SweepEmitter::partialPlace(Value ofChunk, int64_t slot) {
  Value at = plan.space.rows.number == 1 ? ofChunk : add(mul(row, plan.space.split.chunks), ofChunk);
  if (vectors.alongRow())
    return at;
  at = mul(at, vectors.columns * vectors.lanes);
  return slot ? add(at, index(slot * vectors.lanes)) : at;
}

void SweepEmitter::storePartials() {
  forEachReduction([&](int i, Stage &, unsigned k) {
    for (int64_t slot = 0; slot < rowsOfStep; ++slot) {
      Value part = ofRow.values[{i, slot}][k], at = partialPlace(chunk, slot);
      if (vectors.alongRow())
        create<memref::StoreOp>(create<vector::ExtractOp>(part, 0), partialsOf(i, k), ValueRange{at});
      else
        create<vector::StoreOp>(part, partialsOf(i, k), ValueRange{at});
    }
  });
}

/// Combines the results of a reduction of an earlier sweep, chunk by chunk in order.
SweepEmitter::Values SweepEmitter::combinePartials(int i, int64_t slot) {
  Stage &stage = chain.stages[i];
  const AtOperation scope(*this, stage.op.getLoc());
  SmallVector<WideSum> sums;
  Values carried;
  for (unsigned k = 0; k < stage.outs.size(); ++k) {
    sums.push_back(wideSumOf(stage, k));
    Value start = sums[k].isWide ? splat(b.getFloatAttr(sums[k].type, 0)) : splat(stage.inits[k]);
    carried.append(sums[k].parts, start);
    partialsOf(i, k);
  }
  carried = loop(index(0), index(plan.space.split.chunks), index(1), carried, [&](Value ofChunk, Values inner) {
    Value at = partialPlace(ofChunk, slot);
    MutableArrayRef<Value> left(inner);
    for (auto [k, sum] : llvm::enumerate(sums)) {
      VectorType type = vec(stage.inits[k].getType());
      Value part =
          vectors.alongRow()
              ? create<vector::BroadcastOp>(type, create<memref::LoadOp>(partialsOf(i, k), ValueRange{at})).getResult()
              : create<vector::LoadOp>(type, partialsOf(i, k), ValueRange{at}).getResult();
      if (sum.isWide)
        addToWide(sum, left.take_front(sum.parts), part);
      else
        left[0] = combine(stage.combiner(k), part, left[0]);
      left = left.drop_front(sum.parts);
    }
    return inner;
  });
  return narrowed(sums, carried);
}
