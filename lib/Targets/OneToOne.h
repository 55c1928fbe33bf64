//===- OneToOne.h - Operations with an equivalent in the LLVM dialect -----===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_ONETOONE_H
#define QUERN_TARGETS_ONETOONE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include "llvm/ADT/DenseMap.h"

namespace quern {

/// Replaces operations of a kernel by one or a few equivalent operations of the LLVM dialect, if their operands and
/// results have types that LLVM has, and changes the type `index` to i64. That covers most of a kernel; a conversion by
/// patterns, which records how to undo every step, executes seven times as many instructions for it. The patterns then
/// convert the rest of the function, which the verifier would reject until then. Reusable for any number of functions.
class OneToOne {
public:
  OneToOne();
  void run(mlir::func::FuncOp function) const;

private:
  /// Creates the LLVM operation that replaces `op`; returns null if `op` has no one-to-one translation.
  using Convert = mlir::Operation *(*)(mlir::Operation & op, mlir::OpBuilder &builder);
  template <typename From, typename To> void add();
  template <typename From, typename To> static mlir::Operation *convert(mlir::Operation &op, mlir::OpBuilder &builder);

  llvm::DenseMap<mlir::TypeID, Convert> table;
};

} // namespace quern

#endif // QUERN_TARGETS_ONETOONE_H
