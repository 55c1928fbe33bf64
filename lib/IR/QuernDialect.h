//===- QuernDialect.h - The attributes that stages exchange ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Attributes of functions, their arguments, modules and single ops. An attribute that has its own type is named after
// it: the `quern.kernel` of a kernel is a KernelAttr.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_IR_QUERNDIALECT_H
#define QUERN_IR_QUERNDIALECT_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/Operation.h"

#include "IR/QuernEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "IR/QuernAttributes.h.inc"
#include "IR/QuernDialect.h.inc"

namespace quern {

/// Names of attributes that have builtin types.
namespace attr {
/// On an argument. `arg`: the tensor's name; `scratch`: memory of one call; `shared`: memory that all calls of an
/// execution share, which is a separate argument of a kernel and, with a byte offset that is a multiple of 64, a buffer
/// of a problem; `sizes`: the sizes that are known only at execution.
inline constexpr llvm::StringLiteral arg = "quern.arg", scratch = "quern.scratch", shared = "quern.shared",
                                     sizes = "quern.sizes";
/// On a problem: the indices of its open sizes in the execution's list; without it, they are the first entries.
inline constexpr llvm::StringLiteral sizeIndices = "quern.size_indices";
/// On a module: the number of sizes of an execution, all of which a device's kernels take; without it, the number that
/// the kernels need.
inline constexpr llvm::StringLiteral sizeCount = "quern.size_count";
} // namespace attr

/// Returns the attribute of type T of `op`, or null.
template <typename T> T attrOf(mlir::Operation *op) { return op->getAttrOfType<T>(T::name); }

inline bool isKernel(mlir::Operation *op) { return op->hasAttr(KernelAttr::name); }

inline void addRelaxation(mlir::Operation *op, Relaxation relaxation) {
  op->setAttr(RelaxationAttr::name, RelaxationAttr::get(op->getContext(), relaxation));
}
inline bool hasRelaxation(mlir::Operation *op, Relaxation relaxation) {
  auto given = attrOf<RelaxationAttr>(op);
  return given && bitEnumContainsAll(given.getValue(), relaxation);
}

} // namespace quern

#endif // QUERN_IR_QUERNDIALECT_H
