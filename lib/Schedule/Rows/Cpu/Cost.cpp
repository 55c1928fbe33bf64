//===- Cost.cpp - The cost of a plan and its text -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Operation counts rank alternatives, limit the unrolling of sweeps, and determine how many threads a kernel is worth.
// They need not be exact.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Cpu/Plan.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace quern::schedule;
using namespace quern::schedule::rows;

namespace {

constexpr int64_t laneLoopOps = 12; ///< cost of an access whose lanes are moved one by one, in operations
constexpr int64_t neighborOps = 3;  ///< cost of adding four bytes to each lane, in operations

} // namespace

LaneKind RowPlan::lanesOf(const Access &access) const {
  if (wholeRows) {
    Size between = wholeRows > 1 ? access.strides[vectorDim] : Size(0);
    if (access.row.isStill() && between == 0)
      return LaneKind::Same;
    bool follows = wholeRows == 1 || between == chain.rowExtent;
    return follows && access.row.isLinear() && access.row.step() == 1 ? LaneKind::Unit : LaneKind::Strided;
  }
  Size stride = alongRow() ? access.row.step() : access.strides[vectorDim];
  int64_t run = alongRow() ? access.row.run() : 0;
  if (depth > 1 && !alongRow() && stride == depth && access.row.step() == 1)
    return LaneKind::Neighbors;
  if (run % lanes) // a vector crosses the end of a block
    return stride == 1 && run > 1 && lanes % run == 0 ? LaneKind::Pieces : LaneKind::Strided;
  return stride == 0 ? LaneKind::Same : stride == 1 ? LaneKind::Unit : LaneKind::Strided;
}

int64_t RowPlan::opsToMove(const Access &access) const {
  LaneKind kind = lanesOf(access);
  return kind == LaneKind::Strided ? laneLoopOps : kind == LaneKind::Pieces ? 3 * (lanes / access.row.run()) : 0;
}

bool RowPlan::takesMask(Type element) const {
  return strategy.narrowestMask && element.getIntOrFloatBitWidth() >= strategy.narrowestMask;
}

bool RowPlan::hasPartialVectors() const {
  bool limited = !alongRow() && chain.dims[vectorDim].limit >= 0;
  return limited || !vectorExtent().isMultipleOf(columns * lanes);
}

bool RowPlan::readsPairs(int sweep) const {
  bool reduces = false;
  for (auto [stage, own] : llvm::zip_equal(chain.stages, stages)) {
    if (!((own.usedIn >> sweep) & 1) || stage.perRow)
      continue;
    reduces |= stage.reduces;
    if (own.keptIn == sweep)
      return false;
    for (const Access &access : stage.ins) {
      bool varies = access.isMemoryRead() && !access.row.isStill();
      if (varies && (!access.elementType().isBF16() || !access.row.isLinear() || lanesOf(access) != LaneKind::Unit ||
                     keptReadOf(access)))
        return false;
      if (access.producer >= 0 && chain.stages[access.producer].isElementwise() && stages[access.producer].keptIn >= 0)
        return false;
    }
  }
  return reduces && alongRow() && !wholeRows;
}

int64_t RowPlan::opsIn(int sweep) const {
  int64_t ops = 0;
  for (auto [stage, own] : llvm::zip_equal(chain.stages, stages)) {
    if (!((own.usedIn >> sweep) & 1) || (stage.perRow && alongRow())) // per-row ops then run once per row
      continue;
    ops += stage.reduces && depth > 1 ? neighborOps : opsOf(stage.op);
    for (const Access &access : stage.ins)
      ops += access.isMemoryRead() ? opsToMove(access) : 0;
    for (const Access &access : stage.outs)
      ops += own.keptIn == sweep && stage.writesArgument ? opsToMove(access) : 0;
  }
  return ops;
}

int64_t RowPlan::vectorsFor(int64_t positions) const {
  return alongRow() ? llvm::divideCeil(positions, lanes * depth) : llvm::divideCeil(positions, depth) * columns;
}

