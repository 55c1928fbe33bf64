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

using namespace mlir;
using namespace quern;
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

static void add(PlanBuilder &fields, const RowPlan &plan, const RowVectors &vectors) {
  if (vectors.wholeRows > 1) {
    fields.add(PlanField::RowsOfVector, vectors.wholeRows);
  } else if (vectors.wholeRows) {
    fields.add(PlanField::RowIsVector);
  } else if (vectors.alongRow()) {
    std::string unroll;
    for (int sweep = 0; sweep < plan.sweeps; ++sweep)
      unroll += (sweep ? "+" : "") + std::to_string(plan.forms.usual.columnsIn(sweep));
    fields.add(PlanField::AlongRow).add(PlanField::Unroll, unroll);
  } else {
    fields.add(PlanField::AcrossRows, vectors.columns);
  }
  fields.add(PlanField::Lanes, vectors.lanes)
      .addIf(vectors.depth > 1, PlanField::Neighbors, vectors.depth)
      .addIf(vectors.inHalves, PlanField::InHalves);
}

static void add(PlanBuilder &fields, const RowPlan &plan, const RowForms &forms) {
  for (auto [stage, own] : llvm::zip_equal(plan.chain.stages, forms.usual.stages))
    if (own.keptIn >= 0 && !stage.writesArgument)
      fields.add(PlanField::KeepsValue, own.keptIn).add(PlanField::KeptIn, own.storage ? "the destination" : "scratch");
  for (const KeptRead &read : forms.usual.keptReads)
    fields.add(PlanField::KeepsOperand, read.keptIn);
  fields.addIf(forms.shortRow != 0, PlanField::ScratchRow, forms.shortRow)
      .addIf(forms.maxRegisterVectors != 0, PlanField::RegisterVectors, forms.maxRegisterVectors)
      .addIf(forms.usual.streams, plan.streaming.isForFullCalls ? PlanField::StreamsLastAlone : PlanField::StreamsLast,
             plan.streaming.isChecked ? "large and aligned" : "aligned");
}

PlanAttr RowPlan::attribute(int sweep) const {
  PlanBuilder fields(chain.problem, Recipe::Rows);
  if (sweep)
    return fields.add(PlanField::LaterSweep, sweep).get();
  fields.add(PlanField::Ops, chain.stages.size())
      .add(PlanField::Sweeps, sweeps)
      .add(PlanField::Space, space.rows.number);
  for (size_t i = 0; i < space.rows.factors.size(); i += 2)
    fields.add(PlanField::Factor, ceilText(space.rows.factors[i], space.rows.factors[i + 1]));
  add(fields, *this, vectors);
  add(fields, *this, forms);
  fields.addIf(scratch.laneBuffer >= 0, PlanField::LaneBuffer);
  if (space.isSplit())
    fields.add(PlanField::RowChunks, space.split.chunks)
        .add(PlanField::RowChunkLength, space.split.chunkLength)
        .add(PlanField::FirstSweep, sweep);
  return fields.get();
}
