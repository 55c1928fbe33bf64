//===- Chain.cpp - Matching a chain of row operations --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The match proves what emission relies on: every operand is a strided memref with an address that is a sum of digits of the loops,
// intermediates are read where they were written, reductions may be split freely, and no output is written twice.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Rows/Chain.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace quern::rows;

static bool isStatic(MemRefType type) {
  auto [strides, offset] = type.getStridesAndOffset();
  return type.hasStaticShape() && !ShapedType::isDynamic(offset) && llvm::none_of(strides, ShapedType::isDynamic);
}

/// Memory beside the arguments: a part of one, given by its first byte, or a table of constants. Both are flat.
static bool isFlatBase(Operation *op) {
  auto view = dyn_cast<memref::ViewOp>(op);
  if (!view && !isa<memref::GetGlobalOp>(op))
    return false;
  auto type = cast<MemRefType>(op->getResult(0).getType());
  return (!view || isa<BlockArgument>(view.getSource())) && type.getRank() == 1 && type.hasStaticShape() && type.getLayout().isIdentity();
}

bool Access::mayAlias(const Access &other) const {
  if (base == other.base)
    return true;
  auto type = cast<MemRefType>(base.getType()), otherType = cast<MemRefType>(other.base.getType());
  if (isStatic(type) && isStatic(otherType)) // the types of one layout may differ in the strides of dims of 1
    return elementType() == other.elementType() && loops == other.loops;
  auto mayBeEqual = [](const Walk &a, const Walk &b) { return a == b || isOpen(a.step()) || isOpen(b.step()); };
  return elementType() == other.elementType() && llvm::equal(loops, other.loops, mayBeEqual);
}

bool Access::isArgument() const { return !isScalar() && (isa<BlockArgument>(base) || isFlatBase(base.getDefiningOp())); }

bool Access::isInvariant() const {
  return row.isStill() && curves.empty() && llvm::all_of(strides, [](int64_t stride) { return stride == 0; });
}

namespace {

bool isStrided(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  return type && succeeded(type.getStridesAndOffset(strides, offset));
}

/// The size of a buffer that the function makes.
bool isSizeOfIntermediate(Operation &op) {
  return isa<memref::DimOp>(op) && llvm::all_of(op.getUsers(), [](Operation *user) { return isa<memref::AllocOp>(user); });
}

/// Whether some op reduces into what is filled; otherwise the fill is an op like others.
bool startsAccumulator(linalg::FillOp fill) {
  return llvm::any_of(fill.getOutputs()[0].getUsers(), [&](Operation *user) {
    auto op = dyn_cast<linalg::LinalgOp>(user);
    return op && op.getNumReductionLoops() && llvm::is_contained(op.getDpsInits(), fill.getOutputs()[0]);
  });
}

/// What a map says of each loop.
using LoopDigits = SmallVector<SmallVector<Digit, 4>, 6>;

class Matcher {
public:
  Matcher(RowChain &chain, std::string &whyNot) : chain(chain), whyNot(whyNot), sizes(chain.problem) {}
  LogicalResult match();

private:
  LogicalResult fail(const Twine &why) {
    whyNot = why.str();
    return failure();
  }
  LogicalResult gatherOps();
  LogicalResult findSpace();
  LogicalResult findOpenExtents();
  LogicalResult addStage(linalg::LinalgOp op);
  LogicalResult addInputs(Stage &stage, ArrayRef<unsigned> loopOf);
  LogicalResult addOutputs(Stage &stage, ArrayRef<unsigned> loopOf);
  LogicalResult addOldElements(Stage &stage);
  LogicalResult readTerm(AffineExpr expr, int64_t stride, ArrayRef<unsigned> loopOf, Access &access, LoopDigits &digits);
  LogicalResult readAddress(linalg::LinalgOp op, OpOperand &operand, ArrayRef<unsigned> loopOf, Access &access);
  LogicalResult checkBody(Stage &stage);
  LogicalResult checkReduction(Stage &stage);
  LogicalResult checkOpenSizes();
  LogicalResult checkOutput(const Stage &stage, const Access &access);

