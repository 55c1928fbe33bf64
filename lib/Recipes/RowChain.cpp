//===- RowChain.cpp - Matching a chain of row operations ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The match proves what emission relies on: every operand is a static strided memref with an address linear in the dims (blocks apart),
// intermediates are read where they were written, reductions may be split freely, and no output is written twice.
//
//===----------------------------------------------------------------------===//
#include "Recipes/RowChain.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace quern::rows;

bool Access::mayAlias(const Access &other) const {
  return base == other.base || (base.getType() == other.base.getType() && strides == other.strides && row == other.row);
}

bool Access::isInvariant() const {
  return row.isStill() && llvm::all_of(strides, [](int64_t stride) { return stride == 0; });
}

namespace {

bool isStaticStrided(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  return type && type.hasStaticShape() && succeeded(type.getStridesAndOffset(strides, offset)) && !ShapedType::isDynamic(offset) &&
         llvm::none_of(strides, ShapedType::isDynamic);
}

class Matcher {
public:
  Matcher(RowChain &chain, std::string &whyNot) : chain(chain), whyNot(whyNot) {}
  LogicalResult match();

private:
  LogicalResult fail(const Twine &why) {
    whyNot = why.str();
    return failure();
  }
  LogicalResult gatherOps();
  LogicalResult findSpace();
  LogicalResult findBlocks();
  LogicalResult noteBlock(linalg::LinalgOp op, AffineExpr expr);
  LogicalResult addStage(linalg::LinalgOp op);
  LogicalResult addInputs(Stage &stage, ArrayRef<unsigned> loopOf);
  LogicalResult addOutputs(Stage &stage, ArrayRef<unsigned> loopOf);
  LogicalResult readAddress(linalg::LinalgOp op, OpOperand &operand, ArrayRef<unsigned> loopOf, Access &access);
  LogicalResult addTerm(AffineExpr expr, int64_t stride, ArrayRef<unsigned> loopOf, Access &access);
  LogicalResult checkBody(Stage &stage);
  LogicalResult checkReduction(Stage &stage);
  LogicalResult checkOutput(const Stage &stage, const Access &access);
  void dropUnitDims();
  void sortDims();
  void mergeDims();

  RowChain &chain;
  std::string &whyNot;
  SmallVector<linalg::LinalgOp, 8> ops;
  Strides loops;                  // extents of the chain's loops
  unsigned row = 0;               // the reduced loop
  Strides block;                  // of each parallel loop; 1: not blocked
  SmallVector<unsigned, 6> dimOf; // of each parallel loop; a blocked loop's inner dim follows
  llvm::SmallDenseMap<Value, std::pair<int, unsigned>, 8> writer;
  llvm::SmallDenseMap<Value, TypedAttr, 8> fills;
};

LogicalResult Matcher::gatherOps() {
  if (!chain.problem.getBody().hasOneBlock())
    return fail("the function has control flow");
  for (Type type : chain.problem.getArgumentTypes()) {
    if (!isStaticStrided(dyn_cast<MemRefType>(type)))
      return fail("an argument is not a static strided memref");
  }
  for (Operation &op : chain.problem.getBody().front()) {
    if (auto fill = dyn_cast<linalg::FillOp>(op)) {
      TypedAttr value;
      if (!matchPattern(fill.getInputs()[0], m_Constant(&value)))
        return fail("a fill value is not a constant");
      fills[fill.getOutputs()[0]] = value;
    } else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      if (!linalgOp.hasPureBufferSemantics())
        return fail("'" + op.getName().getStringRef() + "' is not on memrefs");
      ops.push_back(linalgOp);
    } else if (op.getNumRegions() || isa<ViewLikeOpInterface>(op)) {
      return fail("'" + op.getName().getStringRef() + "' has no place in a chain of rows");
    } else if (!isa<memref::AllocOp, memref::DeallocOp, func::ReturnOp, arith::ConstantOp>(op)) {
      auto load = dyn_cast<memref::LoadOp>(op); // kernel arguments are flat: only what is flat already keeps its indices
      bool flat = load && load.getMemRefType().getRank() <= 1 && load.getMemRefType().getLayout().isIdentity();
      if (!flat && !isMemoryEffectFree(&op))
        return fail("'" + op.getName().getStringRef() + "' has side effects");
      chain.prologue.push_back(&op);
    }
  }
  return success();
}

