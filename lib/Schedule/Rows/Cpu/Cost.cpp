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

constexpr int64_t neighborOps = 3; ///< operations of adding four bytes to each lane

bool RowForm::readsPairs(int sweep) const {
  const RowChain &chain = vectors.chain;
  bool reduces = false;
  for (auto [stage, own] : llvm::zip_equal(chain.stages, stages)) {
    if (!((own.usedIn >> sweep) & 1) || stage.perRow)
      continue;
    reduces |= stage.reduces;
    if (own.keptIn == sweep)
      return false;
    for (const Access &access : stage.ins) {
      bool varies = access.isMemoryRead() && !access.row.isStill();
      if (varies && (!access.elementType().isBF16() || !access.row.isLinear() ||
                     vectors.lanesOf(access) != LaneKind::Unit || keptReadOf(access)))
        return false;
      if (access.producer >= 0 && chain.stages[access.producer].isElementwise() && stages[access.producer].keptIn >= 0)
        return false;
    }
  }
  return reduces && vectors.alongRow() && !vectors.wholeRows;
}

int64_t RowForm::opsIn(int sweep) const {
  int64_t ops = 0;
  for (auto [stage, own] : llvm::zip_equal(vectors.chain.stages, stages)) {
    if (!((own.usedIn >> sweep) & 1) || (stage.perRow && vectors.alongRow())) // per-row ops then run once per row
      continue;
    ops += stage.reduces && vectors.depth > 1 ? neighborOps : opsOf(stage.op);
    for (const Access &access : stage.ins)
      ops += access.isMemoryRead() ? vectors.opsToMove(access) : 0;
    for (const Access &access : stage.outs)
      ops += own.keptIn == sweep && stage.writesArgument ? vectors.opsToMove(access) : 0;
  }
  return ops;
}

int64_t RowForm::columnsIn(int sweep) const {
  if (!vectors.alongRow())
    return vectors.columns;
  const RowChain &chain = vectors.chain;
  const RowsStrategy &strategy = vectors.strategy;
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
  // The remainder of a known length is straight-line code.
  int64_t count = chain.rowExtent.knownOr(0) / (vectors.lanes * vectors.depth), best = limit;
  for (int64_t tried = limit; tried * 4 >= limit * 3; tried -= unit)
    if (count >= tried && tried + count % tried < best + count % best)
      best = tried;
  return best;
}

const KeptRead *RowForm::keptReadOf(const Access &access) const {
  for (const KeptRead &read : keptReads)
    if (read.access->base == access.base && read.access->sameAddress(access))
      return &read;
  return nullptr;
}

int64_t RowPlan::opsPerIteration() const {
  if (vectors.wholeRows)
    return static_cast<int64_t>(opsOfWholeRows(vectors, vectors.lanes / vectors.registerLanes));
  int64_t perVector = 0, perRow = 0;
  for (auto [stage, own] : llvm::zip_equal(chain.stages, forms.usual.stages)) {
    if (stage.perRow)
      perRow += opsOf(stage.op);
    perRow += stage.reduces && vectors.alongRow() ? horizontalOps : 0;
    for (const Access &access : stage.ins)
      perVector += access.isMemoryRead() && !access.row.isStill() ? llvm::popcount(own.usedIn) : 0;
    perVector += own.keptIn >= 0 ? 2 : 0;
  }
  for (int sweep = 0; sweep < sweeps; ++sweep)
    perVector += forms.usual.opsIn(sweep);
  return perVector * vectors.vectorsFor(chain.rowExtent.typical()) + perRow * vectors.columns;
}

static void print(llvm::raw_ostream &os, const RowPlan &plan, const RowVectors &vectors) {
  if (vectors.wholeRows > 1) {
    os << vectors.wholeRows << " rows share a vector";
  } else if (vectors.wholeRows) {
    os << "a row is one vector";
  } else if (vectors.alongRow()) {
    os << "along the row, unroll";
    for (int sweep = 0; sweep < plan.sweeps; ++sweep)
      os << (sweep ? "+" : " ") << plan.forms.usual.columnsIn(sweep);
  } else {
    os << "across rows, " << vectors.columns << (vectors.columns == 1 ? " vector" : " vectors") << " wide";
  }
  os << ", " << vectors.lanes << " lanes";
  if (vectors.depth > 1)
    os << " of " << vectors.depth << " neighbors";
  if (vectors.inHalves)
    os << ", bytes summed in 16 bits";
}

static void print(llvm::raw_ostream &os, const RowPlan &plan, const RowForms &forms) {
  for (auto [stage, own] : llvm::zip_equal(plan.chain.stages, forms.usual.stages))
    if (own.keptIn >= 0 && !stage.writesArgument)
      os << ", sweep " << own.keptIn << " keeps a value in " << (own.storage ? "the destination" : "scratch");
  for (const KeptRead &read : forms.usual.keptReads)
    os << ", sweep " << read.keptIn << " keeps an operand in scratch";
  if (forms.shortRow)
    os << " of rows up to " << forms.shortRow;
  if (forms.maxRegisterVectors)
    os << ", rows up to " << forms.maxRegisterVectors << " vectors stay in registers";
  if (forms.usual.streams)
    os << ", the last sweep" << (plan.streaming.isForFullCalls ? " of a lone thread" : "")
       << " streams if the destination is " << (plan.streaming.isChecked ? "large and aligned" : "aligned");
}

std::string RowPlan::text() const {
  std::string line;
  llvm::raw_string_ostream os(line);
  os << "rows: " << chain.stages.size() << " ops in " << sweeps << (sweeps == 1 ? " sweep" : " sweeps") << ", space "
     << space.rows.number;
  for (size_t i = 0; i < space.rows.factors.size(); i += 2)
    os << " x ceil(size " << space.rows.factors[i] << " / " << space.rows.factors[i + 1] << ")";
  os << ", ";
  print(os, *this, vectors);
  print(os, *this, forms);
  if (scratch.laneBuffer >= 0)
    os << ", some lanes move one by one";
  if (space.isSplit())
    os << ", each row in " << space.split.chunks << " chunks of " << space.split.chunkLength
       << " and each sweep a step";
  return line;
}

std::string RowPlan::text(int sweep) const {
  if (!space.isSplit())
    return text();
  return (sweep ? "" : text() + ": ") + "sweep " + std::to_string(sweep);
}
