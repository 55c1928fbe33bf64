//===- Points.cpp - The general schedule of a device ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel for each op that writes an argument. The loops that reductions on the way depend on, or all where there are none, are shared out
// to work-items, which walk the others themselves.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Points/Points.h"

#include "Schedule/Points/Values.h"
#include "Support/Error.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;
using namespace quern::points;

namespace {

/// Which loops of the op that writes an argument lead to reductions.
class ReductionLoops {
public:
  ReductionLoops(const PointChain &chain, unsigned position)
      : chain(chain), loops(linalg::LinalgOp(chain.ops[position]).getNumLoops()), needed(loops + 1) {
    SmallVector<llvm::SmallBitVector> own;
    for (auto [loop, kind] : llvm::enumerate(linalg::LinalgOp(chain.ops[position]).getIteratorTypesArray())) {
      own.emplace_back(loops + 1);
      own.back().set(kind == utils::IteratorType::reduction ? loops : loop);
    }
    followInputs(position, own);
  }
  bool any() const { return isFound; }
  bool needs(unsigned loop) const { return needed[loop]; }
  /// A reduction for each step of a reduction: the work is that of both together.
  bool areNested() const { return needed[loops]; }

private:
  using Dependence = SmallVector<llvm::SmallBitVector>;

  llvm::SmallBitVector of(AffineExpr expr, const Dependence &own) {
    llvm::SmallBitVector all(loops + 1);
    expr.walk([&](AffineExpr part) {
      if (auto dim = dyn_cast<AffineDimExpr>(part))
        all |= own[dim.getPosition()];
    });
    return all;
  }

  void followInputs(unsigned position, const Dependence &own) {
    linalg::LinalgOp op = chain.ops[position];
    for (OpOperand &operand : op->getOpOperands())
      if (isa<MemRefType>(operand.get().getType()) && !op.getMatchingBlockArgument(&operand).use_empty()) {
        Dependence at;
        for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
          at.push_back(of(expr, own));
        follow(operand.get(), at, position);
      }
  }

  void follow(Value memref, Dependence at, unsigned before) {
    for (; auto view = memref.getDefiningOp<memref::SubViewOp>(); memref = view.getSource()) {
      Dependence outer;
      llvm::SmallBitVector dropped = view.getDroppedDims();
      for (unsigned d = 0, own = 0; d < dropped.size(); ++d)
        outer.push_back(dropped[d] ? llvm::SmallBitVector(loops + 1) : at[own++]);
      at = std::move(outer);
    }
    const Writer *writer = memref.getDefiningOp<memref::AllocOp>() ? chain.writerOf(memref, before) : nullptr;
    if (!writer)
      return;
    linalg::LinalgOp op = chain.ops[writer->position];
    Dependence own(op.getNumLoops(), llvm::SmallBitVector(loops + 1));
    SmallVector<SmallVector<LoopDigit, 2>> digits;
    std::string whyNot;
    if (failed(chain.digitsOf(op, writer->result, digits, whyNot)) || digits.size() != at.size())
      return; // refused when it is computed
    for (auto [dim, list] : llvm::zip_equal(at, digits))
      for (const LoopDigit &digit : list)
        own[digit.loop] = dim;
    if (op.getNumReductionLoops()) {
      isFound = true;
      for (const llvm::SmallBitVector &dependence : own)
        needed |= dependence;
      for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
        if (kind == utils::IteratorType::reduction) {
          own[loop].reset();
          own[loop].set(loops);
        }
    }
    followInputs(writer->position, own);
    if (chain.isPartial(op, writer->result, memref))
      follow(memref, at, writer->position);
  }

  const PointChain &chain;
  unsigned loops;
  llvm::SmallBitVector needed; ///< the last: a loop that some op reduces
  bool isFound = false;
};

/// How the loops of an op that writes an argument are shared out.
struct PointSpace {
  SmallVector<unsigned> fixed, open; ///< loops of known and of open extents, of which a work-item has one point
  SmallVector<unsigned> walked;      ///< loops that a work-item walks
  int64_t fixedPoints = 1, groupSize = 1, groups = 1;
  int chunked = -1; ///< among `open`: shared out to the work-items of a group; -1: the fixed loops are
  SmallVector<int64_t, 4> factors;
};

class PointScheduler {
public:
  PointScheduler(const PointChain &chain, const PointsStrategy &strategy) : chain(chain), strategy(strategy) {}
  /// Null, with `whyNot`, if an intermediate cannot be computed.
  func::FuncOp schedule(unsigned position, StringRef name, Operation *after, std::string &whyNot);

private:
  PointSpace spaceOf(unsigned position, const ReductionLoops &reductions);
  SmallVector<Value> pointOf(PointValues &values, const PointSpace &space, Kernel &kernel, unsigned position, Value &exists);
  void emitPoint(PointValues &values, const PointSpace &space, unsigned position, SmallVector<Value> loops);
  /// Work-items that follow each other should write elements that do.
  SmallVector<unsigned> byStride(linalg::LinalgOp op, SmallVector<unsigned> loops);
  std::string planOf(const PointSpace &space);

