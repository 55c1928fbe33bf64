//===- Chain.cpp - Matching a chain of row operations --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The match proves the assumptions of emission: every operand is a strided memref whose address is a sum of digits of
// the loops, intermediates are read where they were written, reductions may be split freely, and no output is written
// twice.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Chain.h"

#include "IR/Strides.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <set>

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::rows;

static bool isStatic(MemRefType type) {
  auto [strides, offset] = quern::stridesOf(type);
  return type.hasStaticShape() && !ShapedType::isDynamic(offset) && llvm::none_of(strides, ShapedType::isDynamic);
}

bool Access::mayAlias(const Access &other) const {
  if (base == other.base)
    return true;
  auto type = cast<MemRefType>(base.getType()), otherType = cast<MemRefType>(other.base.getType());
  if (isStatic(type) && isStatic(otherType)) // for static types, strides of dims of size 1 are ignored
    return elementType() == other.elementType() && loops == other.loops;
  auto mayBeEqual = [](const AccessFunction &a, const AccessFunction &b) {
    return a == b || a.step().isOpen() || b.step().isOpen();
  };
  return elementType() == other.elementType() && llvm::equal(loops, other.loops, mayBeEqual);
}

SmallVector<Value> Stage::results() {
  SmallVector<Value> results(op.getBlock()->getTerminator()->getOperands());
  for (auto [i, result] : llvm::enumerate(results))
    if (reduces) {
      Operation *combine = result.getDefiningOp();
      result = combine->getOperand(combine->getOperand(0) == op.getBlock()->getArgument(ins.size() + i) ? 1 : 0);
    }
  return results;
}

bool Access::isInvariant() const {
  return row.isStill() && nonlinear.empty() && llvm::all_of(strides, [](Size stride) { return stride == 0; });
}

namespace {

/// Returns true if some op reduces into the filled buffer; otherwise the fill is an op like others.
bool startsAccumulator(linalg::FillOp fill) {
  return llvm::any_of(fill.getOutputs()[0].getUsers(), [&](Operation *user) {
    auto op = dyn_cast<linalg::LinalgOp>(user);
    return op && op.getNumReductionLoops() && llvm::is_contained(op.getDpsInits(), fill.getOutputs()[0]);
  });
}

class Matcher {
public:
  Matcher(const Problem &problem, RowChain &chain, std::string &whyNot)
      : problem(problem), chain(chain), whyNot(whyNot) {}
  LogicalResult match();

private:
  LogicalResult fail(const Twine &why) {
    whyNot = why.str();
    return failure();
  }
  LogicalResult gatherOps();
  LogicalResult findSpace();
  LogicalResult addStage(const ProblemOp &own);
  LogicalResult addInputs(const ProblemOp &own, Stage &stage);
  LogicalResult addOutputs(const ProblemOp &own, Stage &stage);
  LogicalResult addOldElements(Stage &stage);
  LogicalResult readAccess(const LoopAccess &own, const Stage &stage, Access &access);
  LogicalResult checkBody(Stage &stage);
  LogicalResult checkReduction(Stage &stage);
  LogicalResult checkOutput(const Stage &stage, const Access &access);