/// The chain's space is that of the op with the most loops; a per-row op lacks exactly the reduced one.
LogicalResult Matcher::findSpace() {
  std::optional<unsigned> reduced;
  for (linalg::LinalgOp op : ops) {
    auto ranges = op.getStaticLoopRanges();
    if (llvm::any_of(ranges, ShapedType::isDynamic))
      return fail("a loop has no static extent");
    if (ranges.size() > loops.size())
      loops.assign(ranges.begin(), ranges.end());
    for (auto [d, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
      if (kind != utils::IteratorType::reduction)
        continue;
      if (reduced && *reduced != d)
        return fail("loops " + Twine(*reduced) + " and " + Twine(d) + " are both reduced");
      reduced = d;
    }
  }
  if (!reduced)
    return fail("no reduction");
  if (llvm::is_contained(loops, 0))
    return fail("the space is empty");
  row = *reduced;
  chain.rowExtent = loops[row];
  return success();
}

LogicalResult Matcher::noteBlock(linalg::LinalgOp op, AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  auto dim = dyn_cast_or_null<AffineDimExpr>(binary ? binary.getLHS() : AffineExpr());
  auto size = dyn_cast_or_null<AffineConstantExpr>(binary ? binary.getRHS() : AffineExpr());
  bool isDigit = expr.getKind() == AffineExprKind::FloorDiv || expr.getKind() == AffineExprKind::Mod;
  if (!dim || !size || !isDigit || size.getValue() <= 0 || op.getNumLoops() != loops.size())
    return fail("a map is not made of dims, constants, d floordiv B and d mod B");
  if (dim.getPosition() == row)
    return success();
  int64_t &known = block[dim.getPosition()];
  if (known != 1 && known != size.getValue())
    return fail("loop " + Twine(dim.getPosition()) + " has blocks of " + Twine(known) + " and of " + Twine(size.getValue()));
  known = size.getValue();
  if (loops[dim.getPosition()] % known)
    return fail("blocks of " + Twine(known) + " do not divide the extent " + Twine(loops[dim.getPosition()]));
  return success();
}

/// Every parallel loop that some map uses as (floordiv B, mod B) becomes two dims.
LogicalResult Matcher::findBlocks() {
  block.assign(loops.size(), 1);
  for (linalg::LinalgOp op : ops)
    for (AffineMap map : op.getIndexingMapsArray())
      for (AffineExpr expr : map.getResults())
        if (!isa<AffineDimExpr, AffineConstantExpr>(expr) && failed(noteBlock(op, expr)))
          return failure();
  for (auto [i, size] : llvm::enumerate(block)) {
    dimOf.push_back(chain.extents.size());
    if (i == row)
      continue;
    chain.extents.push_back(loops[i] / size);
    if (size > 1)
      chain.extents.push_back(size);
  }
  return success();
}

LogicalResult Matcher::addTerm(AffineExpr expr, int64_t stride, ArrayRef<unsigned> loopOf, Access &access) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    access.offset += constant.getValue() * stride;
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  unsigned loop = loopOf[cast<AffineDimExpr>(binary ? binary.getLHS() : expr).getPosition()];
  bool isOuter = !binary || expr.getKind() == AffineExprKind::FloorDiv, isInner = !binary || !isOuter;
  if (loop != row) {
    unsigned dim = dimOf[loop];
    if (block[loop] == 1) {
      access.strides[dim] += stride;
      return success();
    }
    access.strides[dim] += isOuter ? (binary ? stride : stride * block[loop]) : 0;
    access.strides[dim + 1] += isInner ? stride : 0;
    return success();
  }
  int64_t size = binary ? cast<AffineConstantExpr>(binary.getRHS()).getValue() : 0;
  bool walks = access.row.block || !access.row.isStill();
  if (walks && access.row.block != size)
    return fail("an operand walks the row in two ways");
  access.row.block = size;
  (binary && isOuter ? access.row.blockStep : access.row.step) += stride;
  return success();
}

