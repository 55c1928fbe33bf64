//===- RowNeighbours.cpp - Sums of bytes, several to a lane ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Where a chain does nothing along the row but add up bytes as words, a lane takes four neighbours at once: a whole vector of bytes becomes
// one of partial sums, which targets do in an instruction or two. Along a contiguous row the neighbours are any four bytes; across rows
// they must be what lies between two lanes, as in a layout whose innermost block is one of four row positions.
//
//===----------------------------------------------------------------------===//
#include "Recipes/RowEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace quern::rows;

namespace {

constexpr int64_t neighbours = 4;   ///< bytes of a word
constexpr int64_t fewestLanes = 4;  ///< that are worth a vector
constexpr int64_t sumsUnderWay = 4; ///< that hide how long one waits for the last
constexpr double opsPerVector = 4;  ///< load, two to add neighbours, one to add to the sums

/// The access that a reduction sums, if that is all it does: acc + ext(byte).
const Access *summedBytes(const Stage &stage) {
  const Access *read = nullptr;
  for (const Access &in : stage.ins) {
    if (in.unread)
      continue;
    if (read || !in.isMemoryRead() || in.row.isStill())
      return nullptr;
    read = &in;
  }
  Block *body = const_cast<linalg::LinalgOp &>(stage.op).getBlock();
  auto sum = body->getTerminator()->getOperand(0).getDefiningOp<arith::AddIOp>();
  if (!read || !sum || stage.outs.size() != 1 || body->getOperations().size() != 3)
    return nullptr;
  Operation &first = body->front();
  bool widens = isa<arith::ExtSIOp, arith::ExtUIOp>(first) && isa<BlockArgument>(first.getOperand(0)) &&
                first.getOperand(0).getType().isInteger(8) && first.getResult(0).getType().isInteger(32);
  return widens ? read : nullptr;
}

/// What every reduction reads; nothing if the chain does anything else along the row.
SmallVector<const Access *, 2> readsOfByteSums(const RowChain &chain) {
  SmallVector<const Access *, 2> reads;
  for (const Stage &stage : chain.stages) {
    if (stage.perRow)
      continue;
    const Access *read = stage.reduces ? summedBytes(stage) : nullptr;
    if (!read)
      return {};
    reads.push_back(read);
  }
  return reads;
}

/// From one multiple of `count` to the next, positions of the row lie side by side.
bool isContiguousFor(const Access &access, int64_t count) { return access.row.step() == 1 && access.row.run() % count == 0; }

} // namespace

double quern::rows::chooseNeighbours(RowPlan &plan, double least) {
  const RowChain &chain = plan.chain;
  auto reads = readsOfByteSums(chain);
  if (reads.empty() || isOpen(chain.rowExtent) || chain.rowExtent % neighbours)
    return least;
  auto take = [&](int64_t lanes, int dim, double perRow) {
    double cost = opsPerVector / static_cast<double>(lanes * neighbours) + perRow / static_cast<double>(chain.rowExtent);
    if (cost >= least)
      return;
    least = cost;
    plan.depth = neighbours;
    plan.lanes = lanes;
    plan.vectorDim = dim;
  };
  int64_t perVector = plan.registerLanes * neighbours;
  if (chain.rowExtent >= perVector && llvm::all_of(reads, [&](const Access *read) { return isContiguousFor(*read, perVector); }))
    take(plan.registerLanes, -1, horizontalOps);
  for (auto [d, dim] : llvm::enumerate(chain.dims)) {
    auto fits = [&, d = d](const Access *read) { return isContiguousFor(*read, neighbours) && read->strides[d] == neighbours; };
    if (dim.limit >= 0 || isOpen(dim.extent) || !plan.mayCarryVectors(d) || !llvm::all_of(reads, fits))
      continue;
    int64_t lanes = std::min<int64_t>(plan.registerLanes, dim.extent & -dim.extent);
    if (lanes >= fewestLanes)
      take(lanes, d, 0);
  }
  return least;
}

void quern::rows::chooseRuns(RowPlan &plan) {
  auto reads = readsOfByteSums(plan.chain);
  int64_t most = plan.alongRow() ? 1 : sumsUnderWay / plan.columns;
  for (plan.runs = std::max<int64_t>(most, 1); plan.runs > 1; --plan.runs) {
    int64_t step = plan.runs * plan.depth;
    auto isKnown = [&](const Access *read) {
      return llvm::all_of(llvm::seq<int64_t>(1, plan.runs),
                          [&](int64_t run) { return read->row.advance(run * plan.depth, step).has_value(); });
    };
    if (plan.chain.rowExtent % step == 0 && llvm::all_of(reads, isKnown))
      return;
  }
}

/// The accumulator and a step's bytes for each lane.
Value RowEmitter::addNeighbours(Stage &stage, int64_t slot, Value accumulator) {
  const Access &read = *summedBytes(stage);
  Type word = b.getI32Type();
  auto bytes = VectorType::get({plan.lanes * depth}, read.elementType()), words = bytes.clone(word);
  auto shaped = VectorType::get({plan.lanes, depth}, word);
  int64_t runs = plan.alongRow() ? 1 : plan.runs;
  Value sum = runs == 1 ? accumulator : splat(stage.inits[0]), first = place(read, slot);
  for (int64_t run = 0; run < runs; ++run) {
    Value at = run ? add(first, index(*read.row.advance(run * depth, runs * depth))) : first;
    Value loaded = create<vector::LoadOp>(bytes, kernel.arguments.lookup(read.base), ValueRange{at});
    Value wide = isa<arith::ExtSIOp>(stage.op.getBlock()->front()) ? create<arith::ExtSIOp>(words, loaded).getResult()
                                                                   : create<arith::ExtUIOp>(words, loaded).getResult();
    Value parts = create<vector::ShapeCastOp>(shaped, wide);
    sum = create<vector::MultiDimReductionOp>(parts, sum, ArrayRef<bool>{false, true}, vector::CombiningKind::ADD);
  }
  return runs == 1 ? sum : combine(stage.combiner(0), sum, accumulator);
}
