//===- Steps.cpp - Names of a caller's operations -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A canonical text has no locations of the caller. An operation is identified by its number in that text and the
// operations of its body, as in "operation 2: mulf, addf"; its result is named after the last of these.
//
//===----------------------------------------------------------------------===//
#include "IR/Steps.h"
#include "Functions/Functions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace quern;

namespace {

/// Returns "mul" for arith.mulf, "exp" for math.exp.
StringRef shortName(Operation &op) {
  StringRef name = op.getName().stripDialect();
  if (isa<arith::ArithDialect>(op.getDialect()) && name.size() > 1 && (name.ends_with("f") || name.ends_with("i")))
    name = name.drop_back(1);
  return name;
}

} // namespace

void functions::nameSteps(func::FuncOp function) {
  constexpr size_t maxNamed = 6;
  size_t number = 0;
  for (auto op : function.getOps<linalg::LinalgOp>()) {
    std::string step = "operation " + std::to_string(++number), name = "copy";
    size_t named = 0;
    for (Operation &inner : op.getBlock()->without_terminator()) {
      name = shortName(inner).str();
      if (named++ < maxNamed)
        step += (named == 1 ? ": " : ", ") + inner.getName().stripDialect().str();
    }
    if (named > maxNamed)
      step += ", …";
    if (isa<linalg::FillOp>(op.getOperation()))
      name = "start";
    const Location location = locationOfStep(function.getContext(), name, step);
    op->setLoc(location);
    for (Operation &inner : op.getBlock()->getOperations())
      inner.setLoc(locationOfStep(function.getContext(), shortName(inner), step));
    for (Value init : op.getDpsInits())
      if (auto alloc = init.getDefiningOp<memref::AllocOp>())
        alloc->setLoc(location);
  }
}
