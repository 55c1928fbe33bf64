//===- Tables.cpp - Tables of constants -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A table of constants is data of the kernel. Recipes support it as 1-D memory that each operand's map indexes.
//
//===----------------------------------------------------------------------===//
#include "Functions/Canonicalize/Canonicalize.h"

#include "Functions/Locations.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace quern;
using namespace quern::functions;

namespace {

/// Returns true if the extent of every loop is a dim of some other operand.
bool areLoopsTold(linalg::GenericOp op, const OpOperand &table) {
  SmallVector<bool> told(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands())
    if (&operand != &table && isa<MemRefType>(operand.get().getType()) &&
        !operand.get().getDefiningOp<memref::GetGlobalOp>())
      for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults())
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          told[dim.getPosition()] = true;
  return llvm::all_of(told, [](bool isTold) { return isTold; });
}

Result<void> readFlat(OpOperand &use, MemRefType type, Value flat) {
  auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!op || !op.isDpsInput(&use))
    return unsupported(use.getOwner(), "takes a view of a table of constants, or writes to one");
  if (!areLoopsTold(op, use))
    return unsupported(op, "has a loop whose extent only a table of constants determines");
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap &map = maps[use.getOperandNumber()];
  AffineExpr place = getAffineConstantExpr(0, op.getContext());
  for (auto [expr, size] : llvm::zip_equal(map.getResults(), type.getShape()))
    place = place * size + expr;
  map = AffineMap::get(map.getNumDims(), 0, simplifyAffineExpr(place, map.getNumDims(), 0));
  op.setIndexingMapsAttr(Builder(op.getContext()).getAffineMapArrayAttr(maps));
  use.set(flat);
  return {};
}

} // namespace

Result<void> functions::flattenTables(func::FuncOp function) {
  auto module = function->getParentOfType<ModuleOp>();
  unsigned count = 0;
  for (auto get : llvm::to_vector(function.getOps<memref::GetGlobalOp>())) {
    auto global = module.lookupSymbol<memref::GlobalOp>(get.getName());
    auto values = global ? dyn_cast_or_null<DenseElementsAttr>(global.getInitialValueAttr()) : DenseElementsAttr();
    if (!values)
      return unsupported(get, "is a table without values");
    OpBuilder builder(get);
    const MemRefType type = get.getType();
    auto flatType = MemRefType::get({type.getNumElements()}, type.getElementType());
    const std::string name = concat("table", count++);
    builder.setInsertionPointToStart(module.getBody());
    auto made =
        memref::GlobalOp::create(builder, get.getLoc(), name, builder.getStringAttr("private"), flatType,
                                 values.reshape(RankedTensorType::get(flatType.getShape(), flatType.getElementType())),
                                 /*constant=*/true, builder.getI64IntegerAttr(64));
    builder.setInsertionPoint(get);
    auto flat = memref::GetGlobalOp::create(builder, get.getLoc(), flatType, made.getName());
    for (OpOperand &use : llvm::make_early_inc_range(get->getUses()))
      QUERN_RETURN_IF_ERROR(readFlat(use, type, flat));
    get.erase();
  }
  for (auto global : llvm::make_early_inc_range(module.getOps<memref::GlobalOp>()))
    if (!global.getName().starts_with("table"))
      global.erase();
  return {};
}
