//===- Chain.cpp - Products and elementwise ops over one tile ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The first elementwise op tells how many columns there are, since a packed factor may have more; the first product tells the rows. Which
// loop of an elementwise op is the row follows from the buffers that it shares with a product or with an op that is understood already. The
// match proves that every intermediate is read at the point where it was written.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Chain.h"

#include "Schedule/Build/Bodies.h"
#include "Schedule/Problem/Size.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace quern;
using namespace quern::contractions;
using linalg::LinalgOp;

namespace {

bool isView(Operation *op) {
  return isa_and_nonnull<memref::SubViewOp, memref::ReinterpretCastOp, memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp>(op);
}

/// The buffer that a memref is a view of.
Value bufferOf(Value memref) {
  while (isView(memref.getDefiningOp()))
    memref = memref.getDefiningOp()->getOperand(0);
  return memref;
}

/// Adds factor * expr, which must be a sum of dims times constants.
bool addLinear(AffineExpr expr, int64_t factor, LoopAccess &out) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    out.strides[dim.getPosition()] += factor;
    return true;
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    out.offset += factor * constant.getValue();
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && expr.getKind() == AffineExprKind::Add)
    return addLinear(binary.getLHS(), factor, out) && addLinear(binary.getRHS(), factor, out);
  auto scale = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : AffineConstantExpr();
  return scale && expr.getKind() == AffineExprKind::Mul && addLinear(binary.getLHS(), factor * scale.getValue(), out);
}

/// The loop of one index along the last dim of an op's first result, if there is one: a single column.
std::optional<unsigned> singleColumn(LinalgOp op) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto dim = dyn_cast_or_null<AffineDimExpr>(map.getNumResults() ? map.getResults().back() : AffineExpr());
  bool isSingle = dim && op.getStaticLoopRanges()[dim.getPosition()] == 1;
  return isSingle ? std::optional<unsigned>(dim.getPosition()) : std::nullopt;
}

class Reader {
public:
  Reader(Chain &chain, Reach reach, std::string &whyNot) : chain(chain), reach(reach), whyNot(whyNot) {}
  LogicalResult read();

private:
  struct Elementwise {
    LinalgOp op;
    SmallVector<LoopAccess, 8> operands; ///< no base: no memref
    int column = -1, row = -1;
    bool isResolved = false, isStart = false;
  };

  LogicalResult fail(const Twine &why) {
    whyNot = why.str();
    return failure();
  }
  LogicalResult gatherOps();
  LogicalResult gatherOp(Operation &op);
  LogicalResult chooseColumns();
  LogicalResult readProducts();
  LogicalResult addAccumulators(Product &product, ArrayRef<TileAccess> sumsOf);
  LogicalResult readElementwise();
  bool resolve(Elementwise &own);
  LogicalResult addPoints(Elementwise &own);
  LogicalResult startAccumulators();
  LogicalResult checkReads();
  LogicalResult checkStored(const Accumulator &accumulator);

  Chain &chain;
  Reach reach;
  std::string &whyNot;
  SmallVector<LinalgOp, 8> ops;
  SmallVector<Elementwise, 8> elementwise;
  SmallVector<PointOp, 8> starts;
  llvm::SmallDenseMap<Value, TypedAttr, 4> fills;
  llvm::SmallDenseMap<Value, int64_t, 8> rowStrides; ///< of buffers whose layout is understood
};

LogicalResult Reader::gatherOp(Operation &op) {
  if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    TypedAttr value;
    Value buffer = bufferOf(fill.getOutputs()[0]);
    if (buffer != fill.getOutputs()[0] || !matchPattern(fill.getInputs()[0], m_Constant(&value)))
      return fail("a fill is not of a whole buffer with a constant");
    for (LinalgOp earlier : ops)
      for (Value operand : earlier->getOperands())
        if (isa<MemRefType>(operand.getType()) && bufferOf(operand) == buffer)
          return fail("a buffer is filled after an op has used it");
    fills[buffer] = value;
    return success();
  }
  if (auto linalgOp = dyn_cast<LinalgOp>(op)) {
    ops.push_back(linalgOp);
    return success();
  }
  if (isView(&op) || isa<memref::DimOp, memref::AllocOp, memref::DeallocOp, func::ReturnOp, arith::ConstantOp>(op))
    return success();
  auto load = dyn_cast<memref::LoadOp>(op);
  bool isPure = (load && isa<BlockArgument>(load.getMemRef())) || (isMemoryEffectFree(&op) && !op.getNumRegions());
  if (!isPure)
    return fail("'" + op.getName().getStringRef() + "' has no place in a chain");
  chain.prologue.push_back(&op);
  return success();
}

