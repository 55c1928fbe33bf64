//===- Reductions.cpp - Reductions in the form of recipes -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The order of a reduction is unspecified, so it may be rewritten: bf16 and f16 accumulate in f32 and are rounded once,
// and an argmax becomes a maximum followed by the lowest index of an equal element.
//
//===----------------------------------------------------------------------===//
#include "Functions/Canonicalize/Canonicalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include <limits>

using namespace mlir;
using namespace quern;

namespace {

/// Returns true for types whose sums and extremes are computed in a wider one.
bool isNarrow(Type type) { return (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32) || type.isInteger(4); }

/// Emits an f32 or i32 with the value of a narrow number.
Value extended(OpBuilder &builder, Location loc, Value narrow, bool isUnsigned) {
  if (isa<FloatType>(narrow.getType()))
    return arith::ExtFOp::create(builder, loc, builder.getF32Type(), narrow);
  if (isUnsigned)
    return arith::ExtUIOp::create(builder, loc, builder.getI32Type(), narrow);
  return arith::ExtSIOp::create(builder, loc, builder.getI32Type(), narrow);
}

Value narrowed(OpBuilder &builder, Location loc, Value wide, Type type) {
  if (isa<FloatType>(type))
    return arith::TruncFOp::create(builder, loc, type, wide);
  return arith::TruncIOp::create(builder, loc, type, wide);
}

/// Returns an f32 or i32 constant with the value of a narrow one.
TypedAttr widened(Builder &builder, TypedAttr narrow, bool isUnsigned) {
  if (auto number = dyn_cast<FloatAttr>(narrow))
    return builder.getF32FloatAttr(static_cast<float>(number.getValueAsDouble()));
  const APInt value = cast<IntegerAttr>(narrow).getValue();
  return builder.getIntegerAttr(builder.getI32Type(), isUnsigned ? value.zext(32) : value.sext(32));
}

Value emptyLike(OpBuilder &builder, Location loc, Value tensor, Type element) {
  return tensor::EmptyOp::create(builder, loc, tensor::getMixedSizes(builder, loc, tensor), element);
}

Value filled(OpBuilder &builder, Location loc, Value tensor, TypedAttr value) {
  Value number = arith::ConstantOp::create(builder, loc, value);
  return linalg::FillOp::create(builder, loc, number, emptyLike(builder, loc, tensor, value.getType())).getResult(0);
}

/// Emits an elementwise operation on tensors of one shape; `body` receives an element of each.
Value elementwise(OpBuilder &builder, Location loc, ValueRange inputs, Type element,
                  function_ref<Value(OpBuilder &, ValueRange)> body) {
  auto rank = static_cast<unsigned>(cast<RankedTensorType>(inputs[0].getType()).getRank());
  SmallVector<AffineMap> maps(inputs.size() + 1, builder.getMultiDimIdentityMap(rank));
  Value empty = emptyLike(builder, loc, inputs[0], element);
  return linalg::GenericOp::create(builder, loc, empty.getType(), inputs, empty, maps,
                                   SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
                                   [&](OpBuilder &inner, Location at, ValueRange elements) {
                                     linalg::YieldOp::create(inner, at, body(inner, elements.drop_back()));
                                   })
      .getResult(0);
}

/// Returns the operation that combines result i with its accumulator, if the accumulator has no other use.
Operation *combinerOf(linalg::GenericOp op, unsigned i) {
  Operation *combine = op.getBlock()->getTerminator()->getOperand(i).getDefiningOp();
  BlockArgument accumulator = op.getRegionOutputArgs()[i];
  const bool combines =
      isa_and_nonnull<arith::AddFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp, arith::MinimumFOp,
                      arith::AddIOp, arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp>(combine) &&
      accumulator.hasOneUse() && *accumulator.user_begin() == combine && combine->getResult(0).hasOneUse();
  return combines ? combine : nullptr;
}

/// On tensors: makes bf16 and f16 accumulators f32, and i4 accumulators i32, if their only use is to be combined.
void widenAccumulators(linalg::GenericOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    Value init = op.getOutputs()[i];
    Type element = cast<RankedTensorType>(init.getType()).getElementType(),
         wideType = isa<FloatType>(element) ? Type(builder.getF32Type()) : Type(builder.getI32Type());
    Operation *combine = isNarrow(element) ? combinerOf(op, i) : nullptr;
    if (!combine)
      continue;
    builder.setInsertionPoint(op);
    const bool isUnsigned = isa<arith::MaxUIOp, arith::MinUIOp>(combine);
    auto extend = [&](OpBuilder &at, ValueRange from) { return extended(at, loc, from[0], isUnsigned); };
    TypedAttr start;
    auto fill = init.getDefiningOp<linalg::FillOp>();
    Value wide = fill && matchPattern(fill.getInputs()[0], m_Constant(&start))
                     ? filled(builder, loc, init, widened(builder, start, isUnsigned))
                     : elementwise(builder, loc, init, wideType, extend);
    op.getOutputsMutable()[i].set(wide);
    BlockArgument accumulator = op.getRegionOutputArgs()[i];
    accumulator.setType(wideType);
    builder.setInsertionPoint(combine);
    OpOperand &term = combine->getOpOperand(combine->getOperand(0) == accumulator ? 1 : 0);
    term.set(extended(builder, loc, term.get(), isUnsigned));
    combine->getResult(0).setType(wideType);
    op->getResult(i).setType(wide.getType());
    builder.setInsertionPointAfter(op);
    Value narrow = elementwise(builder, loc, op->getResult(i), element,
                               [&](OpBuilder &at, ValueRange from) { return narrowed(at, loc, from[0], element); });
    auto *made = narrow.getDefiningOp();
    op->getResult(i).replaceUsesWithIf(
        narrow, [&](OpOperand &use) { return use.getOwner() != made && !isa<tensor::DimOp>(use.getOwner()); });
  }
}