LogicalResult Matcher::readAddress(linalg::LinalgOp op, OpOperand &operand, ArrayRef<unsigned> loopOf, Access &access) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!isStaticStrided(type))
    return fail("operand #" + Twine(operand.getOperandNumber()) + " of an op is not a static strided memref");
  auto [strides, offset] = type.getStridesAndOffset();
  Type element = type.getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 8 || !llvm::isPowerOf2_32(element.getIntOrFloatBitWidth()))
    return fail("operand #" + Twine(operand.getOperandNumber()) + " of an op has elements that are not whole bytes");
  access.base = operand.get();
  access.offset = offset;
  access.strides.assign(chain.extents.size(), 0);
  for (auto [expr, stride] : llvm::zip_equal(op.getMatchingIndexingMap(&operand).getResults(), strides))
    if (failed(addTerm(expr, stride, loopOf, access)))
      return failure();
  RowWalk &walk = access.row;
  if (chain.rowExtent == 1)
    walk = RowWalk();
  else if (walk.block && (walk.block >= chain.rowExtent || walk.blockStep == walk.block * walk.step))
    walk = RowWalk{walk.step, 0, 0};
  return success();
}

/// Any order and any number of partial accumulators must be allowed: licence, combiner and a start value that may count more than once.
LogicalResult Matcher::checkReduction(Stage &stage) {
  for (unsigned i = 0; i < stage.outs.size(); ++i) {
    auto init = dyn_cast_or_null<FloatAttr>(stage.inits[i]);
    BlockArgument accumulator = stage.op.getBlock()->getArgument(stage.ins.size() + i);
    Operation *combine = stage.combiner(i);
    if (!combine || !isa<arith::AddFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp, arith::MinimumFOp>(combine) ||
        !accumulator.hasOneUse() || *accumulator.user_begin() != combine || !combine->getResult(0).hasOneUse())
      return fail("a reduction does not combine its accumulator by add, max or min of floats");
    auto add = dyn_cast<arith::AddFOp>(combine);
    if (!init || init.getValue().isNaN() || (add && !init.getValue().isZero()))
      return fail("an accumulator does not start from a neutral constant");
    if (add && !bitEnumContainsAll(add.getFastmath(), arith::FastMathFlags::reassoc))
      return fail("a sum along the row has no fastmath<reassoc>");
  }
  return success();
}

/// Bodies are cloned on vectors: elementwise ops only, and arithmetic in types that vector registers compute in.
LogicalResult Matcher::checkBody(Stage &stage) {
  for (Operation &op : stage.op.getBlock()->without_terminator()) {
    if (matchPattern(&op, m_Constant()))
      continue;
    if (!OpTrait::hasElementwiseMappableTraits(&op) || op.getNumRegions() || op.getNumResults() != 1)
      return fail("'" + op.getName().getStringRef() + "' in a body is not elementwise");
    Type type = op.getResult(0).getType();
    bool converts = isa<arith::TruncFOp, arith::BitcastOp, arith::SelectOp>(op);
    if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32 && !converts)
      return fail("'" + op.getName().getStringRef() + "' computes in a type narrower than 32 bits");
  }
  return stage.reduces ? checkReduction(stage) : success();
}

/// Two points of the space never write one element.
LogicalResult Matcher::checkOutput(const Stage &stage, const Access &access) {
  for (auto [extent, stride] : llvm::zip_equal(chain.extents, access.strides))
    if (extent > 1 && stride == 0)
      return fail("an output does not vary along a parallel dim");
  if (stage.isElementwise() && chain.rowExtent > 1 && access.row.isStill())
    return fail("an elementwise output does not vary along the row");
  return success();
}

LogicalResult Matcher::addInputs(Stage &stage, ArrayRef<unsigned> loopOf) {
  for (OpOperand *operand : stage.op.getDpsInputOperands()) {
    Access access;
    if (failed(readAddress(stage.op, *operand, loopOf, access)))
      return failure();
    access.unread = stage.op.getMatchingBlockArgument(operand).use_empty();
    if (access.unread) {
      // Pins the extents of loops; no memory behind it.
    } else if (auto found = writer.find(access.base); found != writer.end()) {
      access.producer = found->second.first;
      access.result = found->second.second;
      if (!access.sameAddress(chain.stages[access.producer].outs[access.result]))
        return fail("an intermediate is read at another point than it was written");
    } else if (access.base.getDefiningOp()) {
      return fail("an intermediate is read before it is written");
    }
    stage.ins.push_back(access);
  }
  return success();
}

