//===- Plan.cpp - The plan of the rows recipe on the CPU ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Costs are in operations and only rank alternatives. One rule concerns correctness: arguments of one type and layout
// may be one buffer, so nothing is written to an argument before the last sweep that reads one like it.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Cpu/Plan.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::rows;

namespace {

constexpr double laneMoveCost = 1.25; ///< cost of a lane that is moved by itself, in operations
constexpr double tailOps = 4;         ///< cost of a row that ends with a partial vector
constexpr int maxSweeps = 60;         ///< sweeps are bits of a 64-bit word

uint64_t bit(int sweep) { return uint64_t(1) << sweep; }

class RowPlanner {
public:
  RowPlanner(RowPlan &plan, std::string &whyNot)
      : plan(plan), chain(plan.chain), strategy(plan.strategy), vectors(plan.vectors), forms(plan.forms),
        form(plan.forms.usual), whyNot(whyNot) {}
  LogicalResult run();

private:
  LogicalResult chooseLanes();
  void chooseSweeps();
  void chooseVectorDim();
  double costAlong(int dim);
  void markUses();
  bool placeKept();
  void placeAll();
  void placeOpen();
  bool isLongRow() const;
  bool isShortRow() const;
  const Access *findDestination(unsigned kept);
  bool isFree(const Access &destination, unsigned kept);
  void keepDearReads();
  void chooseColumns();
  void layOutScratch();
  void planStreaming();
  void countSpace();
  LogicalResult planSweeps();
  void planWholeRows();
  int64_t bytesOfKept(Type element, int64_t columns) const;

