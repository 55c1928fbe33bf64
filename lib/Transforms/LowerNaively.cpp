//===- LowerNaively.cpp - Lowering of linalg to scalar loops --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Shares no code with the recipes: MLIR's linalg-to-loops creates the loops. Widening exists because the error of a
// serial f32 sum of a thousand terms can exceed the error that a schedule may have.
//
//===----------------------------------------------------------------------===//
#include "Transforms/Transforms.h"

#include "IR/QuernDialect.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace quern {
namespace {

/// Changes every f32 value between loads and stores to f64, except values whose bits are read.
class Widening {
public:
  explicit Widening(func::FuncOp function)
      : function(function), f32(Float32Type::get(function.getContext())), f64(Float64Type::get(function.getContext())) {
  }

  void run() {
    function.walk<WalkOrder::PreOrder>([&](Operation *op) { operations.push_back(op); });
    for (Operation *op : operations) // intermediates before views of them
      if (auto type = op->getNumResults() == 1 ? dyn_cast<MemRefType>(op->getResult(0).getType()) : MemRefType();
          type && type.getElementType() == f32 &&
          (isa<memref::AllocOp>(op) || (isa<ViewLikeOpInterface>(op) && isa<MemRefType>(op->getOperand(0).getType()) &&
                                        cast<MemRefType>(op->getOperand(0).getType()).getElementType() == f64)))
        op->getResult(0).setType(MemRefType::Builder(type).setElementType(f64));
    for (Operation *op : operations)
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
        widenBlock(linalgOp);
    for (Operation *op : operations)
      widenOperation(op);
  }

private:
  /// Elements of intermediates become f64; elements of arguments are extended.
  void widenBlock(linalg::LinalgOp op) {
    OpBuilder builder = OpBuilder::atBlockBegin(op.getBlock());
    for (OpOperand &operand : op->getOpOperands()) {
      BlockArgument element = op.getMatchingBlockArgument(&operand);
      if (element.getType() != f32)
        continue;
      bool isMemory = isa<MemRefType>(operand.get().getType());
      if (!isMemory || getElementTypeOrSelf(operand.get().getType()) == f64)
        element.setType(f64);
      else
        extend(builder, element);
    }
  }
  void extend(OpBuilder &builder, Value narrow) {
    auto wide = arith::ExtFOp::create(builder, narrow.getLoc(), f64, narrow);
    narrow.replaceAllUsesExcept(wide, wide);
  }
  void widenOperation(Operation *op) {
    OpBuilder builder(op);
    if (auto yield = dyn_cast<linalg::YieldOp>(op))
      return narrowYields(yield);
    if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && constant.getType() == f32) {
      double value = cast<FloatAttr>(constant.getValue()).getValueAsDouble();
      constant.setValueAttr(FloatAttr::get(f64, value));
      constant.getResult().setType(f64);
    } else if (auto load = dyn_cast<memref::LoadOp>(op); load && load.getType() == f32) {
      builder.setInsertionPointAfter(op);
      extend(builder, load.getResult());
    } else if (isa<arith::BitcastOp>(op)) { // rounds an f32 operand before it and extends its f32 result
      if (op->getOperand(0).getType() == f64 && op->getResult(0).getType().isInteger(32))
        op->setOperand(0, arith::TruncFOp::create(builder, op->getLoc(), f32, op->getOperand(0)));
      builder.setInsertionPointAfter(op);
      if (op->getResult(0).getType() == f32)
        extend(builder, op->getResult(0));
    } else if (isa<arith::ExtFOp, arith::TruncFOp>(op) && getElementTypeOrSelf(op->getResult(0)) == f32 &&
               op->getOperand(0).getType() == f64) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0)); // a rounding to f32 within the chain
      op->erase();
    } else if (isa<arith::ExtFOp>(op) && op->getOperand(0).getType() == f64) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    } else {
      for (Value result : op->getResults())
        if (result.getType() == f32)
          result.setType(f64);
    }
  }
  void narrowYields(linalg::YieldOp yield) {
    auto op = cast<linalg::LinalgOp>(yield->getParentOp());
    OpBuilder builder(yield);
    for (auto [i, init] : llvm::enumerate(op.getDpsInits())) {
      Type stored = getElementTypeOrSelf(init.getType());
      Value value = yield.getOperand(i);
      if (stored == f32 && value.getType() == f64)
        yield.setOperand(i, arith::TruncFOp::create(builder, yield.getLoc(), f32, value));
    }
  }

  func::FuncOp function;
  Type f32, f64;
  SmallVector<Operation *> operations;
};

bool isOfArgument(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return isa<BlockArgument>(memref);
}

/// Makes operations that accumulate in an f32 argument accumulate in an intermediate, which is widened later and stored
/// once.
void accumulateInIntermediates(func::FuncOp function) {
  function.walk([&](linalg::LinalgOp op) {
    if (op.getNumReductionLoops() == 0)
      return;
    for (OpOperand &init : op.getDpsInitsMutable()) {
      Value argument = init.get();
      auto type = dyn_cast<MemRefType>(argument.getType());
      if (!type || !type.getElementType().isF32() || !isOfArgument(argument))
        continue;
      OpBuilder builder(op);
      Location loc = op.getLoc();
      Value sums = memref::AllocOp::create(builder, loc, MemRefType::get(type.getShape(), type.getElementType()));
      linalg::makeMemRefCopyOp(builder, loc, argument, sums);
      init.set(sums);
      builder.setInsertionPointAfter(op);
      linalg::makeMemRefCopyOp(builder, loc, sums, argument);
    }
  });
}

