//===- KernelBuilder.h - Indices, memory and control flow of a kernel -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Base of the emitters of all recipes. Each constant, open size and captured scalar is emitted once, in the kernel's
// entry. KernelBuilder.cpp has the kernel, constants and control flow, Index.cpp arithmetic, and Memory.cpp accesses of
// a CPU to memory.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_BUILD_KERNELBUILDER_H
#define QUERN_SCHEDULE_BUILD_KERNELBUILDER_H

#include "Schedule/Build/Index.h"
#include "Schedule/Build/Kernel.h"
#include "Schedule/Problem/Digits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"

#include <utility>

namespace quern {

class KernelBuilder {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<Value>;
  using Type = mlir::Type;

  explicit KernelBuilder(mlir::func::FuncOp problem) : b(problem.getContext()), loc(problem.getLoc()) {}

  // The kernel.
  /// Creates the kernel of `problem` after `after` and clones the problem's scalar code into it.
  void beginKernel(mlir::func::FuncOp problem, mlir::Operation *after, const KernelTraits &traits,
                   llvm::ArrayRef<mlir::Operation *> prologue);
  /// Clones scalar code of a problem (loads from arguments, arithmetic, the constants it needs) to the insertion point,
  /// and maps it in `kernel.arguments`.
  void clonePrologue(mlir::func::FuncOp problem, llvm::ArrayRef<mlir::Operation *> prologue);
  /// Emits the loop over the iterations of a call and the kernel's return. The loop becomes `entry`, and its body the
  /// insertion point.
  mlir::scf::ForOp beginSpace();
  /// Moves loop-invariant operations out of all loops, which no later pass does. Returns the kernel.
  mlir::func::FuncOp finishKernel();

  // Constants.
  Value constant(mlir::TypedAttr attr);
  /// Returns `x` as a value. A number or an open size becomes a value of type index.
  Value index(Index x);
  /// Returns `x` as a value of the type of `other`, which is index or an integer type; index if `x` is an open size.
  Value like(Value other, Index x);
  /// Broadcasts to all lanes; returns the scalar itself for 0 lanes.
  Value splat(mlir::TypedAttr scalar, int64_t lanes);
  Value zeros(Type type);
  /// Broadcasts a value from outside a body, or a constant in it, to all lanes; returns the scalar for 0 lanes.
  Value captured(Value scalar, int64_t lanes = 0);

  // Arithmetic (Index.cpp). Operations on numbers are folded, as are sums, products and divisions that 0 or 1 makes
  // trivial. Operands of divisions are not negative. The overloads for values return a value of the same type.
  static bool isZero(Value v);
  Index add(Index x, Index y);
  Index sub(Index x, Index y);
  Index mul(Index x, Index y);
  Index floorDiv(Index x, Index y);
  Index ceilDiv(Index x, int64_t y);
  Index mod(Index x, Index y);
  Index min(Index x, Index y);
  Index max(Index x, Index y);
  /// Returns the largest multiple of `step` that is at most x.
  Index roundDown(Index x, int64_t step);
  Value add(IsValue auto x, Index y) { return like(x, add(Index(x), y)); }
  Value sub(IsValue auto x, Index y) { return like(x, sub(Index(x), y)); }
  Value mul(IsValue auto x, Index y) { return like(x, mul(Index(x), y)); }
  Value floorDiv(IsValue auto x, Index y) { return like(x, floorDiv(Index(x), y)); }
  Value mod(IsValue auto x, Index y) { return like(x, mod(Index(x), y)); }
  Value min(IsValue auto x, Index y) { return like(x, min(Index(x), y)); }
  Value max(IsValue auto x, Index y) { return like(x, max(Index(x), y)); }
  Value roundDown(IsValue auto x, int64_t step) { return like(x, roundDown(Index(x), step)); }
  Value compare(mlir::arith::CmpIPredicate how, Index x, Index y);
  Value isLess(Index x, Index y);
  Value isAtMost(Index x, Index y);
  Value isEqual(Index x, Index y) { return compare(mlir::arith::CmpIPredicate::eq, x, y); }
  /// Returns the address of index `at` of a loop, relative to the loop's start. `at` is a multiple of `align`.
  Value addressAt(Value at, const schedule::AccessFunction &function, int64_t align = 1);

  // Memory of a CPU (Memory.cpp).
  /// Loads contiguous elements. Masked lanes are zero and are not read.
  Value load(Value memref, Index at, int64_t lanes, Value mask = {});
  /// Stores a vector. Masked lanes are not written. `streamed` requests a non-temporal store, whose address must be a
  /// multiple of the vector's size.
  void store(Value vector, Value memref, Index at, Value mask = {}, bool streamed = false);
  /// Accesses the element at an index of a memref of rank 1, or the only one of a memref of rank 0.
  Value loadScalar(Value memref, Index at);
  void storeScalar(Value element, Value memref, Index at);
  /// Prefetches a cache line into a level of the cache: 3 is the first, 2 the second. Addresses past the end are
  /// harmless: a prefetch may name any memory.
  void prefetch(Value memref, Index at, int32_t locality, bool isWrite = false);
  /// Returns the address of an element, in bytes.
  Value addressOf(Value memref, Index at);
  /// Allocates a buffer in the kernel's frame, aligned to 64 bytes. limitFrame() moves large ones to scratch memory.
  Value frameBuffer(int64_t elements, Type element);

  // Masks and control flow.
  /// Returns the conjunction of conditions or masks; null means true. Constant conditions are folded.
  Value both(Value x, Value y);
  /// Returns the mask of the first `count` of `lanes`. A run-time `count` (index or i32) may be negative or too large.
  Value prefixMask(Index count, int64_t lanes);
  /// Emits `then` under a condition, and `otherwise`, if given, under its opposite. A null condition always holds. If
  /// the condition is a constant, only one of the two is emitted.
  void choose(Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise = nullptr);
  /// Returns the results of `then` if the condition holds, otherwise those of `otherwise`. A null condition always
  /// holds.
  Values chooseValues(Value condition, mlir::TypeRange types, llvm::function_ref<Values()> then,
                      llvm::function_ref<Values()> otherwise);
  /// Emits a loop that carries values: `body` gets the index and the carried values, and returns those of the next
  /// iteration.
  Values loop(Value begin, Value end, Value step, mlir::ValueRange initial,
              llvm::function_ref<Values(Value at, Values carried)> body);
  /// Emits a loop that carries no values.
  void forRange(Index begin, Index end, llvm::function_ref<void(Value)> body, Index step = 1);

  template <typename Op, typename... Args> auto create(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }
  /// Calls `f` with the insertion point before `point`; if that is null, the insertion point is not changed.
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
  KernelFunction kernel; ///< `arguments` also maps the results of the prologue
  /// Insertion point of constants: the loop over the kernel's space, or the first operation of a work-item.
  mlir::Operation *entry = nullptr;

private:
  /// Returns operands as values of one type.
  std::pair<Value, Value> sameType(Index x, Index y);

  llvm::DenseMap<mlir::Attribute, Value> constants;
  llvm::DenseMap<std::pair<int64_t, int64_t>, Value> openSizes; ///< by index in the list of sizes, and factor
  llvm::DenseMap<std::pair<Value, int64_t>, Value> splats;      ///< broadcasts of captured scalars
};

} // namespace quern

#endif // QUERN_SCHEDULE_BUILD_KERNELBUILDER_H
