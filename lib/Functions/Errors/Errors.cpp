//===- Errors.cpp - Computation of the oracle's errors --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each written buffer has two additional f64 buffers: the error that each element inherits from its inputs, and the
// variance of a sum's own roundings. An operation computes both with its elements. The error of an element for a later
// operation is the first plus the root of the second. Sums inherit the errors of their terms in full, because they may
// be correlated: the error of a mean is in each of its terms. Roundings of partial sums are independent, so their
// squares add up.
//
//===----------------------------------------------------------------------===//
#include "Functions/Errors/Scalars.h"
#include "Functions/Functions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace quern;
using namespace quern::functions;

namespace {

/// Errors of a buffer, or of an element while it is accumulated.
struct ErrorBounds {
  Value inherited, variance;
};

MemRefType wideOf(MemRefType type) {
  return MemRefType::Builder(type).setElementType(Float64Type::get(type.getContext()));
}

/// Returns the operation that adds to accumulator `i`, if the accumulator has no other use.
Operation *adderOf(linalg::GenericOp op, unsigned i) {
  Operation *adder = op.getBlock()->getTerminator()->getOperand(i).getDefiningOp();
  BlockArgument sum = op.getRegionOutputArgs()[i];
  const bool adds = isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::AddIOp, math::FmaOp>(adder) &&
                    adder->getResult(0).hasOneUse() && sum.hasOneUse() && *sum.user_begin() == adder;
  if (!adds || (isa<arith::SubFOp>(adder) && adder->getOperand(0) != sum) ||
      (isa<math::FmaOp>(adder) && adder->getOperand(2) != sum))
    return nullptr;
  Type type = sum.getType();
  return isa<IntegerType>(type) || type.isF32() || type.isF64() ? adder : nullptr;
}

class Errors {
public:
  Errors(func::FuncOp function, ArrayRef<unsigned> written) : function(function), written(written) {}
  LogicalResult run();

private:
  void addMemory(Operation &op);
  void addTo(linalg::GenericOp op);
  void writeBody(linalg::GenericOp op, OpBuilder &builder, ValueRange elements);
  Value readFrom(OpBuilder &builder, Location loc, const ErrorBounds &error);
  ErrorBounds addedBy(OpBuilder &builder, Operation *adder, BlockArgument sum, const ErrorBounds &before);