  RowChain &chain;
  std::string &whyNot;
  ArgumentSizes sizes;
  SmallVector<linalg::LinalgOp, 8> ops;
  llvm::SmallDenseMap<Value, std::pair<int, unsigned>, 8> writer;
  llvm::SmallDenseMap<Value, TypedAttr, 8> fills;
};

LogicalResult Matcher::gatherOps() {
  if (!chain.problem.getBody().hasOneBlock())
    return fail("the function has control flow");
  for (Type type : chain.problem.getArgumentTypes()) {
    if (!isStrided(dyn_cast<MemRefType>(type)))
      return fail("an argument is not a strided memref");
  }
  if (sizes.count() > maxOpenSizes)
    return fail(Twine(sizes.count()) + " dynamic sizes are more than " + Twine(maxOpenSizes));
  for (Operation &op : chain.problem.getBody().front()) {
    if (auto fill = dyn_cast<linalg::FillOp>(op); fill && startsAccumulator(fill)) {
      TypedAttr value;
      if (!matchPattern(fill.getInputs()[0], m_Constant(&value)))
        return fail("a fill value is not a constant");
      fills[fill.getOutputs()[0]] = value;
    } else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      if (!linalgOp.hasPureBufferSemantics())
        return fail("'" + op.getName().getStringRef() + "' is not on memrefs");
      ops.push_back(linalgOp);
    } else if (op.getNumRegions() || (isa<ViewLikeOpInterface, memref::GetGlobalOp>(op) && !isFlatBase(&op))) {
      return fail("'" + op.getName().getStringRef() + "' has no place in a chain of rows");
    } else if (!isa<memref::AllocOp, memref::DeallocOp, func::ReturnOp, arith::ConstantOp>(op) && !isSizeOfIntermediate(op)) {
      auto load = dyn_cast<memref::LoadOp>(op);
      if (!(load && isa<BlockArgument>(load.getMemRef())) && !isMemoryEffectFree(&op))
        return fail("'" + op.getName().getStringRef() + "' has side effects");
      chain.prologue.push_back(&op);
    }
  }
  return success();
}

