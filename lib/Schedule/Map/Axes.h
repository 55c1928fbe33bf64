//===- Axes.h - An elementwise op as strides along axes ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What the map recipe reads from the IR. Every loop of the op is cut where some operand's blocks end; the pieces are
// *axes*, along which every operand has one stride, and axes that all operands walk as one are merged. Whatever can run
// out (a loop that its blocks do not fill, the padding of a destination) is a *limit*. Nothing here depends on a
// target, and there is no order of axes yet.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_MAP_AXES_H
#define QUERN_SCHEDULE_MAP_AXES_H

#include "Schedule/Build/Bodies.h"
#include "Schedule/Problem/Problem.h"

namespace quern::maps {

using rows::Digit;
using rows::Numbers;
using rows::Size;
using rows::Sizes;
using rows::Walk;

/// An argument that the op reads or writes, a table of constants that it reads, or the index of a loop in the body (see
/// isIndex()). Its dims are the axes.
struct Operand : DimAccess {
  unsigned blockArgument = 0; ///< of the body
  /// The index of a loop: no memory is behind it, its "address" is what the body reads.
  bool isIndex() const { return base.getType().isIndex(); }
  mlir::Type element() const { return isIndex() ? base.getType() : elementType(); }
  int64_t bytes() const { return isIndex() ? 0 : element().getIntOrFloatBitWidth() / 8; }
  /// Same size of elements and same layout: the two may be one buffer.
  bool mayAlias(const Operand &other) const;
};

/// Along a curved axis some operand's address is not linear (blocks of 48 against blocks of 32). It is a loop of the
/// kernel, taken one index at a time from 0: never lanes, never cut.
struct Axis {
  Size extent = 1; ///< may be open, as may strides and offsets
  bool isCurved = false;
};

/// A point is read where Σ weights[a]·index of axis a < `read`, and the destination is written where it is < `write`
/// (zeros, or whatever a merged fill says, beyond `read`). read <= write.
struct Limit {
  Numbers weights; ///< by axis; 0: does not count
  int64_t read = 0, write = 0;
  /// An axis whose last tile ends with it: nothing exceeds the limit, which only says by how much to go back.
  int shifted = -1;
  /// The sum at the last index of every axis.
  int64_t highest(llvm::ArrayRef<Axis> axes) const;
};

struct MapProblem {
  mlir::func::FuncOp function;
  mlir::linalg::LinalgOp op;
  llvm::SmallVector<mlir::Operation *, 8> prologue; ///< scalar code that the body captures
  llvm::SmallVector<Operand, 4> operands; ///< the inputs and indices of loops that the body reads, then the destination
  llvm::SmallVector<Axis, 8> axes;
  llvm::SmallVector<Limit, 4> limits; ///< without those that nothing exceeds
  unsigned source = 0;                ///< of `operands`: the input that moves most; the destination if there is none
  llvm::SmallVector<std::pair<unsigned, mlir::Value>, 1> scalars; ///< inputs that are no memrefs, by block argument
  mlir::TypedAttr padding;   ///< what a merged fill writes where the op writes nothing; null: there is no merged fill
  bool readsOld = false;     ///< the body reads the destination
  bool isCopy = false;       ///< the body yields the source as it is
  bool mayBeInPlace = false; ///< some input may be the destination's memory, element by element

  Operand &destination() { return operands.back(); }
  const Operand &destination() const { return operands.back(); }
  bool writesPadding() const { return static_cast<bool>(padding); }
  /// An extent, a stride or an offset is given at execution.
  bool hasOpenSizes() const;
  /// Of the widest type that the lanes of a vector take.
  int64_t widestBits() const;
};

/// Reads `problem` into `map`, or fails with a reason. Extents, strides and offsets may be open (Problem/Size.h), those
/// of loops that nothing cuts into digits. `ofDevice`: tables of constants are read.
mlir::LogicalResult readMap(const Problem &problem, MapProblem &map, std::string &whyNot, bool ofDevice = false);

} // namespace quern::maps

#endif // QUERN_SCHEDULE_MAP_AXES_H