/// A reduction with two results: the extreme of an element, and its index along the only reduced loop.
struct ExtremeAndPlace {
  unsigned value = 0, place = 0; ///< indices of the two results
  Value element;                 ///< value in the body
  unsigned loop = 0;
  bool isGreatest = false, isFirst = false; ///< `isFirst`: true if the first of equal elements is chosen
  FloatAttr start;                          ///< initial value
  TypedAttr noPlace;                        ///< initial index
};

/// Returns the loop whose index is `index`, possibly converted.
std::optional<unsigned> loopOf(Value index) {
  if (auto cast = index.getDefiningOp<arith::IndexCastOp>())
    index = cast.getIn();
  auto op = index.getDefiningOp<linalg::IndexOp>();
  return op ? std::optional<unsigned>(op.getDim()) : std::nullopt;
}

std::optional<bool> isGreater(arith::CmpFPredicate predicate) {
  using enum arith::CmpFPredicate;
  if (predicate == OGT || predicate == OGE)
    return true;
  if (predicate == OLT || predicate == OLE)
    return false;
  return std::nullopt;
}

std::optional<ExtremeAndPlace> matchExtreme(linalg::GenericOp op) {
  if (op.getNumResults() != 2 || op.getNumReductionLoops() != 1)
    return std::nullopt;
  ExtremeAndPlace found;
  for (unsigned value : {0u, 1u}) {
    Operation *yield = op.getBlock()->getTerminator();
    auto place = yield->getOperand(1 - value).getDefiningOp<arith::SelectOp>();
    BlockArgument best = op.getRegionOutputArgs()[value], at = op.getRegionOutputArgs()[1 - value];
    auto compare = place ? place.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
    if (!compare || place.getFalseValue() != at || !at.hasOneUse() || compare.getRhs() != best)
      continue;
    std::optional<bool> greater = isGreater(compare.getPredicate());
    std::optional<unsigned> loop = loopOf(place.getTrueValue());
    Operation *extreme = yield->getOperand(value).getDefiningOp();
    auto select = dyn_cast_or_null<arith::SelectOp>(extreme);
    const bool selects = select && select.getCondition() == compare.getResult() &&
                         select.getTrueValue() == compare.getLhs() && select.getFalseValue() == best;
    if (!greater || !loop || op.getIteratorTypesArray()[*loop] != utils::IteratorType::reduction || !selects ||
        compare.getLhs() == best || llvm::range_size(best.getUses()) != 2)
      continue;
    auto starts = [&](unsigned i, auto *attr) {
      auto fill = op.getOutputs()[i].getDefiningOp<linalg::FillOp>();
      return fill && matchPattern(fill.getInputs()[0], m_Constant(attr));
    };
    using enum arith::CmpFPredicate;
    found = {value, 1 - value, compare.getLhs(),
             *loop, *greater,  compare.getPredicate() == OGT || compare.getPredicate() == OLT,
             {},    {}};
    if (starts(value, &found.start) && !found.start.getValue().isNaN() && starts(1 - value, &found.noPlace) &&
        found.noPlace.getType().isInteger(32))
      return found;
  }
  return std::nullopt;
}

