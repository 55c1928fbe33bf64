//===- OpenSweep.cpp - Sweeps over rows of open length -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Three loops along the row: over as many vectors side by side as the sweep takes, over single vectors, and over the last, masked vector,
// of which there may be none. Their bounds and the mask are computed once in a call of the kernel.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Cpu/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace quern::rows;

/// Where the last whole step of this length along the row ends.
Value SweepEmitter::endOfWholeSteps(int64_t length) {
  Value extent = index(chain.rowExtent), step = index(length), &known = wholeSteps[length];
  if (!known)
    known = atEntry([&] { return create<arith::SubIOp>(extent, create<arith::RemUIOp>(extent, step)).getResult(); });
  return known;
}

/// The lanes of the last vector of a row.
SweepEmitter::Lanes SweepEmitter::lastLanes() {
  if (last.left)
    return last;
  Value extent = index(chain.rowExtent), end = endOfWholeSteps(plan.lanes);
  atEntry([&] { last.left = last.count = create<arith::SubIOp>(extent, end); });
  last.mask = atEntry([&] { return prefixMask(last.left); });
  return last;
}

void SweepEmitter::emitOpenSweep(int64_t stepLength, Values &accumulators) {
  Value end = plan.alongRow() ? endOfWholeSteps(stepLength) : index(chain.rowExtent);
  // However short the row of one execution is, that of another may need its sums in blocks.
  if (hasLongSum(std::numeric_limits<int32_t>::max()))
    accumulators = emitBlockedLoop(index(0), end, /*isWhole=*/false, stepLength);
  else
    accumulators = emitLoop(index(0), end, stepLength, columns, accumulators);
  if (!plan.alongRow())
    return;
  Value vectors = endOfWholeSteps(plan.lanes);
  if (columns > 1)
    accumulators = emitLoop(end, vectors, plan.lanes, 1, accumulators);
  partial.assign(1, lastLanes());
  accumulators = emitLoop(vectors, index(chain.rowExtent), plan.lanes, 1, accumulators);
  partial.clear();
}
