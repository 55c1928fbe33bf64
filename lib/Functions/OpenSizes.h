//===- OpenSizes.h - Sizes of a function that an execution brings ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An execution has a list of sizes: for each argument in order its open dims, then its open strides, then its open
// offset. Which of them are one size follows from the loops of the operations and from what memory is made as long as.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_FUNCTIONS_OPENSIZES_H
#define QUERN_FUNCTIONS_OPENSIZES_H

#include "Support/Error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/IntEqClasses.h"

#include <optional>
#include <string>

namespace quern::functions {

class OpenSizes {
public:
  /// Of a function on memrefs. `unimplemented` where a dim has two extents, or tables and views leave one untold.
  static Result<OpenSizes> of(mlir::func::FuncOp function);

  bool isEmpty() const { return entries.empty(); }
  /// As MlirDesc::sizes.
  std::string text() const;
  /// For the open dims, strides and offset of a memref, as for an argument of a problem, their indices in the list;
  /// nothing where one is not in it.
  std::optional<llvm::SmallVector<int64_t>> indicesOf(mlir::Value memref) const;
  /// The entry of the list that an open dim is, -1 if none.
  int64_t entryOf(mlir::Value memref, int64_t dim) const {
    const Class *own = classOf(memref, dim);
    return own ? own->entry : -1;
  }
  /// The elements of memory that the function makes, in the sizes of the list; null where they are not in it.
  mlir::AffineExpr elementsOf(mlir::Value alloc) const;

private:
  struct Entry {
    mlir::Value argument;
    int dim; ///< -1: a stride or the offset
  };
  struct Class {
    std::optional<int64_t> extent; ///< a number, if some dim is one
    int64_t entry = -1;            ///< the first of the list
  };
  unsigned node(mlir::Value memref, int64_t dim);
  void join(mlir::Value memref, int64_t dim, mlir::Value other, int64_t otherDim);
  void readOperation(mlir::Operation &op);
  void readEntries(mlir::func::FuncOp function);
  Result<void> readClasses(mlir::func::FuncOp function);
  const Class *classOf(mlir::Value memref, int64_t dim) const;

  llvm::DenseMap<std::pair<mlir::Value, int64_t>, unsigned> nodes;
  llvm::IntEqClasses joined;
  llvm::SmallVector<Class> classes;
  llvm::SmallVector<Entry> entries;
  llvm::DenseMap<mlir::Value, int64_t> firstEntry; ///< of an argument
};

} // namespace quern::functions

#endif // QUERN_FUNCTIONS_OPENSIZES_H
