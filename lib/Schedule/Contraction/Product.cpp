//===- Product.cpp - A product as rows, columns, gates and K -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The loop along which the result is contiguous distinguishes the factors: only rhs varies along it. Those loops of rhs
// that are compact in the result are columns, until the columns of the problem are covered; the others are gates. An
// innermost reduction over contiguous elements of rhs, between strided columns, is packed.
//
//===----------------------------------------------------------------------===//
#include "Schedule/Contraction/Chain.h"

#include "IR/QuernDialect.h"
#include "IR/Strides.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;
using namespace quern::schedule::contractions;
using linalg::LinalgOp;

int64_t Product::rhsAt(int64_t column) const {
  int64_t at = 0;
  for (auto [i, dim] : llvm::enumerate(columns)) {
    bool isLast = i + 1 == columns.size();
    at += (isLast ? column : column % dim.extent.known()) * dim.stride.known();
    column /= isLast ? 1 : dim.extent.known();
  }
  return at;
}

int64_t Product::steps() const {
  int64_t count = 1;
  for (const Reduced &loop : reduced)
    count *= loop.extent.known();
  return count;
}

static bool haveLikeConversions(const Product::Factor &a, const Product::Factor &b) {
  // Without scalars: only the device schedule has them, and it does not compare products.
  auto like = [](Operation *x, Operation *y) {
    return x->getName() == y->getName() && x->getResult(0).getType() == y->getResult(0).getType() &&
           x->getNumOperands() == 1 && y->getNumOperands() == 1;
  };
  return a.element() == b.element() && a.conversions.size() == b.conversions.size() &&
         llvm::equal(a.conversions, b.conversions, like);
}

bool Product::sharesLhs(const Product &other) const {
  auto stepsLike = [](const Reduced &a, const Reduced &b) { return a.extent == b.extent && a.lhs == b.lhs; };
  return lhs.base == other.lhs.base && lhs.offset == other.lhs.offset && lhsRow == other.lhsRow &&
         packed == other.packed && taken == other.taken && mayContract == other.mayContract &&
         mayReassociate == other.mayReassociate && mayRound == other.mayRound && haveLikeConversions(lhs, other.lhs) &&
         llvm::equal(reduced, other.reduced, stepsLike);
}

bool Product::isAlike(const Product &other) const {
  return lhs.base.getType() == other.lhs.base.getType() && rhs.base.getType() == other.rhs.base.getType() &&
         lhs.offset == other.lhs.offset && lhsRow == other.lhsRow && reduced == other.reduced &&
         packed == other.packed && taken == other.taken && columnStride == other.columnStride && sums == other.sums &&
         columns == other.columns && mayContract == other.mayContract && mayReassociate == other.mayReassociate &&
         mayRound == other.mayRound && haveLikeConversions(lhs, other.lhs) && haveLikeConversions(rhs, other.rhs);
}

namespace {

class ProductReader {
public:
  ProductReader(const ProblemOp &own, Chain &chain, Product &product, AllowedForms allowed, std::string &whyNot)
      : own(own), op(own.op), chain(chain), columns(chain.columns), product(product), allowed(allowed), whyNot(whyNot),
        extents(own.extents) {}
  LogicalResult read(SmallVectorImpl<TileAccess> &sumsOf);

private:
  LogicalResult fail(const Twine &why) {
    whyNot = why.str();
    return failure();
  }
  LogicalResult chooseLanes();
  LogicalResult chooseOneColumn();
  LogicalResult sortLoops();
  LogicalResult countRows();
  bool isInGroups(const LoopAccess &access);
  void readPacking(unsigned loop);
  LogicalResult readBody();
  Value readFactor(Value factor, SmallVectorImpl<Operation *> &conversions);
  LogicalResult splitColumns(SmallVectorImpl<TileAccess> &sumsOf);
  bool hasWhole();
  LogicalResult checkStride();

