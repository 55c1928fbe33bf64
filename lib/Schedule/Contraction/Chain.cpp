//===- Chain.cpp - Products and elementwise ops over one tile ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The first elementwise op determines the number of columns, because a packed factor may have more; the first product
// determines the rows. The row loop of an elementwise op follows from the buffers that it shares with a product or with
// another resolved op. The match proves that every intermediate is read at the point where it was written.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Chain.h"

#include "Schedule/Build/Bodies.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;
using linalg::LinalgOp;

namespace {

/// Returns the loop of one index along the last dim of an op's first result, if there is one: a single column.
std::optional<unsigned> singleColumn(LinalgOp op) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto dim = dyn_cast_or_null<AffineDimExpr>(map.getNumResults() ? map.getResults().back() : AffineExpr());
  bool isSingle = dim && op.getStaticLoopRanges()[dim.getPosition()] == 1;
  return isSingle ? std::optional<unsigned>(dim.getPosition()) : std::nullopt;
}

bool reduces(const ProblemOp *own) { return own->op.getNumReductionLoops() != 0; }

class ChainReader {
public:
  ChainReader(const Problem &problem, Chain &chain, AllowedForms allowed, std::string &whyNot)
      : problem(problem), chain(chain), allowed(allowed), whyNot(whyNot) {}
  LogicalResult read();

private:
  struct Elementwise {
    const ProblemOp *own = nullptr;
    int column = -1, row = -1;
    bool isResolved = false, isStart = false;
  };

  LogicalResult fail(const Twine &why) {
    whyNot = why.str();
    return failure();
  }
  LogicalResult gatherOps();
  LogicalResult chooseColumns();
  LogicalResult readProducts();
  LogicalResult addAccumulators(Product &product, ArrayRef<TileAccess> sumsOf);
  LogicalResult readElementwise();
  bool resolve(Elementwise &op);
  LogicalResult addPoints(const Elementwise &own);
  LogicalResult startAccumulators();
  LogicalResult checkReads();
  LogicalResult checkStored(const Accumulator &accumulator);

  const Problem &problem;
  Chain &chain;
  AllowedForms allowed;
  std::string &whyNot;
  SmallVector<const ProblemOp *, 8> ops;
  SmallVector<Elementwise, 8> elementwise;
  SmallVector<PointOp, 8> starts;
  llvm::SmallDenseMap<Value, TypedAttr, 4> fills;
  llvm::SmallDenseMap<Value, Size, 8> rowStrides; ///< row strides of buffers whose layout is known
};

LogicalResult ChainReader::gatherOps() {
  if (!problem.whyNot.empty())
    return fail(problem.whyNot);
  chain.problem = problem.function;
  chain.prologue = problem.prologue;
  for (const ProblemOp &own : problem.ops) {
    auto fill = dyn_cast<linalg::FillOp>(own.op.getOperation());
    if (!fill) {
      ops.push_back(&own);
      continue;
    }
    const LoopAccess &filled = own.operands.back();
    if (filled.isView || !matchPattern(fill.getInputs()[0], m_Constant(&fills[filled.base])))
      return fail("a fill does not set a whole buffer to a constant");
    auto uses = [&](const ProblemOp *earlier) {
      return llvm::any_of(earlier->operands, [&](const LoopAccess &access) { return access.base == filled.base; });
    };
    if (llvm::any_of(ops, uses))
      return fail("a buffer is filled after an op has used it");
  }
  return llvm::any_of(ops, reduces) ? success() : fail("there is no product");
}

/// Sets the columns to the extent of the loop along which the first elementwise op writes contiguously, or 0 if there
/// is no such op.
LogicalResult ChainReader::chooseColumns() {
  for (const ProblemOp *own : ops) {
    if (reduces(own) || chain.columns != 0)
      continue;
    const LoopAccess &out = own->operands[own->op.getNumDpsInputs()];
    if (failed(checkLinear(out, whyNot)))
      return failure();
    for (auto [loop, extent] : llvm::enumerate(own->extents))
      if (out.stride(loop) == 1 && (allowed.open || !extent.isOpen()))
        chain.columns = extent;
    if (allowed.singleColumn && singleColumn(own->op))
      chain.columns = 1;
    if (chain.columns == 0)
      return fail("the result of an elementwise op is not contiguous along any loop");
  }
  return success();
}

LogicalResult ChainReader::addAccumulators(Product &product, ArrayRef<TileAccess> sumsOf) {
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
  const Size stride = sumsOf.front().row;
  if (rowStrides.try_emplace(sumsOf.front().base, stride).first->second != stride)
    return fail("a buffer of sums has rows of different lengths");
  return success();
}

