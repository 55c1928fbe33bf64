//===- KernelBuilder.h - Constants, indices and masks of a kernel --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Base of the emitters of all recipes. Each constant, open size and captured scalar is emitted once, in the kernel's
// entry.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_BUILD_KERNELBUILDER_H
#define QUERN_SCHEDULE_BUILD_KERNELBUILDER_H

#include "Schedule/Build/Kernel.h"
#include "Schedule/Problem/Digits.h"

#include "mlir/IR/BuiltinTypes.h"

#include <utility>

namespace quern {

class KernelBuilder {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<Value>;
  using Type = mlir::Type;

  explicit KernelBuilder(mlir::func::FuncOp problem) : b(problem.getContext()), loc(problem.getLoc()) {}

  Value constant(mlir::TypedAttr attr);
  Value index(schedule::Size size);
  /// Returns a size in the type of `other`, an index or an integer. An open size is an index.
  Value like(Value other, schedule::Size size);
  /// Broadcasts to all lanes; returns the scalar itself for 0 lanes.
  Value splat(mlir::TypedAttr scalar, int64_t lanes);
  Value zeros(Type type);
  /// Broadcasts a value from outside a body, or a constant in it, to all lanes; returns the scalar for 0 lanes.
  Value captured(Value scalar, int64_t lanes = 0);

  // The functions below are for indices and for integers that represent indices.
  static bool isZero(Value v);
  Value add(Value x, Value y);
  Value add(Value x, int64_t y) { return y ? add(x, index(y)) : x; }
  Value scaled(Value v, schedule::Size by);
  /// Returns `count` times a size, as an index.
  Value multiple(int64_t count, schedule::Size size) {
    return size.isOpen() ? scaled(index(count), size) : index(count * size.known());
  }
  /// Returns the address of index `at` of a loop, relative to the loop's start. `at` is a multiple of `align`.
  Value addressAt(Value at, const schedule::AccessFunction &function, int64_t align = 1);

  /// Returns the conjunction of conditions or masks; null means true.
  Value both(Value x, Value y);
  /// Returns the mask of the first `count` of `lanes`. A run-time `count` (index or i32) may be negative or too large.
  Value prefixMask(int64_t count, int64_t lanes);
  Value prefixMask(Value count, int64_t lanes);

  /// Returns the results of `then` if the condition holds, otherwise those of `otherwise`. A null condition always
  /// holds.
  Values chooseValues(Value condition, mlir::TypeRange types, llvm::function_ref<Values()> then,
                      llvm::function_ref<Values()> otherwise);
  /// Emits a loop that carries values: `body` gets the index and the carried values, and returns those of the next
  /// iteration.
  Values loop(Value begin, Value end, Value step, mlir::ValueRange initial,
              llvm::function_ref<Values(Value at, Values carried)> body);
  /// Emits a loop that carries no values.
  void forRange(Value begin, Value end, llvm::function_ref<void(Value)> body, int64_t step = 1);

  template <typename Op, typename... Args> auto create(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }
  /// Runs f before `point`, or here if it is null.
  template <typename F> auto before(mlir::Operation *point, F f) {
    mlir::OpBuilder::InsertionGuard guard(b);
    if (point)
      b.setInsertionPoint(point);
    return f();
  }
  template <typename F> auto atEntry(F f) { return before(entry, f); }

  /// While it exists, new operations have the location of an operation of the problem.
  class AtOperation {
  public:
    AtOperation(KernelBuilder &builder, mlir::Location of) : builder(builder), around(std::exchange(builder.loc, of)) {}
    ~AtOperation() { builder.loc = around; }
    AtOperation(const AtOperation &) = delete;
    AtOperation &operator=(const AtOperation &) = delete;

  private:
    KernelBuilder &builder;
    mlir::Location around;
  };

  mlir::OpBuilder b;
  mlir::Location loc;
  KernelFunction kernel; ///< its arguments are mapped with the prologue
  /// Insertion point of constants: the loop over the kernel's space, or the first operation of a work-item.
  mlir::Operation *entry = nullptr;

private:
  llvm::DenseMap<mlir::Attribute, Value> constants;
  llvm::DenseMap<int64_t, Value> openSizes;                ///< by index in the list of sizes
  llvm::DenseMap<std::pair<Value, int64_t>, Value> splats; ///< broadcasts of captured scalars
};

} // namespace quern

#endif // QUERN_SCHEDULE_BUILD_KERNELBUILDER_H