  const ProblemOp &own;
  LinalgOp op;
  Chain &chain;
  Size &columns;
  Product &product;
  AllowedForms allowed;
  std::string &whyNot;
  Sizes extents;
  SmallVector<OpOperand *, 2> inputs; ///< lhs first
  const LoopAccess *lhs = nullptr, *rhs = nullptr, *sum = nullptr;
  unsigned lanes = 0;
  std::optional<unsigned> row;
  SmallVector<unsigned, 6> ofRhs; ///< parallel loops along which rhs varies
};

/// Returns true if the access is linear except along loops over K, whose indices form groups of adjacent elements.
bool ProductReader::isInGroups(const LoopAccess &access) {
  auto kinds = op.getIteratorTypesArray();
  auto isGroups = [&](unsigned loop) {
    ArrayRef<Digit> digits = access.loops[loop].digits();
    return kinds[loop] == utils::IteratorType::reduction && digits.size() == 2 &&
           digits[0] == Digit{1, digits[1].unit, 1} && digits[1] == Digit{digits[1].unit, 0, digits[1].stride};
  };
  return allowed.panels && access.cutsOpenLoops && access.isArgument() && isa<BlockArgument>(access.base) &&
         !access.offset.isOpen() && llvm::all_of(llvm::seq<unsigned>(0, access.loops.size()), [&](unsigned loop) {
           return access.loops[loop].isLinear() || isGroups(loop);
         });
}

LogicalResult ProductReader::chooseLanes() {
  for (OpOperand *input : op.getDpsInputOperands()) // an input that is not read only determines extents
    if (!op.getMatchingBlockArgument(input).use_empty())
      inputs.push_back(input);
  if (inputs.size() != 2 || op.getNumDpsInits() != 1)
    return fail("a reduction is not a product of two factors");
  lhs = &own.at(*inputs[0]);
  rhs = &own.at(*inputs[1]);
  sum = &own.at(*op.getDpsInitOperand(0));
  for (const LoopAccess *access : {lhs, rhs, sum})
    if (!isInGroups(*access) && failed(checkLinear(*access, whyNot)))
      return failure();
  auto kinds = op.getIteratorTypesArray();
  std::optional<unsigned> found;
  for (unsigned loop = 0; loop < extents.size(); ++loop)
    if (sum->stride(loop) == 1 && kinds[loop] == utils::IteratorType::parallel)
      found = loop;
  if (!found && columns == 1 && allowed.singleColumn)
    return chooseOneColumn();
  if (!found)
    return fail("the result of a product is not contiguous along any loop");
  lanes = *found;
  if (lhs->stride(lanes) != 0 && rhs->stride(lanes) == 0) {
    std::swap(lhs, rhs);
    std::swap(inputs[0], inputs[1]);
  }
  if (!lhs->isLinear() || !sum->isLinear())
    return fail("an operand other than rhs is in groups along K");
  if (lhs->stride(lanes) != 0 || rhs->stride(lanes) == 0)
    return fail("both factors of a product, or none, vary along its columns");
  return success();
}

/// Chooses a loop of one index as the columns, if there are no gates. The rows then distinguish the factors.
LogicalResult ProductReader::chooseOneColumn() {
  auto *single = llvm::find(extents, 1);
  if (single == extents.end())
    return fail("the result of a product is not contiguous along any loop");
  lanes = single - extents.begin();
  auto kinds = op.getIteratorTypesArray();
  for (unsigned loop = 0; loop < extents.size(); ++loop)
    if (kinds[loop] == utils::IteratorType::parallel && rhs->stride(loop) != 0 && lhs->stride(loop) == 0) {
      std::swap(lhs, rhs);
      std::swap(inputs[0], inputs[1]);
    }
  return success();
}

void ProductReader::readPacking(unsigned loop) {
  if (ArrayRef<Digit> digits = rhs->loops[loop].digits(); digits.size() > 1) {
    product.taken = digits[1].unit;
    product.reduced.push_back({extents[loop], lhs->stride(loop), digits[1].stride});
    return;
  }
  bool isPacked = rhs->stride(loop) == 1 && product.packed > 1 && !extents[loop].mayExceed(product.packed) &&
                  product.taken == 1 && lhs->stride(loop) == 1;
  if (isPacked)
    product.taken = extents[loop].known();
  else if (extents[loop].mayExceed(1))
    product.reduced.push_back({extents[loop], lhs->stride(loop), rhs->stride(loop)});
}

LogicalResult ProductReader::sortLoops() {
  constexpr int64_t maxBits = 64; // bits of a lane
  const Size stride = rhs->stride(lanes);
  const int64_t bits = product.rhs.element().getIntOrFloatBitWidth();
  if (!stride.isOpen() && llvm::isPowerOf2_64(stride.known()) && stride.known() * bits <= maxBits)
    product.packed = stride.known();
  else
    product.columnStride = stride;
  auto kinds = op.getIteratorTypesArray();
  for (unsigned loop = 0; loop < extents.size(); ++loop) {
    bool isRow = kinds[loop] == utils::IteratorType::parallel && rhs->stride(loop) == 0;
    if (!isRow && !allowed.open && (extents[loop].isOpen() || lhs->stride(loop).isOpen() || rhs->stride(loop).isOpen()))
      return fail("a product has open sizes other than its rows'");
    if (!isRow && extents[loop].isUntold())
      return fail("the extent of loop " + Twine(loop) + " of a product is unknown");
    if (kinds[loop] == utils::IteratorType::reduction) {
      readPacking(loop);
      continue;
    }
    if (extents[loop] == 1)
      continue;
    if (lhs->stride(loop) != 0 && rhs->stride(loop) != 0)
      return fail("loop " + Twine(loop) + " of a product indexes both factors");
    if (rhs->stride(loop) != 0)
      ofRhs.push_back(loop);
    else if (row)
      return fail("loops " + Twine(*row) + " and " + Twine(loop) + " of a product are both rows");
    else
      row = loop;
  }
  product.lhsRow = row ? lhs->stride(*row) : Size();
  return countRows();
}

LogicalResult ProductReader::countRows() {
  const Size count = row ? extents[*row] : Size(1);
  if (chain.rows == 0)
    chain.rows = count;
  if (!mayBeEqual(count, chain.rows))
    return fail("products have different numbers of rows");
  return chain.rows.isUntold() ? fail("the number of rows of a product is unknown") : success();
}

/// Returns the block argument that a factor is converted from, or null if it is something else.
Value ProductReader::readFactor(Value factor, SmallVectorImpl<Operation *> &conversions) {
  auto isScalar = [&](Value v) { return v.getParentBlock() != op.getBlock(); };
  while (Operation *from = factor.getDefiningOp()) {
    bool isOne = from->getNumOperands() == 1 ||
                 (allowed.scalars && from->getNumOperands() == 2 && isScalar(from->getOperand(1)));
    if (from->getBlock() != op.getBlock() || !isOne || from->getNumResults() != 1 || from->getNumRegions() ||
        !OpTrait::hasElementwiseMappableTraits(from))
      return {};
    conversions.insert(conversions.begin(), from);
    factor = from->getOperand(0);
  }
  return factor;
}

LogicalResult ProductReader::readBody() {
  Block *body = op.getBlock();
  BlockArgument old = op.getRegionOutputArgs()[0], ofLhs = op.getMatchingBlockArgument(inputs[0]);
  Operation *add = body->getTerminator()->getOperand(0).getDefiningOp();
  bool adds = isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add) && old.hasOneUse() && *old.user_begin() == add;
  Operation *multiply = adds ? add->getOperand(add->getOperand(0) == old ? 1 : 0).getDefiningOp() : nullptr;
  if (!isa_and_nonnull<arith::MulFOp, arith::MulIOp>(multiply) || multiply->getBlock() != body)
    return fail("a reduction does not add products");
  SmallVector<Operation *, 1> conversions[2];
  Value sides[2] = {readFactor(multiply->getOperand(0), conversions[0]),
                    readFactor(multiply->getOperand(1), conversions[1])};
  unsigned first = sides[0] == ofLhs ? 0 : 1;
  if (sides[first] != ofLhs || sides[1 - first] != op.getMatchingBlockArgument(inputs[1]))
    return fail("the factors of a product are not its two inputs");
  product.lhs.conversions = conversions[first];
  product.rhs.conversions = conversions[1 - first];
  Type type = old.getType();
  if (!type.isF32() && !type.isF64() && !type.isInteger(32))
    return fail("a product sums in a type other than f32, f64 and i32");
  // Named ops cannot carry flags; the order of their sums is unspecified.
  auto flags = isa<arith::AddFOp>(add) && isa<linalg::GenericOp>(op.getOperation())
                   ? cast<arith::AddFOp>(add).getFastmath()
                   : arith::FastMathFlags::fast;
  product.mayContract = bitEnumContainsAll(flags, arith::FastMathFlags::contract);
  product.mayReassociate = bitEnumContainsAll(flags, arith::FastMathFlags::reassoc);
  product.mayRound = hasRelaxation(op, Relaxation::Bf16);
  return success();
}