/// Emits a reduction with one result over the inputs of `op` and `more`. Its body starts with the computation of the
/// element.
Value reduceElement(OpBuilder &builder, linalg::GenericOp op, const ExtremeAndPlace &extreme, ValueRange more,
                    Value init, unsigned like, function_ref<Value(OpBuilder &, Value, ValueRange)> body) {
  SmallVector<Value> inputs = llvm::to_vector(op.getInputs());
  SmallVector<AffineMap> maps = llvm::to_vector(ArrayRef(op.getIndexingMapsArray()).take_front(inputs.size()));
  const AffineMap ofResult = op.getMatchingIndexingMap(op.getDpsInitOperand(like));
  inputs.append(more.begin(), more.end());
  maps.append(more.size() + 1, ofResult);
  return linalg::GenericOp::create(builder, op.getLoc(), init.getType(), inputs, init, maps, op.getIteratorTypesArray(),
                                   [&](OpBuilder &inner, Location loc, ValueRange elements) {
                                     IRMapping map;
                                     map.map(op.getBlock()->getArguments().take_front(op.getNumDpsInputs()),
                                             elements.take_front(op.getNumDpsInputs()));
                                     SetVector<Operation *> needed;
                                     std::function<void(Value)> need = [&](Value value) {
                                       Operation *from = value.getDefiningOp();
                                       if (!from || from->getBlock() != op.getBlock() || needed.contains(from))
                                         return;
                                       llvm::for_each(from->getOperands(), need);
                                       needed.insert(from);
                                     };
                                     need(extreme.element);
                                     for (Operation *from : needed)
                                       inner.clone(*from, map);
                                     linalg::YieldOp::create(inner, loc,
                                                             body(inner, map.lookupOrDefault(extreme.element),
                                                                  elements.drop_front(op.getNumDpsInputs())));
                                   })
      .getResult(0);
}

void separateExtreme(linalg::GenericOp op, const ExtremeAndPlace &extreme) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  const int32_t nowhere = extreme.isFirst ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int32_t>::min();
  const TypedAttr none = builder.getI32IntegerAttr(nowhere);
  Value best = reduceElement(builder, op, extreme, {}, op.getOutputs()[extreme.value], extreme.value,
                             [&](OpBuilder &at, Value element, ValueRange rest) -> Value {
                               if (extreme.isGreatest)
                                 return arith::MaxNumFOp::create(at, loc, element, rest[0]);
                               return arith::MinNumFOp::create(at, loc, element, rest[0]);
                             });
  Value start = filled(builder, loc, op.getOutputs()[extreme.place], none);
  Value place = reduceElement(
      builder, op, extreme, best, start, extreme.place, [&](OpBuilder &at, Value element, ValueRange rest) -> Value {
        Value index = linalg::IndexOp::create(at, loc, extreme.loop);
        Value number = arith::IndexCastOp::create(at, loc, at.getI32Type(), index);
        Value isBest = arith::CmpFOp::create(at, loc, arith::CmpFPredicate::OEQ, element, rest[0]);
        Value other = arith::ConstantOp::create(at, loc, none);
        Value here = arith::SelectOp::create(at, loc, isBest, number, other);
        if (extreme.isFirst)
          return arith::MinSIOp::create(at, loc, here, rest[1]);
        return arith::MaxSIOp::create(at, loc, here, rest[1]);
      });
  // An extreme that is not better than the start has no index.
  place = elementwise(builder, loc, {best, place}, builder.getI32Type(), [&](OpBuilder &at, ValueRange of) -> Value {
    using enum arith::CmpFPredicate;
    Value first = arith::ConstantOp::create(at, loc, extreme.start), other = arith::ConstantOp::create(at, loc, none);
    Value isBetter = arith::CmpFOp::create(at, loc, extreme.isGreatest ? OGT : OLT, of[0], first);
    Value isFound = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::ne, of[1], other);
    Value counts = extreme.isFirst ? arith::AndIOp::create(at, loc, isBetter, isFound).getResult() : isFound;
    return arith::SelectOp::create(at, loc, counts, of[1], arith::ConstantOp::create(at, loc, extreme.noPlace));
  });
  // The comparison needs a separate value, because a returned value may be rounded.
  Value value =
      elementwise(builder, loc, best, extreme.start.getType(), [](OpBuilder &, ValueRange of) { return of[0]; });
  op->getResult(extreme.value).replaceAllUsesWith(value);
  op->getResult(extreme.place).replaceAllUsesWith(place);
  op.erase();
}

} // namespace

void functions::simplifyReductions(func::FuncOp function) {
  for (auto op : llvm::to_vector(function.getOps<linalg::GenericOp>())) {
    if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0)
      continue;
    if (std::optional<ExtremeAndPlace> extreme = matchExtreme(op))
      separateExtreme(op, *extreme);
    else
      widenAccumulators(op);
  }
}
