//===- Chain.h - Products and elementwise ops over one tile --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the recipe knows of a problem. Every op works on one *tile space* of rows and columns. Its loops are rows,
// columns, *gates* (each of their values has accumulators of its own) or reduced, and every operand is an offset plus a
// stride along rows and one along columns. Which loop is which follows from addresses, so that any packing of a factor
// that is linear in the loops is understood.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_CONTRACTION_CHAIN_H
#define QUERN_SCHEDULE_CONTRACTION_CHAIN_H

#include "Schedule/Problem/Problem.h"

#include <optional>

namespace quern::contractions {

using rows::Size;

/// What a schedule takes beyond columns that lie side by side in every factor and open sizes of none but the rows.
struct Reach {
  bool strided = false;      ///< a factor strided along its columns
  bool singleColumn = false; ///< a dim of one index is taken for the columns
  bool open = false;         ///< open columns and loops over K, and open strides
  bool scalars = false;      ///< factors computed with scalars of the problem
  bool panels = false;       ///< columns in an open number of panels; the chain then counts these
};

/// The element at `offset + row * rowStride + column * columnStride`. The stride of the rows may be open.
struct TileAccess {
  mlir::Value base;
  int64_t offset = 0;
  Size row;
  int64_t column = 0;
  bool operator==(const TileAccess &) const = default;
  bool isArgument() const { return mlir::isa<mlir::BlockArgument>(base); }
  mlir::Type element() const { return mlir::cast<mlir::MemRefType>(base.getType()).getElementType(); }
};

/// An elementwise op at one value of its gates. An input that is no memref has a null base.
struct PointOp {
  mlir::linalg::LinalgOp op;
  llvm::SmallVector<TileAccess, 8> ins, outs;
  bool isPerColumn = false; ///< an intermediate that no row changes
};

inline mlir::Location locationOf(const PointOp &point) { return mlir::linalg::LinalgOp(point.op).getLoc(); }

/// The sums of one gate, one for each point of the tile space. They start as a constant, as an elementwise op, or
/// (neither) as what the argument holds.
struct Accumulator {
  TileAccess at;
  mlir::TypedAttr fill;
  std::optional<PointOp> start;
  bool isStored = false; ///< the sums themselves are a result
  bool startsAtZero() const;
  bool startsAlike() const; ///< in all rows, from an elementwise op
};

/// A product of two factors, summed over K into some accumulators. `lhs` does not vary along
/// columns, `rhs` not along rows.
struct Product {
  struct Factor {
    mlir::Value base;
    int64_t offset = 0;
    /// In the body, from the element to what is multiplied; in their order. Besides what comes from the
    /// element they read scalars.
    llvm::SmallVector<mlir::Operation *, 1> conversions;
    mlir::Type element() const { return mlir::cast<mlir::MemRefType>(base.getType()).getElementType(); }
  };
  struct Reduced {
    Size extent, lhs, rhs; ///< and the strides
    bool operator==(const Reduced &) const = default;
  };
  struct Column {
    Size extent, stride; ///< of rhs
    bool operator==(const Column &) const = default;
  };
  struct Sum {
    unsigned accumulator;
    int64_t offset; ///< of rhs
    bool operator==(const Sum &) const = default;
  };
  mlir::linalg::LinalgOp op;
  Factor lhs, rhs;
  Size lhsRow;
  /// Outermost first, without what is packed. Of an open number of panels K is counted in elements, of which the last
  /// group may lack some, and the stride of rhs is that of a group.
  llvm::SmallVector<Reduced, 2> reduced;
  /// Elements of a column that lie side by side in rhs along K, and how many of them are multiplied.
  int64_t packed = 1, taken = 1;
  Size columnStride; ///< of rhs from a column to the next where more lies between them than is packed; 0: it does not
  llvm::SmallVector<Sum, 4> sums;
  llvm::SmallVector<Column, 3> columns; ///< fastest first
  Size readable;                        ///< columns that rhs has, padding included
  bool mayContract = false, mayReassociate = false;
  bool mayRound = false; ///< f32 factors may be rounded to bf16: the op has the licence

  /// Along K, each for what is packed.
  int64_t steps() const;
  mlir::Location loc() const { return mlir::linalg::LinalgOp(op).getLoc(); }
  /// Of what it is summed in.
  mlir::Type sumType() const { return mlir::linalg::LinalgOp(op).getRegionOutputArgs()[0].getType(); }
  /// Elements of rhs from a column of a vector to the next.
  Size laneStride() const { return isStrided() ? columnStride : packed; }
  bool isStrided() const { return columnStride != 0; }
  /// Elements of rhs from column 0 to another.
  int64_t rhsAt(int64_t column) const;
  /// Differs in nothing but its buffers.
  bool isAlike(const Product &other) const;
  /// Multiplies the same elements of lhs in the same order.
  bool sharesLhs(const Product &other) const;
};

struct Chain {
  mlir::func::FuncOp problem;
  Size rows, columns;
  llvm::SmallVector<mlir::Operation *, 8> prologue; ///< scalar code in front of the ops
  llvm::SmallVector<Accumulator, 6> accumulators;
  llvm::SmallVector<Product, 4> products;
  llvm::SmallVector<PointOp, 8> epilogue;
  mlir::Type sumType() const { return accumulators.front().at.element(); }
  int64_t epilogueOps() const; ///< vector operations for a vector of every accumulator
};

/// Fails with a reason where an operand is no argument and no intermediate, or does not begin at a
/// number and go on by strides.
mlir::LogicalResult checkLinear(const LoopAccess &access, std::string &whyNot);

/// Whether extents of the same memory may be one: whatever execution tells is as many.
inline bool areOne(Size a, Size b) { return a == b || (a.isOpen() && b.isOpen()); }

/// Reads one product: all but the accumulators that it sums into. Of `sumsOf`, the address of the result at each
/// value of the gates, in the order of `product.sums`. Rows and columns of the chain are set by the first product,
/// columns only if they are 0.
mlir::LogicalResult readProduct(const ProblemOp &op, Chain &chain, Product &product, Reach reach,
                                llvm::SmallVectorImpl<TileAccess> &sumsOf, std::string &whyNot);

/// Reads a problem. Fails with a reason where it is no such chain, or asks for more than `reach`.
mlir::LogicalResult readChain(const Problem &problem, Chain &chain, Reach reach, std::string &whyNot);

} // namespace quern::contractions

#endif // QUERN_SCHEDULE_CONTRACTION_CHAIN_H