LogicalResult Reader::gatherOps() {
  if (!chain.problem.getBody().hasOneBlock())
    return fail("the function has control flow");
  for (Operation &op : chain.problem.getBody().front())
    if (failed(gatherOp(op)))
      return failure();
  if (llvm::none_of(ops, [](LinalgOp op) { return op.getNumReductionLoops() != 0; }))
    return fail("there is no product");
  return success();
}

/// The extent of the loop along which the first elementwise op writes contiguously; 0 if there is no such op.
LogicalResult Reader::chooseColumns() {
  for (LinalgOp op : ops) {
    if (op.getNumReductionLoops() || chain.columns)
      continue;
    LoopAccess out;
    if (!op.getNumDpsInits() || failed(readAddress(*op.getDpsInitOperand(0), out, whyNot)))
      return failure();
    for (auto [extent, stride] : llvm::zip_equal(extentsOf(op), out.strides))
      if (stride == 1 && (reach.open || !rows::isOpen(extent)))
        chain.columns = extent;
    if (reach.singleColumn && singleColumn(op))
      chain.columns = 1;
    if (!chain.columns)
      return fail("the result of an elementwise op is nowhere contiguous");
  }
  return success();
}

LogicalResult Reader::addAccumulators(Product &product, ArrayRef<TileAccess> sumsOf) {
  for (auto [sum, at] : llvm::zip_equal(product.sums, sumsOf)) {
    auto *known = llvm::find_if(chain.accumulators, [&](const Accumulator &a) { return a.at == at; });
    sum.accumulator = known - chain.accumulators.begin();
    if (known != chain.accumulators.end())
      continue;
    Accumulator own;
    own.at = at;
    own.fill = fills.lookup(at.base);
    own.isStored = at.isArgument();
    chain.accumulators.push_back(own);
  }
  if (chain.accumulators.back().at.element() != chain.sumType())
    return fail("products sum in different types");
  int64_t stride = sumsOf.front().row;
  if (rowStrides.try_emplace(sumsOf.front().base, stride).first->second != stride)
    return fail("a buffer of sums has rows of different lengths");
  return success();
}

LogicalResult Reader::readProducts() {
  for (LinalgOp op : ops) {
    if (!op.getNumReductionLoops())
      continue;
    Product product;
    SmallVector<TileAccess> sumsOf;
    if (failed(readProduct(op, chain, product, reach, sumsOf, whyNot)) || failed(addAccumulators(product, sumsOf)))
      return failure();
    chain.products.push_back(std::move(product));
  }
  return success();
}

/// Finds the row of an op by a buffer that is understood, and understands its others by it. False if there is none yet.
bool Reader::resolve(Elementwise &own) {
  auto extents = extentsOf(own.op);
  bool isKnown = chain.rows == 1;
  for (LoopAccess &operand : own.operands) {
    auto known = rowStrides.find(operand.base);
    if (!operand.base || known == rowStrides.end())
      continue;
    isKnown = true;
    for (unsigned loop = 0; loop < extents.size() && known->second; ++loop)
      if (static_cast<int>(loop) != own.column && extents[loop] == chain.rows && operand.strides[loop] == known->second)
        own.row = static_cast<int>(loop);
  }
  if (!isKnown)
    return false;
  for (LoopAccess &operand : own.operands)
    if (operand.base && !isa<BlockArgument>(operand.base))
      rowStrides.try_emplace(operand.base, own.row < 0 ? 0 : operand.strides[own.row]);
  return own.isResolved = true;
}

LogicalResult Reader::readElementwise() {
  llvm::SmallDenseSet<Value, 4> summed;
  for (LinalgOp op : ops) {
    if (op.getNumReductionLoops()) {
      summed.insert(bufferOf(op.getDpsInitOperand(0)->get()));
      continue;
    }
    Elementwise own{op, {}};
    if (failed(checkBody(*op.getBlock(), whyNot)) || !op.hasPureBufferSemantics())
      return failure();
    for (OpOperand &operand : op->getOpOperands()) {
      LoopAccess &access = own.operands.emplace_back();
      if (isa<MemRefType>(operand.get().getType()) && failed(readAddress(operand, access, whyNot)))
        return failure();
    }
    const LoopAccess &out = own.operands[op.getNumDpsInputs()];
    for (auto [loop, extent] : llvm::enumerate(extentsOf(op)))
      if (out.strides[loop] == 1 && extent == chain.columns)
        own.column = static_cast<int>(loop);
    if (auto single = singleColumn(op); single && reach.singleColumn && chain.columns == 1)
      own.column = static_cast<int>(*single);
    if (own.column < 0)
      return fail("an elementwise op does not write " + Twine(chain.columns) + " columns side by side");
    own.isStart = !summed.contains(out.base) && llvm::any_of(chain.accumulators, [&](Accumulator &a) { return a.at.base == out.base; });
    elementwise.push_back(std::move(own));
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (Elementwise &own : elementwise)
      changed |= !own.isResolved && resolve(own);
  }
  for (Elementwise &own : elementwise)
    if (!own.isResolved)
      return fail("an elementwise op has nothing to do with the products");
    else if (failed(addPoints(own)))
      return failure();
  return success();
}