  RowPlan &plan;
  RowChain &chain;
  const RowsStrategy &strategy;
  RowVectors &vectors;
  RowForms &forms;
  RowForm &form; ///< the usual form
  std::string &whyNot;
  SmallVector<bool, 8> recomputed; // by stage: true if no place was found
  bool losesResult = false;        // true if a later sweep reads an unstored result of an op that writes an argument
};

/// Chooses the lanes for the widest type of the bodies, at least 32 bits, to which narrower values are widened.
LogicalResult RowPlanner::chooseLanes() {
  int64_t widest = 32;
  auto note = [&](Type type) { // an index is computed in 32 bits
    if (type.isIndex())
      return;
    widest = std::max<int64_t>(widest, type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64);
  };
  for (Stage &stage : chain.stages) {
    for (Value argument : stage.op.getBlock()->getArguments())
      note(argument.getType());
    for (Operation &op : *stage.op.getBlock())
      for (Value result : op.getResults())
        note(result.getType());
  }
  vectors.lanes = vectors.registerLanes = strategy.vectorBytes * 8 / widest;
  if (vectors.lanes >= 1)
    return success();
  whyNot = "an element of " + std::to_string(widest) + " bits is wider than a vector";
  return failure();
}

/// Computes the cost of each stage, and the sweep in which an elementwise output is written.
void RowPlanner::chooseSweeps() {
  plan.sweeps = chain.sweeps;
  form.stages.resize(chain.stages.size());
  for (auto [stage, own] : llvm::zip_equal(chain.stages, form.stages)) {
    own.cost = opsOf(stage.op);
    for (const Access &in : stage.ins)
      if (in.producer >= 0 && chain.stages[in.producer].isElementwise())
        own.cost += form.stages[in.producer].cost;
    bool aliased = false;
    for (const Stage &reader : chain.stages)
      for (const Access &in : reader.ins)
        for (const Access &out : stage.outs)
          aliased |= in.isMemoryRead() && in.mayAlias(out);
    if (aliased && stage.writesArgument && stage.isElementwise())
      stage.sweep = plan.sweeps - 1;
  }
}

double RowPlanner::costAlong(int dim) {
  vectors.vectorDim = dim;
  int64_t extent = vectors.vectorExtent().typical(), end = vectors.lanesEnd().typical();
  double waste = static_cast<double>(llvm::alignTo(extent, vectors.lanes) * llvm::divideCeil(end, extent)) / end;
  double ops = 0, perRow = 0, moves = 0;
  for (Stage &stage : chain.stages) {
    (stage.perRow ? perRow : ops) += opsOf(stage.op);
    perRow += stage.reduces ? horizontalOps : 0;
    auto countMove = [&](const Access &access) {
      (stage.perRow ? perRow : ops) += 1;
      if (!stage.perRow && vectors.lanesOf(access) == LaneKind::Strided)
        moves += 1;
      if (!stage.perRow && vectors.lanesOf(access) == LaneKind::Pieces)
        ops += static_cast<double>(vectors.opsToMove(access));
    };
    for (const Access &access : stage.ins)
      if (access.isMemoryRead())
        countMove(access);
    for (const Access &access : stage.outs)
      if (access.isArgument())
        countMove(access);
  }
  if (dim < 0 && extent % vectors.lanes)
    perRow += tailOps;
  return ops / vectors.lanes * waste + moves * laneMoveCost +
         perRow / (dim < 0 ? 1 : vectors.lanes) / chain.rowExtent.typical();
}

void RowPlanner::chooseVectorDim() {
  int best = -1;
  double least = costAlong(-1);
  for (int dim = chain.dims.size() - 1; dim >= 0; --dim) {
    if (!vectors.mayCarryVectors(dim))
      continue;
    if (double cost = costAlong(dim); cost < least) {
      best = dim;
      least = cost;
    }
  }
  vectors.vectorDim = best;
  chooseWholeRows(plan, chooseByteSums(vectors, least));
}

/// Computes the sweeps of each stage, consumers first. A value that several sweeps need is kept from the first one on,
/// unless it is cheap or no place was found for it.
void RowPlanner::markUses() {
  for (StagePlan &own : form.stages) {
    own.usedIn = 0;
    own.keptIn = -1;
    own.storage = nullptr;
  }
  for (int i = chain.stages.size() - 1; i >= 0; --i) {
    Stage &stage = chain.stages[i];
    StagePlan &own = form.stages[i];
    if (stage.reduces)
      own.usedIn = bit(stage.sweep);
    else if (stage.writesArgument)
      own.usedIn |= bit(stage.sweep);
    if (stage.isElementwise()) {
      if (stage.writesArgument)
        own.keptIn = stage.sweep;
      else if (llvm::popcount(own.usedIn) > 1 && own.cost > strategy.recomputeOps && !recomputed[i])
        own.keptIn = llvm::countr_zero(own.usedIn);
      if (own.keptIn >= 0)
        own.usedIn &= 2 * bit(own.keptIn) - 1;
    }
    for (const Access &access : stage.ins)
      if (access.producer >= 0) {
        const Stage &producer = chain.stages[access.producer];
        form.stages[access.producer].usedIn |= own.usedIn;
        losesResult |= producer.isElementwise() && producer.writesArgument &&
                       !producer.outs[access.result].isArgument() && own.usedIn >> (producer.sweep + 1);
      }
  }
}

/// Returns true if no argument that may be the same memory is read after the value is stored, and no other value is
/// kept there.
bool RowPlanner::isFree(const Access &destination, unsigned kept) {
  int keptIn = form.stages[kept].keptIn;
  for (auto [reader, own] : llvm::zip_equal(chain.stages, form.stages)) {
    if (own.storage == &destination)
      return false;
    for (const Access &in : reader.ins)
      if (in.isMemoryRead() && in.mayAlias(destination) && (own.usedIn >> (keptIn + 1)))
        return false;
  }
  return true;
}

/// Returns true for a row so short that a partial vector would be loaded soon after its masked store, which CPUs do not
/// forward.
bool RowPlanner::isShortRow() const {
  constexpr int64_t soon = 8; // vectors
  return chain.rowExtent.typical() <= soon * (vectors.alongRow() ? vectors.lanes : 1);
}

/// Returns true for a row whose values for later sweeps may not fit scratch.
bool RowPlanner::isLongRow() const {
  return bytesOfKept(Float64Type::get(chain.problem.getContext()), 1) > strategy.scratchBytes;
}

/// Returns a destination of the same type that is written when the value is no longer needed, so that it can hold the
/// value until then; null if there is none.
const Access *RowPlanner::findDestination(unsigned kept) {
  if (chain.stages[kept].outs.size() != 1 || forms.shortRow || (vectors.hasPartialVectors() && isShortRow()))
    return nullptr;
  int lastUse = 0;
  for (auto [reader, own] : llvm::zip_equal(chain.stages, form.stages))
    for (const Access &in : reader.ins)
      if (in.producer == static_cast<int>(kept))
        lastUse = std::max<int>(lastUse, llvm::Log2_64(own.usedIn | 1));
  for (auto [stage, own] : llvm::zip_equal(chain.stages, form.stages)) {
    const Access &out = stage.outs[0];
    if (stage.isElementwise() && stage.outs.size() == 1 && out.isArgument() && own.keptIn >= lastUse &&
        out.elementType() == chain.stages[kept].outs[0].elementType() && vectors.lanesOf(out) == LaneKind::Unit &&
        !plan.thrashesL2(out) && !plan.isStreamed(out) && isFree(out, kept))
      return &out;
  }
  return nullptr;
}

/// Returns the number of bytes of a kept value. For a row of open length, unless planned for short rows, it exceeds any
/// scratch.
int64_t RowPlanner::bytesOfKept(Type element, int64_t columns) const {
  const int64_t length = chain.rowExtent.knownOr(forms.shortRow);
  if (!length)
    return endOfNumbers;
  const int64_t count = vectors.alongRow() ? llvm::alignTo(length, vectors.lanes) : length * columns * vectors.lanes;
  return llvm::alignTo(count * bytesOf(element), 64);
}

/// Gives every kept value a destination or a share of scratch. Returns false if a value got neither and will be
/// recomputed.
bool RowPlanner::placeKept() {
  int64_t bytes = 0;
  for (unsigned i = 0; i < chain.stages.size(); ++i) {
    StagePlan &own = form.stages[i];
    if (own.keptIn < 0 || chain.stages[i].writesArgument)
      continue;
    if ((own.storage = findDestination(i)))
      continue;
    for (const Access &out : chain.stages[i].outs)
      bytes += bytesOfKept(out.elementType(), 1);
    if (chain.stages[i].outs.size() == 1 && bytes <= strategy.scratchBytes && !plan.space.split.wanted)
      continue;
    recomputed[i] = true;
    return false;
  }
  plan.scratch.bytes = bytes;
  return true;
}

void RowPlanner::keepDearReads() {
  if (plan.space.split.wanted || (forms.shortRow && vectors.alongRow()))
    return;
  SmallVector<std::pair<const Access *, uint64_t>, 4> reads;
  for (auto [stage, own] : llvm::zip_equal(chain.stages, form.stages))
    for (const Access &in : stage.ins) {
      if (!in.isMemoryRead() || stage.perRow || in.row.isStill() ||
          (vectors.lanesOf(in) != LaneKind::Strided && !plan.thrashesL2(in)))
        continue;
      auto *known =
          llvm::find_if(reads, [&](auto &read) { return read.first->base == in.base && read.first->sameAddress(in); });
      if (known == reads.end())
        reads.push_back({&in, own.usedIn});
      else
        known->second |= own.usedIn;
    }
  for (auto [access, usedIn] : reads) {
    int64_t bytes = bytesOfKept(access->elementType(), 1);
    if (llvm::popcount(usedIn) < 2 || plan.scratch.bytes + bytes > strategy.scratchBytes)
      continue;
    plan.scratch.bytes += bytes;
    form.keptReads.push_back({access, llvm::countr_zero(usedIn), static_cast<int>(llvm::Log2_64(usedIn))});
  }
}

/// Across rows, chooses as many adjacent vectors as the operation budget and L1 allow, preferring a number that wastes
/// few lanes in the last group.
void RowPlanner::chooseColumns() {
  int64_t extent = vectors.vectorExtent().typical(), total = llvm::divideCeil(extent, vectors.lanes),
          bytesPerVector = plan.scratch.bytes;
  llvm::SmallDenseMap<Value, uint64_t> readIn; // data that a later sweep reads again should stay in L1
  for (auto [stage, own] : llvm::zip_equal(chain.stages, form.stages))
    for (const Access &in : stage.ins)
      if (in.isMemoryRead() && !in.row.isStill() && in.strides[vectors.vectorDim] != 0 && !form.keptReadOf(in))
        readIn[in.base] |= own.usedIn;
  for (auto [base, sweeps] : readIn)
    if (llvm::popcount(sweeps) > 1) {
      const int64_t bytes = vectors.lanes * bytesOf(cast<MemRefType>(base.getType()).getElementType());
      bytesPerVector += chain.rowExtent.typical() * bytes;
      plan.scratch.bytesAtPosition += bytes;
    }
  if (chain.rowExtent.isOpen())
    plan.scratch.bytesAtPosition += keptAtPosition(plan);
  int64_t ops = 1;
  for (int sweep = 0; sweep < plan.sweeps; ++sweep)
    ops += form.opsIn(sweep);
  // Rows too long for L1 are in L2 in any case.
  int64_t budget = bytesPerVector <= strategy.l1Bytes ? strategy.l1Bytes : strategy.scratchBytes;
  int64_t limit =
      std::min({strategy.maxColumns, total, budget / std::max<int64_t>(bytesPerVector, 1), strategy.maxOps / ops});
  vectors.columns = 1;
  for (int64_t count = 2; count <= limit; ++count) {
    int64_t padded = llvm::alignTo(total, count);
    if (padded * 20 <= total * 21 || padded <= static_cast<int64_t>(llvm::alignTo(total, vectors.columns)))
      vectors.columns = count;
  }
  // If there is no partial group, there are no masks, and every store writes whole vectors.
  for (int64_t count = limit; vectors.vectorExtent().isMultipleOf(vectors.lanes) && count * 2 > vectors.columns;
       --count)
    if (total % count == 0) {
      vectors.columns = count;
      break;
    }
  plan.space.groups = llvm::divideCeil(total, vectors.columns);
}

void RowPlanner::layOutScratch() {
  int64_t used = 0;
  auto claim = [&](int64_t bytes) { return std::exchange(used, used + llvm::alignTo(bytes, 64)); };
  for (auto [stage, own] : llvm::zip_equal(chain.stages, form.stages))
    if (own.keptIn >= 0 && !stage.writesArgument && !own.storage)
      own.scratch = claim(bytesOfKept(stage.outs[0].elementType(), vectors.columns));
  for (KeptRead &read : form.keptReads) {
    const StagePlan *replacement = forms.shortRow ? replacementOf(plan, read) : nullptr;
    read.scratch = replacement ? replacement->scratch : claim(bytesOfKept(read.access->elementType(), vectors.columns));
  }
  bool movesLanes = false;
  auto check = [&](const Access &access) {
    LaneKind kind = vectors.lanesOf(access);
    movesLanes |= kind == LaneKind::Strided ||
                  (kind == LaneKind::Unit && vectors.hasPartialVectors() && !vectors.takesMask(access.elementType()));
  };
  chain.forEachAccess([&](Stage &, Access &access) {
    if (access.producer < 0 && access.isArgument())
      check(access);
  });
  if (movesLanes)
    plan.scratch.laneBuffer = claim(strategy.vectorBytes);
  plan.scratch.bytes = used;
}

/// The last sweep has a second form if some destination uses non-temporal stores. It must have no reductions: their
/// results would have to leave both forms.
void RowPlanner::planStreaming() {
  bool reduces = false;
  int64_t most = 0;
  for (auto [stage, own] : llvm::zip_equal(chain.stages, form.stages)) {
    reduces |= stage.reduces && stage.sweep == plan.sweeps - 1;
    if (!stage.isElementwise() || own.keptIn != plan.sweeps - 1)
      continue;
    for (const Access &out : stage.outs) {
      auto memref = cast<MemRefType>(out.base.getType());
      if (plan.isStreamed(out))
        most = std::max(most, memref.hasStaticShape() ? bytesOf(out.elementType()) * memref.getNumElements() : 1);
    }
  }
  form.streams = most && !reduces;
  plan.streaming.isChecked &= form.streams;
  plan.streaming.isForFullCalls = form.streams && !plan.streaming.isChecked && most < strategy.streamAlwaysBytes;
}

void RowPlanner::countSpace() {
  for (auto [d, dim] : llvm::enumerate(chain.dims))
    if (static_cast<int>(d) == vectors.vectorDim)
      plan.space.rows.addLoop(dim.extent, vectors.perGroup());
    else
      plan.space.rows.addLoop(plan.countOf(d));
}

void RowPlanner::placeAll() {
  recomputed.assign(chain.stages.size(), false);
  do
    markUses();
  while (!placeKept());
}

/// Plans rows of open length in three steps: as if all were long, then those that fit scratch, then those of a few
/// vectors.
void RowPlanner::placeOpen() {
  placeAll();
  if (plan.space.split.wanted)
    return;
  if (wantsShortForm(plan)) {
    forms.longRows.stages = form.stages;
    forms.shortRow = 1; // provisional, until all kept values are known
  }
  plan.streaming.isChecked = true;
  placeAll();
  forms.maxRegisterVectors = countRegisterVectors(plan);
  if (!forms.maxRegisterVectors)
    return;
  SmallVector<StagePlan, 8> stages = form.stages;
  const int64_t bytes = plan.scratch.bytes;
  recomputed.assign(chain.stages.size(), true);
  markUses();
  forms.inRegisters.stages = std::exchange(form.stages, std::move(stages));
  plan.scratch.bytes = bytes;
}

LogicalResult RowPlanner::planSweeps() {
  if (chain.rowExtent.isOpen()) {
    placeOpen();
  } else {
    plan.streaming.isChecked = !plan.space.split.wanted && chain.hasOpenSpace() && !isLongRow();
    placeAll();
  }
  if (losesResult) {
    whyNot = "an op that writes an argument has another result that a later sweep reads";
    return failure();
  }
  keepDearReads();
  if (forms.shortRow)
    forms.shortRow = longestShortRow(plan);
  if (!vectors.alongRow() && (vectors.depth > 1 || vectors.inHalves))
    chooseColumnsOfBytes(plan);
  else if (!vectors.alongRow())
    chooseColumns();
  layOutScratch();
  planStreaming();
  return success();
}

/// Plans vectors of whole rows. All values stay in registers until the end, so there is one sweep, and nothing is kept.
void RowPlanner::planWholeRows() {
  plan.sweeps = 1;
  bool isPartial = vectors.hasPartialVector() && !vectors.masksFreely();
  chain.forEachAccess([&](Stage &, Access &access) {
    if (access.producer >= 0 || !access.isArgument())
      return;
    if (isPartial ? vectors.lanesOf(access) != LaneKind::Same : vectors.movesLanes(access))
      plan.scratch.laneBuffer = 0;
  });
  if (plan.scratch.laneBuffer >= 0)
    plan.scratch.bytes = llvm::alignTo(strategy.vectorBytes * (vectors.lanes / vectors.registerLanes), 64);
}

LogicalResult RowPlanner::run() {
  if (failed(chooseLanes()))
    return failure();
  chooseSweeps();
  if (plan.sweeps > maxSweeps) {
    whyNot = std::to_string(plan.sweeps) + " dependent sweeps are needed; the limit is " + std::to_string(maxSweeps);
    return failure();
  }
  chooseVectorDim();
  plan.space.split.wanted = !vectors.wholeRows && shouldSplit(plan);
  if (vectors.wholeRows)
    planWholeRows();
  else if (failed(planSweeps()))
    return failure();
  countSpace();
  if (plan.space.split.wanted)
    layOutSplit(plan);
  return success();
}

} // namespace

LogicalResult quern::schedule::rows::planRows(RowPlan &plan, std::string &whyNot) {
  return RowPlanner(plan, whyNot).run();
}
