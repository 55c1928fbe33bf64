//===- PairElements.cpp - Computing half bytes in pairs -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Index i of a loop becomes 2p + h. An operand is paired if its address is then a multiple of 2, plus h; it is common
// to the pair if its address does not depend on h. Other operands are not supported.
//
//===----------------------------------------------------------------------===//
#include "Transforms/Packed/PackedElements.h"

#include "IR/QuernDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

#include <vector>

using namespace mlir;
using namespace quern;

bool quern::isPacked(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.getElementType().isIntOrFloat() && memref.getElementTypeBitWidth() == 4;
}

namespace {

/// The result of a map after a loop was changed to iterate over pairs.
struct Halved {
  AffineExpr expr; ///< null: neither paired nor common
  bool isPaired = false;
};

Halved halve(AffineExpr expr, unsigned loop) {
  AffineExpr index = getAffineDimExpr(loop, expr.getContext());
  if (!expr.isFunctionOfDim(loop))
    return {expr};
  if (expr == index)
    return {expr, true};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  auto by = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : nullptr;
  if (!by)
    return {};
  if (binary.getKind() == AffineExprKind::FloorDiv && binary.getLHS() == index && by.getValue() % 2 == 0)
    return {index.floorDiv(by.getValue() / 2)};
  if (binary.getKind() != AffineExprKind::Mod)
    return {};
  if (binary.getLHS() == index)
    return by.getValue() % 2 == 0 ? Halved{index % (by.getValue() / 2), true} : Halved{};
  Halved inner = halve(binary.getLHS(), loop);
  return inner.expr && !inner.isPaired ? Halved{inner.expr % by.getValue()} : Halved{};
}

/// Returns `type` with pairs as elements along `dim`, or null if that is impossible.
MemRefType pairedType(MemRefType type, unsigned dim) {
  SmallVector<int64_t> strides, shape(type.getShape());
  int64_t offset = 0, bits = type.getElementTypeBitWidth();
  if (failed(type.getStridesAndOffset(strides, offset)) || !type.hasStaticShape() || bits > 32 || offset % 2 ||
      shape[dim] % 2 || strides[dim] != 1)
    return {};
  for (auto [d, stride] : llvm::enumerate(strides)) {
    if (d == dim)
      continue;
    if (shape[d] > 1 && stride % 2)
      return {};
    stride /= 2;
  }
  shape[dim] /= 2;
  Type pair = IntegerType::get(type.getContext(), 2 * bits);
  auto dense = MemRefType::get(shape, pair);
  auto [denseStrides, denseOffset] = dense.getStridesAndOffset();
  if (offset == denseOffset && strides == denseStrides)
    return dense;
  return MemRefType::get(shape, pair, StridedLayoutAttr::get(type.getContext(), offset / 2, strides));
}

/// Returns true for an operand that only states extents.
bool isPin(linalg::GenericOp op, OpOperand &operand) {
  return operand.get().getDefiningOp<memref::AllocOp>() && op.getMatchingBlockArgument(&operand).use_empty() &&
         !op.isDpsInit(&operand);
}

/// The rewriting of one op.
struct PairedOp {
  linalg::GenericOp op;
  unsigned loop = 0;
  SmallVector<AffineMap> maps; ///< new indexing map of each operand
  SmallVector<int> dims;       ///< dim of each operand's memref that is halved; -1: common to a pair
};

class PairedFunction {
public:
  explicit PairedFunction(func::FuncOp function) : function(function) {}
  /// Finds a loop for every op with operands of half bytes. Returns false if an op that writes half bytes has none, or
  /// if the uses of a memref do not agree.
  bool plan();
  void rewrite();

private:
  bool planOp(linalg::GenericOp op);
  bool planLoop(linalg::GenericOp op, unsigned loop, PairedOp &paired) const;
  bool checkArguments();
  void rewriteOp(PairedOp &paired);
  Value emitBody(OpBuilder &b, Location loc, PairedOp &paired, ValueRange elements);

