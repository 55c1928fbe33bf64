//===- Chain.h - Products and elementwise ops over one tile --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The recipe's representation of a problem. Every op works on one *tile space* of rows and columns. Each loop is the
// row, the columns, a *gate* (each of its values has separate accumulators) or reduced. An operand is an offset plus a
// stride along rows and one along columns. The role of a loop follows from addresses, so any packing of a factor that
// is linear in the loops is supported.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CHAIN_H
#define QUERN_SCHEDULE_CONTRACTION_CHAIN_H

#include "Schedule/Problem/Problem.h"

#include <optional>

namespace quern::schedule::contractions {

/// Forms that are allowed in addition to the default: contiguous columns in every factor, and open sizes only of the
/// rows.
struct AllowedForms {
  bool strided = false;      ///< allows factors that are strided along their columns
  bool singleColumn = false; ///< allows a dim of one index as the columns
  bool open = false;         ///< allows open columns and loops over K, and open strides
  bool scalars = false;      ///< allows conversions of factors that read scalars of the problem
  bool panels = false;       ///< allows columns in an open number of panels, which chain.columns then counts
};

/// Reason to refuse a factor whose columns are strided.
inline constexpr const char *stridedColumns = "a factor is strided along its columns";

/// An element of each point of the tile: at `offset`, plus `row` times the index of the row, plus `column` times that
/// of the column. `row` may be open.
struct TileAccess {
  mlir::Value base;
  int64_t offset = 0;
  Size row;
  int64_t column = 0;
  bool operator==(const TileAccess &) const = default;
  bool isArgument() const { return mlir::isa<mlir::BlockArgument>(base); }
  mlir::Type element() const { return mlir::cast<mlir::MemRefType>(base.getType()).getElementType(); }
};

/// An elementwise op at one value of its gates. An input that is not a memref has a null base.
struct PointOp {
  mlir::linalg::LinalgOp op;
  llvm::SmallVector<TileAccess, 8> ins, outs;
  bool isPerColumn = false; ///< true for an intermediate that is the same in all rows
};

inline mlir::Location locationOf(const PointOp &point) { return mlir::linalg::LinalgOp(point.op).getLoc(); }

/// The sums of one gate, one for each point of the tile space. They start from a constant, from an elementwise op or,
/// without both, from the values in the argument.
struct Accumulator {
  TileAccess at;
  mlir::TypedAttr fill;
  std::optional<PointOp> start;
  bool isStored = false; ///< true if the sums themselves are a result
  bool startsAtZero() const;
  bool startsAlike() const; ///< true if they start from an elementwise op, with the same values in all rows
};

/// A product of two factors that is summed over K into one or more accumulators. `lhs` does not vary along columns,
/// `rhs` not along rows.
struct Product {
  struct Factor {
    mlir::Value base;
    int64_t offset = 0;
    /// Ops of the body from the element to the multiplied value, in order. Their other operands are scalars.
    llvm::SmallVector<mlir::Operation *, 1> conversions;
    mlir::Type element() const { return mlir::cast<mlir::MemRefType>(base.getType()).getElementType(); }
  };
  struct Reduced {
    Size extent, lhs, rhs; ///< the extent of a loop over K and the strides of the factors
    bool operator==(const Reduced &) const = default;
  };
  struct Column {
    Size extent, stride; ///< stride in rhs
    bool operator==(const Column &) const = default;
  };
  struct Sum {
    unsigned accumulator;
    int64_t offset; ///< offset of the sum's elements in rhs
    bool operator==(const Sum &) const = default;
  };
  mlir::linalg::LinalgOp op;
  Factor lhs, rhs;
  Size lhsRow;
  /// Loops over K, outermost first, without the packed elements. With an open number of panels, K is counted in
  /// elements, the last group may be partial, and the stride of rhs is from one group to the next.
  llvm::SmallVector<Reduced, 2> reduced;
  /// Contiguous elements of a column in rhs along K, and the number of them that are multiplied.
  int64_t packed = 1, taken = 1;
  Size columnStride; ///< elements of rhs between strided columns; 0: columns are `packed` elements from each other
  llvm::SmallVector<Sum, 4> sums;
  llvm::SmallVector<Column, 3> columns; ///< fastest first
  Size readable;                        ///< columns in rhs, including padding
  bool mayContract = false, mayReassociate = false;
  bool mayRound = false; ///< true if f32 factors may be rounded to bf16, because the op has the relaxation

  /// Returns the number of steps along K; each step has the packed elements.
  int64_t steps() const;
  mlir::Location loc() const { return mlir::linalg::LinalgOp(op).getLoc(); }
  /// Returns the type of the accumulated sums.
  mlir::Type sumType() const { return mlir::linalg::LinalgOp(op).getRegionOutputArgs()[0].getType(); }
  /// Returns the distance between adjacent columns of a vector in rhs, in elements.
  Size laneStride() const { return isStrided() ? columnStride : packed; }
  bool isStrided() const { return columnStride != 0; }
  /// Returns the distance from column 0 to `column` in rhs, in elements.
  int64_t rhsAt(int64_t column) const;
  /// Returns true if the products differ only in their buffers.
  bool isAlike(const Product &other) const;
  /// Returns true if both multiply the same elements of lhs in the same order.
  bool sharesLhs(const Product &other) const;
};

struct Chain {
  mlir::func::FuncOp problem;
  Size rows, columns;
  llvm::SmallVector<mlir::Operation *, 8> prologue; ///< scalar code before the ops
  llvm::SmallVector<Accumulator, 6> accumulators;
  llvm::SmallVector<Product, 4> products;
  llvm::SmallVector<PointOp, 8> epilogue;
  mlir::Type sumType() const { return accumulators.front().at.element(); }
  int64_t epilogueOps() const; ///< vector operations per vector of every accumulator
};

/// Checks that an operand is an argument or an intermediate, and that its address is a known offset plus strides.
/// Otherwise fails with a reason in `whyNot`.
mlir::LogicalResult checkLinear(const LoopAccess &access, std::string &whyNot);

/// Returns true if two extents of the same memory may be equal; open sizes may equal each other.
inline bool mayBeEqual(Size a, Size b) { return a == b || (a.isOpen() && b.isOpen()); }

/// Reads one product, except for its accumulators. `sumsOf` receives the address of the result at each value of the
/// gates, in the order of `product.sums`. The first product sets the rows of the chain, and its columns if they are 0.
mlir::LogicalResult readProduct(const ProblemOp &op, Chain &chain, Product &product, AllowedForms allowed,
                                llvm::SmallVectorImpl<TileAccess> &sumsOf, std::string &whyNot);

/// Returns true if AllowedForms::singleColumn may make a difference to a problem: some loop has one index.
bool mayHaveSingleColumn(const Problem &problem);
/// Returns true if a size of a problem is open.
bool hasOpenSizes(const Problem &problem);

/// Reads a problem. Fails with a reason if it is not such a chain or has a form that `allowed` excludes.
mlir::LogicalResult readChain(const Problem &problem, Chain &chain, AllowedForms allowed, std::string &whyNot);

} // namespace quern::schedule::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_CHAIN_H
