//===- Axes.h - An elementwise op as strides along axes ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The analysis of the map recipe. Every loop of the op is split where a block of some operand ends. The pieces are
// *axes*, along which every operand has one stride; axes that are contiguous to each other in all operands are merged.
// A *limit* is a bound on a sum of indices: the end of a loop that blocks do not divide, or of the padding of a
// destination. The analysis depends on no target and does not order the axes.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_AXES_H
#define QUERN_SCHEDULE_MAP_AXES_H

#include "Schedule/Build/Bodies.h"
#include "Schedule/Problem/Problem.h"

namespace quern::schedule::maps {

/// An argument that the op reads or writes, a table of constants that it reads, or a loop index that the body reads
/// (isIndex()). Its dims are the axes.
struct Operand : DimAccess {
  unsigned blockArgument = 0; ///< argument of the body
  /// Returns true for a loop index. It has no memory; its "address" is the value that the body reads.
  bool isIndex() const { return base.getType().isIndex(); }
  mlir::Type element() const { return isIndex() ? base.getType() : elementType(); }
  int64_t bytes() const { return isIndex() ? 0 : element().getIntOrFloatBitWidth() / 8; }
  /// Returns true if both have the same base, or elements of the same size at the same addresses: they may be one
  /// buffer.
  bool mayAlias(const Operand &other) const;
};

/// An axis is non-linear (`isNonlinear`) if some operand's address is not linear along it (blocks of 48 against blocks
/// of 32). It becomes a kernel loop over single indices from 0; it is never vectorized or split.
struct Axis {
  Size extent = 1; ///< may be open, as may strides and offsets
  bool isNonlinear = false;
};

/// A point is read if Σ weights[a] · (index of axis a) is less than `read`, and the destination is written if the sum
/// is less than `write`: points in between get the value of the merged fill. read <= write.
struct Limit {
  Numbers weights; ///< by axis; 0: the axis does not count
  int64_t read = 0, write = 0;
  /// Axis whose last tile is moved back to end with the axis, or -1. No point exceeds such a limit; it determines how
  /// far the tile is moved back.
  int shifted = -1;
  /// Returns the sum at the last index of every axis.
  int64_t highest(llvm::ArrayRef<Axis> axes) const;
};

struct MapProblem {
  mlir::func::FuncOp function;
  mlir::linalg::LinalgOp op;
  llvm::SmallVector<mlir::Operation *, 8> prologue; ///< scalar code that the body captures
  llvm::SmallVector<Operand, 4> operands; ///< inputs and loop indices that the body reads, then the destination
  llvm::SmallVector<Axis, 8> axes;
  llvm::SmallVector<Limit, 4> limits; ///< limits that some point exceeds
  unsigned source = 0;                ///< index in `operands`: the largest input; if there is none, the destination
  llvm::SmallVector<std::pair<unsigned, mlir::Value>, 1> scalars; ///< inputs that are not memrefs, by block argument
  mlir::TypedAttr padding;   ///< value of the merged fill where the op does not write; null: no merged fill
  bool readsOld = false;     ///< true if the body reads the destination
  bool isCopy = false;       ///< true if the body yields the source unchanged
  bool mayBeInPlace = false; ///< true if an input may have the destination's addresses

  Operand &destination() { return operands.back(); }
  const Operand &destination() const { return operands.back(); }
  bool isRead(unsigned operand) const { return operand + 1 < operands.size() || readsOld; }
  bool writesPadding() const { return static_cast<bool>(padding); }
  /// Returns true if an extent, a stride or an offset is known only at execution.
  bool hasOpenSizes() const;
  /// Returns the product of the extents, which are numbers.
  int64_t points() const;
  /// Returns the number of bits of the widest type among operands and results of the body, which determines the lanes
  /// of a vector.
  int64_t widestBits() const;
};

/// Reads `problem` into `map`, or fails with a reason in `whyNot`. Extents, strides and offsets may be open
/// (Problem/Size.h), except those of loops that some operand's blocks split, and extents if there is a fill.
/// `ofDevice`: inputs may be tables of constants.
mlir::LogicalResult readMap(const Problem &problem, MapProblem &map, std::string &whyNot, bool ofDevice = false);

} // namespace quern::schedule::maps

#endif // QUERN_SCHEDULE_MAP_AXES_H