  func::FuncOp function;
  SmallVector<PairedOp, 2> ops;
  llvm::MapVector<Value, unsigned> arguments; ///< the paired dim of each
};

bool PairedFunction::planLoop(linalg::GenericOp op, unsigned loop, PairedOp &paired) const {
  if (op.getIteratorTypesArray()[loop] != utils::IteratorType::parallel || op.getStaticLoopRanges()[loop] % 2)
    return false;
  paired = {op, loop, {}, {}};
  bool pairsHalfBytes = false;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<AffineExpr> exprs;
    int dim = -1;
    for (auto [d, expr] : llvm::enumerate(map.getResults())) {
      Halved halved = halve(expr, loop);
      if (!halved.expr || (halved.isPaired && dim >= 0))
        return false;
      exprs.push_back(halved.expr);
      dim = halved.isPaired ? static_cast<int>(d) : dim;
    }
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (dim >= 0 && !isPin(op, operand) && !pairedType(type, dim))
      return false;
    if (dim < 0 && op.isDpsInit(&operand) && isPacked(type))
      return false;
    pairsHalfBytes |= dim >= 0 && isPacked(type);
    paired.maps.push_back(AffineMap::get(map.getNumDims(), 0, exprs, op.getContext()));
    paired.dims.push_back(dim);
  }
  return pairsHalfBytes;
}

bool PairedFunction::planOp(linalg::GenericOp op) {
  bool writes = llvm::any_of(op.getDpsInits(), [](Value out) { return isPacked(out.getType()); });
  bool touches = llvm::any_of(op->getOperandTypes(), isPacked);
  if (!touches)
    return true;
  if (op.getNumDpsInits() != 1 || op.hasIndexSemantics())
    return !writes;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    PairedOp paired;
    if (!planLoop(op, loop, paired))
      continue;
    ops.push_back(paired);
    return true;
  }
  return !writes;
}

/// Returns true if all users of each paired argument pair it along the same dim or fill it with zeros.
bool PairedFunction::checkArguments() {
  for (PairedOp &paired : ops)
    for (OpOperand &operand : paired.op->getOpOperands()) {
      int dim = paired.dims[operand.getOperandNumber()];
      if (dim < 0 || isPin(paired.op, operand))
        continue;
      auto known = arguments.insert({operand.get(), dim}).first;
      if (!isa<BlockArgument>(operand.get()) || known->second != static_cast<unsigned>(dim))
        return false;
    }
  for (auto [argument, dim] : arguments)
    for (OpOperand &use : argument.getUses()) {
      auto paired = llvm::find_if(ops, [&](PairedOp &op) { return op.op == use.getOwner(); });
      if (paired != ops.end() && paired->dims[use.getOperandNumber()] >= 0)
        continue;
      auto fill = dyn_cast<linalg::FillOp>(use.getOwner());
      bool isZero =
          fill && (matchPattern(fill.getInputs()[0], m_Zero()) || matchPattern(fill.getInputs()[0], m_PosZeroFloat()));
      if (!isZero)
        return false;
    }
  return true;
}

bool PairedFunction::plan() {
  for (Operation &op : function.getBody().front()) {
    if (auto generic = dyn_cast<linalg::GenericOp>(op); generic && !planOp(generic))
      return false;
    auto fill = dyn_cast<linalg::FillOp>(op);
    bool isOnlyUse = fill && llvm::hasSingleElement(fill.getOutputs()[0].getUses());
    if (isOnlyUse && isPacked(fill.getOutputs()[0].getType()))
      return false;
  }
  return checkArguments();
}

/// Extracts one of the two elements of a pair.
Value elementOf(OpBuilder &b, Location loc, Value pair, unsigned half, Type element) {
  unsigned bits = element.getIntOrFloatBitWidth();
  if (half)
    pair =
        arith::ShRUIOp::create(b, loc, pair, arith::ConstantOp::create(b, loc, b.getIntegerAttr(pair.getType(), bits)));
  Value integer = arith::TruncIOp::create(b, loc, b.getIntegerType(bits), pair);
  return element == integer.getType() ? integer : arith::BitcastOp::create(b, loc, element, integer).getResult();
}

Value pairOf(OpBuilder &b, Location loc, Value first, Value second) {
  unsigned bits = first.getType().getIntOrFloatBitWidth();
  auto wide = [&](Value element) -> Value {
    if (!element.getType().isInteger())
      element = arith::BitcastOp::create(b, loc, b.getIntegerType(bits), element);
    return arith::ExtUIOp::create(b, loc, b.getIntegerType(2 * bits), element);
  };
  Value low = wide(first), high = wide(second);
  high = arith::ShLIOp::create(b, loc, high, arith::ConstantOp::create(b, loc, b.getIntegerAttr(high.getType(), bits)));
  return arith::OrIOp::create(b, loc, low, high);
}

