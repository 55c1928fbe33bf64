//===- Locality.cpp - Cache-related decisions of the rows recipe ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Decides for an operand whether a row of it can be swept twice without going back to memory, whether the next row is
// worth prefetching, and whether it uses non-temporal stores; and for a sweep whether it starts where the one before
// ended. Large powers of two decide the first, because they map a row to a few cache sets.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Cpu/Plan.h"

#include "Schedule/Build/CpuMemory.h"

#include <numeric>

using namespace mlir;
using namespace quern::schedule;
using namespace quern::schedule::rows;

bool RowPlan::thrashesL2(const Access &access) const {
  if (vectors.alongRow() || !access.row.isLinear() || vectors.lanesOf(access) != LaneKind::Unit)
    return false;
  if (chain.rowExtent.isOpen() || access.row.step().isOpen())
    return forms.shortRow; // it may, and keeping values of short rows is cheap
  int64_t step = access.row.step().known() * bytesOf(access.elementType()), way = strategy.l2Bytes / cacheWays;
  if (step < lineBytes)
    return false;
  constexpr int64_t ownWays = cacheWays / 2; // the others are for the other operands
  return chain.rowExtent.known() * std::gcd(step, way) > way * ownWays;
}

bool RowPlan::sweepsBackward(const RowForm &form, int sweep) const {
  if (!vectors.alongRow() || vectors.wholeRows || space.isSplit() || sweep == 0)
    return false;
  int64_t bytesAtPosition = 0;
  llvm::SmallPtrSet<void *, 8> seen;
  for (auto [stage, own] : llvm::zip_equal(chain.stages, form.stages)) {
    if (!((own.usedIn >> sweep) & 1) || stage.perRow)
      continue;
    if (stage.reduces && stage.sweep == sweep)
      return false;
    auto note = [&](const Access &access) {
      if (!access.row.isStill() && access.isArgument() && seen.insert(access.base.getAsOpaquePointer()).second)
        bytesAtPosition += bytesOf(access.elementType());
    };
    llvm::for_each(stage.ins, note);
    llvm::for_each(stage.outs, note);
    bytesAtPosition += own.keptIn >= 0 && own.scratch >= 0 ? bytesOf(stage.outs[0].elementType()) : 0;
  }
  return bytesAtPosition * chain.rowExtent.knownOr(0) > strategy.l1Bytes / 2;
}

bool RowPlan::isPrefetched(const Access &access) const {
  if (access.isScalar() || access.unread)
    return false;
  const int64_t within = (prefetcherReach - 1) / bytesOf(access.elementType());
  const bool isBeyondPrefetcher = access.row.step().mayExceed(within) || access.row.step().isBelow(-within);
  const bool isInnermost = vectors.vectorDim + 1 == static_cast<int>(chain.dims.size());
  return !vectors.alongRow() && !space.split.wanted && sweeps > 1 && isInnermost && access.isArgument() &&
         access.producer < 0 && vectors.lanesOf(access) == LaneKind::Unit && access.row.isLinear() &&
         isBeyondPrefetcher;
}

bool RowPlan::isStreamed(const Access &access) const {
  auto memref = cast<MemRefType>(access.base.getType());
  int64_t element = bytesOf(access.elementType());
  const bool isKnown = memref.hasStaticShape();
  if (!access.isArgument() || vectors.lanesOf(access) != LaneKind::Unit || !access.row.isLinear() ||
      !access.nonlinear.empty() ||
      (isKnown ? memref.getNumElements() * element < strategy.streamBytes : !streaming.isChecked))
    return false;
  // Every vector starts at a multiple of its size; consecutive stores then fill whole cache lines.
  auto isWhole = [&](Size stride) {
    return isKnown ? stride.isMultipleOf(vectors.lanes) : stride.mayBeMultipleOf(vectors.lanes);
  };
  for (auto [dim, stride] : llvm::enumerate(access.strides))
    if (static_cast<int>(dim) != vectors.vectorDim && !isWhole(stride))
      return false;
  return isWhole(access.offset) && (vectors.alongRow() || isWhole(access.row.step()));
}
