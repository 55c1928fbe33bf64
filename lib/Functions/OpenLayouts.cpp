//===- OpenLayouts.cpp - Layouts of memory with open sizes ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Computes the strides and the offset of views in terms of an execution's sizes, and maps all sizes of a problem to
// entries of the list.
//
//===----------------------------------------------------------------------===//
#include "Functions/Check.h"
#include "Functions/OpenSizes.h"
#include "IR/Polynomials.h"
#include "IR/Strides.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace quern;
using namespace quern::functions;

OpenSizes::Layout OpenSizes::layoutOfArgument(BlockArgument argument) {
  auto type = cast<MemRefType>(argument.getType());
  auto [strides, offset] = quern::stridesOf(type);
  int64_t next = firstEntry.at(argument) + type.getNumDynamicDims();
  Layout layout;
  for (int64_t stride : strides)
    layout.strides.push_back(ShapedType::isDynamic(stride) ? symbol(next++) : number(stride));
  layout.start = ShapedType::isDynamic(offset) ? symbol(next) : number(offset);
  return layout;
}

/// Adds a check at execution for each pair of adjacent collapsed dims that are not known to be contiguous.
Result<void> OpenSizes::checkDense(Value memref, ArrayRef<int64_t> dims, const Layout &layout) {
  for (auto [outer, inner] : llvm::zip(dims, dims.drop_front())) {
    QUERN_ASSIGN_OR_RETURN(AffineExpr size, valueOf(Dim(memref, inner)));
    AffineExpr stride = layout.strides[outer], below = layout.strides[inner];
    if (!stride || !below || !size || areEqual(stride, size * below))
      continue;
    check(rootOf(memref), concat("the stride of dim ", outer), stride, size * below, size * below);
  }
  return {};
}

/// Expanded dims are contiguous within each other; collapsed dims have the stride of the last one.
Result<OpenSizes::Layout> OpenSizes::layoutOfReshape(Operation *op, Layout of) {
  Layout layout{{}, of.start};
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
    for (const ReassociationIndices &group : collapse.getReassociationIndices()) {
      SmallVector<int64_t> longer;
      llvm::copy_if(group, std::back_inserter(longer),
                    [&](int64_t d) { return collapse.getSrcType().getDimSize(static_cast<unsigned>(d)) != 1; });
      QUERN_RETURN_IF_ERROR(checkDense(collapse.getSrc(), longer, of));
      layout.strides.push_back(longer.empty() ? of.strides[group.back()] : of.strides[longer.back()]);
    }
    return layout;
  }
  auto expand = cast<memref::ExpandShapeOp>(op);
  layout.strides.resize(expand.getResultType().getRank());
  for (auto [d, group] : llvm::enumerate(expand.getReassociationIndices())) {
    AffineExpr stride = of.strides[d];
    for (int64_t inner : llvm::reverse(group)) {
      layout.strides[inner] = stride;
      QUERN_ASSIGN_OR_RETURN(AffineExpr size, valueOf(Dim(expand.getResult(), inner)));
      stride = stride && size ? stride * size : AffineExpr();
    }
  }
  for (AffineExpr &stride : layout.strides) // for a reshape to dims of 1
    stride = stride ? stride : number(1);
  return layout;
}

Result<OpenSizes::Layout> OpenSizes::layoutOfPart(memref::SubViewOp subview, Layout of) {
  const llvm::SmallBitVector dropped = subview.getDroppedDims();
  SmallVector<AffineExpr> strides;
  for (auto [d, stride] : llvm::enumerate(of.strides)) {
    Result<AffineExpr> offset = valueOf(subview.getMixedOffsets()[d]), step = valueOf(subview.getMixedStrides()[d]);
    if (!offset || !step)
      return offset ? step.takeError() : offset.takeError();
    const bool isTold = stride && of.start && *offset && *step;
    of.start = isTold ? of.start + *offset * stride : AffineExpr();
    if (!dropped.test(static_cast<unsigned>(d)))
      strides.push_back(isTold ? stride * *step : AffineExpr());
  }
  return Layout{std::move(strides), of.start};
}

Result<OpenSizes::Layout> OpenSizes::layoutOfDense(Value memref) {
  const auto rank = cast<MemRefType>(memref.getType()).getRank();
  Layout layout{SmallVector<AffineExpr>(static_cast<size_t>(rank)), number(0)};
  AffineExpr stride = number(1);
  for (int64_t d = rank - 1; d >= 0; --d) {
    layout.strides[d] = stride;
    QUERN_ASSIGN_OR_RETURN(AffineExpr size, valueOf(Dim(memref, d)));
    stride = stride && size ? stride * size : AffineExpr();
  }
  return layout;
}

