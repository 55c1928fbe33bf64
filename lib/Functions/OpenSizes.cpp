//===- OpenSizes.cpp - Sizes of a function that an execution brings ----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Functions/OpenSizes.h"

#include "Functions/Places.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace quern;
using namespace quern::functions;

namespace {

/// For each dim of the larger shape of a reshape the dim of the smaller one, where it is that alone.
template <typename Reshape, typename Visit> void forEachKept(Reshape reshape, MemRefType expanded, Visit visit) {
  for (auto [collapsed, group] : llvm::enumerate(reshape.getReassociationIndices())) {
    SmallVector<int64_t> longer;
    llvm::copy_if(group, std::back_inserter(longer), [&](int64_t d) { return expanded.getDimSize(d) != 1; });
    if (longer.size() == 1)
      visit(static_cast<int64_t>(collapsed), longer[0]);
  }
}

} // namespace

unsigned OpenSizes::node(Value memref, int64_t dim) {
  auto [at, isNew] = nodes.try_emplace({memref, dim}, nodes.size());
  if (isNew)
    joined.grow(nodes.size());
  return at->second;
}

void OpenSizes::join(Value memref, int64_t dim, Value other, int64_t otherDim) {
  joined.join(node(memref, dim), node(other, otherDim));
}

void OpenSizes::readOperation(Operation &op) {
  auto joinSizes = [&](Value memref, ValueRange sizes) {
    auto type = cast<MemRefType>(memref.getType());
    for (int64_t d = 0, next = 0; d < type.getRank(); ++d)
      if (type.isDynamicDim(d)) {
        auto size = sizes[next++].getDefiningOp<memref::DimOp>();
        if (std::optional<int64_t> of = size ? size.getConstantIndex() : std::nullopt)
          join(memref, d, size.getSource(), *of);
      }
  };
  if (auto alloc = dyn_cast<memref::AllocOp>(op))
    joinSizes(alloc, alloc.getDynamicSizes());
  else if (auto subview = dyn_cast<memref::SubViewOp>(op); subview && !subview.getDroppedDims().any())
    joinSizes(subview, subview.getSizes());
  else if (auto cast = dyn_cast<memref::CastOp>(op))
    for (int64_t d = 0; d < mlir::cast<MemRefType>(cast.getType()).getRank(); ++d)
      join(cast.getDest(), d, cast.getSource(), d);
  else if (auto expand = dyn_cast<memref::ExpandShapeOp>(op))
    forEachKept(expand, expand.getResultType(),
                [&](int64_t collapsed, int64_t d) { join(expand, d, expand.getSrc(), collapsed); });
  else if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op))
    forEachKept(collapse, collapse.getSrcType(),
                [&](int64_t collapsed, int64_t d) { join(collapse, collapsed, collapse.getSrc(), d); });
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return;
  SmallVector<std::optional<std::pair<Value, int64_t>>> loops(linalgOp.getNumLoops());
  for (OpOperand &operand : op.getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    for (auto [d, expr] : llvm::enumerate(linalgOp.getMatchingIndexingMap(&operand).getResults())) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        continue;
      auto &loop = loops[dim.getPosition()];
      if (loop)
        join(operand.get(), static_cast<int64_t>(d), loop->first, loop->second);
      else
        loop = {operand.get(), static_cast<int64_t>(d)};
    }
  }
}

void OpenSizes::readEntries(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    auto type = cast<MemRefType>(argument.getType());
    auto [strides, offset] = type.getStridesAndOffset();
    firstEntry[argument] = static_cast<int64_t>(entries.size());
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (type.isDynamicDim(d))
        entries.push_back({argument, static_cast<int>(d)});
    entries.append(llvm::count_if(strides, ShapedType::isDynamic) + (ShapedType::isDynamic(offset) ? 1 : 0),
                   Entry{argument, -1});
  }
}