/// The chain's space is that of the op with the most loops; a per-row op lacks exactly the reduced one.
LogicalResult Matcher::findSpace() {
  for (linalg::LinalgOp op : ops) {
    auto ranges = op.getStaticLoopRanges();
    if (ranges.size() > chain.loops.size())
      chain.loops.assign(ranges.begin(), ranges.end());
    for (auto [d, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
      if (kind != utils::IteratorType::reduction)
        continue;
      if (chain.rowLoop >= 0 && chain.rowLoop != static_cast<int>(d))
        return fail("loops " + Twine(chain.rowLoop) + " and " + Twine(d) + " are both reduced");
      chain.rowLoop = d;
    }
  }
  if (ops.empty())
    return fail("there is no op");
  if (llvm::is_contained(chain.loops, 0))
    return fail("the space is empty");
  return findOpenExtents();
}

/// The extent of a dynamic loop is the number that some op knows, else that of the first argument's dim that it indexes: linalg has all
/// dims that one loop indexes of one size.
LogicalResult Matcher::findOpenExtents() {
  for (auto [loop, extent] : llvm::enumerate(chain.loops)) {
    int64_t open = 0;
    for (linalg::LinalgOp op : ops) {
      if (op.getNumLoops() != chain.loops.size() || !ShapedType::isDynamic(extent))
        continue;
      extent = op.getStaticLoopRanges()[loop];
      for (OpOperand &operand : op->getOpOperands())
        if (isa<BlockArgument>(operand.get()))
          for (auto [d, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
            if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && dim.getPosition() == loop && !open)
              open = sizes.layoutOf(operand.get()).shape[d];
    }
    if (ShapedType::isDynamic(extent))
      extent = open;
    if (!extent || (!open && isOpen(extent)))
      return fail("loop " + Twine(loop) + " has the extent of no argument, or one beyond " + Twine(leastOpenSize));
  }
  return success();
}

/// One dim's term of an address. Open strides and extents stand for themselves only.
LogicalResult Matcher::readTerm(AffineExpr expr, int64_t stride, ArrayRef<unsigned> loopOf, Access &access, LoopDigits &digits) {
  auto constant = dyn_cast<AffineConstantExpr>(expr);
  if (constant && !constant.getValue())
    return success();
  bool isPlain = isa<AffineDimExpr>(expr), legal = isPlain || !isOpen(stride);
  int64_t offset = 0;
  auto add = [&](unsigned d, Digit digit) {
    unsigned loop = loopOf[d];
    auto opens = [](const Digit &other) { return isOpen(other.stride); };
    legal &= (isPlain || !isOpen(chain.loops[loop])) && !digit.shift;
    digits[loop].push_back(digit);
    legal &= digits[loop].size() == 1 || llvm::none_of(digits[loop], opens);
  };
  if (legal && succeeded(readDigits(expr, stride, offset, add)) && legal && !(offset && isOpen(access.offset))) {
    access.offset += offset;
    return success();
  }
  return fail("a map is not made of sums of dims, constants, d floordiv B and d mod B, or not of dims alone where sizes are dynamic");
}

LogicalResult Matcher::readAddress(linalg::LinalgOp op, OpOperand &operand, ArrayRef<unsigned> loopOf, Access &access) {
  access.base = operand.get();
  if (access.isScalar())
    return access.base.getType().isIntOrFloat() ? success() : fail("an operand is neither a memref nor a number");
  auto type = cast<MemRefType>(operand.get().getType());
  if (!isStrided(type))
    return fail("operand #" + Twine(operand.getOperandNumber()) + " of an op is not a strided memref");
  ArgumentSizes::Layout layout = sizes.layoutOf(operand.get());
  if (!layout.fits)
    return fail("operand #" + Twine(operand.getOperandNumber()) + " of an op has a size of " + Twine(leastOpenSize) + " or more");
  Type element = type.getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 8 || !llvm::isPowerOf2_32(element.getIntOrFloatBitWidth()))
    return fail("operand #" + Twine(operand.getOperandNumber()) + " of an op has elements that are not whole bytes");
  access.offset = layout.offset;
  LoopDigits digits(chain.loops.size());
  for (auto [expr, stride] : llvm::zip_equal(op.getMatchingIndexingMap(&operand).getResults(), layout.strides))
    if (failed(readTerm(expr, stride, loopOf, access, digits)))
      return failure();
  for (auto [extent, sum] : llvm::zip_equal(chain.loops, digits))
    access.loops.push_back(Walk(sum, extent));
  return success();
}

/// Any order and any number of partial accumulators must be allowed: licence, combiner and a start value that may count more than once.
LogicalResult Matcher::checkReduction(Stage &stage) {
  for (unsigned i = 0; i < stage.outs.size(); ++i) {
    TypedAttr init = stage.inits[i];
    BlockArgument accumulator = stage.op.getBlock()->getArgument(stage.ins.size() + i);
    Operation *combine = stage.combiner(i);
    if (!combine || !isa<arith::AddFOp, arith::AddIOp, arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp, arith::MinimumFOp>(combine) ||
        !accumulator.hasOneUse() || *accumulator.user_begin() != combine || !combine->getResult(0).hasOneUse())
      return fail("a reduction does not combine its accumulator by add, or by max or min of floats");
    auto add = dyn_cast<arith::AddFOp>(combine);
    auto start = dyn_cast_or_null<FloatAttr>(init);
    bool isNeutral = start ? !start.getValue().isNaN() && (!add || start.getValue().isZero()) : init && matchPattern(init, m_Zero());
    if (!isNeutral)
      return fail("an accumulator does not start from a neutral constant");
    if (add && !bitEnumContainsAll(add.getFastmath(), arith::FastMathFlags::reassoc))
      return fail("a sum along the row has no fastmath<reassoc>");
  }
  return success();
}

LogicalResult Matcher::checkBody(Stage &stage) {
  if (failed(quern::checkBody(*stage.op.getBlock(), whyNot)))
    return failure();
  return stage.reduces ? checkReduction(stage) : success();
}

/// Two points of the space never write one element.
LogicalResult Matcher::checkOutput(const Stage &stage, const Access &access) {
  for (auto [loop, extent] : llvm::enumerate(chain.loops)) {
    bool isRow = static_cast<int>(loop) == chain.rowLoop;
    if (extent > 1 && (!isRow || stage.isElementwise()) && !access.loops[loop].tellsAllApart())
      return fail("an output does not vary along loop " + Twine(loop));
  }
  return success();
}

LogicalResult Matcher::addInputs(Stage &stage, ArrayRef<unsigned> loopOf) {
  for (OpOperand *operand : stage.op.getDpsInputOperands()) {
    Access access;
    if (failed(readAddress(stage.op, *operand, loopOf, access)))
      return failure();
    access.unread = stage.op.getMatchingBlockArgument(operand).use_empty();
    if (access.unread || access.isScalar()) {
      // Pins the extents of loops, with no memory behind it, or is captured.
    } else if (auto found = writer.find(access.base); found != writer.end()) {
      access.producer = found->second.first;
      access.result = found->second.second;
      if (!access.sameAddress(chain.stages[access.producer].outs[access.result]))
        return fail("an intermediate is read at another point than it was written");
    } else if (!access.isArgument() && !access.isScalar()) {
      return fail("an intermediate is read before it is written");
    }
    stage.ins.push_back(access);
  }
  return success();
}

LogicalResult Matcher::addOutputs(Stage &stage, ArrayRef<unsigned> loopOf) {
  bool readOld = false;
  for (auto [i, operand] : llvm::enumerate(stage.op.getDpsInitsMutable())) {
    Access access;
    if (failed(readAddress(stage.op, operand, loopOf, access)) || failed(checkOutput(stage, access)))
      return failure();
    if (!writer.try_emplace(access.base, chain.stages.size(), i).second)
      return fail("a buffer is written twice");
    readOld |= !stage.reduces && !stage.op.getMatchingBlockArgument(&operand).use_empty();
    auto readsElsewhere = [&](const Access &in) { return !in.unread && in.base == access.base && !in.sameAddress(access); };
    bool clashes = llvm::any_of(stage.ins, readsElsewhere);
    for (const Stage &earlier : chain.stages)
      clashes |= llvm::any_of(earlier.ins, readsElsewhere);
    if (clashes)
      return fail("an argument is read at another point than it is overwritten");
    stage.writesArgument |= access.isArgument();
    stage.outs.push_back(access);
    stage.inits.push_back(fills.lookup(access.base));
  }
  return readOld ? addOldElements(stage) : success();
}

/// What an elementwise op overwrites is an input more where its body reads it.
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

LogicalResult Matcher::addStage(linalg::LinalgOp op) {
  Stage stage;
  stage.op = op;
  stage.perRow = chain.rowLoop >= 0 && op.getNumLoops() + 1 == chain.loops.size();
  stage.reduces = op.getNumReductionLoops() == 1;
  SmallVector<unsigned, 6> loopOf; // the chain's loop of each of the op's
  for (unsigned d = 0; d < chain.loops.size(); ++d)
    if (!stage.perRow || static_cast<int>(d) != chain.rowLoop)
      loopOf.push_back(d);
  if (loopOf.size() != op.getNumLoops())
    return fail("an op iterates another space than the chain");
  for (auto [i, range] : llvm::enumerate(op.getStaticLoopRanges()))
    if (range != chain.loops[loopOf[i]] && !ShapedType::isDynamic(range))
      return fail("a loop of extent " + Twine(range) + " meets one of " + Twine(chain.loops[loopOf[i]]));
  if (failed(addInputs(stage, loopOf)) || failed(addOutputs(stage, loopOf)) || failed(checkBody(stage)))
    return failure();
  chain.stages.push_back(std::move(stage));
  return success();
}

/// Digits, cuts and merging compute with strides; an open one must have come through as it was.
LogicalResult Matcher::checkOpenSizes() {
  bool intact = isIntact(chain.rowExtent);
  for (const Dim &dim : chain.dims)
    intact &= isIntact(dim.extent);
  auto check = [&](const Walk &walk) { intact &= llvm::all_of(walk.digits(), [](const Digit &digit) { return isIntact(digit.stride); }); };
  chain.forEachAccess([&](Stage &, Access &access) {
    intact &= isIntact(access.offset) && llvm::all_of(access.strides, isIntact);
    check(access.row);
    for (auto &[dim, walk] : access.curves)
      check(walk);
  });
  return intact ? success() : fail("an operand's address needs a multiple of a size that is given at run time");
}

LogicalResult Matcher::match() {
  if (failed(gatherOps()) || failed(findSpace()))
    return failure();
  for (linalg::LinalgOp op : ops)
    if (failed(addStage(op)))
      return failure();
  if (llvm::none_of(chain.stages, [](const Stage &stage) { return stage.writesArgument; }))
    return fail("no argument is written");
  layOutDims(chain);
  return checkOpenSizes();
}

} // namespace

LogicalResult quern::rows::matchRowChain(func::FuncOp problem, RowChain &chain, std::string &whyNot) {
  chain.problem = problem;
  return Matcher(chain, whyNot).match();
}
