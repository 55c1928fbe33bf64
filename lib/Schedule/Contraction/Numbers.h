//===- Numbers.h - Loops, addresses and constants ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What every part of a contraction's kernel is written with. A constant and an open size are made once, in the kernel's entry.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_NUMBERS_H
#define QUERN_SCHEDULE_CONTRACTION_NUMBERS_H

#include "Schedule/Build/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace quern::contractions {

class NumberEmitter {
protected:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<Value>;
  using Type = mlir::Type;

  /// value * stride, added to an address.
  struct Term {
    Value value;
    int64_t stride;
  };

  explicit NumberEmitter(mlir::func::FuncOp problem) : b(problem.getContext()), loc(problem.getLoc()) {}

  void forRange(Value begin, Value end, llvm::function_ref<void(Value)> body, int64_t step = 1);
  void forCount(int64_t begin, int64_t end, llvm::function_ref<void(Value)> body);
  Value constant(mlir::TypedAttr attr);
  /// Of a number or an open size.
  Value index(int64_t value);
  Value splat(mlir::TypedAttr scalar, int64_t lanes);
  Value zeros(mlir::VectorType type) { return constant(mlir::cast<mlir::TypedAttr>(b.getZeroAttr(type))); }
  Value linear(int64_t offset, llvm::ArrayRef<Term> terms);
  /// A sum or product of indices, made once for all blocks that see it: every further operation costs each stage to come.
  template <typename Op> Value shared(Value x, Value y) {
    auto key = [&](mlir::Block *block) { return std::tuple(mlir::TypeID::get<Op>(), block, x, y); };
    for (mlir::Block *block = b.getInsertionBlock(); block; block = block->getParent()->getParentOp()->getBlock())
      if (auto found = indices.find(key(block)); found != indices.end())
        return found->second;
    return indices[key(b.getInsertionBlock())] = create<Op>(x, y, mlir::arith::IntegerOverflowFlags::nsw);
  }
  /// Of numbers where both are known.
  Value smaller(Value x, Value y);
  Value difference(Value x, Value y);

  template <typename Op, typename... Args> auto create(Args &&...args) { return Op::create(b, loc, std::forward<Args>(args)...); }
  template <typename F> auto atEntry(F f) {
    mlir::OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(iterations);
    return f();
  }

  mlir::OpBuilder b;
  mlir::Location loc;
  Kernel kernel;                         ///< its arguments are mapped with the prologue
  mlir::Operation *iterations = nullptr; ///< constants go before it: the loop over the kernel's space, or what a work-item does first
  llvm::DenseMap<mlir::Attribute, Value> constants;

private:
  llvm::DenseMap<int64_t, Value> openSizes;
  llvm::DenseMap<std::tuple<mlir::TypeID, mlir::Block *, Value, Value>, Value> indices; ///< what shared() made
};

} // namespace quern::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_NUMBERS_H
