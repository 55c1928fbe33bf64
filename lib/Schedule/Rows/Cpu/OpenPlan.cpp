//===- OpenPlan.cpp - Forms of rows with open length ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A plan for known sizes depends on the length of a row; here the kernel decides in each call. A row of a few vectors
// stays in registers; one that fits scratch keeps the values of later sweeps there; for a longer one they are stored in
// the destination or recomputed.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Cpu/Plan.h"

using namespace mlir;
using namespace quern::schedule;
using namespace quern::schedule::rows;

bool quern::schedule::rows::wantsShortForm(const RowPlan &plan) {
  for (auto [stage, own] : llvm::zip_equal(plan.chain.stages, plan.forms.usual.stages)) {
    const bool isRepeated = llvm::popcount(own.usedIn) > 1;
    if (stage.isElementwise() && !stage.writesArgument &&
        (own.keptIn >= 0 || (isRepeated && own.cost > plan.strategy.recomputeOps)))
      return true;
    auto isRead = [](const Access &in) { return in.isMemoryRead() && !in.row.isStill(); };
    if (!plan.vectors.alongRow() && isRepeated && llvm::any_of(stage.ins, isRead))
      return true; // its cache lines may evict each other
  }
  return false;
}

const StagePlan *quern::schedule::rows::replacementOf(const RowPlan &plan, const KeptRead &read) {
  auto isBefore = [&](const KeptRead &other) { return &other < &read && other.lastUse == read.lastUse; };
  if (llvm::any_of(plan.forms.usual.keptReads, isBefore))
    return nullptr;
  for (auto [stage, own] : llvm::zip_equal(plan.chain.stages, plan.forms.usual.stages))
    if (own.keptIn == read.lastUse && own.keptIn > read.keptIn && !stage.writesArgument && !own.storage &&
        bytesOf(stage.outs[0].elementType()) == bytesOf(read.access->elementType()))
      return &own;
  return nullptr;
}

int64_t quern::schedule::rows::keptAtPosition(const RowPlan &plan) {
  int64_t bytes = 0;
  for (auto [stage, own] : llvm::zip_equal(plan.chain.stages, plan.forms.usual.stages))
    if (own.keptIn >= 0 && !stage.writesArgument && !own.storage)
      bytes += bytesOf(stage.outs[0].elementType());
  for (const KeptRead &read : plan.forms.usual.keptReads)
    bytes += replacementOf(plan, read) ? 0 : bytesOf(read.access->elementType());
  return bytes * (plan.vectors.alongRow() ? 1 : plan.vectors.lanes);
}

int64_t quern::schedule::rows::longestShortRow(const RowPlan &plan) {
  constexpr int64_t most = 8192;
  const int64_t bytes = keptAtPosition(plan) * (plan.vectors.alongRow() ? 1 : plan.strategy.maxColumns);
  return std::clamp<int64_t>(plan.strategy.scratchBytes / std::max<int64_t>(bytes, 1), 1, most);
}

int64_t quern::schedule::rows::countRegisterVectors(const RowPlan &plan) {
  constexpr int64_t most = 6;
  if (!plan.vectors.alongRow() || plan.vectors.depth > 1 || plan.vectors.inHalves)
    return 0;
  llvm::SmallPtrSet<void *, 8> operands;
  bool isSimple = true;
  plan.chain.forEachAccess([&](Stage &, Access &access) {
    if (!access.isArgument() || access.producer >= 0 || access.row.isStill())
      return;
    isSimple &= access.row.isLinear() && plan.vectors.lanesOf(access) == LaneKind::Unit &&
                plan.vectors.takesMask(access.elementType());
    operands.insert(access.base.getAsOpaquePointer());
  });
  if (!isSimple || operands.empty())
    return 0;
  return std::min<int64_t>(most, plan.strategy.registers / 2 / static_cast<int64_t>(operands.size()));
}