LogicalResult Matcher::addOutputs(Stage &stage, ArrayRef<unsigned> loopOf) {
  for (auto [i, operand] : llvm::enumerate(stage.op.getDpsInitsMutable())) {
    Access access;
    if (failed(readAddress(stage.op, operand, loopOf, access)) || failed(checkOutput(stage, access)))
      return failure();
    if (!writer.try_emplace(access.base, chain.stages.size(), i).second)
      return fail("a buffer is written twice");
    if (!stage.reduces && !stage.op.getMatchingBlockArgument(&operand).use_empty())
      return fail("an elementwise op reads its output");
    auto readsElsewhere = [&](const Access &in) { return !in.unread && in.base == access.base && !in.sameAddress(access); };
    bool clashes = llvm::any_of(stage.ins, readsElsewhere);
    for (const Stage &earlier : chain.stages)
      clashes |= llvm::any_of(earlier.ins, readsElsewhere);
    if (clashes)
      return fail("an argument is read at another point than it is overwritten");
    stage.writesArgument |= isa<BlockArgument>(access.base);
    stage.outs.push_back(access);
    stage.inits.push_back(fills.lookup(access.base));
  }
  return success();
}

LogicalResult Matcher::addStage(linalg::LinalgOp op) {
  Stage stage;
  stage.op = op;
  stage.perRow = op.getNumLoops() + 1 == loops.size();
  stage.reduces = op.getNumReductionLoops() == 1;
  SmallVector<unsigned, 6> loopOf; // the chain's loop of each of the op's
  for (unsigned d = 0; d < loops.size(); ++d)
    if (!stage.perRow || d != row)
      loopOf.push_back(d);
  if (loopOf.size() != op.getNumLoops())
    return fail("an op iterates another space than the chain");
  for (auto [i, range] : llvm::enumerate(op.getStaticLoopRanges()))
    if (range != loops[loopOf[i]])
      return fail("a loop of extent " + Twine(range) + " meets one of " + Twine(loops[loopOf[i]]));
  if (failed(addInputs(stage, loopOf)) || failed(addOutputs(stage, loopOf)) || failed(checkBody(stage)))
    return failure();
  chain.stages.push_back(std::move(stage));
  return success();
}

void Matcher::dropUnitDims() {
  for (int d = chain.extents.size() - 1; d >= 0; --d) {
    if (chain.extents[d] != 1)
      continue;
    chain.extents.erase(chain.extents.begin() + d);
    chain.forEachAccess([&](Stage &, Access &access) { access.strides.erase(access.strides.begin() + d); });
  }
}

/// Parallel dims in the order of the last output's strides, so that neighbours in memory are neighbours in the iteration space.
void Matcher::sortDims() {
  const Stage *last = nullptr;
  for (const Stage &stage : chain.stages)
    if (stage.writesArgument)
      last = &stage;
  if (!last)
    return;
  Strides lead = last->outs[0].strides;
  SmallVector<unsigned, 12> order = llvm::to_vector<12>(llvm::seq<unsigned>(0, lead.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) { return std::make_pair(-lead[a], a) < std::make_pair(-lead[b], b); });
  auto reorder = [&](Strides &values) { values = llvm::map_to_vector<6>(order, [&](unsigned d) { return values[d]; }); };
  reorder(chain.extents);
  chain.forEachAccess([&](Stage &, Access &access) { reorder(access.strides); });
}

/// Merges dim d + 1 into d where every operand walks both with one stride (broadcasts included).
void Matcher::mergeDims() {
  for (int d = static_cast<int>(chain.extents.size()) - 2; d >= 0; --d) {
    int64_t inner = chain.extents[d + 1];
    bool mergeable = true;
    chain.forEachAccess([&](Stage &stage, Access &access) {
      bool isPrivate = access.producer >= 0 || !isa<BlockArgument>(access.base); // an intermediate has no layout of its own
      mergeable &= isPrivate || access.strides[d] == access.strides[d + 1] * inner;
    });
    if (!mergeable)
      continue;
    chain.extents[d] *= inner;
    chain.extents.erase(chain.extents.begin() + d + 1);
    chain.forEachAccess([&](Stage &, Access &access) { access.strides.erase(access.strides.begin() + d); });
  }
}

LogicalResult Matcher::match() {
  if (failed(gatherOps()) || failed(findSpace()) || failed(findBlocks()))
    return failure();
  for (linalg::LinalgOp op : ops)
    if (failed(addStage(op)))
      return failure();
  if (llvm::none_of(chain.stages, [](const Stage &stage) { return stage.writesArgument; }))
    return fail("no argument is written");
  dropUnitDims();
  sortDims();
  mergeDims();
  return success();
}

} // namespace

LogicalResult quern::rows::matchRowChain(func::FuncOp problem, RowChain &chain, std::string &whyNot) {
  chain.problem = problem;
  return Matcher(chain, whyNot).match();
}