LogicalResult ChainReader::readProducts() {
  for (const ProblemOp *own : ops) {
    if (!reduces(own))
      continue;
    Product product;
    SmallVector<TileAccess> sumsOf;
    if (failed(readProduct(*own, chain, product, allowed, sumsOf, whyNot)) || failed(addAccumulators(product, sumsOf)))
      return failure();
    chain.products.push_back(std::move(product));
  }
  return success();
}

/// Finds the row of an op by a buffer whose layout is known, and derives the layouts of its other intermediates.
/// Returns false if the op has no such buffer yet.
bool ChainReader::resolve(Elementwise &op) {
  ArrayRef<Size> extents = op.own->extents;
  bool isKnown = chain.rows == 1;
  for (const LoopAccess &operand : op.own->operands) {
    auto known = rowStrides.find(operand.base);
    if (known == rowStrides.end())
      continue;
    isKnown = true;
    for (unsigned loop = 0; loop < extents.size() && known->second != 0; ++loop)
      if (static_cast<int>(loop) != op.column && mayBeEqual(extents[loop], chain.rows) &&
          operand.stride(loop) == known->second)
        op.row = static_cast<int>(loop);
  }
  if (!isKnown)
    return false;
  for (const LoopAccess &operand : op.own->operands)
    if (!operand.isScalar() && !operand.isArgument())
      rowStrides.try_emplace(operand.base, op.row < 0 ? Size() : operand.stride(op.row));
  return op.isResolved = true;
}

LogicalResult ChainReader::readElementwise() {
  llvm::SmallDenseSet<Value, 4> summed;
  for (const ProblemOp *own : ops) {
    LinalgOp op = own->op;
    const LoopAccess &out = own->operands[op.getNumDpsInputs()];
    if (reduces(own)) {
      summed.insert(out.base);
      continue;
    }
    if (failed(checkBody(*op.getBlock(), whyNot)))
      return failure();
    for (const LoopAccess &access : own->operands)
      if (!access.isScalar() && failed(checkLinear(access, whyNot)))
        return failure();
    Elementwise next{own};
    for (auto [loop, extent] : llvm::enumerate(own->extents))
      if (out.stride(loop) == 1 && mayBeEqual(extent, chain.columns))
        next.column = static_cast<int>(loop);
    if (auto single = singleColumn(op); single && allowed.singleColumn && chain.columns == 1)
      next.column = static_cast<int>(*single);
    if (next.column < 0)
      return fail("an elementwise op does not write " + chain.columns.text() + " contiguous columns");
    next.isStart = !summed.contains(out.base) &&
                   llvm::any_of(chain.accumulators, [&](Accumulator &a) { return a.at.base == out.base; });
    elementwise.push_back(next);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (Elementwise &op : elementwise)
      changed |= !op.isResolved && resolve(op);
  }
  for (const Elementwise &op : elementwise)
    if (!op.isResolved)
      return fail("an elementwise op shares no buffer with the products");
    else if (failed(addPoints(op)))
      return failure();
  return success();
}

LogicalResult ChainReader::addPoints(const Elementwise &own) {
  ArrayRef<Size> extents = own.own->extents;
  SmallVector<unsigned, 2> gates;
  int64_t instances = 1;
  for (int loop = 0; loop < static_cast<int>(extents.size()); ++loop)
    if (loop != own.column && loop != own.row && extents[loop].mayExceed(1)) {
      if (extents[loop].isOpen())
        return fail("an elementwise op has open sizes other than its rows");
      gates.push_back(loop);
      instances *= extents[loop].known();
    }
  constexpr int64_t maxInstances = 64;
  if (instances > maxInstances)
    return fail("an elementwise op has too many gates");
  for (int64_t i = 0; i < instances; ++i) {
    PointOp point;
    point.op = own.own->op;
    unsigned inputs = point.op.getNumDpsInputs();
    for (auto [n, access] : llvm::enumerate(own.own->operands)) {
      TileAccess at;
      Size column;
      if (!access.isScalar()) {
        at = {access.base, access.offset.known(), own.row < 0 ? Size() : access.stride(own.row)};
        column = allowed.singleColumn && chain.columns == 1 ? Size(1) : access.stride(own.column);
        int64_t rest = i;
        for (unsigned loop : llvm::reverse(gates)) {
          if (access.stride(loop).isOpen())
            return fail("operand #" + Twine(n) + " of an elementwise op has open strides other than its rows'");
          at.offset += rest % extents[loop].known() * access.stride(loop).known();
          rest /= extents[loop].known();
        }
      }
      if (column.isOpen() || (column != 0 && column != 1 && (n >= inputs || !access.isArgument())))
        return fail("operand #" + Twine(n) + " of an elementwise op is strided along the columns");
      at.column = column.known();
      (n < inputs ? point.ins : point.outs).push_back(at);
    }
    point.isPerColumn = own.row < 0 && chain.rows.mayExceed(1);
    if (point.isPerColumn && llvm::any_of(point.outs, [](const TileAccess &out) { return out.isArgument(); }))
      return fail("an elementwise op writes an argument once for all rows");
    if (llvm::any_of(point.outs, [](const TileAccess &out) { return out.column != 1; }))
      return fail("an elementwise op writes one element for all columns");
    (own.isStart ? starts : chain.epilogue).push_back(std::move(point));
  }
  return success();
}

