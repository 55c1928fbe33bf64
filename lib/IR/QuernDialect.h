//===- QuernDialect.h - What stages tell each other -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Attributes of functions, their arguments, modules and single ops. Those that have a type here are named after it: a kernel has a
// `quern.kernel`, which is a KernelAttr.
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
/// Of an argument: the tensor's name; memory of one call; what all calls of an execution share, which is an argument of its own of a kernel
/// and, with a byte offset that is a multiple of 64, a buffer of a problem; the sizes that only an execution knows.
inline constexpr llvm::StringLiteral arg = "quern.arg", scratch = "quern.scratch", shared = "quern.shared", sizes = "quern.sizes";
/// Of a problem: which entries of the execution's list its open sizes are; without it, the first ones.
inline constexpr llvm::StringLiteral sizeIndices = "quern.size_indices";
/// Of a module: how many sizes an execution has, which a device's kernels all take; without it, as many as the kernels ask for.
inline constexpr llvm::StringLiteral sizeCount = "quern.size_count";
/// `calls` = [["srcs.0", 0, "dst", 0], ["srcs.1", 0, "dst", 256], …], of problems and of their kernels: called once for each, with the
/// named arguments' buffers from that byte on for its own; the calls are independent. Without it a kernel is called once, its arguments
/// being those of their names. `beside`: independent of the problem or kernel before it, too.
///
/// A module may say in `program` when its problems are called, instead; nothing else calls them then. It lists calls and loops:
///   {call = @cell, buffers = [["src", affine_map<(d0)[s0] -> (d0 * s0 * 4)>], …]}
///   {loop = affine_map<()[s0] -> (s0 - 1)>, body = [calls and loops]}
/// Buffers are one for each argument of the problem: a tensor argument of the primitive or a region, from a byte on. `beside` on a call
/// says that it is independent of the call before it. Dims are the indices of the loops around, from the outermost; symbol i is entry i of
/// quern_kernel_args::sizes. `regions` = {name = map to bytes} is memory that the calls of an execution share, aligned to 64, and `maxima`
/// = [["lengths", map to a limit, map to a count, map to a stride], …] adds sizes behind those that are given: the greatest of so many s32
/// elements of an argument, in [0, limit].
inline constexpr llvm::StringLiteral calls = "quern.calls", beside = "quern.beside", program = "quern.program", regions = "quern.regions",
                                     maxima = "quern.maxima";
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