LogicalResult Reader::addPoints(Elementwise &own) {
  auto extents = extentsOf(own.op);
  SmallVector<unsigned, 2> gates;
  int64_t instances = 1;
  for (int loop = 0; loop < static_cast<int>(extents.size()); ++loop)
    if (loop != own.column && loop != own.row && extents[loop] > 1) {
      if (rows::isOpen(extents[loop]))
        return fail("an elementwise op has open sizes other than its rows");
      gates.push_back(loop);
      instances *= extents[loop];
    }
  constexpr int64_t mostInstances = 64;
  if (instances > mostInstances)
    return fail("an elementwise op iterates another space than the products");
  unsigned inputs = own.op.getNumDpsInputs();
  for (int64_t i = 0; i < instances; ++i) {
    PointOp point;
    point.op = own.op;
    for (auto [n, access] : llvm::enumerate(own.operands)) {
      TileAccess at{access.base, access.offset, 0, 0};
      if (access.base) {
        at.row = own.row < 0 ? 0 : access.strides[own.row];
        at.column = reach.singleColumn && chain.columns == 1 ? 1 : access.strides[own.column];
        int64_t rest = i;
        for (unsigned loop : llvm::reverse(gates)) {
          if (rows::isOpen(access.strides[loop]))
            return fail("operand #" + Twine(n) + " of an elementwise op has open strides other than its rows'");
          at.offset += rest % extents[loop] * access.strides[loop];
          rest /= extents[loop];
        }
      }
      if (at.column != 0 && at.column != 1)
        return fail("operand #" + Twine(n) + " of an elementwise op is strided along the columns");
      (n < inputs ? point.ins : point.outs).push_back(at);
    }
    point.isPerColumn = own.row < 0 && chain.rows > 1;
    if (point.isPerColumn && llvm::any_of(point.outs, [](const TileAccess &out) { return out.isArgument(); }))
      return fail("an elementwise op writes an argument once for all rows");
    if (llvm::any_of(point.outs, [](const TileAccess &out) { return out.column != 1; }))
      return fail("an elementwise op writes one element for all columns");
    (own.isStart ? starts : chain.epilogue).push_back(std::move(point));
  }
  return success();
}

LogicalResult Reader::startAccumulators() {
  for (Accumulator &accumulator : chain.accumulators) {
    for (PointOp &start : starts)
      if (start.outs[0] == accumulator.at)
        accumulator.start = start;
    bool isStarted = accumulator.start || accumulator.fill || accumulator.isStored;
    if (!isStarted)
      return fail("sums do not start from anything");
    if (accumulator.start && !llvm::all_of(accumulator.start->ins, [](const TileAccess &in) { return !in.base || in.isArgument(); }))
      return fail("sums start from an intermediate");
    if (accumulator.start && (accumulator.start->outs.size() > 1 || accumulator.start->op.getRegionOutputArgs()[0].use_empty() == false))
      return fail("sums start from an op that reads or writes something else");
    if (failed(checkStored(accumulator)))
      return failure();
  }
  return success();
}

/// A result has no columns that nobody computes.
LogicalResult Reader::checkStored(const Accumulator &accumulator) {
  for (const Product &product : chain.products)
    for (const Product::Sum &sum : product.sums)
      if (accumulator.isStored && &chain.accumulators[sum.accumulator] == &accumulator && product.readable != chain.columns)
        return fail("an argument takes " + Twine(product.readable) + " columns of sums, and another op " + Twine(chain.columns));
  return success();
}