  const Problem &problem;
  RowChain &chain;
  std::string &whyNot;
  SmallVector<ProblemOp, 8> ops;
  llvm::SmallDenseMap<Value, std::pair<int, unsigned>, 8> writer;
  llvm::SmallDenseMap<Value, TypedAttr, 8> fills;
};

LogicalResult Matcher::gatherOps() {
  if (!problem.whyNot.empty())
    return fail(problem.whyNot);
  chain.problem = problem.function;
  chain.prologue = problem.prologue;
  for (const ProblemOp &own : problem.ops) {
    auto fill = dyn_cast<linalg::FillOp>(own.op.getOperation());
    if (!fill || !startsAccumulator(fill))
      ops.push_back(own);
    else if (!matchPattern(fill.getInputs()[0], m_Constant(&fills[fill.getOutputs()[0]])))
      return fail("a fill value is not a constant");
  }
  return success();
}

/// The space of the chain is that of the op with the most loops; a per-row op lacks exactly the reduced loop. An extent
/// that is open in one op may be a number in another.
LogicalResult Matcher::findSpace() {
  std::set<unsigned> reduced;
  for (const ProblemOp &own : ops) {
    SmallVector<unsigned> loops;
    own.op.getReductionDims(loops);
    reduced.insert(loops.begin(), loops.end());
  }
  if (reduced.size() > 1) {
    SmallVector<ProblemOp, 8> merged;
    if (failed(mergeReducedLoops(ops, SmallVector<unsigned>(reduced.begin(), reduced.end()), merged, whyNot)))
      return failure();
    ops = std::move(merged);
  }
  if (!reduced.empty())
    chain.rowLoop = static_cast<int>(*reduced.begin());
  for (const ProblemOp &own : ops)
    if (own.extents.size() > chain.loops.size())
      chain.loops = own.extents;
  for (const ProblemOp &own : ops)
    if (own.extents.size() == chain.loops.size())
      for (auto [extent, other] : llvm::zip_equal(chain.loops, own.extents))
        extent = moreSpecific(extent, other);
  for (auto [loop, extent] : llvm::enumerate(chain.loops))
    if (extent.isUntold())
      return fail("the extent of loop " + Twine(loop) + " is unknown, or " + Twine(endOfNumbers) + " or more");
  return success();
}

LogicalResult Matcher::readAccess(const LoopAccess &own, const Stage &stage, Access &access) {
  static_cast<LoopAccess &>(access) = own;
  if (!own.whyNot.empty())
    return fail(own.whyNot);
  if (own.isView || llvm::any_of(own.loops, [](const AccessFunction &function) { return function.shift() != 0; }))
    return fail("an operand is a view of a buffer, or starts inside a block");
  if (stage.perRow && !access.isScalar())
    access.loops.insert(access.loops.begin() + chain.rowLoop, AccessFunction());
  return success();
}

/// Checks that a reduction may use any order and any number of partial accumulators: the combiner, the reassoc flag of
/// sums, and a start value that may be combined more than once.
LogicalResult Matcher::checkReduction(Stage &stage) {
  for (unsigned i = 0; i < stage.outs.size(); ++i) {
    TypedAttr init = stage.inits[i];
    BlockArgument accumulator = stage.op.getBlock()->getArgument(stage.ins.size() + i);
    Operation *combine = stage.combiner(i);
    if (!combine ||
        !isa<arith::AddFOp, arith::AddIOp, arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(combine) ||
        !accumulator.hasOneUse() || *accumulator.user_begin() != combine || !combine->getResult(0).hasOneUse())
      return fail("a reduction does not combine its accumulator by add, max or min");
    auto add = dyn_cast<arith::AddFOp>(combine);
    auto start = dyn_cast_or_null<FloatAttr>(init);
    bool isNeutral = start ? !start.getValue().isNaN() && (!add || start.getValue().isZero())
                           : init && (!isa<arith::AddIOp>(combine) || matchPattern(init, m_Zero()));
    if (!isNeutral)
      return fail("an accumulator does not start from a neutral constant");
    if (add && !bitEnumContainsAll(add.getFastmath(), arith::FastMathFlags::reassoc))
      return fail("a sum along the row has no fastmath<reassoc>");
  }
  return success();
}

LogicalResult Matcher::checkBody(Stage &stage) {
  if (failed(quern::checkBody(*stage.op.getBlock(), whyNot, /*takesIndices=*/true)))
    return failure();
  auto isShort = [](Operation *user) {
    return isa<arith::IndexCastOp>(user) && user->getResult(0).getType().isInteger(32);
  };
  for (const Access &index : stage.indices)
    if (!llvm::all_of(index.base.getUsers(), isShort))
      return fail("an index in a body is not cast to 32 bits");
  return stage.reduces ? checkReduction(stage) : success();
}

/// Checks that no two points of the space write the same element, except points of a row that one result covers.
LogicalResult Matcher::checkOutput(const Stage &stage, const Access &access) {
  for (auto [loop, extent] : llvm::enumerate(chain.loops)) {
    bool isRow = static_cast<int>(loop) == chain.rowLoop;
    if (extent.mayExceed(1) && (!isRow || stage.isElementwise()) && !access.loops[loop].tellsAllApart())
      return fail("an output does not vary along loop " + Twine(loop));
  }
  return success();
}

LogicalResult Matcher::addInputs(const ProblemOp &own, Stage &stage) {
  for (OpOperand *operand : stage.op.getDpsInputOperands()) {
    Access access;
    if (failed(readAccess(own.at(*operand), stage, access)))
      return failure();
    access.unread = stage.op.getMatchingBlockArgument(operand).use_empty();
    if (access.unread || access.isScalar()) {
      // The operand only determines extents of loops, or is a captured scalar.
    } else if (auto found = writer.find(access.base); found != writer.end()) {
      access.producer = found->second.first;
      access.result = found->second.second;
      if (!access.sameAddress(chain.stages[access.producer].outs[access.result]))
        return fail("an intermediate is read at a different point than it was written");
    } else if (!access.isArgument() && !access.isScalar()) {
      return fail("an intermediate is read before it is written");
    }
    stage.ins.push_back(access);
  }
  return success();
}

LogicalResult Matcher::addOutputs(const ProblemOp &own, Stage &stage) {
  bool readOld = false;
  for (auto [i, operand] : llvm::enumerate(stage.op.getDpsInitsMutable())) {
    Access access;
    if (failed(readAccess(own.at(operand), stage, access)) || failed(checkOutput(stage, access)))
      return failure();
    if (!writer.try_emplace(access.base, chain.stages.size(), i).second)
      return fail("a buffer is written twice");
    readOld |= !stage.reduces && !stage.op.getMatchingBlockArgument(&operand).use_empty();
    auto readsElsewhere = [&](const Access &in) {
      return !in.unread && in.base == access.base && !in.sameAddress(access);
    };
    bool clashes = llvm::any_of(stage.ins, readsElsewhere);
    for (const Stage &earlier : chain.stages)
      clashes |= llvm::any_of(earlier.ins, readsElsewhere);
    if (clashes)
      return fail("an argument is read at a different point than it is overwritten");
    stage.writesArgument |= access.isArgument();
    stage.outs.push_back(access);
    stage.inits.push_back(fills.lookup(access.base));
  }
  return readOld ? addOldElements(stage) : success();
}

/// Adds the overwritten elements as inputs of an elementwise op whose body reads them.
LogicalResult Matcher::addOldElements(Stage &stage) {
  for (auto [operand, access] : llvm::zip_equal(stage.op.getDpsInitsMutable(), stage.outs)) {
    Access old = access;
    old.unread = stage.op.getMatchingBlockArgument(&operand).use_empty();
    if (!old.unread && !old.isArgument())
      return fail("an intermediate is read before it is written");
    stage.ins.push_back(old);
  }
  return success();
}

LogicalResult Matcher::addStage(const ProblemOp &own) {
  Stage stage;
  stage.op = own.op;
  stage.perRow = chain.rowLoop >= 0 && own.extents.size() + 1 == chain.loops.size();
  stage.reduces = stage.op.getNumReductionLoops() > 0;
  Sizes loops = chain.loops;
  if (stage.perRow)
    loops.erase(loops.begin() + chain.rowLoop);
  if (loops.size() != own.extents.size())
    return fail("an op iterates over a different space than the chain");
  for (const LoopAccess &index : own.indices) {
    Access &access = stage.indices.emplace_back();
    static_cast<LoopAccess &>(access) = index;
    if (stage.perRow)
      access.loops.insert(access.loops.begin() + chain.rowLoop, AccessFunction());
  }
  for (auto [loop, extent] : llvm::zip_equal(loops, own.extents))
    if (extent != loop && !extent.isOpen())
      return fail("an op has a loop of extent " + extent.text() + "; in the chain it has " + loop.text());
  if (failed(addInputs(own, stage)) || failed(addOutputs(own, stage)) || failed(checkBody(stage)))
    return failure();
  for (const Access &in : stage.ins)
    if (in.producer >= 0)
      stage.sweep =
          std::max(stage.sweep, chain.stages[in.producer].sweep + (chain.stages[in.producer].reduces ? 1 : 0));
  if (stage.reduces || (stage.writesArgument && stage.isElementwise()))
    chain.sweeps = std::max(chain.sweeps, stage.sweep + 1);
  chain.stages.push_back(std::move(stage));
  return success();
}

LogicalResult Matcher::match() {
  if (failed(gatherOps()) || failed(findSpace()))
    return failure();
  for (const ProblemOp &own : ops)
    if (failed(addStage(own)))
      return failure();
  if (llvm::none_of(chain.stages, [](const Stage &stage) { return stage.writesArgument; }))
    return fail("no argument is written");
  layOutDims(chain);
  return success();
}

} // namespace

LogicalResult quern::schedule::rows::matchRowChain(const Problem &problem, RowChain &chain, std::string &whyNot) {
  return Matcher(problem, chain, whyNot).match();
}
