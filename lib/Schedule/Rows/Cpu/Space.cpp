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

/// Returns true if this dim counts for its whole limited loop.
static bool isCarrier(const RowChain &chain, int dim) {
  return llvm::none_of(chain.dims, [&](const Dim &other) {
    return other.limit == chain.dims[dim].limit && other.weight > chain.dims[dim].weight;
  });
}

bool RowPlan::mayCarryVectors(int dim) const {
  bool nonlinear = false;
  chain.forEachPlace([&](Stage &, Access &access) {
    nonlinear |= llvm::any_of(access.nonlinear, [&](auto &entry) { return static_cast<int>(entry.first) == dim; });
  });
  return !nonlinear && (chain.dims[dim].limit < 0 || chain.dims[dim].weight == 1);
}

Size RowPlan::lanesEnd() const {
  if (alongRow())
    return chain.rowExtent;
  const Dim &dim = chain.dims[vectorDim];
  return dim.limit < 0 ? dim.extent : Size(chain.limits[dim.limit]);
}

int64_t RowPlan::countedRun(int limit) const {
  return vectorDim >= 0 && chain.dims[vectorDim].limit == limit ? chain.dims[vectorDim].extent.known() : 1;
}

Size RowPlan::countOf(int dim) const {
  const Dim &own = chain.dims[dim];
  if (dim == vectorDim)
    return groups;
  if (own.limit < 0)
    return own.extent;
  return isCarrier(chain, dim) ? llvm::divideCeil(chain.limits[own.limit], countedRun(own.limit)) : 1;
}

VectorEmitter::VectorEmitter(RowPlan &plan) : RowEmitter(plan.chain), plan(plan) {
  lanesOfValue = plan.lanes;
  hasNumberMax = plan.strategy.hasNumberMax;
  rowsOfStep = plan.alongRow() ? 1 : plan.columns;
}

func::FuncOp VectorEmitter::emit(Operation *after) {
  bool isOneOfMany = plan.isSplit() && plan.sweeps > 1;
  KernelTraits traits;
  traits.name = (chain.problem.getName() + "_kernel" + (isOneOfMany ? Twine(sweep) : Twine())).str();
  traits.plan = plan.text(sweep);
  traits.space = plan.space * plan.split.chunks;
  for (auto [size, divisor] : plan.factors)
    traits.factors.append({size, divisor});
  traits.nsPerIteration =
      plan.isSplit() ? nsOfChunk(plan, sweep) : plan.opsPerIteration() * plan.strategy.nsPerOperation;
  traits.sharedBytes = plan.sharedBytes;
  traits.scratchBytes = plan.scratchBytes;
  kernel = makeKernel(chain.problem, after, traits);
  b.setInsertionPointToEnd(&kernel.function.getBody().front());
  clonePrologue(b, kernel, chain.problem, chain.prologue, [&](Size size) { return index(size); });
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
    if (dim.limit != limit || static_cast<int>(d) == plan.vectorDim)
      continue;
    int64_t unit = dim.weight / run;
    Value at = unit == 1 ? count : create<arith::DivUIOp>(count, index(unit)).getResult();
    parallel[d] = isCarrier(chain, d) ? at : create<arith::RemUIOp>(at, index(dim.extent)).getResult();
  }
}

/// Returns the iterations along a dim.
Value VectorEmitter::countOf(int dim) {
  const Size extent = chain.dims[dim].extent;
  const int64_t perGroup = plan.perGroup();
  if (dim != plan.vectorDim || !extent.isOpen())
    return index(plan.countOf(dim));
  Value all = index(extent), last = index(perGroup - 1), group = index(perGroup);
  return atEntry([&] { return create<arith::DivUIOp>(add(all, last), group).getResult(); });
}

/// Delinearizes the iteration, innermost dim first.
void VectorEmitter::emitParallelIndices(Value iteration) {
  auto counts = [&](int d) { return chain.dims[d].extent.isOpen() || plan.countOf(d) != 1; };
  int outermost = 0; // dim whose index is the remainder of the iteration
  while (outermost < static_cast<int>(chain.dims.size()) && !counts(outermost))
    ++outermost;
  parallel.assign(chain.dims.size(), Value());
  for (int d = chain.dims.size() - 1; d >= 0; --d) {
    int limit = d == plan.vectorDim ? -1 : chain.dims[d].limit;
    if (limit >= 0 && !isCarrier(chain, d))
      continue;
    Value at = iteration;
    if (!counts(d))
      at = index(0);
    else if (d != outermost) {
      Value count = countOf(d);
      at = create<arith::RemUIOp>(iteration, count);
      iteration = create<arith::DivUIOp>(iteration, count);
    }
    if (limit >= 0)
      emitLimitedIndices(limit, at);
    else
      parallel[d] = d == plan.vectorDim ? scaled(at, plan.perGroup()) : at;
  }
}