LogicalResult ChainReader::startAccumulators() {
  for (const auto &[buffer, value] : fills)
    if (llvm::none_of(chain.accumulators, [&](const Accumulator &a) { return a.at.base == buffer; }))
      return fail("a fill is of a buffer that no product sums into");
  for (Accumulator &accumulator : chain.accumulators) {
    for (PointOp &start : starts)
      if (start.outs[0] == accumulator.at)
        accumulator.start = start;
    bool isStarted = accumulator.start || accumulator.fill || accumulator.isStored;
    if (!isStarted)
      return fail("sums have no initial value");
    if (accumulator.start &&
        !llvm::all_of(accumulator.start->ins, [](const TileAccess &in) { return !in.base || in.isArgument(); }))
      return fail("sums start from an intermediate");
    if (accumulator.start &&
        (accumulator.start->outs.size() > 1 || accumulator.start->op.getRegionOutputArgs()[0].use_empty() == false))
      return fail("sums start from an op that reads or writes something else");
    if (failed(checkStored(accumulator)))
      return failure();
  }
  return success();
}

/// A result must not have columns that no product computes.
LogicalResult ChainReader::checkStored(const Accumulator &accumulator) {
  for (const Product &product : chain.products)
    for (const Product::Sum &sum : product.sums)
      if (accumulator.isStored && &chain.accumulators[sum.accumulator] == &accumulator &&
          !mayBeEqual(product.readable, chain.columns))
        return fail("an argument has " + product.readable.text() + " columns of sums, another op " +
                    chain.columns.text());
  return success();
}

/// Checks that every read of a written buffer has the address of the write.
LogicalResult ChainReader::checkReads() {
  SmallVector<TileAccess, 16> written;
  for (Accumulator &accumulator : chain.accumulators)
    written.push_back(accumulator.at);
  auto isWritten = [&](Value base) {
    return llvm::any_of(written, [&](const TileAccess &w) { return w.base == base; });
  };
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
  for (PointOp &point : chain.epilogue) // arguments that an earlier op reads
    for (const TileAccess &in : point.ins)
      if (in.isArgument() && isWritten(in.base) && !llvm::is_contained(written, in))
        return fail("an argument is read at another point than it is overwritten");
  for (Accumulator &accumulator : chain.accumulators)
    for (PointOp &point : chain.epilogue)
      if (llvm::is_contained(point.outs, accumulator.at))
        accumulator.isStored = false; // the op stores there
  return success();
}

LogicalResult ChainReader::read() {
  if (failed(gatherOps()) || failed(chooseColumns()) || failed(readProducts()) || failed(readElementwise()) ||
      failed(startAccumulators()))
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
  constexpr int64_t apartOps = 16; // non-contiguous elements are read one by one
  int64_t ops = 0;
  for (const PointOp &point : epilogue)
    if (!point.isPerColumn)
      ops += opsOf(point.op) + apartOps * llvm::count_if(point.ins, [](const TileAccess &in) { return in.column > 1; });
  return ops;
}

LogicalResult quern::schedule::contractions::checkLinear(const LoopAccess &access, std::string &whyNot) {
  whyNot = access.whyNot;
  if (whyNot.empty() && (access.isScalar() || access.isArgument() != isa<BlockArgument>(access.base)))
    whyNot = "an operand is neither an argument nor an intermediate";
  if (whyNot.empty() && (!access.isLinear() || access.offset.isOpen()))
    whyNot = "an operand has a map that is not linear, or an open offset";
  return success(whyNot.empty());
}

LogicalResult quern::schedule::contractions::readChain(const Problem &problem, Chain &chain, AllowedForms allowed,
                                                       std::string &whyNot) {
  return ChainReader(problem, chain, allowed, whyNot).read();
}

bool contractions::mayHaveSingleColumn(const Problem &problem) {
  return llvm::any_of(problem.ops, [](const ProblemOp &own) { return llvm::is_contained(own.extents, Size(1)); });
}

bool contractions::hasOpenSizes(const Problem &problem) {
  auto isOpen = [](Size size) { return size.isOpen(); };
  return problem.sizes.count() ||
         llvm::any_of(problem.ops, [&](const ProblemOp &own) { return llvm::any_of(own.extents, isOpen); });
}