/// Assigns every intermediate a place in one scratch buffer and returns the buffer's size.
int64_t placeIntermediates(ArrayRef<memref::AllocOp> allocs, Value scratch) {
  constexpr int64_t alignment = 64;
  int64_t bytes = 0;
  for (memref::AllocOp alloc : allocs) {
    OpBuilder builder(alloc);
    Value offset = arith::ConstantIndexOp::create(builder, alloc.getLoc(), bytes);
    auto view = memref::ViewOp::create(builder, alloc.getLoc(), alloc.getType(), scratch, offset, ValueRange());
    alloc.getResult().replaceAllUsesWith(view);
    alloc.erase();
    int64_t size = view.getType().getNumElements() *
                   static_cast<int64_t>(llvm::divideCeil(view.getType().getElementTypeBitWidth(), 8));
    bytes = static_cast<int64_t>(llvm::alignTo(static_cast<uint64_t>(bytes + size), alignment));
  }
  return bytes;
}

/// Replaces views of static layout by reinterpret_casts with their offset and strides, which can be lowered.
void castViews(func::FuncOp function) {
  SmallVector<Operation *> views;
  function.walk([&](Operation *op) {
    if (isa<memref::SubViewOp, memref::ExpandShapeOp, memref::CollapseShapeOp>(op))
      views.push_back(op);
  });
  for (Operation *view : views) {
    auto type = cast<MemRefType>(view->getResult(0).getType());
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    if (!type.hasStaticShape() || failed(type.getStridesAndOffset(strides, offset)) || ShapedType::isDynamic(offset))
      continue;
    OpBuilder builder(view);
    auto cast = memref::ReinterpretCastOp::create(builder, view->getLoc(), type, view->getOperand(0), offset,
                                                  type.getShape(), strides);
    view->replaceAllUsesWith(cast);
    view->erase();
  }
}

LogicalResult convertToLoops(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  SmallVector<linalg::LinalgOp> operations;
  function.walk([&](linalg::LinalgOp op) { operations.push_back(op); });
  for (linalg::LinalgOp op : operations) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::linalgOpToLoops(rewriter, op)))
      return op->emitError("naive lowering: this operation cannot be lowered to loops");
    rewriter.eraseOp(op);
  }
  RewritePatternSet patterns(function.getContext());
  populateAffineToStdConversionPatterns(patterns);
  return applyPatternsGreedily(function, std::move(patterns));
}

/// Appends scratch (if there are intermediates), begin and end to the arguments, and keeps the attributes of the
/// others. Returns the bytes of scratch.
int64_t appendKernelArguments(func::FuncOp function, ArrayRef<memref::AllocOp> allocs) {
  MLIRContext *context = function.getContext();
  Builder builder(context);
  Block &entry = function.getBody().front();
  Location loc = function.getLoc();
  SmallVector<DictionaryAttr> attributes;
  int64_t scratchBytes = 0;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    attributes.push_back(DictionaryAttr::get(context, mlir::function_interface_impl::getArgAttrs(function, i)));
  if (!allocs.empty()) {
    Value scratch = entry.addArgument(MemRefType::get({ShapedType::kDynamic}, builder.getI8Type()), loc);
    scratchBytes = placeIntermediates(allocs, scratch);
    attributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(attr::scratch, builder.getUnitAttr())));
  }
  for (int i = 0; i < 2; ++i) {
    entry.addArgument(builder.getIndexType(), loc);
    attributes.push_back(DictionaryAttr::get(context));
  }
  function.setFunctionType(FunctionType::get(context, entry.getArgumentTypes(), function.getResultTypes()));
  function.setAllArgAttrs(attributes);
  return scratchBytes;
}

/// Makes the body the only iteration of the kernel's space.
void moveIntoSpace(func::FuncOp function) {
  Block &entry = function.getBody().front();
  Location loc = function.getLoc();
  OpBuilder builder(entry.getTerminator());
  unsigned count = entry.getNumArguments();
  auto one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto loop = scf::ForOp::create(builder, loc, entry.getArgument(count - 2), entry.getArgument(count - 1), one);
  Block *body = loop.getBody();
  body->getOperations().splice(body->begin(), entry.getOperations(), entry.begin(), one->getIterator());
}

} // namespace

LogicalResult lowerNaively(func::FuncOp problem, bool widen) {
  if (!problem.getBody().hasOneBlock())
    return problem.emitError("naive lowering: the problem has more than one block");
  for (Type type : problem.getArgumentTypes())
    if (auto memref = dyn_cast<MemRefType>(type); memref && !memref.hasStaticShape())
      return problem.emitError("naive lowering: an argument has a dynamic size");
  if (widen) {
    accumulateInIntermediates(problem);
    Widening(problem).run();
  }
  castViews(problem);
  SmallVector<memref::AllocOp> allocs;
  problem.walk([&](Operation *op) {
    if (auto alloc = dyn_cast<memref::AllocOp>(op))
      allocs.push_back(alloc);
    else if (isa<memref::DeallocOp>(op))
      op->erase();
  });
  int64_t scratchBytes = appendKernelArguments(problem, allocs);
  moveIntoSpace(problem);
  problem->setAttr(KernelAttr::name, KernelAttr::get(problem.getContext(), /*space=*/1,
                                                     PlanAttr::get(problem.getContext(), Recipe::Naive, {}),
                                                     problem.getName(), scratchBytes));
  problem.setName((problem.getName() + "_kernel").str());
  return convertToLoops(problem);
}

} // namespace quern
