//===- OpenSizes.h - Open sizes of a function -----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An execution has a list of sizes: for each argument in order its open dims, its open strides, and its open offset;
// then numbers that are read from arguments, and values computed from all of these. Equal dims are found from the loops
// of operations and from the sizes of allocated memory.
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

/// Returns true if an index is only used as a size or offset, or to compute sizes and offsets.
bool isSizeOrPlaceAlone(mlir::Value index);

class OpenSizes {
public:
  /// Reads the sizes of a function on memrefs. Fails with `unimplemented` if a size is not supported, such as a dim
  /// with two extents or a computed size that is not a sum of products.
  static Result<OpenSizes> of(mlir::func::FuncOp function);

  bool isEmpty() const { return entries.empty() && numbers.empty(); }
  /// Return MlirDesc::sizes and MlirDesc::numbers.
  std::string text() const;
  std::string numbersText() const;

  /// Returns the memref type that a problem takes. The offset of a view is 0 if the call passes the start of the view.
  mlir::MemRefType typeOf(mlir::Value memref) const;
  /// Returns the offset of a view in its memory, in elements, if it is not part of typeOf(); otherwise null.
  mlir::AffineExpr startOf(mlir::Value memref) const;
  /// Returns the positions in the list of sizes of the open dims, strides and offset of an argument's typeOf(); nullopt
  /// if one of them is unknown. Computed values are added to the list.
  std::optional<llvm::SmallVector<int64_t>> indicesOf(mlir::Value memref);
  /// Returns the entry of an open dim in the list, or -1.
  int64_t entryOf(mlir::Value memref, int64_t dim);
  /// Returns the number of elements of allocated memory, in terms of the list; null if it is unknown.
  mlir::AffineExpr elementsOf(mlir::Value alloc) const;

  /// Returns the first entry that is computed.
  int64_t firstComputed() const { return static_cast<int64_t>(entries.size() + numbers.size()); }
  /// Returns the value of a computed entry, in terms of the entries before firstComputed().
  mlir::AffineExpr computed(int64_t entry) const { return computedSizes[entry - firstComputed()]; }
  /// Returns the arguments that are numbers of the list, in its order.
  llvm::ArrayRef<mlir::BlockArgument> numberArguments() const { return numbers; }
  /// A condition that an execution must satisfy, as in CheckAttr.
  struct Check {
    mlir::Value memory; ///< memory of the part or of the dim
    std::string what;   ///< name of the value for messages
    mlir::AffineExpr value, low, high;
  };
  llvm::ArrayRef<Check> checks() const { return allChecks; }
  /// Returns true if a launch needs more than the descriptors of the arguments.
  bool decidesLaunch() const { return !numbers.empty() || !computedSizes.empty() || !allChecks.empty(); }

private:
  struct Entry {
    mlir::Value argument;
    int dim; ///< -1: a stride or the offset
  };
  using Dim = std::pair<mlir::Value, int64_t>; ///< dim of a memref
  /// Definition of a dim by an operation: a number, or the product of other dims.
  struct Definition {
    Dim dim;
    mlir::OpFoldResult number;
    llvm::SmallVector<Dim> product;
    mlir::Operation *op;
  };
  struct Class {
    std::optional<int64_t> extent; ///< a number, if some dim is constant
    int64_t entry = -1;            ///< first entry of the list that belongs to the class; -1: none
    mlir::AffineExpr value;        ///< value in terms of the list; null if unknown or not yet read
    llvm::SmallVector<const Definition *, 1> definitions;
    enum { Unread, Reading, Read } state = Unread; ///< whether the definitions have been read
  };
  /// Strides and start of a memref's elements.
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
  llvm::DenseMap<mlir::Value, int64_t> firstEntry; ///< first entry of an argument
  llvm::SmallVector<mlir::BlockArgument> numbers;
  llvm::SmallVector<mlir::AffineExpr> computedSizes;
  llvm::DenseMap<mlir::Value, mlir::AffineExpr> computedValues;
  llvm::DenseMap<mlir::Value, Layout> layouts;
  std::vector<Check> allChecks;
};

} // namespace quern::functions

#endif // QUERN_FUNCTIONS_OPENSIZES_H
