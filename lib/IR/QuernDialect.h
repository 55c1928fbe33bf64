//===- QuernDialect.h - What stages tell each other -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Attributes of functions, their arguments, modules and single ops. Those that have a type here are named after it: a
// kernel has a `quern.kernel`, which is a KernelAttr.
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

/// Attributes of builtin types.
namespace attr {
/// Of an argument: the tensor's name; memory of one call; what all calls of an execution share, which is an
/// argument of its own of a kernel and, with a byte offset that is a multiple of 64, a buffer of a problem; the
/// sizes that only an execution knows.
inline constexpr llvm::StringLiteral arg = "quern.arg", scratch = "quern.scratch", shared = "quern.shared",
                                     sizes = "quern.sizes";
/// Of a problem: which entries of the execution's list its open sizes are; without it, the first ones.
inline constexpr llvm::StringLiteral sizeIndices = "quern.size_indices";
/// Of a module: how many sizes an execution has, which a device's kernels all take; without it, as
/// many as the kernels ask for.
inline constexpr llvm::StringLiteral sizeCount = "quern.size_count";
} // namespace attr

/// The attribute of type T that `op` has, or null.
template <typename T> T attrOf(mlir::Operation *op) { return op->getAttrOfType<T>(T::name); }

inline bool isKernel(mlir::Operation *op) { return op->hasAttr(KernelAttr::name); }

inline void addLicence(mlir::Operation *op, Licence licence) {
  op->setAttr(LicenceAttr::name, LicenceAttr::get(op->getContext(), licence));
}
inline bool hasLicence(mlir::Operation *op, Licence licence) {
  auto given = attrOf<LicenceAttr>(op);
  return given && bitEnumContainsAll(given.getValue(), licence);
}

} // namespace quern

#endif // QUERN_IR_QUERNDIALECT_H
