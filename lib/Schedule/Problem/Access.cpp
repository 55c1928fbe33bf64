//===- Access.cpp - Where the operands of an op lie ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Problem/Access.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace quern;
using namespace quern::rows;

bool quern::isFlatBase(Operation *op) {
  auto view = dyn_cast<memref::ViewOp>(op);
  if (!view && !isa<memref::GetGlobalOp>(op))
    return false;
  auto type = cast<MemRefType>(op->getResult(0).getType());
  return (!view || isa<BlockArgument>(view.getSource())) && type.getRank() == 1 && type.hasStaticShape() && type.getLayout().isIdentity();
}

bool quern::isView(Operation *op) {
  return isa_and_nonnull<memref::SubViewOp, memref::ReinterpretCastOp, memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp>(op);
}

bool LoopAccess::isArgument() const { return !isScalar() && (isa<BlockArgument>(base) || isFlatBase(base.getDefiningOp())); }

/// Whose memory it is, or a reason.
static std::string readBase(Value memref, LoopAccess &access) {
  for (access.base = memref; isView(access.base.getDefiningOp()); access.isView = true)
    access.base = access.base.getDefiningOp()->getOperand(0);
  auto type = dyn_cast<MemRefType>(memref.getType());
  if (!type)
    return memref.getType().isIntOrFloat() ? "" : "is neither a memref nor a number";
  SmallVector<int64_t> strides;
  if (failed(type.getStridesAndOffset(strides, access.offset)))
    return "is not a strided memref";
  if (access.isView && (ShapedType::isDynamic(access.offset) || llvm::any_of(strides, ShapedType::isDynamic)))
    return "is a view with strides that are given at execution";
  Type element = type.getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 8 || !llvm::isPowerOf2_32(element.getIntOrFloatBitWidth()))
    return "has elements that are not whole bytes";
  bool isKnown = access.isArgument() || access.base.getDefiningOp<memref::AllocOp>();
  return isKnown ? "" : "is neither an argument nor an intermediate";
}

/// How it is walked, or a reason.
static std::string readMap(AffineMap map, const ArgumentSizes::Layout &layout, ArrayRef<int64_t> extents, LoopAccess &access) {
  if (!layout.fits)
    return ("has a size of " + Twine(leastOpenSize) + " or more").str();
  constexpr auto *computed = "computes its address with sizes that are given at execution";
  SmallVector<SmallVector<Digit, 4>, 6> digits(extents.size());
  int64_t offset = 0;
  for (auto [expr, stride] : llvm::zip_equal(map.getResults(), layout.strides)) {
    if (failed(readDigits(expr, stride, offset, [&](unsigned loop, Digit digit) { digits[loop].push_back(digit); })))
      return "has a map that is not made of sums of dims, constants, d floordiv B and d mod B";
    if (isOpen(stride) && !isa<AffineDimExpr>(expr) && expr != 0)
      return computed;
  }
  for (auto [extent, sum] : llvm::zip_equal(extents, digits)) {
    if (sum.size() > 1 && llvm::any_of(sum, [](const Digit &digit) { return isOpen(digit.stride); }))
      return computed;
    if (!alignShifts(sum, extent, offset))
      return "has digits of a loop from different places of it";
    Walk walk(sum, extent);
    if (isOpen(extent) && !walk.isLinear())
      return computed;
    offset += walk.start();
    access.loops.push_back(walk.isLinear() ? Walk(Digit{1, 0, walk.step()}, extent) : walk); // a step is a step from anywhere
  }
  access.offset = layout.offset + offset;
  return offset && isOpen(layout.offset) ? computed : "";
}

LoopAccess quern::readAccess(OpOperand &operand, ArrayRef<int64_t> extents, const ArgumentSizes &sizes) {
  LoopAccess access;
  std::string reason = readBase(operand.get(), access);
  if (reason.empty() && !access.isScalar()) {
    AffineMap map = cast<linalg::LinalgOp>(operand.getOwner()).getMatchingIndexingMap(&operand);
    reason = readMap(map, sizes.layoutOf(operand.get()), extents, access);
  }
  if (!reason.empty())
    access.whyNot = ("operand #" + Twine(operand.getOperandNumber()) + " of an op " + reason).str();
  return access;
}

void DimAccess::addDim(const Walk &walk) {
  if (!walk.isLinear())
    curves.push_back({static_cast<unsigned>(strides.size()), walk});
  strides.push_back(walk.isLinear() ? walk.step() : 0);
}

void DimAccess::dropDim(unsigned dim) {
  strides.erase(strides.begin() + dim);
  for (auto &[at, walk] : curves)
    at -= at > dim;
}

bool DimAccess::isCurved(unsigned dim) const {
  return llvm::any_of(curves, [&](const auto &curve) { return curve.first == dim; });
}

bool DimAccess::followsOn(unsigned outer, unsigned inner, int64_t extent) const {
  return !isCurved(outer) && !isCurved(inner) && !isOpen(strides[inner]) && strides[outer] == strides[inner] * extent;
}