/// Arguments may not be read elsewhere than they are written.
LogicalResult Reader::checkReads() {
  SmallVector<TileAccess, 16> written;
  for (Accumulator &accumulator : chain.accumulators)
    written.push_back(accumulator.at);
  auto isWritten = [&](Value base) { return llvm::any_of(written, [&](const TileAccess &w) { return w.base == base; }); };
  for (PointOp &point : chain.epilogue) {
    for (const TileAccess &in : point.ins)
      if (in.base && !llvm::is_contained(written, in) && (isWritten(in.base) || !in.isArgument()))
        return fail("a buffer is read at another point than it was written");
    for (auto [out, old] : llvm::zip_equal(point.outs, point.op.getRegionOutputArgs()))
      if (!old.use_empty() && !out.isArgument() && !llvm::is_contained(written, out))
        return fail("an intermediate is read before it was written");
    written.append(point.outs.begin(), point.outs.end());
  }
  for (Product &product : chain.products)
    if (isWritten(product.lhs.base) || isWritten(product.rhs.base))
      return fail("a factor of a product is overwritten");
  for (Operation *op : chain.prologue)
    if (auto load = dyn_cast<memref::LoadOp>(op); load && isWritten(load.getMemRef()))
      return fail("a scalar is read from an argument that is written");
  for (PointOp &point : chain.epilogue) // in front of the op that writes
    for (const TileAccess &in : point.ins)
      if (in.isArgument() && isWritten(in.base) && !llvm::is_contained(written, in))
        return fail("an argument is read at another point than it is overwritten");
  for (Accumulator &accumulator : chain.accumulators)
    for (PointOp &point : chain.epilogue)
      if (llvm::is_contained(point.outs, accumulator.at))
        accumulator.isStored = false; // the op stores there
  return success();
}

LogicalResult Reader::read() {
  if (failed(gatherOps()) || failed(chooseColumns()) || failed(readProducts()) || failed(readElementwise()) || failed(startAccumulators()))
    return failure();
  return checkReads();
}

} // namespace

bool Accumulator::startsAtZero() const {
  auto real = dyn_cast_or_null<FloatAttr>(fill);
  auto whole = dyn_cast_or_null<IntegerAttr>(fill);
  return !start && ((real && real.getValue().isPosZero()) || (whole && whole.getValue().isZero()));
}

bool Accumulator::startsAlike() const {
  return start && llvm::all_of(start->ins, [](const TileAccess &in) { return in.row == 0; });
}

int64_t Chain::epilogueOps() const {
  int64_t ops = 0;
  for (const PointOp &point : epilogue)
    ops += point.isPerColumn ? 0 : opsOf(point.op);
  return ops;
}

SmallVector<int64_t> quern::contractions::extentsOf(LinalgOp op) {
  return llvm::map_to_vector(op.getStaticLoopRanges(),
                             [](int64_t extent) { return ShapedType::isDynamic(extent) ? rows::leastOpenSize : extent; });
}

LogicalResult quern::contractions::readAddress(OpOperand &operand, LoopAccess &out, std::string &whyNot) {
  auto op = cast<LinalgOp>(operand.getOwner());
  auto fail = [&](const char *why) {
    whyNot = ("operand #" + Twine(operand.getOperandNumber()) + " of an op " + why).str();
    return failure();
  };
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type)
    return fail("is no memref");
  SmallVector<int64_t> strides;
  if (failed(type.getStridesAndOffset(strides, out.offset)))
    return fail("has no strides");
  bool isWhole = isa<BlockArgument>(operand.get()) || operand.get().getDefiningOp<memref::AllocOp>();
  if (isWhole && llvm::any_of(strides, ShapedType::isDynamic))
    strides = llvm::to_vector(rows::ArgumentSizes(op->getParentOfType<func::FuncOp>()).layoutOf(operand.get()).strides);
  if (ShapedType::isDynamic(out.offset) || llvm::any_of(strides, ShapedType::isDynamic))
    return fail("has strides that are given at execution");
  Type element = type.getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 8 || !llvm::isPowerOf2_32(element.getIntOrFloatBitWidth()))
    return fail("has elements that are not whole bytes");
  out.base = bufferOf(operand.get());
  if (!isa<BlockArgument>(out.base) && !isa<memref::AllocOp>(out.base.getDefiningOp()))
    return fail("is neither an argument nor an intermediate");
  out.strides.assign(op.getNumLoops(), 0);
  for (auto [expr, stride, size] : llvm::zip_equal(op.getMatchingIndexingMap(&operand).getResults(), strides, type.getShape()))
    if (!addLinear(expr, size == 1 ? 0 : stride, out))
      return fail("has a map that is not linear");
  for (auto [extent, stride] : llvm::zip_equal(op.getStaticLoopRanges(), out.strides))
    if (extent == 1)
      stride = 0;
  if (rows::isOpen(std::abs(out.offset)) || !llvm::all_of(out.strides, [](int64_t stride) { return rows::isIntact(std::abs(stride)); }))
    return fail("has a map that is not linear");
  return success();
}

LogicalResult quern::contractions::readChain(func::FuncOp problem, Chain &chain, Reach reach, std::string &whyNot) {
  chain.problem = problem;
  return Reader(chain, reach, whyNot).read();
}