LogicalResult ProductReader::splitColumns(SmallVectorImpl<TileAccess> &sumsOf) {
  llvm::sort(ofRhs,
             [&](unsigned a, unsigned b) { return std::pair(sum->stride(a), a) < std::pair(sum->stride(b), b); });
  SmallVector<unsigned, 3> gates;
  Size covered = 1;
  AffineExpr last = op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults().back();
  constexpr auto *tooOpen = "a product has open sizes other than its rows', its columns' and those along K";
  for (unsigned loop : ofRhs) {
    Size &extent = extents[loop];
    bool isLeft = columns == 0 || (!covered.isOpen() && columns.mayExceed(covered.known()));
    // The column of a padded panel.
    bool isColumn = isLeft || (columns == 1 && allowed.singleColumn && last.isFunctionOfDim(loop));
    const bool hasPanels = allowed.panels && columns == 0 && isLeft && covered != 1;
    if (extent.isOpen() && !(isLeft && sum->stride(loop) == covered && (covered == 1 || hasPanels)))
      return fail(tooOpen);
    if (extent.isOpen() && columns != 0 && !columns.isOpen())
      extent = columns; // the other op has a static extent
    if (sum->stride(loop) == covered && isColumn) {
      product.columns.push_back({extent, rhs->stride(loop)});
      covered = extent.isOpen() ? extent : Size(covered.known() * extent.known());
    } else {
      gates.push_back(loop);
    }
  }
  if (columns == 0 || covered.isOpen())
    columns = covered;
  if (!covered.isOpen() && columns.mayExceed(covered.known()))
    return fail("a product has " + covered.text() + " columns, another op " + columns.text());
  product.readable = covered;
  SmallVector<std::pair<int64_t, int64_t>, 4> points{{sum->offset.known(), rhs->offset.known()}};
  for (unsigned loop : gates) {
    if (sum->stride(loop).isOpen() || rhs->stride(loop).isOpen())
      return fail(tooOpen);
    auto before = std::exchange(points, {});
    for (auto [ofSum, ofFactor] : before)
      for (int64_t i = 0; i < extents[loop].known(); ++i)
        points.push_back({ofSum + i * sum->stride(loop).known(), ofFactor + i * rhs->stride(loop).known()});
    constexpr size_t maxGates = 64;
    if (points.size() > maxGates)
      return fail("a product has more than " + Twine(maxGates) + " accumulators in a column");
  }
  for (auto [ofSum, ofFactor] : points) {
    sumsOf.push_back({sum->base, ofSum, row ? sum->stride(*row) : Size(), 1});
    product.sums.push_back({0, ofFactor});
  }
  return success();
}