  const PointChain &chain;
  const PointsStrategy &strategy;
  OpBuilder *builder = nullptr;
};

SmallVector<unsigned> PointScheduler::byStride(linalg::LinalgOp op, SmallVector<unsigned> loops) {
  OpOperand *init = op.getDpsInitOperand(0);
  SmallVector<int64_t> strideOf(op.getNumLoops(), 0);
  if (isa<BlockArgument>(init->get()))
    for (auto [expr, stride] : llvm::zip_equal(op.getMatchingIndexingMap(init).getResults(), chain.sizes.layoutOf(init->get()).strides))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        strideOf[dim.getPosition()] = stride;
  llvm::sort(loops, [&](unsigned a, unsigned b) { return std::pair(-strideOf[a], a) < std::pair(-strideOf[b], b); });
  return loops;
}

PointSpace PointScheduler::spaceOf(unsigned position, const ReductionLoops &reductions) {
  linalg::LinalgOp op = chain.ops[position];
  PointSpace space;
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (kind == utils::IteratorType::reduction)
      continue;
    int64_t extent = chain.loopExtent(op, loop);
    if (reductions.any() && !reductions.needs(loop))
      space.walked.push_back(loop);
    else if (rows::isOpen(extent))
      space.open.push_back(loop);
    else
      space.fixed.push_back(loop), space.fixedPoints *= extent;
  }
  for (auto *loops : {&space.fixed, &space.open, &space.walked})
    *loops = byStride(op, *loops);
  constexpr int64_t enoughItems = 64;
  if (!space.open.empty() && space.fixedPoints < enoughItems)
    space.chunked = static_cast<int>(space.open.size()) - 1;
  space.groupSize = space.chunked >= 0
                        ? strategy.groupSize
                        : std::min<int64_t>(strategy.groupSize, llvm::PowerOf2Ceil(static_cast<uint64_t>(space.fixedPoints)));
  space.groups = space.chunked >= 0 ? space.fixedPoints : llvm::divideCeil(space.fixedPoints, space.groupSize);
  for (auto [i, loop] : llvm::enumerate(space.open))
    space.factors.append({rows::indexOfOpen(chain.loopExtent(op, loop)), static_cast<int>(i) == space.chunked ? space.groupSize : 1});
  return space;
}

/// The loops' indices at this work-item's point; `exists` stays null where all work-items have one.
SmallVector<Value> PointScheduler::pointOf(PointValues &values, const PointSpace &space, Kernel &kernel, unsigned position, Value &exists) {
  linalg::LinalgOp op = chain.ops[position];
  Location loc = kernel.function.getLoc();
  auto extentOf = [&](unsigned loop) { return values.index(chain.loopExtent(op, loop)); };
  Value group = gpu::BlockIdOp::create(*builder, loc, gpu::Dimension::x), item = gpu::ThreadIdOp::create(*builder, loc, gpu::Dimension::x);
  SmallVector<Value> loops(op.getNumLoops());
  Value rest = group, size = values.index(space.groupSize);
  auto take = [&](Value extent) {
    Value own = values.mod(rest, extent);
    rest = values.div(rest, extent);
    return own;
  };
  auto demandBelow = [&](Value index, Value limit) {
    exists = arith::CmpIOp::create(*builder, loc, arith::CmpIPredicate::ult, index, limit);
  };
  Value fixed;
  if (space.chunked >= 0) {
    unsigned loop = space.open[space.chunked];
    Value chunks = values.div(values.add(extentOf(loop), values.index(space.groupSize - 1)), size);
    loops[loop] = values.add(values.mul(take(chunks), size), item);
    demandBelow(loops[loop], extentOf(loop));
  } else {
    Value chunk = space.open.empty() ? group : take(values.index(space.groups));
    fixed = values.add(values.mul(chunk, size), item);
    if (space.groups * space.groupSize != space.fixedPoints)
      demandBelow(fixed, values.index(space.fixedPoints));
  }
  for (int i = static_cast<int>(space.open.size()) - 1; i >= 0; --i)
    if (i != space.chunked)
      loops[space.open[i]] = take(extentOf(space.open[i]));
  rest = space.chunked >= 0 ? rest : fixed;
  for (unsigned loop : llvm::reverse(space.fixed))
    loops[loop] = loop == space.fixed.front() ? rest : take(extentOf(loop));
  return loops;
}

void PointScheduler::emitPoint(PointValues &values, const PointSpace &space, unsigned position, SmallVector<Value> loops) {
  linalg::LinalgOp op = chain.ops[position];
  values.prepare(position, loops);
  auto next = llvm::find_if(space.walked, [&](unsigned loop) { return !loops[loop]; });
  if (next != space.walked.end()) {
    unsigned loop = *next;
    values.loop(values.index(chain.loopExtent(op, loop)), [&](Value index) {
      loops[loop] = index;
      emitPoint(values, space, position, loops);
    });
    return;
  }
  SmallVector<Value> results = values.compute(position, loops);
  for (auto [i, result] : llvm::enumerate(results)) {
    OpOperand *init = op.getDpsInitOperand(i);
    values.store(result, init->get(), values.apply(op.getMatchingIndexingMap(init), loops));
  }
}