/// Emits the body for both elements of a pair; operations with the same operands in both are emitted once.
Value PairedFunction::emitBody(OpBuilder &b, Location loc, PairedOp &paired, ValueRange elements) {
  Block *body = paired.op.getBlock();
  Value result = body->getTerminator()->getOperand(0);
  IRMapping first, second;
  for (auto [argument, element] : llvm::zip_equal(body->getArguments(), elements)) {
    bool isPair = paired.dims[argument.getArgNumber()] >= 0;
    if (argument == result && isPair)
      return element;
    if (argument.use_empty())
      continue;
    first.map(argument, isPair ? elementOf(b, loc, element, 0, argument.getType()) : element);
    second.map(argument, isPair ? elementOf(b, loc, element, 1, argument.getType()) : element);
  }
  for (Operation &op : body->without_terminator())
    b.clone(op, first);
  for (Operation &op : body->without_terminator()) {
    bool isCommon =
        llvm::all_of(op.getOperands(), [&](Value v) { return first.lookupOrDefault(v) == second.lookupOrDefault(v); });
    if (isCommon)
      second.map(op.getResults(),
                 ValueRange(llvm::map_to_vector(op.getResults(), [&](Value v) { return first.lookup(v); })));
    else
      b.clone(op, second);
  }
  return pairOf(b, loc, first.lookupOrDefault(result), second.lookupOrDefault(result));
}

void PairedFunction::rewriteOp(PairedOp &paired) {
  linalg::GenericOp op = paired.op;
  OpBuilder builder(op);
  SmallVector<Value> operands(op->getOperands());
  for (OpOperand &operand : op->getOpOperands()) {
    int dim = paired.dims[operand.getOperandNumber()];
    if (dim < 0 || !isPin(op, operand))
      continue;
    auto type = cast<MemRefType>(operand.get().getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] /= 2;
    operands[operand.getOperandNumber()] =
        memref::AllocOp::create(builder, op.getLoc(), MemRefType::get(shape, type.getElementType()));
  }
  ValueRange all(operands);
  linalg::GenericOp::create(builder, op.getLoc(), all.drop_back(), all.take_back(), paired.maps,
                            op.getIteratorTypesArray(), [&](OpBuilder &b, Location loc, ValueRange elements) {
                              linalg::YieldOp::create(b, loc, emitBody(b, loc, paired, elements));
                            });
  SmallVector<Operation *> pins;
  for (OpOperand &operand : op->getOpOperands())
    if (isPin(op, operand))
      pins.push_back(operand.get().getDefiningOp());
  op.erase();
  for (Operation *pin : pins)
    if (pin->use_empty())
      pin->erase();
}

void PairedFunction::rewrite() {
  for (auto [argument, dim] : arguments) {
    argument.setType(pairedType(cast<MemRefType>(argument.getType()), dim));
    Type pair = cast<MemRefType>(argument.getType()).getElementType();
    for (Operation *user : argument.getUsers())
      if (auto fill = dyn_cast<linalg::FillOp>(user)) {
        OpBuilder builder(fill);
        fill.getInputsMutable()[0].set(arith::ConstantOp::create(builder, fill.getLoc(), builder.getZeroAttr(pair)));
        for (BlockArgument element : fill.getBlock()->getArguments())
          element.setType(pair);
      }
  }
  for (PairedOp &paired : ops)
    rewriteOp(paired);
  Builder builder(function.getContext());
  function.setFunctionType(builder.getFunctionType(function.getBody().getArgumentTypes(), {}));
}

} // namespace

void quern::pairElements(ModuleOp module) {
  std::vector<PairedFunction> functions;
  const bool isProgram = static_cast<bool>(attrOf<ProgramAttr>(module));
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!llvm::any_of(function.getArgumentTypes(), isPacked) || functions.emplace_back(function).plan())
      continue;
    if (!isProgram)
      return;
    functions.pop_back();
  }
  for (PairedFunction &function : functions)
    function.rewrite();
}
