//===- Space.cpp - The iteration space and its limits --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Computes the indices of the parallel dims of an iteration, and which lanes of its vectors exist. A loop with padded
// dims is counted as one loop and divided into digits, so that no iteration is empty. If the vectors run along its
// lowest digit, runs are counted, and the last one is masked.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Cpu/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace quern::schedule;
using namespace quern::schedule::rows;

/// Returns true if this dim is the highest digit of its limited loop. It counts for the whole loop.
static bool isCarrier(const RowChain &chain, int dim) {
  return llvm::none_of(chain.dims, [&](const Dim &other) {
    return other.limit == chain.dims[dim].limit && other.weight > chain.dims[dim].weight;
  });
}

int64_t RowPlan::countedRun(int limit) const {
  return !vectors.alongRow() && chain.dims[vectors.vectorDim].limit == limit
             ? chain.dims[vectors.vectorDim].extent.known()
             : 1;
}

Size RowPlan::countOf(int dim) const {
  const Dim &own = chain.dims[dim];
  if (dim == vectors.vectorDim)
    return space.groups;
  if (own.limit < 0)
    return own.extent;
  return isCarrier(chain, dim) ? llvm::divideCeil(chain.limits[own.limit], countedRun(own.limit)) : 1;
}

VectorEmitter::VectorEmitter(const RowPlan &plan) : RowEmitter(plan.chain), plan(plan), vectors(plan.vectors) {
  lanesOfValue = vectors.lanes;
  hasNumberMax = plan.strategy.hasNumberMax;
  rowsOfStep = vectors.alongRow() ? 1 : vectors.columns;
}

func::FuncOp VectorEmitter::emit(Operation *after) {
  bool isOneOfMany = plan.space.isSplit() && plan.sweeps > 1;
  KernelTraits traits;
  traits.name = (chain.problem.getName() + "_kernel" + (isOneOfMany ? Twine(sweep) : Twine())).str();
  traits.plan = plan.attribute(sweep);
  traits.space = plan.space.rows;
  traits.space.addLoop(plan.space.split.chunks);
  traits.nsPerIteration =
      plan.space.isSplit() ? nsOfChunk(plan, sweep) : plan.opsPerIteration() * plan.strategy.nsPerOperation;
  traits.sharedBytes = plan.scratch.sharedBytes;
  traits.scratchBytes = plan.scratch.bytes;
  beginKernel(chain.problem, after, traits, chain.prologue);
  b.setInsertionPoint(create<func::ReturnOp>());
  emitSpace();
  return kernel.function;
}

void VectorEmitter::emitRows() {
  auto rows = create<scf::ForOp>(kernel.begin(), kernel.end(), index(1));
  if (!entry)
    entry = rows;
  const OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(rows.getBody());
  emitIteration(rows.getInductionVar());
}

/// Computes the digits of a limited loop from a count of its runs.
void VectorEmitter::emitLimitedIndices(int limit, Value count) {
  int64_t run = plan.countedRun(limit);
  for (auto [d, dim] : llvm::enumerate(chain.dims)) {
    if (dim.limit != limit || static_cast<int>(d) == vectors.vectorDim)
      continue;
    Value at = floorDiv(count, dim.weight / run);
    parallel[d] = isCarrier(chain, d) ? at : mod(at, dim.extent);
  }
}

/// Returns the number of iterations along a dim.
quern::Index VectorEmitter::countOf(int dim) {
  if (dim != vectors.vectorDim)
    return plan.countOf(dim);
  return atEntry([&] { return ceilDiv(chain.dims[dim].extent, vectors.perGroup()); });
}

