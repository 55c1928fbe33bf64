//===- OneToOne.h - Operations that LLVM has under another name -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_ONETOONE_H
#define QUERN_TARGETS_ONETOONE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include "llvm/ADT/DenseMap.h"

namespace quern {

/// Replaces the operations of a kernel that correspond to one or a few of the LLVM dialect, with operands and results
/// of types that LLVM has, and makes the type `index` i64. That is most of a kernel, and a conversion by patterns,
/// which keeps what it needs to take every step back, executes seven times as many instructions for the same. It has
/// the rest to do, in a function that the verifier would refuse until then. Reusable for any number of functions.
class OneToOne {
public:
  OneToOne();
  void run(mlir::func::FuncOp function) const;

private:
  /// Null: not to be had this way.
  using Convert = mlir::Operation *(*)(mlir::Operation & op, mlir::OpBuilder &builder);
  template <typename From, typename To> void add();
  template <typename From, typename To> static mlir::Operation *convert(mlir::Operation &op, mlir::OpBuilder &builder);

  llvm::DenseMap<mlir::TypeID, Convert> table;
};

} // namespace quern

#endif // QUERN_TARGETS_ONETOONE_H