/// Returns the lanes from the first one of a slot to the end of their dim, or to its limit if that comes first.
Value VectorEmitter::lanesLeft(int64_t slot) {
  const Dim &dim = chain.dims[plan.vectorDim];
  const Size end = plan.lanesEnd();
  Value first = parallel[plan.vectorDim];
  Value left = end.isOpen()
                   ? create<arith::SubIOp>(index(end), slot ? add(first, index(slot * plan.lanes)) : first).getResult()
                   : create<arith::SubIOp>(index(end.known() - slot * plan.lanes), first).getResult();
  if (dim.limit < 0)
    return left;
  for (auto [d, other] : llvm::enumerate(chain.dims))
    if (other.limit == dim.limit && static_cast<int>(d) != plan.vectorDim)
      left = create<arith::SubIOp>(left, scaled(parallel[d], other.weight));
  if (dim.extent.isMultipleOf(plan.columns * plan.lanes))
    return left;
  Value inDim = create<arith::SubIOp>(index(dim.extent.known() - slot * plan.lanes), parallel[plan.vectorDim]);
  return create<arith::MinSIOp>(left, inDim);
}

/// Limits the slots of a group that runs across rows; the last group may be partial at run time.
void VectorEmitter::limitLanes() {
  const Dim &dim = chain.dims[plan.vectorDim];
  bool isKnown = dim.limit < 0 && !dim.extent.isOpen();
  int64_t perGroup = plan.columns * plan.lanes,
          inLast = isKnown ? dim.extent.known() - (plan.groups - 1) * perGroup : 0;
  bool masks = false;
  chain.forEachAccess([&](Stage &, Access &access) {
    masks |= plan.lanesOf(access) == LaneKind::Unit && plan.takesMask(access.elementType());
  });
  partial.assign(plan.columns, SlotLanes());
  Value ownFirst = parallel[plan.vectorDim], hasLanes;
  for (int64_t slot = inLast / plan.lanes; slot < plan.columns; ++slot) {
    SlotLanes &lanes = partial[slot];
    bool mayBeEmpty = !isKnown || slot * plan.lanes >= inLast;
    if (plan.groups == 1 && isKnown) {
      lanes.fixed = std::clamp<int64_t>(inLast - slot * plan.lanes, 0, plan.lanes);
      continue;
    }
    lanes.left = lanesLeft(slot);
    if (mayBeEmpty && (slot || dim.limit >= 0))
      hasLanes = create<arith::CmpIOp>(arith::CmpIPredicate::sgt, lanes.left, index(0));
    if (mayBeEmpty && slot)
      lanes.reach = create<arith::SelectOp>(hasLanes, index(slot * plan.lanes), index(0));
    else if (mayBeEmpty && dim.limit >= 0 && plan.groups > 1)
      ownFirst = create<arith::SelectOp>(hasLanes, ownFirst, index(0)); // a limit may exclude a whole group
    if (masks)
      lanes.mask = prefixMask(lanes.left);
    if (plan.laneBuffer < 0)
      continue;
    lanes.isFull = create<arith::CmpIOp>(arith::CmpIPredicate::sge, lanes.left, index(plan.lanes));
    lanes.count = create<arith::MinSIOp>(create<arith::MaxSIOp>(lanes.left, index(0)), index(plan.lanes));
  }
  parallel[plan.vectorDim] = ownFirst;
}

/// Returns the mask of the first `left` lanes; `left` is a run-time value that may be negative or exceed the lanes.
Value VectorEmitter::prefixMask(Value left) {
  if (plan.lanesEnd().mayExceed(std::numeric_limits<int32_t>::max()))
    left = create<arith::MinSIOp>(left, index(plan.lanes));
  return KernelBuilder::prefixMask(left, plan.lanes);
}
