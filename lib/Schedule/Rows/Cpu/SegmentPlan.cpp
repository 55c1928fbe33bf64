//===- SegmentPlan.cpp - Choosing vectors that hold whole rows ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A row of at most a few registers is best held whole: one sweep without loops, every value in registers, each
// reduction a few shuffles. Rows that are contiguous in memory share the vector, so that fewer lanes are idle.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Cpu/Plan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/DenseSet.h"

#include <limits>

using namespace mlir;
using namespace quern::schedule;
using namespace quern::schedule::rows;

namespace {

constexpr int64_t maxRegisters = 4;      ///< registers of one vector; every live value of the row needs this many
constexpr double codeWeight = 0.02;      ///< weight of each further register: equally fast but shorter code is better
constexpr double longCodeWeight = 0.005; ///< the same weight when compared with loops over the row
constexpr double laneMoveCost = 1.25;
constexpr double oneRowStepOps = 2.5; ///< a shuffle and an operation in a chain that nothing else overlaps
constexpr double groupOps = 5;        ///< cost of an iteration without its vectors: address, mask, loop
constexpr double waitOps = 6;         ///< operations lost to dependences if only one register is in flight

/// Returns the number of shuffles for one step of a reduction whose rows share `registers` registers. Shuffles across
/// registers have two or three sources.
double shuffleOps(int64_t registers) {
  if (registers == 1)
    return 1;
  return static_cast<double>(registers) * (2 + 0.1 * static_cast<double>(registers));
}

/// Returns the number of operations of one reduction whose result is in every lane.
double reductionOps(const RowVectors &vectors, int64_t registers) {
  int64_t extent = vectors.chain.rowExtent.known(), steps = llvm::Log2_64_Ceil(extent);
  if (vectors.wholeRows > 1)
    return steps * (shuffleOps(registers) + registers) + (llvm::isPowerOf2_64(extent) ? 0 : registers);
  int64_t within = std::min<int64_t>(steps, llvm::Log2_64_Ceil(vectors.registerLanes));
  return static_cast<double>(registers - 1 + (extent < vectors.lanes ? 1 : 0)) +
         oneRowStepOps * static_cast<double>(within);
}

/// Returns the number of operations of an op, weighted by their latency.
double timeOf(linalg::LinalgOp op) {
  double slow = 0;
  for (Operation &inner : op.getBlock()->without_terminator())
    slow += isa<arith::DivFOp, math::SqrtOp>(inner) ? 9 : 0;
  return static_cast<double>(quern::opsOf(op)) + slow;
}

/// Returns true if compact per-row stages save operations. Spreading costs a shuffle per register, gathering one or
/// two. Per-row stages that access memory are not compacted.
bool paysToCompact(const RowVectors &vectors, int64_t registers) {
  if (vectors.wholeRows > vectors.registerLanes || registers == 1)
    return false;
  double saved = 0, spent = vectors.wholeRows == 1 ? 0 : static_cast<double>(registers + 1);
  for (Stage &stage : vectors.chain.stages) {
    bool touches = stage.writesArgument || llvm::any_of(stage.ins, [](const Access &in) { return in.isMemoryRead(); });
    if (stage.perRow && touches)
      return false;
    saved += stage.perRow ? timeOf(stage.op) * static_cast<double>(registers - 1) : 0;
  }
  return saved > spent;
}

} // namespace

double quern::schedule::rows::opsOfWholeRows(const RowVectors &vectors, int64_t registers) {
  double ops = groupOps + waitOps / static_cast<double>(registers);
  int64_t elements = vectors.chain.rowExtent.known() * vectors.wholeRows;
  llvm::SmallDenseSet<Value> seen; // a row is read once
  for (Stage &stage : vectors.chain.stages) {
    ops += static_cast<double>(opsOf(stage.op) * (stage.perRow && vectors.compactsRows ? 1 : registers));
    ops += stage.reduces ? static_cast<double>(stage.outs.size()) * reductionOps(vectors, registers) : 0;
    auto count = [&](const Access &access) {
      ops += vectors.movesLanes(access) ? elements * laneMoveCost : static_cast<double>(registers);
    };
    for (const Access &access : stage.ins)
      if (access.isMemoryRead() && seen.insert(access.base).second)
        count(access);
    for (const Access &access : stage.outs)
      if (access.isArgument())
        count(access);
  }
  return ops;
}

void quern::schedule::rows::chooseWholeRows(RowPlan &plan, double least) {
  RowChain &chain = plan.chain;
  bool reduces = llvm::any_of(chain.stages, [](const Stage &stage) { return stage.reduces; });
  if (!reduces || chain.hasIndices() || chain.rowExtent.isBelow(2) ||
      chain.rowExtent.mayExceed(maxRegisters * plan.vectors.registerLanes))
    return;
  const int64_t length = chain.rowExtent.known();
  for (const Stage &stage : chain.stages) // loops over the row can use non-temporal stores, which save more
    if (llvm::any_of(stage.outs, [&](const Access &out) { return stage.isElementwise() && plan.isStreamed(out); }))
      return;
  RowVectors &vectors = plan.vectors, tried = vectors;
  double lightest = std::numeric_limits<double>::max();
  auto attempt = [&](int64_t registers, int64_t rows, int dim) {
    tried.lanes = registers * vectors.registerLanes;
    tried.wholeRows = rows;
    tried.vectorDim = dim;
    tried.columns = 1;
    tried.compactsRows = paysToCompact(tried, registers);
    double cost = opsOfWholeRows(tried, registers) / static_cast<double>(rows * length);
    double weighted = cost * (1 + codeWeight * static_cast<double>(registers));
    if (cost * (1 + longCodeWeight * static_cast<double>(registers)) < least && weighted < lightest) {
      lightest = weighted;
      vectors.lanes = tried.lanes;
      vectors.depth = 1;
      vectors.inHalves = false;
      vectors.wholeRows = rows;
      vectors.vectorDim = dim;
      vectors.compactsRows = tried.compactsRows;
      plan.space.groups = dim < 0 ? 1 : llvm::divideCeil(chain.dims[dim].extent.typical(), rows);
    }
  };
  for (int64_t registers = 1; registers <= maxRegisters; registers *= 2) {
    int64_t lanes = registers * vectors.registerLanes, rows = lanes / length;
    auto fills = [&](int64_t elements) { return elements <= lanes && (registers == 1 || elements * 2 > lanes); };
    if (fills(length))
      attempt(registers, 1, -1);
    for (int dim = static_cast<int>(chain.dims.size()) - 1; dim >= 0; --dim) {
      int64_t shared = chain.dims[dim].extent.cappedAt(rows);
      if (shared > 1 && chain.dims[dim].limit < 0 && vectors.mayCarryVectors(dim) && fills(shared * length))
        attempt(registers, shared, dim);
    }
  }
}