/// Returns the layout of a memref; strides and start are null if they are unknown.
Result<OpenSizes::Layout> OpenSizes::layoutOf(Value memref) {
  if (auto known = layouts.find(memref); known != layouts.end())
    return known->second;
  Operation *op = memref.getDefiningOp();
  const bool isView = op && isa<memref::SubViewOp, memref::ExpandShapeOp, memref::CollapseShapeOp, memref::CastOp>(op);
  Result<Layout> layout = Layout();
  if (auto argument = dyn_cast<BlockArgument>(memref))
    layout = layoutOfArgument(argument);
  else if (isView)
    layout = layoutOf(op->getOperand(0));
  else
    layout = layoutOfDense(memref);
  if (auto subview = dyn_cast_or_null<memref::SubViewOp>(op); subview && layout)
    layout = layoutOfPart(subview, std::move(*layout));
  else if (isView && layout && !isa<memref::CastOp>(op))
    layout = layoutOfReshape(op, std::move(*layout));
  if (layout)
    layouts[memref] = *layout;
  return layout;
}

MemRefType OpenSizes::typeOf(Value memref) const {
  auto type = cast<MemRefType>(memref.getType());
  if (!startOf(memref))
    return type;
  auto [strides, offset] = quern::stridesOf(type);
  return MemRefType::get(type.getShape(), type.getElementType(), StridedLayoutAttr::get(type.getContext(), 0, strides));
}

AffineExpr OpenSizes::startOf(Value memref) const {
  auto [strides, offset] = quern::stridesOf(cast<MemRefType>(memref.getType()));
  auto known = layouts.find(memref);
  return isa<BlockArgument>(memref) || !ShapedType::isDynamic(offset) || known == layouts.end() ? AffineExpr()
                                                                                                : known->second.start;
}

std::optional<int64_t> OpenSizes::entryOf(AffineExpr value) {
  if (!value)
    return std::nullopt;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(value))
    return symbol.getPosition();
  std::string why;
  FailureOr<Polynomial> wanted = polynomialOf(value, 0, why);
  if (failed(wanted))
    return std::nullopt;
  for (auto [i, known] : llvm::enumerate(computedSizes))
    if (FailureOr<Polynomial> other = polynomialOf(known, 0, why); succeeded(other) && *other == *wanted)
      return firstComputed() + static_cast<int64_t>(i);
  if (static_cast<size_t>(numbers.size() + computedSizes.size()) >= maxDerivedSizes)
    return std::nullopt;
  computedSizes.push_back(value);
  return firstComputed() + static_cast<int64_t>(computedSizes.size()) - 1;
}

int64_t OpenSizes::entryOf(Value memref, int64_t dim) {
  const Class *own = classOf(memref, dim);
  return own && own->value && !own->extent ? entryOf(own->value).value_or(-1) : -1;
}

std::optional<SmallVector<int64_t>> OpenSizes::indicesOf(Value memref) {
  const MemRefType type = typeOf(memref);
  auto [strides, offset] = quern::stridesOf(type);
  SmallVector<AffineExpr> open;
  auto argument = dyn_cast<BlockArgument>(memref);
  auto known = layouts.find(memref);
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(static_cast<unsigned>(d))) {
      const Class *own = classOf(memref, d);
      open.push_back(!own ? AffineExpr() : own->entry >= 0 ? symbol(own->entry) : own->value);
    }
  if (argument) {
    Layout own = layoutOfArgument(argument);
    for (auto [stride, value] : llvm::zip(strides, own.strides))
      if (ShapedType::isDynamic(stride))
        open.push_back(value);
    if (ShapedType::isDynamic(offset))
      open.push_back(own.start);
  } else {
    for (auto [d, stride] : llvm::enumerate(strides))
      if (ShapedType::isDynamic(stride))
        open.push_back(known == layouts.end() ? AffineExpr() : known->second.strides[d]);
    if (ShapedType::isDynamic(offset))
      return std::nullopt;
  }
  SmallVector<int64_t> indices;
  for (AffineExpr value : open) {
    std::optional<int64_t> entry = entryOf(value);
    if (!entry)
      return std::nullopt;
    indices.push_back(*entry);
  }
  return indices;
}

AffineExpr OpenSizes::elementsOf(Value alloc) const {
  auto type = cast<MemRefType>(alloc.getType());
  AffineExpr elements = number(1);
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (!type.isDynamicDim(static_cast<unsigned>(d))) {
      elements = elements * type.getDimSize(static_cast<unsigned>(d));
      continue;
    }
    const Class *own = classOf(alloc, d);
    if (!own || !own->value)
      return {};
    elements = elements * own->value;
  }
  return elements;
}

std::string OpenSizes::text() const {
  std::string text;
  for (auto [i, entry] : llvm::enumerate(entries)) {
    const Class *own = entry.dim < 0 ? nullptr : classOf(entry.argument, entry.dim);
    text += i ? "," : "";
    text += !own ? std::to_string(i) : own->extent ? concat("=", *own->extent) : std::to_string(own->entry);
  }
  return text;
}

std::string OpenSizes::numbersText() const {
  SmallVector<unsigned> positions =
      llvm::map_to_vector(numbers, [](BlockArgument argument) { return argument.getArgNumber(); });
  llvm::sort(positions);
  std::string text;
  for (unsigned position : positions)
    text += concat(text.empty() ? "" : ",", position);
  return text;
}
