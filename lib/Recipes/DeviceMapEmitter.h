//===- DeviceMapEmitter.h - Writing a planned map for work-items ----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_RECIPES_DEVICEMAPEMITTER_H
#define QUERN_RECIPES_DEVICEMAPEMITTER_H

#include "Recipes/DeviceMapPlan.h"
#include "Recipes/GroupMemory.h"

#include "mlir/IR/Builders.h"

#include <map>

namespace quern::maps {

class DeviceMapEmitter {
public:
  explicit DeviceMapEmitter(DeviceMapPlan &plan)
      : plan(plan), problem(plan.problem), b(problem.function.getContext()), loc(problem.function.getLoc()) {}
  /// Writes the kernel behind the problem.
  mlir::func::FuncOp emit();

private:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<Value>;

  /// A point of the box: digits by axis (null: 0), as index values.
  using Digits = Values;

  void emitBox(Value box);
  void forPoints(const Group &order, bool isRolled, llvm::function_ref<void(const Digits &, Value inBox)> f);
  void forPointsInLoop(const Group &order, llvm::function_ref<void(const Digits &, Value inBox)> f);
  Value digitOf(int64_t at, int64_t unit, int64_t count, bool isLast);
  void readBox();
  Value fromMemory(const Digits &digits);
  void writePoint(const Digits &digits, Value inBox);
  /// Where axis a's digits are past its end; null: nowhere.
  Value insideAxes(const Digits &digits);
  Value insideLimits(const Digits &digits, bool write);
  Value addressOf(unsigned operand, const Digits &digits);
  Value memoryAt(const Digits &digits);
  Value emitBody(llvm::ArrayRef<Value> elements);
  Value captured(Value scalar);
  Value loadElement(unsigned operand, Value at);
  void storeElement(Value element, Value at);
  void choose(Value condition, llvm::function_ref<void()> then);

  Value index(int64_t value);
  Value constant(mlir::TypedAttr attr);
  Value add(Value a, Value c);
  Value scaled(Value v, int64_t by);
  Value walk(Value at, const Walk &way);
  Value both(Value a, Value c);
  Value divided(Value v, int64_t by);
  Value modulo(Value v, int64_t by);
  template <typename Op, typename... Args> auto create(Args &&...args) { return Op::create(b, loc, std::forward<Args>(args)...); }

  DeviceMapPlan &plan;
  MapProblem &problem;
  mlir::OpBuilder b;
  mlir::Location loc;
  Kernel kernel;
  mlir::Operation *first = nullptr; ///< constants stand in front of it
  Value local, memory;
  Value lane, firstLane; ///< in the sub-group, and of it in the group; null where sub-groups do not matter
  Values flat;           ///< by operand: the kernel's memref
  Values bases;          ///< by operand: the address of the box
  Values firsts;         ///< by axis: the box's first index
  Values left;           ///< by limit: `read` less the weights of the box
  std::map<std::pair<int64_t, int64_t>, Value> digitsOfItem;
  llvm::DenseMap<mlir::Attribute, Value> constants;
};

} // namespace quern::maps

#endif // QUERN_RECIPES_DEVICEMAPEMITTER_H
