//===- Licences.cpp - What linalg leaves open, as flags ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Functions/Forms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

void quern::functions::grantLicences(func::FuncOp function) {
  using arith::FastMathFlags;
  for (auto op : function.getOps<linalg::LinalgOp>()) {
    if (op.getNumReductionLoops() == 0)
      continue;
    for (BlockArgument accumulator : op.getRegionOutputArgs()) {
      auto add = accumulator.hasOneUse() ? dyn_cast<arith::AddFOp>(*accumulator.user_begin()) : arith::AddFOp();
      if (!add)
        continue;
      Value term = add.getLhs() == accumulator ? add.getRhs() : add.getLhs();
      auto product = term.getDefiningOp<arith::MulFOp>();
      auto flags = add.getFastmath() | FastMathFlags::reassoc;
      if (product) {
        flags = flags | FastMathFlags::contract;
        product.setFastmath(product.getFastmath() | FastMathFlags::contract);
      }
      add.setFastmath(flags);
    }
  }
}