/// Returns true if the buffer has every group of packed elements completely: groups are loaded whole, even if only some
/// of their elements are multiplied.
bool ProductReader::hasWhole() {
  auto type = cast<MemRefType>(rhs->base.getType());
  if (product.taken == product.packed || !type.hasStaticShape())
    return product.taken == product.packed;
  auto [strides, size] = stridesOf(type);
  if (llvm::any_of(strides, ShapedType::isDynamic))
    return false;
  for (auto [extent, stride] : llvm::zip_equal(type.getShape(), strides))
    size += (extent - 1) * stride;
  int64_t last = product.rhsAt(product.readable.known() - 1);
  for (const Product::Reduced &loop : product.reduced)
    last += loop.rhs.mayExceed(0) ? (loop.extent.known() - 1) * loop.rhs.known() : 0;
  int64_t gate = 0;
  for (const Product::Sum &sumOf : product.sums)
    gate = std::max(gate, sumOf.offset);
  return gate + last + product.packed <= size + 1;
}

/// Checks that rhs can be loaded: in whole groups of packed elements or, if that is allowed, by strided columns, which
/// are read one by one.
LogicalResult ProductReader::checkStride() {
  if (!product.isStrided() && product.taken == 1 && !hasWhole())
    product.columnStride = std::exchange(product.packed, 1);
  if ((product.isStrided() && !allowed.strided) || !(product.isStrided() || hasWhole()))
    return fail(stridedColumns);
  return success();
}

LogicalResult ProductReader::read(SmallVectorImpl<TileAccess> &sumsOf) {
  product.op = op;
  if (failed(chooseLanes()))
    return failure();
  product.lhs.base = lhs->base;
  product.lhs.offset = lhs->offset.known();
  product.rhs.base = rhs->base;
  product.rhs.offset = rhs->offset.known();
  if (!lhs->isArgument() || !rhs->isArgument())
    return fail("a factor of a product is an intermediate");
  if (failed(sortLoops()) || failed(readBody()) || failed(splitColumns(sumsOf)))
    return failure();
  return checkStride();
}

} // namespace

LogicalResult quern::schedule::contractions::readProduct(const ProblemOp &op, Chain &chain, Product &product,
                                                         AllowedForms allowed, SmallVectorImpl<TileAccess> &sumsOf,
                                                         std::string &whyNot) {
  return ProductReader(op, chain, product, allowed, whyNot).read(sumsOf);
}
