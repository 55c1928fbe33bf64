//===- Chain.cpp - Reading a problem for the points schedule -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Points/Values.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace quern;
using namespace quern::points;

/// Memory beside the arguments: a part of one, given by its first byte, or a table of constants.
static bool isFlatBase(Operation *op) {
  auto view = dyn_cast<memref::ViewOp>(op);
  if (!isa<memref::GetGlobalOp>(op) && !(view && isa<BlockArgument>(view.getSource())))
    return false;
  auto type = cast<MemRefType>(op->getResult(0).getType());
  return type.getRank() == 1 && type.hasStaticShape() && type.getLayout().isIdentity();
}

Value points::rootOf(Value memref) {
  while (auto view = memref.getDefiningOp<memref::SubViewOp>())
    memref = view.getSource();
  return memref;
}

LogicalResult PointChain::read(std::string &whyNot) {
  auto fail = [&](const Twine &why) {
    whyNot = why.str();
    return failure();
  };
  if (!problem.getBody().hasOneBlock())
    return fail("the function has control flow");
  for (Type type : problem.getArgumentTypes())
    if (!isa<MemRefType>(type))
      return fail("an argument is no memref");
  for (Operation &op : problem.getBody().front()) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      if (!linalgOp.hasPureBufferSemantics())
        return fail("'" + op.getName().getStringRef() + "' is not on memrefs");
      for (auto [i, init] : llvm::enumerate(linalgOp.getDpsInits()))
        if (Value root = rootOf(init); root.getDefiningOp<memref::AllocOp>())
          writers[root].push_back({static_cast<unsigned>(ops.size()), static_cast<unsigned>(i)});
      ops.push_back(linalgOp);
      continue;
    }
    if (isa<memref::AllocOp, memref::DeallocOp, memref::DimOp, memref::SubViewOp, func::ReturnOp>(op))
      continue;
    auto load = dyn_cast<memref::LoadOp>(op);
    bool isScalar = isa<arith::ConstantOp>(op) || (load && isa<BlockArgument>(load.getMemRef())) ||
                    (op.getNumRegions() == 0 && isMemoryEffectFree(&op) && !isa<ViewLikeOpInterface, memref::GetGlobalOp>(op));
    if (!isScalar && !isFlatBase(&op))
      return fail("'" + op.getName().getStringRef() + "' has no place in a chain");
    prologue.push_back(&op);
  }
  return success();
}

const Writer *PointChain::writerOf(Value alloc, unsigned before) const {
  auto found = writers.find(alloc);
  const Writer *last = nullptr;
  if (found != writers.end())
    for (const Writer &writer : found->second)
      if (writer.position < before)
        last = &writer;
  return last;
}

int64_t PointChain::extentOf(Value memref, unsigned dim) const {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim);
  if (isa<BlockArgument>(memref))
    return sizes.layoutOf(memref).shape[dim];
  Value size;
  if (auto alloc = memref.getDefiningOp<memref::AllocOp>())
    size = alloc.getDynamicSizes()[type.getDynamicDimIndex(dim)];
  else if (auto view = memref.getDefiningOp<memref::SubViewOp>(); view && view.getDroppedDims().none())
    size = view.getDynamicSize(dim);
  auto dimOp = size ? size.getDefiningOp<memref::DimOp>() : memref::DimOp();
  std::optional<int64_t> which = dimOp ? dimOp.getConstantIndex() : std::nullopt;
  return which ? extentOf(dimOp.getSource(), static_cast<unsigned>(*which)) : ShapedType::kDynamic;
}

int64_t PointChain::loopExtent(linalg::LinalgOp op, unsigned loop) const {
  int64_t extent = op.getStaticLoopRanges()[loop];
  for (OpOperand &operand : op->getOpOperands()) {
    if (!ShapedType::isDynamic(extent))
      break;
    if (isa<MemRefType>(operand.get().getType()))
      for (auto [d, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
        if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && dim.getPosition() == loop && ShapedType::isDynamic(extent))
          extent = extentOf(operand.get(), d);
  }
  return extent;
}

/// A sum of multiples of loops.
static bool flatten(AffineExpr expr, int64_t factor, SmallVectorImpl<LoopDigit> &digits) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    digits.push_back({dim.getPosition(), factor, 0});
    return true;
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() == 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (expr.getKind() == AffineExprKind::Add)
    return flatten(binary.getLHS(), factor, digits) && flatten(binary.getRHS(), factor, digits);
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return expr.getKind() == AffineExprKind::Mul && constant && flatten(binary.getLHS(), factor * constant.getValue(), digits);
}

LogicalResult PointChain::digitsOf(linalg::LinalgOp op, unsigned result, SmallVector<SmallVector<LoopDigit, 2>> &digits,
                                   std::string &whyNot) const {
  auto fail = [&] {
    whyNot = "an element of an intermediate does not tell the point of '" + op->getName().getStringRef().str() + "' that writes it";
    return failure();
  };
  llvm::SmallBitVector seen(op.getNumLoops());
  digits.clear();
  for (AffineExpr expr : op.getMatchingIndexingMap(op.getDpsInitOperand(result)).getResults()) {
    auto &list = digits.emplace_back();
    if (!flatten(expr, 1, list))
      return fail();
    llvm::sort(list, [](const LoopDigit &a, const LoopDigit &b) { return a.weight > b.weight; });
    int64_t room = 0; // of the digit before; the outermost has all
    for (LoopDigit &digit : list) {
      digit.extent = loopExtent(op, digit.loop);
      bool fits = room == 0 || (!rows::isOpen(digit.extent) && digit.extent * digit.weight <= room);
      if (seen[digit.loop] || digit.weight < 1 || !fits)
        return fail();
      seen.set(digit.loop);
      room = digit.weight;
    }
  }
  for (auto [loop, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if ((kind == utils::IteratorType::reduction) == seen[loop] && loopExtent(op, loop) != 1)
      return fail();
  return success();
}

bool PointChain::isPartial(linalg::LinalgOp op, unsigned result, Value alloc) const {
  Value written = op.getDpsInitOperand(result)->get();
  auto type = cast<MemRefType>(written.getType()), whole = cast<MemRefType>(alloc.getType());
  if (type.getRank() != whole.getRank())
    return true;
  SmallVector<SmallVector<LoopDigit, 2>> digits;
  std::string whyNot;
  if (failed(digitsOf(op, result, digits, whyNot)))
    return true;
  for (unsigned d = 0; d < digits.size(); ++d) {
    int64_t extent = 1, wanted = extentOf(alloc, d);
    for (const LoopDigit &digit : llvm::reverse(digits[d])) {
      if (digit.weight != extent)
        return true;
      extent = rows::isOpen(digit.extent) && extent == 1 ? digit.extent : extent * digit.extent;
    }
    if (extent != wanted)
      return true;
  }
  return false;
}
