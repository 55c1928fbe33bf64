//===- Access.h - Addresses of the operands of an op ----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// An operand in normal form: the underlying buffer, an offset, and an access function (AccessFunction) along each loop.
// Recipes split loops into dims, along which an operand has one stride or keeps a non-linear access function.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_PROBLEM_ACCESS_H
#define QUERN_SCHEDULE_PROBLEM_ACCESS_H

#include "Schedule/Problem/Digits.h"
#include "Schedule/Problem/Size.h"

#include "mlir/IR/Operation.h"

#include <string>

namespace quern::schedule {

/// Returns true for memory other than the arguments: a part of an argument (memref.view) or a table of constants
/// (memref.get_global), which is contiguous, of rank 1 and of static size.
bool isFlatBase(mlir::Operation *op);

/// Returns true for an op that returns a buffer, or a part of it, with another type, shape or strides. Returns false
/// for null.
bool isView(mlir::Operation *op);

/// The address of an operand, in elements: offset + Σ loops[l] at the index of loop l.
struct LoopAccess {
  /// An argument, an intermediate, other memory (isFlatBase()), or a scalar that every point reads.
  mlir::Value base;
  Size offset;
  llvm::SmallVector<AccessFunction, 6> loops; ///< address along each loop, as the indexing map specifies
  bool isView = false;                        ///< true if the operand is a view of `base`
  std::string whyNot;                         ///< reason why the address is not supported; empty: it is
  bool cutsOpenLoops = false;                 ///< true if the only reason is a non-linear function along an open loop

  bool isScalar() const { return !llvm::isa<mlir::MemRefType>(base.getType()); }
  /// Returns true for an argument, a part of one, or a table of constants, but not for an intermediate.
  bool isArgument() const;
  bool isLinear() const {
    return llvm::all_of(loops, [](const AccessFunction &function) { return function.isLinear(); });
  }
  /// Returns the stride along a loop in which the access is linear.
  Size stride(unsigned loop) const { return loops[loop].step(); }
  mlir::Type elementType() const { return llvm::cast<mlir::MemRefType>(base.getType()).getElementType(); }
  bool sameAddress(const LoopAccess &other) const { return offset == other.offset && loops == other.loops; }
};

/// Reads the address of an operand of a linalg op on memrefs, given the extents of the op's loops. Sets `whyNot` if the
/// address is not supported; for example, the map must not multiply an open size or add to it.
LoopAccess readAccess(mlir::OpOperand &operand, llvm::ArrayRef<Size> extents, const ArgumentSizes &sizes);

/// Pairs of a dim and the access function along it, for the dims along which the access is still non-linear.
using NonlinearAccesses = llvm::SmallVector<std::pair<unsigned, AccessFunction>, 1>;

/// An access after its loops were split into dims: offset + Σ strides[d] · index of dim d + the non-linear functions.
struct DimAccess : LoopAccess {
  Sizes strides; ///< by dim; 0 along a non-linear one
  NonlinearAccesses nonlinear;

  /// Appends a dim.
  void addDim(const AccessFunction &function);
  void dropDim(unsigned dim);
  bool isNonlinear(unsigned dim) const;
  /// Returns true if `outer` continues where `inner`, which has `extent` indices, ends.
  bool followsOn(unsigned outer, unsigned inner, int64_t extent) const;
};

} // namespace quern::schedule

#endif // QUERN_SCHEDULE_PROBLEM_ACCESS_H
