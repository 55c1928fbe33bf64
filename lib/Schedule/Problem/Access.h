//===- Access.h - Where the operands of an op lie ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An operand in normal form: the buffer behind it, an offset, and a walk along each loop. Recipes cut loops into dims,
// along which an operand has one stride, or remains a walk.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_PROBLEM_ACCESS_H
#define QUERN_SCHEDULE_PROBLEM_ACCESS_H

#include "Schedule/Problem/Digits.h"
#include "Schedule/Problem/Size.h"

#include "mlir/IR/Operation.h"

#include <string>

namespace quern {

/// Memory beside the arguments: a part of one, given by its first byte, or a table of constants. Both are flat.
bool isFlatBase(mlir::Operation *op);

/// Part of a buffer, or the buffer in another shape, by strides.
bool isView(mlir::Operation *op);

/// The address of an operand, in elements: offset + Σ loops[l] at the index of loop l.
struct LoopAccess {
  /// An argument, an intermediate, memory beside them (isFlatBase()), or a scalar that every point reads.
  mlir::Value base;
  rows::Size offset;
  llvm::SmallVector<rows::Walk, 6> loops; ///< as the map says
  bool isView = false;                    ///< of `base`
  std::string whyNot;                     ///< why this is not its address; empty: it is
  bool cutsOpenLoops = false;             ///< it is, and nothing else speaks against it than that it is no linear one

  bool isScalar() const { return !llvm::isa<mlir::MemRefType>(base.getType()); }
  /// An argument, a part of one, or a table of constants: anything but an intermediate.
  bool isArgument() const;
  bool isLinear() const {
    return llvm::all_of(loops, [](const rows::Walk &walk) { return walk.isLinear(); });
  }
  /// Along a loop, of an access that is linear there.
  rows::Size stride(unsigned loop) const { return loops[loop].step(); }
  mlir::Type elementType() const { return llvm::cast<mlir::MemRefType>(base.getType()).getElementType(); }
  bool sameAddress(const LoopAccess &other) const { return offset == other.offset && loops == other.loops; }
};

/// Reads where an operand of a linalg op on memrefs lies, with these extents of the op's loops. Where a map multiplies
/// an open size or adds to it, that is no address.
LoopAccess readAccess(mlir::OpOperand &operand, llvm::ArrayRef<rows::Size> extents, const rows::ArgumentSizes &sizes);

/// The ways along dims that cuts of other operands have left in digits, by dim.
using Curves = llvm::SmallVector<std::pair<unsigned, rows::Walk>, 1>;

/// An access after its loops have been cut into dims: offset + Σ strides[d] · index of dim d + the curves.
struct DimAccess : LoopAccess {
  rows::Sizes strides; ///< by dim; 0 along a curve
  Curves curves;

  /// One dim more, behind the others.
  void addDim(const rows::Walk &walk);
  void dropDim(unsigned dim);
  bool isCurved(unsigned dim) const;
  /// Whether `outer` goes on where `inner`, of so many indices, ends.
  bool followsOn(unsigned outer, unsigned inner, int64_t extent) const;
};

} // namespace quern

#endif // QUERN_SCHEDULE_PROBLEM_ACCESS_H