int64_t RowPlan::opsPerIteration() const {
  if (wholeRows)
    return static_cast<int64_t>(opsOfWholeRows(*this, lanes / registerLanes));
  int64_t perVector = 0, perRow = 0;
  for (auto [stage, own] : llvm::zip_equal(chain.stages, stages)) {
    if (stage.perRow)
      perRow += opsOf(stage.op);
    perRow += stage.reduces && alongRow() ? horizontalOps : 0;
    for (const Access &access : stage.ins)
      perVector += access.isMemoryRead() && !access.row.isStill() ? llvm::popcount(own.usedIn) : 0;
    perVector += own.keptIn >= 0 ? 2 : 0;
  }
  for (int sweep = 0; sweep < sweeps; ++sweep)
    perVector += opsIn(sweep);
  return perVector * vectorsFor(chain.rowExtent.typical()) + perRow * columns;
}

int64_t RowPlan::columnsIn(int sweep) const {
  if (!alongRow())
    return columns;
  int64_t accumulators = 0;
  for (auto [stage, own] : llvm::zip_equal(chain.stages, stages))
    accumulators += stage.reduces && stage.sweep == sweep ? stage.outs.size() : 0;
  // Accumulators are chains of dependent operations, so they need more parallel vectors than stores do.
  int64_t limit = accumulators ? std::min(strategy.unroll, strategy.registers / 2 / accumulators)
                               : strategy.unroll / strategy.storesShare;
  limit = std::clamp<int64_t>(strategy.sweepOps / std::max<int64_t>(opsIn(sweep), 1), 1, std::max<int64_t>(limit, 1));
  int64_t unit = limit > 1 && readsPairs(sweep) ? 2 : 1;
  if (unit < strategy.vectorsPerAccess && strategy.vectorsPerAccess <= limit)
    unit = strategy.vectorsPerAccess;
  limit -= limit % unit;
  if (chain.rowExtent.isOpen())
    return limit;
  int64_t vectors = chain.rowExtent.known() / (lanes * depth), best = limit; // the remainder is straight-line code
  for (int64_t count = limit; count * 4 >= limit * 3; count -= unit)
    if (vectors >= count && count + vectors % count < best + vectors % best)
      best = count;
  return best;
}

const KeptRead *RowPlan::keptReadOf(const Access &access) const {
  for (const KeptRead &read : keptReads)
    if (read.access->base == access.base && read.access->sameAddress(access))
      return &read;
  return nullptr;
}

std::string RowPlan::text() const {
  std::string line;
  llvm::raw_string_ostream os(line);
  os << "rows: " << chain.stages.size() << " ops in " << sweeps << (sweeps == 1 ? " sweep" : " sweeps") << ", space "
     << space;
  for (auto [size, divisor] : factors)
    os << " x ceil(size " << size << " / " << divisor << ")";
  os << ", ";
  if (wholeRows > 1) {
    os << wholeRows << " rows share a vector";
  } else if (wholeRows) {
    os << "a row is one vector";
  } else if (alongRow()) {
    os << "along the row, unroll";
    for (int sweep = 0; sweep < sweeps; ++sweep)
      os << (sweep ? "+" : " ") << columnsIn(sweep);
  } else {
    os << "across rows, " << columns << (columns == 1 ? " vector" : " vectors") << " wide";
  }
  os << ", " << lanes << " lanes";
  if (depth > 1)
    os << " of " << depth << " neighbors";
  if (inHalves)
    os << ", bytes summed in 16 bits";
  for (auto [stage, own] : llvm::zip_equal(chain.stages, stages))
    if (own.keptIn >= 0 && !stage.writesArgument)
      os << ", sweep " << own.keptIn << " keeps a value in " << (own.storage ? "the destination" : "scratch");
  for (const KeptRead &read : keptReads)
    os << ", sweep " << read.keptIn << " keeps an operand in scratch";
  if (shortRow)
    os << " of rows up to " << shortRow;
  if (maxRegisterVectors)
    os << ", rows up to " << maxRegisterVectors << " vectors stay in registers";
  if (streams)
    os << ", the last sweep" << (streamsFullCallsOnly ? " of a lone thread" : "") << " streams if the destination is "
       << (checksStreaming ? "large and aligned" : "aligned");
  if (laneBuffer >= 0)
    os << ", some lanes move one by one";
  if (isSplit())
    os << ", each row in " << split.chunks << " chunks of " << split.chunkLength << " and each sweep a step";
  return line;
}

std::string RowPlan::text(int sweep) const {
  if (!isSplit())
    return text();
  return (sweep ? "" : text() + ": ") + "sweep " + std::to_string(sweep);
}