std::string PointScheduler::planOf(const PointSpace &space) {
  std::string text = concat("points: ", space.fixedPoints);
  for (size_t i = 0; i < space.open.size(); ++i)
    text += " x open";
  return concat(text, " in groups of ", space.groupSize, space.walked.empty() ? "" : concat(", ", space.walked.size(), " loops in each"));
}

func::FuncOp PointScheduler::schedule(unsigned position, StringRef name, Operation *after, std::string &whyNot) {
  linalg::LinalgOp op = chain.ops[position];
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (ShapedType::isDynamic(chain.loopExtent(op, loop))) {
      whyNot = concat("loop ", loop, " has the extent of no argument");
      return {};
    }
  ReductionLoops reductions(chain, position);
  if (reductions.areNested()) {
    whyNot = "a reduction would be done for each step of another";
    return {};
  }
  PointSpace space = spaceOf(position, reductions);
  KernelTraits traits;
  traits.name = name.str();
  traits.plan = planOf(space);
  traits.space = space.groups;
  traits.groupSize = space.groupSize;
  traits.subGroupSize = strategy.subGroupSize && space.groupSize % strategy.subGroupSize == 0 ? strategy.subGroupSize : 0;
  traits.factors = space.factors;
  Kernel kernel = makeKernel(chain.problem, after, traits);
  OpBuilder inner = OpBuilder::atBlockEnd(&kernel.function.getBody().front());
  builder = &inner;
  PointValues values(chain, kernel, inner);
  for (Operation *one : chain.prologue)
    if (isa<memref::LoadOp>(one))
      clonePrologue(inner, kernel, chain.problem, {one}, [&](int64_t size) { return values.index(size); });
    else
      inner.clone(*one, kernel.arguments);
  Value exists;
  SmallVector<Value> loops = pointOf(values, space, kernel, position, exists);
  if (exists) {
    auto guarded = scf::IfOp::create(inner, kernel.function.getLoc(), exists);
    OpBuilder::InsertionGuard guard(inner);
    inner.setInsertionPoint(guarded.thenYield());
    emitPoint(values, space, position, loops);
  } else {
    emitPoint(values, space, position, loops);
  }
  func::ReturnOp::create(inner, kernel.function.getLoc());
  if (values.failure.empty())
    return kernel.function;
  whyNot = values.failure;
  kernel.function.erase();
  return {};
}

/// Whether an op in front of `position` reads what an op before that has written since: its values would come out otherwise when they are
/// computed again.
bool readsOverwritten(const PointChain &chain, unsigned position) {
  auto isIntermediate = [](Value memref) { return rootOf(memref).getDefiningOp<memref::AllocOp>() != nullptr; };
  llvm::SmallDenseSet<Value> overwritten;
  for (unsigned i = position; i-- > 0;) {
    linalg::LinalgOp op = chain.ops[i];
    for (Value init : op.getDpsInits())
      if (!isIntermediate(init))
        overwritten.insert(rootOf(init));
    for (OpOperand *input : op.getDpsInputOperands())
      if (llvm::any_of(op.getDpsInits(), isIntermediate) && overwritten.contains(rootOf(input->get())))
        return true;
  }
  return false;
}

} // namespace

FailureOr<SmallVector<func::FuncOp>> quern::schedulePoints(func::FuncOp problem, const PointsStrategy &strategy, std::string *whyNot) {
  std::string reason;
  PointChain chain(problem);
  SmallVector<func::FuncOp> kernels;
  bool fits = succeeded(chain.read(reason));
  SmallVector<unsigned> writers; // of arguments
  for (unsigned i = 0; fits && i < chain.ops.size(); ++i) {
    auto isOutside = [](Value init) { return !rootOf(init).getDefiningOp<memref::AllocOp>(); };
    auto inits = chain.ops[i].getDpsInits();
    if (llvm::any_of(inits, isOutside))
      writers.push_back(i);
    if (llvm::any_of(inits, isOutside) && !llvm::all_of(inits, isOutside))
      fits = false, reason = "an op writes an argument and an intermediate";
  }
  if (fits && writers.empty())
    fits = false, reason = "no argument is written";
  for (auto [i, position] : llvm::enumerate(writers)) {
    if (!fits)
      break;
    std::string name = (problem.getName() + "_kernel").str() + (writers.size() > 1 ? std::to_string(i) : "");
    Operation *after = kernels.empty() ? problem.getOperation() : kernels.back().getOperation();
    if (readsOverwritten(chain, position))
      reason = "an intermediate is computed from what is overwritten afterwards";
    else if (func::FuncOp kernel = PointScheduler(chain, strategy).schedule(position, name, after, reason))
      kernels.push_back(kernel);
    fits = kernels.size() == i + 1;
  }
  if (fits)
    return kernels;
  for (func::FuncOp kernel : kernels)
    kernel.erase();
  if (whyNot)
    *whyNot = reason;
  return failure();
}