Result<void> OpenSizes::readClasses(func::FuncOp function) {
  for (const Entry &entry : entries)
    if (entry.dim >= 0)
      (void)node(entry.argument, entry.dim);
  joined.compress();
  classes.resize(joined.getNumClasses());
  for (auto [key, id] : nodes) {
    const int64_t extent = cast<MemRefType>(key.first.getType()).getDimSize(key.second);
    if (ShapedType::isDynamic(extent))
      continue;
    std::optional<int64_t> &known = classes[joined[id]].extent;
    if (known && *known != extent)
      return notTaken(function, "has a size that is ", *known, " and ", extent);
    known = extent;
  }
  for (auto [i, entry] : llvm::enumerate(entries))
    if (entry.dim >= 0)
      if (Class &own = classes[joined[nodes.at({entry.argument, entry.dim})]]; own.entry < 0)
        own.entry = static_cast<int64_t>(i);
  return {};
}

/// What no loop tells the bounds of.
static Result<void> checkBounds(Operation &op) {
  if (auto subview = dyn_cast<memref::SubViewOp>(op))
    return notTaken(subview, "takes a part of a buffer, which is taken where all sizes are known");
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return {};
  for (OpOperand &operand : op.getOpOperands())
    for (AffineExpr expr : linalgOp.getMatchingIndexingMap(&operand).getResults())
      if (!isa<AffineDimExpr, AffineConstantExpr>(expr) && !operand.get().getDefiningOp<memref::GetGlobalOp>())
        return notTaken(&op, "computes with indices of open sizes");
  return {};
}

Result<OpenSizes> OpenSizes::of(func::FuncOp function) {
  OpenSizes sizes;
  sizes.readEntries(function);
  if (sizes.isEmpty())
    return sizes;
  for (Operation &op : function.getBody().front()) {
    if (Result<void> ok = checkBounds(op); !ok)
      return ok.takeError();
    sizes.readOperation(op);
  }
  if (Result<void> ok = sizes.readClasses(function); !ok)
    return ok.takeError();
  return sizes;
}

const OpenSizes::Class *OpenSizes::classOf(Value memref, int64_t dim) const {
  auto found = nodes.find({memref, dim});
  return found == nodes.end() ? nullptr : &classes[joined[found->second]];
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

std::optional<SmallVector<int64_t>> OpenSizes::indicesOf(Value memref) const {
  auto type = cast<MemRefType>(memref.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  SmallVector<int64_t> indices;
  SmallVector<int64_t> ofDims(type.getRank(), -1);
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d)) {
      const Class *own = classOf(memref, d);
      if (!own || own->entry < 0)
        return std::nullopt;
      indices.push_back(ofDims[d] = own->entry);
    }
  const int64_t open = llvm::count_if(strides, ShapedType::isDynamic) + (ShapedType::isDynamic(offset) ? 1 : 0);
  if (!open)
    return indices;
  if (isa<BlockArgument>(memref)) {
    const int64_t first = firstEntry.at(memref) + static_cast<int64_t>(indices.size());
    for (int64_t i = 0; i < open; ++i)
      indices.push_back(first + i);
    return indices;
  }
  if (!type.getLayout().isIdentity())
    return std::nullopt;
  for (int64_t d = 0; d < type.getRank(); ++d) { // a stride is the one open dim behind, or no size
    if (!ShapedType::isDynamic(strides[d]))
      continue;
    int64_t behind = -1;
    for (int64_t inner = d + 1; inner < type.getRank(); ++inner) {
      if (type.getDimSize(inner) == 1)
        continue;
      if (!type.isDynamicDim(inner) || behind >= 0)
        return std::nullopt;
      behind = ofDims[inner];
    }
    indices.push_back(behind);
  }
  return indices;
}

AffineExpr OpenSizes::elementsOf(Value alloc) const {
  auto type = cast<MemRefType>(alloc.getType());
  AffineExpr elements = getAffineConstantExpr(1, alloc.getContext());
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (!type.isDynamicDim(d)) {
      elements = elements * type.getDimSize(d);
      continue;
    }
    const Class *own = classOf(alloc, d);
    if (!own || own->entry < 0)
      return {};
    elements = elements * getAffineSymbolExpr(static_cast<unsigned>(own->entry), alloc.getContext());
  }
  return elements;
}