/// Delinearizes the iteration, innermost dim first.
void VectorEmitter::emitParallelIndices(Value iteration) {
  auto counts = [&](int d) { return plan.countOf(d) != 1; }; // several groups are assumed if their number is open
  int outermost = 0;                                         // dim whose index is the remainder of the iteration
  while (outermost < static_cast<int>(chain.dims.size()) && !counts(outermost))
    ++outermost;
  parallel.assign(chain.dims.size(), Value());
  for (int d = chain.dims.size() - 1; d >= 0; --d) {
    int limit = d == vectors.vectorDim ? -1 : chain.dims[d].limit;
    if (limit >= 0 && !isCarrier(chain, d))
      continue;
    Value at = iteration;
    if (!counts(d))
      at = index(0);
    else if (d != outermost) {
      const Index count = countOf(d);
      at = mod(iteration, count);
      iteration = floorDiv(iteration, count);
    }
    if (limit >= 0)
      emitLimitedIndices(limit, at);
    else
      parallel[d] = d == vectors.vectorDim ? mul(at, vectors.perGroup()) : at;
  }
}

/// Returns the number of lanes from the first one of a slot to the end of their dim, or to its limit if that comes
/// first.
Value VectorEmitter::lanesLeft(int64_t slot) {
  const Dim &dim = chain.dims[vectors.vectorDim];
  const int64_t before = slot * vectors.lanes;
  const Index first = parallel[vectors.vectorDim];
  Index left = sub(sub(vectors.lanesEnd(), before), first);
  if (dim.limit < 0)
    return index(left);
  for (auto [d, other] : llvm::enumerate(chain.dims))
    if (other.limit == dim.limit && static_cast<int>(d) != vectors.vectorDim)
      left = sub(left, mul(parallel[d], other.weight));
  const bool isWhole = dim.extent.isMultipleOf(vectors.columns * vectors.lanes);
  return index(isWhole ? left : min(left, sub(sub(dim.extent, before), first)));
}

/// Limits the slots of a group that runs across rows; the last group may be partial at run time.
void VectorEmitter::limitLanes() {
  const Dim &dim = chain.dims[vectors.vectorDim];
  bool isKnown = dim.limit < 0 && !dim.extent.isOpen();
  int64_t perGroup = vectors.columns * vectors.lanes,
          inLast = isKnown ? dim.extent.known() - (plan.space.groups - 1) * perGroup : 0;
  bool masks = false;
  chain.forEachAccess([&](Stage &, Access &access) {
    masks |= vectors.lanesOf(access) == LaneKind::Unit && vectors.takesMask(access.elementType());
  });
  partial.assign(vectors.columns, SlotLanes());
  Value ownFirst = parallel[vectors.vectorDim], hasLanes;
  for (int64_t slot = inLast / vectors.lanes; slot < vectors.columns; ++slot) {
    SlotLanes &lanes = partial[slot];
    bool mayBeEmpty = !isKnown || slot * vectors.lanes >= inLast;
    if (plan.space.groups == 1 && isKnown) {
      lanes.fixed = std::clamp<int64_t>(inLast - slot * vectors.lanes, 0, vectors.lanes);
      continue;
    }
    lanes.left = lanesLeft(slot);
    if (mayBeEmpty && (slot || dim.limit >= 0))
      hasLanes = create<arith::CmpIOp>(arith::CmpIPredicate::sgt, lanes.left, index(0));
    if (mayBeEmpty && slot)
      lanes.reach = create<arith::SelectOp>(hasLanes, index(slot * vectors.lanes), index(0));
    else if (mayBeEmpty && dim.limit >= 0 && plan.space.groups > 1)
      ownFirst = create<arith::SelectOp>(hasLanes, ownFirst, index(0)); // a limit may exclude a whole group
    if (masks)
      lanes.mask = prefixMask(lanes.left);
    if (plan.scratch.laneBuffer < 0)
      continue;
    lanes.isFull = create<arith::CmpIOp>(arith::CmpIPredicate::sge, lanes.left, index(vectors.lanes));
    lanes.count = min(max(lanes.left, 0), vectors.lanes);
  }
  parallel[vectors.vectorDim] = ownFirst;
}

/// Returns the mask of the first `left` lanes; `left` is a run-time value that may be negative or exceed the lanes.
Value VectorEmitter::prefixMask(Value left) {
  if (vectors.lanesEnd().mayExceed(std::numeric_limits<int32_t>::max()))
    left = min(left, vectors.lanes);
  return KernelBuilder::prefixMask(left, vectors.lanes);
}
