//===- MergeLoops.cpp - Several reduced loops as one row -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A sum over several axes is a sum over all their points, in any order. The loops become one, whose index has a digit
// for each loop. An operand has blocks along it, or one stride if the axes are contiguous to each other in memory.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Chain.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::rows;

namespace {

class Merger {
public:
  Merger(ArrayRef<ProblemOp> ops, ArrayRef<unsigned> reduced, std::string &whyNot)
      : ops(ops), order(reduced), whyNot(whyNot) {}
  LogicalResult merge(SmallVectorImpl<ProblemOp> &merged);

private:
  LogicalResult fail(const Twine &why) {
    whyNot = why.str();
    return failure();
  }
  LogicalResult checkOps();
  void chooseOrder();
  LogicalResult mergeWalks(LoopAccess &access, Size extent);

  ArrayRef<ProblemOp> ops;
  SmallVector<unsigned, 4> order; ///< the merged loops, outermost first
  std::string &whyNot;
  Numbers extents; ///< by loop of the op; set for the merged loops
  size_t loops = 0;
};

LogicalResult Merger::checkOps() {
  for (const ProblemOp &own : ops)
    loops = std::max(loops, own.extents.size());
  for (const ProblemOp &own : ops) {
    SmallVector<unsigned> reduced;
    own.op.getReductionDims(reduced);
    if (own.extents.size() == loops && (reduced.empty() || ArrayRef(reduced) == ArrayRef(order)))
      continue;
    if (!reduced.empty())
      return fail("loops " + Twine(order.front()) + " and " + Twine(order.back()) +
                  " are both reduced, but not by every reduction");
    if (own.extents.size() + order.size() != loops)
      return fail("an op has only some of the reduced loops");
  }
  for (const ProblemOp &own : ops)
    if (own.extents.size() == loops)
      for (unsigned loop : order)
        if (own.extents[loop].isOpen())
          return fail("several loops are reduced, and one has an open size");
  return success();
}

/// Orders the loops as in the first operand of a reduction that varies along them.
void Merger::chooseOrder() {
  for (const ProblemOp &own : ops) {
    if (!own.op.getNumReductionLoops())
      continue;
    extents.assign(loops, 0);
    for (unsigned loop : order)
      extents[loop] = own.extents[loop].known();
    for (const LoopAccess &access : own.operands)
      if (access.whyNot.empty() && !access.isScalar() &&
          llvm::any_of(order, [&](unsigned loop) { return !access.loops[loop].isStill(); }))
        return llvm::sort(order, [&](unsigned a, unsigned b) {
          return std::pair(access.loops[b].step(), a) < std::pair(access.loops[a].step(), b);
        });
  }
}

LogicalResult Merger::mergeWalks(LoopAccess &access, Size extent) {
  if (!access.whyNot.empty() || access.isScalar())
    return success();
  SmallVector<Digit, 4> digits;
  int64_t unit = 1;
  for (unsigned loop : llvm::reverse(order)) {
    const AccessFunction &function = access.loops[loop];
    if (!function.isLinear() || function.step().isOpen() || function.shift())
      return fail("an operand has blocks or open strides along loops that are reduced together");
    if (!function.isStill())
      digits.push_back({unit, loop == order.front() ? 0 : extents[loop], function.step().known(), 0});
    unit *= extents[loop];
  }
  const unsigned first = *llvm::min_element(order);
  access.loops[first] = AccessFunction(digits, extent);
  for (unsigned loop = loops; loop-- > 0;)
    if (loop != first && llvm::is_contained(order, loop))
      access.loops.erase(access.loops.begin() + loop);
  return success();
}

LogicalResult Merger::merge(SmallVectorImpl<ProblemOp> &merged) {
  if (failed(checkOps()))
    return failure();
  chooseOrder();
  uint64_t count = 1;
  for (unsigned loop : order)
    count = llvm::SaturatingMultiply<uint64_t>(count, static_cast<uint64_t>(extents[loop]));
  if (count >= static_cast<uint64_t>(endOfNumbers))
    return fail("the product of the reduced extents is too large");
  const unsigned first = *llvm::min_element(order);
  for (const ProblemOp &own : ops) {
    ProblemOp &op = merged.emplace_back(own);
    if (own.extents.size() != loops)
      continue;
    for (unsigned loop : order)
      if (own.extents[loop] != extents[loop])
        return fail("a loop has extent " + own.extents[loop].text() + "; the reduced loop has " + Twine(extents[loop]));
    for (LoopAccess &access : op.operands)
      if (failed(mergeWalks(access, static_cast<int64_t>(count))))
        return failure();
    for (LoopAccess &index : op.indices)
      if (failed(mergeWalks(index, static_cast<int64_t>(count))))
        return failure();
    op.extents[first] = static_cast<int64_t>(count);
    for (unsigned loop = loops; loop-- > 0;)
      if (loop != first && llvm::is_contained(order, loop))
        op.extents.erase(op.extents.begin() + loop);
  }
  return success();
}

} // namespace

LogicalResult quern::schedule::rows::mergeReducedLoops(ArrayRef<ProblemOp> ops, ArrayRef<unsigned> reduced,
                                                       SmallVectorImpl<ProblemOp> &merged, std::string &whyNot) {
  return Merger(ops, reduced, whyNot).merge(merged);
}