  func::FuncOp function;
  ArrayRef<unsigned> written;
  llvm::DenseMap<Value, ErrorBounds> buffers;
  ScalarErrors scalars;
};

/// Adds the error buffers of an allocation or of a view.
void Errors::addMemory(Operation &op) {
  OpBuilder builder(op.getContext());
  builder.setInsertionPointAfter(&op);
  auto makeOne = [&](Value source) {
    IRMapping mapping;
    if (source)
      mapping.map(op.getOperand(0), source);
    Operation *own = builder.clone(op, mapping);
    own->getResult(0).setType(wideOf(cast<MemRefType>(op.getResult(0).getType())));
    return own->getResult(0);
  };
  if (isa<memref::AllocOp>(op))
    buffers[op.getResult(0)] = {makeOne({}), makeOne({})};
  else if (auto found = buffers.find(op.getOperand(0)); found != buffers.end()) {
    const ErrorBounds source = found->second;
    buffers[op.getResult(0)] = {makeOne(source.inherited), makeOne(source.variance)};
  }
}

Value Errors::readFrom(OpBuilder &builder, Location loc, const ErrorBounds &error) {
  return arith::AddFOp::create(builder, loc, error.inherited, math::SqrtOp::create(builder, loc, error.variance));
}

/// Returns the errors of an accumulator after the operation that adds to it.
ErrorBounds Errors::addedBy(OpBuilder &builder, Operation *adder, BlockArgument sum, const ErrorBounds &before) {
  Location loc = adder->getLoc();
  ErrorBounds after = before;
  if (auto fma = dyn_cast<math::FmaOp>(adder)) {
    auto product = arith::MulFOp::create(builder, loc, fma.getA(), fma.getB());
    scalars.follow(builder, product);
    after.inherited = arith::AddFOp::create(builder, loc, after.inherited, scalars.orZero(builder, product));
  }
  for (Value term : adder->getOperands())
    if (Value error = term == sum || isa<math::FmaOp>(adder) ? Value() : scalars.of(term))
      after.inherited = arith::AddFOp::create(builder, loc, after.inherited, error);
  if (Value rounding = ScalarErrors::roundingOf(builder, adder->getResult(0)))
    after.variance =
        arith::AddFOp::create(builder, loc, after.variance, arith::MulFOp::create(builder, loc, rounding, rounding));
  return after;
}

/// Emits the body of an operation with its errors. `elements` are those of inputs, of errors of inputs, of outputs, and
/// of errors of outputs.
void Errors::writeBody(linalg::GenericOp op, OpBuilder &builder, ValueRange elements) {
  Location loc = op.getLoc();
  IRMapping mapping;
  auto takeOne = [&] {
    Value element = elements.front();
    elements = elements.drop_front();
    return element;
  };
  for (BlockArgument input : op.getRegionInputArgs())
    mapping.map(input, takeOne());
  for (OpOperand *operand : op.getDpsInputOperands()) {
    Value element = mapping.lookup(op.getMatchingBlockArgument(operand));
    if (buffers.contains(operand->get())) {
      const ErrorBounds error{takeOne(), takeOne()};
      scalars.set(element, readFrom(builder, loc, error));
    } else if (Value error = scalars.of(operand->get())) {
      scalars.set(element, error);
    }
  }
  for (BlockArgument output : op.getRegionOutputArgs())
    mapping.map(output, takeOne());
  SmallVector<ErrorBounds> sums;
  llvm::SmallDenseMap<Operation *, unsigned> adders;
  for (auto [i, output] : llvm::enumerate(op.getRegionOutputArgs())) {
    sums.push_back({takeOne(), takeOne()});
    if (output.use_empty())
      continue;
    scalars.set(mapping.lookup(output), readFrom(builder, loc, sums.back()));
    if (Operation *adder = adderOf(op, static_cast<unsigned>(i)))
      adders[adder] = static_cast<unsigned>(i);
  }
  for (Operation &inner : op.getBlock()->without_terminator()) {
    Operation *own = builder.clone(inner, mapping);
    if (auto adder = adders.find(&inner); adder != adders.end())
      sums[adder->second] =
          addedBy(builder, own, cast<BlockArgument>(mapping.lookup(Value(op.getRegionOutputArgs()[adder->second]))),
                  sums[adder->second]);
    else
      scalars.follow(builder, own);
  }
  SmallVector<Value> yielded, errors;
  for (auto [i, value] : llvm::enumerate(op.getBlock()->getTerminator()->getOperands())) {
    yielded.push_back(mapping.lookupOrDefault(value));
    if (Operation *from = value.getDefiningOp(); !from || !adders.contains(from))
      sums[i] = {scalars.orZero(builder, yielded.back()),
                 arith::ConstantOp::create(builder, loc, builder.getF64FloatAttr(0))};
    errors.append({sums[i].inherited, sums[i].variance});
  }
  llvm::append_range(yielded, errors);
  linalg::YieldOp::create(builder, loc, yielded);
}

void Errors::addTo(linalg::GenericOp op) {
  OpBuilder builder(op);
  SmallVector<Value> inputs(op.getInputs()), outputs(op.getOutputs());
  SmallVector<AffineMap> inputMaps, outputMaps;
  auto add = [&](Value buffer, AffineMap map, SmallVector<Value> &values, SmallVector<AffineMap> &maps) {
    if (auto found = buffers.find(buffer); found != buffers.end()) {
      values.append({found->second.inherited, found->second.variance});
      maps.append(2, map);
    }
  };
  for (OpOperand *operand : op.getDpsInputOperands())
    inputMaps.push_back(op.getMatchingIndexingMap(operand));
  for (OpOperand &operand : op.getDpsInitsMutable())
    outputMaps.push_back(op.getMatchingIndexingMap(&operand));
  for (OpOperand *operand : op.getDpsInputOperands())
    add(operand->get(), op.getMatchingIndexingMap(operand), inputs, inputMaps);
  for (OpOperand &operand : op.getDpsInitsMutable())
    add(operand.get(), op.getMatchingIndexingMap(&operand), outputs, outputMaps);
  llvm::append_range(inputMaps, outputMaps);
  linalg::GenericOp::create(builder, op.getLoc(), TypeRange(), inputs, outputs, inputMaps, op.getIteratorTypesArray(),
                            [&](OpBuilder &inner, Location, ValueRange elements) { writeBody(op, inner, elements); });
  op.erase();
}

LogicalResult Errors::run() {
  const size_t count = function.getNumArguments() - 2 * written.size();
  for (auto [i, argument] : llvm::enumerate(written))
    buffers[function.getArgument(argument)] = {function.getArgument(static_cast<unsigned>(count + 2 * i)),
                                               function.getArgument(static_cast<unsigned>(count + 2 * i + 1))};
  IRRewriter rewriter(function.getContext());
  for (auto op : llvm::to_vector(function.getOps<linalg::LinalgOp>()))
    if (rewriter.setInsertionPoint(op);
        !isa<linalg::GenericOp>(op.getOperation()) && mlir::failed(linalg::generalizeNamedOp(rewriter, op)))
      return failure();
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front()))
    if (isa<memref::AllocOp, memref::SubViewOp, memref::ExpandShapeOp, memref::CollapseShapeOp, memref::CastOp>(op)) {
      addMemory(op);
    } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      addTo(generic);
    } else if (isa<arith::ArithDialect, math::MathDialect>(op.getDialect())) {
      OpBuilder builder(op.getContext());
      builder.setInsertionPointAfter(&op);
      scalars.follow(builder, &op);
    }
  return success();
}

} // namespace

void functions::addErrorArguments(func::FuncOp function, ArrayRef<unsigned> written) {
  for (unsigned argument : written)
    for (int i = 0; i < 2; ++i)
      (void)function.insertArgument(function.getNumArguments(),
                                    wideOf(cast<MemRefType>(function.getArgument(argument).getType())), {},
                                    function.getLoc());
}

Result<void> functions::computeErrors(func::FuncOp function, ArrayRef<unsigned> written) {
  if (mlir::failed(Errors(function, written).run()))
    return internalError("an operation of a function has no generic form");
  return {};
}
