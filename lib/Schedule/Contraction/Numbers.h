//===- Numbers.h - Loops and addresses -----------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// NumberEmitter adds loops over counts and linear addresses to KernelBuilder, for all emitters of contractions.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_NUMBERS_H
#define QUERN_SCHEDULE_CONTRACTION_NUMBERS_H

#include "Schedule/Build/KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace quern::schedule::contractions {

class NumberEmitter : protected KernelBuilder {
protected:
  /// value * stride, added to an address.
  struct Term {
    Value value;
    Size stride;
  };

  using KernelBuilder::KernelBuilder;

  void forCount(int64_t begin, int64_t end, llvm::function_ref<void(Value)> body);
  Value linear(int64_t offset, llvm::ArrayRef<Term> terms);
  /// Emits a sum or product of indices once for all blocks that can see it: every further operation costs time in each
  /// later stage.
  template <typename Op> Value shared(Value x, Value y) {
    auto key = [&](mlir::Block *block) { return std::tuple(mlir::TypeID::get<Op>(), block, x, y); };
    for (mlir::Block *block = b.getInsertionBlock(); block; block = block->getParent()->getParentOp()->getBlock())
      if (auto found = indices.find(key(block)); found != indices.end())
        return found->second;
    return indices[key(b.getInsertionBlock())] = create<Op>(x, y, mlir::arith::IntegerOverflowFlags::nsw);
  }

private:
  llvm::DenseMap<std::tuple<mlir::TypeID, mlir::Block *, Value, Value>, Value> indices; ///< results of shared()
};

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_NUMBERS_H
