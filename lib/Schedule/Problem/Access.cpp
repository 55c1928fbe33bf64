//===- Access.cpp - Addresses of the operands of an op --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Schedule/Problem/Access.h"

#include "IR/Strides.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace quern;
using namespace quern::schedule;

bool quern::schedule::isFlatBase(Operation *op) {
  auto view = dyn_cast<memref::ViewOp>(op);
  if (!view && !isa<memref::GetGlobalOp>(op))
    return false;
  auto type = cast<MemRefType>(op->getResult(0).getType());
  return (!view || isa<BlockArgument>(view.getSource())) && type.getRank() == 1 && type.hasStaticShape() &&
         type.getLayout().isIdentity();
}

bool quern::schedule::isView(Operation *op) {
  return isa_and_nonnull<memref::SubViewOp, memref::ReinterpretCastOp, memref::CastOp, memref::ExpandShapeOp,
                         memref::CollapseShapeOp>(op);
}

bool LoopAccess::isArgument() const {
  return !isScalar() && (isa<BlockArgument>(base) || isFlatBase(base.getDefiningOp()));
}

/// Finds the buffer of a memref. Returns a reason, or an empty string.
static std::string readBase(Value memref, LoopAccess &access) {
  for (access.base = memref; isView(access.base.getDefiningOp()); access.isView = true)
    access.base = access.base.getDefiningOp()->getOperand(0);
  auto type = dyn_cast<MemRefType>(memref.getType());
  if (!type)
    return memref.getType().isIntOrFloat() ? "" : "is neither a memref nor a number";
  std::optional<Strides> layout = readStrides(type);
  if (!layout)
    return "is not a strided memref";
  if (access.isView && (ShapedType::isDynamic(layout->offset) || llvm::any_of(layout->strides, ShapedType::isDynamic)))
    return "is a view with strides known only at execution";
  Type element = type.getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 8 ||
      !llvm::isPowerOf2_32(element.getIntOrFloatBitWidth()))
    return "has elements that are not whole bytes";
  bool isKnown = access.isArgument() || access.base.getDefiningOp<memref::AllocOp>();
  return isKnown ? "" : "is neither an argument nor an intermediate";
}

/// Reads the access functions of the loops. Returns a reason, or an empty string.
static std::string readMap(AffineMap map, const ArgumentSizes::Layout &layout, ArrayRef<Size> extents,
                           LoopAccess &access) {
  if (!layout.fits)
    return ("has a size of " + Twine(endOfNumbers) + " or more").str();
  constexpr auto *computed = "computes its address with sizes known only at execution";
  SmallVector<SmallVector<Digit, 4>, 6> digits(extents.size());
  SmallVector<Size, 6> openSteps(extents.size());
  int64_t offset = 0;
  bool cuts = false;
  for (auto [expr, stride] : llvm::zip_equal(map.getResults(), layout.strides)) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    // 1 replaces an open stride, from which nothing is computed.
    if (failed(readDigits(expr, stride.knownOr(1), offset,
                          [&](unsigned loop, Digit digit) { digits[loop].push_back(digit); })))
      return "has a map that is not made of sums of dims, constants, d floordiv B and d mod B";
    if (!stride.isOpen() || expr == 0)
      continue;
    if (!dim)
      return computed;
    openSteps[dim.getPosition()] = stride;
  }
  for (auto [extent, sum, openStep] : llvm::zip_equal(extents, digits, openSteps)) {
    if (openStep != 0) {
      if (sum.size() > 1)
        return computed;
      access.loops.push_back(AccessFunction::linear(openStep, extent));
      continue;
    }
    if (!alignShifts(sum, extent, offset))
      return "has digits of a loop with incompatible shifts";
    AccessFunction function(sum, extent);
    cuts |= extent.isOpen() && !function.isLinear();
    offset += function.start();
    // If the function is linear, its step is the same from any start, so the shift is dropped.
    access.loops.push_back(function.isLinear() ? AccessFunction::linear(function.step(), extent) : function);
  }
  access.offset = layout.offset;
  if (offset && layout.offset.isOpen())
    return computed;
  if (offset)
    access.offset = layout.offset.known() + offset;
  access.cutsOpenLoops = cuts;
  return cuts ? computed : "";
}

LoopAccess quern::schedule::readAccess(OpOperand &operand, ArrayRef<Size> extents, const ArgumentSizes &sizes) {
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

void DimAccess::addDim(const AccessFunction &function) {
  if (!function.isLinear())
    nonlinear.push_back({static_cast<unsigned>(strides.size()), function});
  strides.push_back(function.isLinear() ? function.step() : 0);
}

void DimAccess::dropDim(unsigned dim) {
  strides.erase(strides.begin() + dim);
  for (auto &[at, function] : nonlinear)
    at -= at > dim;
}

bool DimAccess::isNonlinear(unsigned dim) const {
  return llvm::any_of(nonlinear, [&](const auto &entry) { return entry.first == dim; });
}

bool DimAccess::followsOn(unsigned outer, unsigned inner, int64_t extent) const {
  return !isNonlinear(outer) && !isNonlinear(inner) && strides[outer] == strides[inner] * extent;
}
