//===- Starts.cpp - Starts of reductions, and empty operations ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Recipes split reductions, so the start of a reduction may be applied more than once and must be neutral. Any other
// start is combined with the result after the reduction. The result of a reduction over no elements is its start.
//
//===----------------------------------------------------------------------===//
#include "Functions/Canonicalize/Canonicalize.h"
#include "Functions/Check.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace quern;
using namespace quern::functions;

namespace {

/// Returns the operation that combines accumulator `i` with an element, if the accumulator has no other use.
Operation *combinerOf(linalg::GenericOp op, unsigned i) {
  Operation *combiner = op.getBlock()->getTerminator()->getOperand(i).getDefiningOp();
  BlockArgument accumulator = op.getRegionOutputArgs()[i];
  const bool combines = combiner && combiner->getBlock() == op.getBlock() && combiner->getNumOperands() == 2 &&
                        accumulator.hasOneUse() && *accumulator.user_begin() == combiner &&
                        combiner->getResult(0).hasOneUse();
  return combines ? combiner : nullptr;
}

/// Returns the neutral start of a combiner. Null if it has none; also null for maxnumf and minnumf, for which it is
/// NaN.
TypedAttr neutralOf(Operation *combiner) {
  Type type = combiner->getResult(0).getType();
  Builder builder(combiner->getContext());
  auto infinite = [&](bool isNegative) -> TypedAttr {
    return builder.getFloatAttr(type, APFloat::getInf(cast<FloatType>(type).getFloatSemantics(), isNegative));
  };
  auto integer = [&](auto make) -> TypedAttr {
    return builder.getIntegerAttr(type, make(type.getIntOrFloatBitWidth()));
  };
  if (isa<arith::AddFOp, arith::AddIOp>(combiner) && !type.isIndex())
    return builder.getZeroAttr(type);
  if (isa<arith::MaximumFOp, arith::MinimumFOp>(combiner))
    return infinite(isa<arith::MaximumFOp>(combiner));
  if (!isa<IntegerType>(type))
    return {};
  if (isa<arith::MaxSIOp>(combiner))
    return integer([](unsigned bits) { return APInt::getSignedMinValue(bits); });
  if (isa<arith::MinSIOp>(combiner))
    return integer([](unsigned bits) { return APInt::getSignedMaxValue(bits); });
  if (isa<arith::MaxUIOp>(combiner))
    return integer([](unsigned bits) { return APInt::getMinValue(bits); });
  if (isa<arith::MinUIOp>(combiner))
    return integer([](unsigned bits) { return APInt::getMaxValue(bits); });
  return {};
}

/// Returns the constant that a buffer is filled with before an operation accumulates on it; null if it has other
/// contents.
TypedAttr constantIn(Value buffer, Operation *op) {
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode()) {
    auto writer = dyn_cast<linalg::LinalgOp>(before);
    if (!writer || llvm::none_of(writer.getDpsInits(), [&](Value init) { return rootOf(init) == rootOf(buffer); }))
      continue;
    TypedAttr constant;
    auto fill = dyn_cast<linalg::FillOp>(before);
    return fill && fill.getOutputs()[0] == buffer && matchPattern(fill.getInputs()[0], m_Constant(&constant))
               ? constant
               : TypedAttr();
  }
  return {};
}

/// Returns true if recipes support a constant as the start of a combiner: 0 for a sum, any number for an extreme.
bool isTakenAsStart(Operation *combiner, TypedAttr start) {
  if (auto number = dyn_cast<FloatAttr>(start))
    return !number.getValue().isNaN() && (!isa<arith::AddFOp>(combiner) || number.getValue().isZero());
  auto number = dyn_cast<IntegerAttr>(start);
  return number && (!isa<arith::AddIOp>(combiner) || number.getValue().isZero());
}

/// Returns true if an operation multiplies matrices. Its recipe accumulates on the output.
bool isProduct(linalg::GenericOp op) {
  FailureOr<linalg::ContractionDimensions> dims = linalg::inferContractionDims(op);
  return succeeded(dims) && !dims->m.empty() && !dims->n.empty() && !dims->k.empty();
}

