//===- Values.h - Intermediates computed where they are read -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// PointChain reads a problem: its ops in order, who wrote an intermediate last, which loops of a writer an element of it comes from.
// PointValues writes scalar code for one element of any memref. Internal to the points schedule.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_POINTS_VALUES_H
#define QUERN_SCHEDULE_POINTS_VALUES_H

#include "Schedule/Build/Kernel.h"
#include "Schedule/Problem/Size.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <map>
#include <vector>

namespace quern::points {

/// An op that writes an intermediate.
struct Writer {
  unsigned position = 0; ///< among the ops
  unsigned result = 0;
};

/// Where in a dim of what an op writes one of its loops shows: (index floordiv weight) mod extent; the outermost digit has no mod.
struct LoopDigit {
  unsigned loop = 0;
  int64_t weight = 1, extent = 0;
};

class PointChain {
public:
  explicit PointChain(mlir::func::FuncOp problem) : problem(problem), sizes(problem) {}
  /// Fails with a reason where the function is no chain of linalg ops on memrefs.
  mlir::LogicalResult read(std::string &whyNot);

  /// The last op in front of `before` that writes `alloc`; null if there is none.
  const Writer *writerOf(mlir::Value alloc, unsigned before) const;
  /// Number, or open (RowSize.h).
  int64_t extentOf(mlir::Value memref, unsigned dim) const;
  int64_t loopExtent(mlir::linalg::LinalgOp op, unsigned loop) const;
  /// The digits of each dim of what `op` writes, outermost first. Fails where a point of the op does not follow from an element.
  mlir::LogicalResult digitsOf(mlir::linalg::LinalgOp op, unsigned result, llvm::SmallVector<llvm::SmallVector<LoopDigit, 2>> &digits,
                               std::string &whyNot) const;
  /// Whether the elements of `memref` outside of what `op` writes are somebody else's.
  bool isPartial(mlir::linalg::LinalgOp op, unsigned result, mlir::Value alloc) const;

  mlir::func::FuncOp problem;
  rows::ArgumentSizes sizes;
  llvm::SmallVector<mlir::linalg::LinalgOp> ops;
  llvm::SmallVector<mlir::Operation *> prologue; ///< scalar code and memory beside the arguments, in order

private:
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Writer>> writers;
};

/// The memory that views lead to.
mlir::Value rootOf(mlir::Value memref);

class PointValues {
public:
  PointValues(const PointChain &chain, Kernel &kernel, mlir::OpBuilder &builder);

  mlir::Value index(int64_t size); ///< a number or an open size
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value div(mlir::Value x, mlir::Value y); ///< of indices that are not negative
  mlir::Value mod(mlir::Value x, mlir::Value y);
  /// Null where the map needs an index that is null.
  llvm::SmallVector<mlir::Value> apply(mlir::AffineMap map, llvm::ArrayRef<mlir::Value> loops);

  /// The element of `memref` as ops in front of `before` left it.
  mlir::Value load(mlir::Value memref, llvm::ArrayRef<mlir::Value> at, unsigned before);
  void store(mlir::Value value, mlir::Value memref, llvm::ArrayRef<mlir::Value> at);
  /// What op yields at a point, its reductions done. Reduced loops are null in `loops`.
  llvm::SmallVector<mlir::Value> compute(unsigned position, llvm::ArrayRef<mlir::Value> loops);
  /// Computes ahead what `op` reads that does not depend on the loops that are null.
  void prepare(unsigned position, llvm::ArrayRef<mlir::Value> loops);
  /// Opens a loop from 0 to `extent`, gives its index to `body` and ends it.
  void loop(mlir::Value extent, llvm::function_ref<void(mlir::Value)> body);

  /// Set where something could not be computed; what was written is then of no use.
  std::string failure;

private:
  using Key = std::vector<const void *>;
  struct Scope {
    std::map<Key, llvm::SmallVector<mlir::Value, 1>> known;
  };
  const llvm::SmallVector<mlir::Value, 1> *find(const Key &key) const;
  template <typename Op> mlir::Value binary(mlir::Value x, mlir::Value y);
  mlir::Value apply(mlir::AffineExpr expr, llvm::ArrayRef<mlir::Value> loops);
  mlir::Value addressOf(mlir::Value memref, llvm::ArrayRef<mlir::Value> at);
  /// The same element of the memory that a view is of.
  llvm::SmallVector<mlir::Value> throughViews(mlir::Value &memref, llvm::ArrayRef<mlir::Value> at);
  mlir::Value loadIntermediate(mlir::Value alloc, llvm::ArrayRef<mlir::Value> at, unsigned before);
  /// The loops of the op at which it writes this element of `alloc`, null for reduced ones, and whether there is such a point.
  llvm::SmallVector<mlir::Value> loopsAt(const Writer &writer, mlir::Value alloc, llvm::ArrayRef<mlir::Value> at, mlir::Value *exists);
  void prepareElement(mlir::Value memref, llvm::ArrayRef<mlir::Value> at, unsigned before);
  llvm::SmallVector<mlir::Value> body(unsigned position, llvm::ArrayRef<mlir::Value> loops, mlir::ValueRange accumulators);
  llvm::SmallVector<mlir::Value> reduce(unsigned position, llvm::SmallVector<mlir::Value> loops, unsigned from, mlir::ValueRange initial);
  bool readsOld(mlir::linalg::LinalgOp op, unsigned result);

  const PointChain &chain;
  Kernel &kernel;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  std::vector<Scope> scopes;
  std::map<int64_t, mlir::Value> indices;
};

} // namespace quern::points

#endif // QUERN_SCHEDULE_POINTS_VALUES_H
