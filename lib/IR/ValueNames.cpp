//===- ValueNames.cpp - Module text with meaningful names -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The printer takes the name of a value from the outermost NameLoc of its location. The name of a step does not suit
// its constants and addresses, which get the printer's usual names or numbers, or its loop indices, which are named
// i, j, k and l.
//
//===----------------------------------------------------------------------===//
#include "IR/ValueNames.h"

#include "IR/QuernDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace {

Location named(StringRef name, Location location) {
  return NameLoc::get(StringAttr::get(location.getContext(), name), location);
}

StringRef nameOf(Value value) {
  auto name = value.getLoc()->findInstanceOf<NameLoc>();
  return name ? name.getName().getValue() : StringRef();
}

void nameArguments(FunctionOpInterface function) {
  const unsigned count = function.getNumArguments();
  auto name = [&](unsigned i, StringRef name) {
    BlockArgument argument = function.getArgument(i);
    argument.setLoc(named(name, argument.getLoc()));
  };
  if (function.isExternal())
    return;
  for (unsigned i = 0; i < count; ++i) {
    if (auto argName = function.getArgAttrOfType<StringAttr>(i, quern::attr::arg))
      name(i, argName);
    for (StringRef memory : {quern::attr::shared, quern::attr::scratch, quern::attr::sizes})
      if (function.getArgAttr(i, memory))
        name(i, memory.rsplit('.').second);
  }
  auto isIndex = [&](unsigned i) { return function.getArgument(i).getType().isIndex(); };
  if (count >= 2 && isIndex(count - 2) && isIndex(count - 1)) {
    name(count - 2, "begin");
    name(count - 1, "end");
  }
}

/// Names the index of a loop by the loop's depth; loop-carried values get the names of the results.
void nameLoop(scf::ForOp loop) {
  unsigned depth = 0;
  for (auto around = loop->getParentOfType<scf::ForOp>(); around; around = around->getParentOfType<scf::ForOp>())
    ++depth;
  constexpr StringRef names[] = {"i", "j", "k", "l"};
  Value at = loop.getInductionVar();
  at.setLoc(named(depth < std::size(names) ? names[depth] : StringRef("at"), at.getLoc()));
  for (auto [carried, result] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults()))
    carried.setLoc(named(nameOf(result), carried.getLoc()));
}

/// Names the block arguments of a body after the operands whose elements they are.
void nameElements(linalg::GenericOp op) {
  for (auto [operand, element] : llvm::zip_equal(op->getOpOperands(), op.getBody()->getArguments()))
    if (StringRef name = nameOf(operand.get()); !name.empty())
      element.setLoc(named(name, element.getLoc()));
}

/// Returns the printer's name for the results of `op`, such as c16 or thread_id_x; "" if the printer numbers them.
std::string usualName(Operation *op) {
  std::string usual;
  if (auto asmOp = dyn_cast<OpAsmOpInterface>(op))
    asmOp.getAsmResultNames([&](Value, StringRef name) { usual = name.str(); });
  return usual;
}

void nameResults(Operation *op) {
  Value from;
  if (auto load = dyn_cast<vector::LoadOp>(op))
    from = load.getBase();
  else if (auto load = dyn_cast<vector::MaskedLoadOp>(op))
    from = load.getBase();
  else if (auto load = dyn_cast<memref::LoadOp>(op); load && !load.getType().isIndex())
    from = load.getMemRef();
  else if (isa<memref::ViewOp, memref::SubViewOp, memref::ReinterpretCastOp>(op))
    from = op->getOperand(0);
  const bool isPlace = llvm::all_of(op->getResultTypes(), [](Type type) { return type.isIntOrIndex(); });
  if (from)
    op->setLoc(named(nameOf(from), op->getLoc()));
  else if (op->getNumResults() && (isPlace || isa<arith::ConstantOp>(op)))
    op->setLoc(named(usualName(op), op->getLoc()));
}

} // namespace

std::string quern::namedText(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  copy->walk<WalkOrder::PreOrder>([](Operation *op) {
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      nameArguments(function);
    nameResults(op);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      nameLoop(loop);
    else if (auto generic = dyn_cast<linalg::GenericOp>(op))
      nameElements(generic);
  });
  std::string text;
  llvm::raw_string_ostream os(text);
  copy->print(os, OpPrintingFlags().printNameLocAsPrefix());
  return text;
}