/// Allocates memory with the sizes of other memory.
Value memoryLike(OpBuilder &builder, Location loc, Value other) {
  auto type = cast<MemRefType>(other.getType());
  SmallVector<Value> open;
  if (auto alloc = other.getDefiningOp<memref::AllocOp>())
    llvm::append_range(open, alloc.getDynamicSizes());
  else
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (type.isDynamicDim(d))
        open.push_back(memref::DimOp::create(builder, loc, other, d));
  return memref::AllocOp::create(builder, loc, MemRefType::get(type.getShape(), type.getElementType()), open);
}

/// Emits an elementwise operation.
void elementwise(OpBuilder &builder, Location loc, ValueRange inputs, Value output,
                 function_ref<Value(OpBuilder &, ValueRange)> body) {
  const auto rank = static_cast<unsigned>(cast<MemRefType>(output.getType()).getRank());
  const SmallVector<AffineMap> maps(inputs.size() + 1, builder.getMultiDimIdentityMap(rank));
  linalg::GenericOp::create(builder, loc, TypeRange(), inputs, output, maps,
                            SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
                            [&](OpBuilder &inner, Location at, ValueRange elements) {
                              linalg::YieldOp::create(inner, at, body(inner, elements));
                            });
}

/// Makes result `i` of a reduction start from `neutral` in separate memory, and combines its original start with the
/// result.
void separateStart(linalg::GenericOp op, unsigned i, Operation *combiner, TypedAttr neutral, TypedAttr constant) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value start = op.getOutputs()[i], results = memoryLike(builder, loc, start);
  linalg::FillOp::create(builder, loc, ValueRange(arith::ConstantOp::create(builder, loc, neutral)), results);
  op.getOutputsMutable()[i].set(results);
  builder.setInsertionPointAfter(op);
  elementwise(builder, loc, results, start, [&](OpBuilder &inner, ValueRange elements) {
    Value first = constant ? arith::ConstantOp::create(inner, loc, constant).getResult() : elements[1];
    Operation *combined = inner.clone(*combiner);
    combined->setOperands({first, elements[0]});
    return combined->getResult(0);
  });
}

bool isEmpty(Value memref) { return llvm::is_contained(cast<MemRefType>(memref.getType()).getShape(), 0); }

bool isOfNothing(linalg::LinalgOp op) { return llvm::is_contained(op.getStaticLoopRanges(), 0); }

} // namespace

void functions::separateStarts(func::FuncOp function, bool ofProducts) {
  for (auto op : llvm::to_vector(function.getOps<linalg::GenericOp>())) {
    if (op.getNumReductionLoops() == 0 || (!ofProducts && isProduct(op)))
      continue;
    for (unsigned i = 0; i < op.getOutputs().size(); ++i) {
      Operation *combiner = combinerOf(op, i);
      TypedAttr neutral = combiner ? neutralOf(combiner) : TypedAttr();
      TypedAttr constant = neutral ? constantIn(op.getOutputs()[i], op) : TypedAttr();
      if (neutral && !(constant && isTakenAsStart(combiner, constant)))
        separateStart(op, i, combiner, neutral, constant);
    }
  }
}

void functions::foldEmpty(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  for (auto op : llvm::to_vector(function.getOps<linalg::LinalgOp>()))
    if (op.hasPureTensorSemantics() && isOfNothing(op))
      rewriter.replaceOp(op, op.getDpsInits());
}

SmallVector<unsigned> functions::argumentsOfEmpty(func::FuncOp function) {
  SmallVector<unsigned> numbers;
  for (auto op : function.getOps<linalg::LinalgOp>())
    for (OpOperand &init : op.getDpsInitsMutable())
      if (auto argument = dyn_cast<BlockArgument>(rootOf(init.get()));
          argument && op.hasPureBufferSemantics() && isOfNothing(op) && !isEmpty(init.get()))
        numbers.push_back(argument.getArgNumber());
  return numbers;
}

void functions::eraseEmpty(func::FuncOp function, ArrayRef<unsigned> written) {
  for (auto op : llvm::to_vector(function.getOps<linalg::LinalgOp>()))
    if (isOfNothing(op))
      op->erase();
  OpBuilder builder(function.getBody().front().getTerminator());
  for (unsigned number : written)
    elementwise(builder, function.getLoc(), {}, function.getArgument(number),
                [](OpBuilder &, ValueRange elements) { return elements[0]; });
}
