//===- OpenSizes.h - Sizes of a function that an execution brings ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An execution has a list of sizes: for each argument in order its open dims, then its open strides, then its open
// offset; behind them numbers that are read of arguments, and what is computed of all these. Which dims are one size
// follows from the loops of the operations and from what memory is made as long as.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_FUNCTIONS_OPENSIZES_H
#define QUERN_FUNCTIONS_OPENSIZES_H

#include "Support/Error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/IntEqClasses.h"

#include <optional>
#include <string>

namespace quern {
struct Polynomial;
}

namespace quern::functions {

/// Whether an index is a size, a place or what either is computed of, and nothing else.
bool isSizeOrPlaceAlone(mlir::Value index);

class OpenSizes {
public:
  /// Of a function on memrefs. `unimplemented` where a dim has two extents, or what is computed of sizes is no sum of
  /// products.
  static Result<OpenSizes> of(mlir::func::FuncOp function);

  bool isEmpty() const { return entries.empty() && numbers.empty(); }
  /// As MlirDesc::sizes and MlirDesc::numbers.
  std::string text() const;
  std::string numbersText() const;

  /// The type that a problem takes a memref as: where a view begins is not its matter, but the call's.
  mlir::MemRefType typeOf(mlir::Value memref) const;
  /// Where a view begins in its memory, in elements, if typeOf() does not say it; null if it does.
  mlir::AffineExpr startOf(mlir::Value memref) const;
  /// For the open dims, strides and offset of typeOf(), as for an argument of a problem, their indices in the list;
  /// nothing where one cannot be told. Computed ones are added to the list.
  std::optional<llvm::SmallVector<int64_t>> indicesOf(mlir::Value memref);
  /// The entry of the list that an open dim is, -1 if none.
  int64_t entryOf(mlir::Value memref, int64_t dim);
  /// The elements of memory that the function makes, in the sizes of the list; null where they are not in it.
  mlir::AffineExpr elementsOf(mlir::Value alloc) const;

  /// The first entry that is computed.
  int64_t firstComputed() const { return static_cast<int64_t>(entries.size() + numbers.size()); }
  /// What an entry behind that is, in the entries before firstComputed().
  mlir::AffineExpr computed(int64_t entry) const { return computedSizes[entry - firstComputed()]; }
  /// The arguments that are numbers of the list.
  llvm::ArrayRef<mlir::BlockArgument> numberArguments() const { return numbers; }
  /// What an execution is refused for: as CheckAttr.
  struct Check {
    mlir::Value memory; ///< that a part is taken of, or whose dim it is
    std::string what;   ///< of it
    mlir::AffineExpr value, low, high;
  };
  llvm::ArrayRef<Check> checks() const { return allChecks; }
  /// Whether a launch has to do with more than what arguments' descriptors say.
  bool decidesLaunch() const { return !numbers.empty() || !computedSizes.empty() || !allChecks.empty(); }

private:
  struct Entry {
    mlir::Value argument;
    int dim; ///< -1: a stride or the offset
  };
  using Dim = std::pair<mlir::Value, int64_t>; ///< of a memref
  /// What a dim is by an operation: a number, or the product of others.
  struct Definition {
    Dim dim;
    mlir::OpFoldResult number;
    llvm::SmallVector<Dim> product;
    mlir::Operation *op;
  };
  struct Class {
    std::optional<int64_t> extent; ///< a number, if some dim is one
    int64_t entry = -1;            ///< the first of the list
    mlir::AffineExpr value;        ///< of what is neither, once it is known
    llvm::SmallVector<const Definition *, 1> definitions;
    enum { Unread, Reading, Read } state = Unread; ///< of the definitions
  };
  /// Where the elements of a memref lie.
  struct Layout {
    llvm::SmallVector<mlir::AffineExpr> strides;
    mlir::AffineExpr start;
  };
  unsigned node(mlir::Value memref, int64_t dim);
  void join(mlir::Value memref, int64_t dim, mlir::Value other, int64_t otherDim);
  void define(mlir::Value memref, int64_t dim, mlir::OpFoldResult number, mlir::Operation *op);
  void readOperation(mlir::Operation &op);
  void readReshape(mlir::Operation &op);
  void readLoops(mlir::Operation &op);
  void readEntries(mlir::func::FuncOp function);
  Result<void> readClasses(mlir::func::FuncOp function);
  Result<void> readDefinitions();
  Result<void> readDefinition(Class &own);
  Result<void> readParts(mlir::Operation &op);
  Result<void> readPart(mlir::memref::SubViewOp subview, unsigned dim);
  Result<mlir::AffineExpr> valueOf(mlir::Value index);
  Result<mlir::AffineExpr> valueOf(mlir::OpFoldResult index);
  Result<mlir::AffineExpr> valueOf(Dim dim);
  mlir::AffineExpr valueOf(const Polynomial &polynomial) const;
  Result<mlir::AffineExpr> valueOf(const Definition &definition);
  static std::string nameOf(const Definition &definition);
  Result<Layout> layoutOf(mlir::Value memref);
  Layout layoutOfArgument(mlir::BlockArgument argument);
  Result<Layout> layoutOfPart(mlir::memref::SubViewOp subview, Layout of);
  Result<Layout> layoutOfDense(mlir::Value memref);
  Result<void> checkDense(mlir::Value memref, llvm::ArrayRef<int64_t> dims, const Layout &layout);
  Result<Layout> layoutOfReshape(mlir::Operation *op, Layout of);
  std::optional<int64_t> entryOf(mlir::AffineExpr value);
  static bool areEqual(mlir::AffineExpr a, mlir::AffineExpr b);
  mlir::AffineExpr number(int64_t value) const { return mlir::getAffineConstantExpr(value, context); }
  mlir::AffineExpr symbol(int64_t entry) const {
    return mlir::getAffineSymbolExpr(static_cast<unsigned>(entry), context);
  }
  const Class *classOf(mlir::Value memref, int64_t dim) const;
  void check(mlir::Value memory, std::string what, mlir::AffineExpr value, mlir::AffineExpr low, mlir::AffineExpr high);

  mlir::MLIRContext *context = nullptr;
  llvm::DenseMap<Dim, unsigned> nodes;
  llvm::IntEqClasses joined;
  std::vector<Class> classes;
  std::vector<Definition> definitions;
  llvm::SmallVector<Entry> entries;
  llvm::DenseMap<mlir::Value, int64_t> firstEntry; ///< of an argument
  llvm::SmallVector<mlir::BlockArgument> numbers;
  llvm::SmallVector<mlir::AffineExpr> computedSizes;
  llvm::DenseMap<mlir::Value, mlir::AffineExpr> computedValues;
  llvm::DenseMap<mlir::Value, Layout> layouts;
  std::vector<Check> allChecks;
};

} // namespace quern::functions

#endif // QUERN_FUNCTIONS_OPENSIZES_H
