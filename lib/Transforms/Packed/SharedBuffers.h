//===- SharedBuffers.h - Memory between the problems of an execution ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Data that one problem of a module passes to another is an argument of both with `quern.shared = <byte offset>`, a
// multiple of 64. Recipes treat it like any other argument.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TRANSFORMS_PACKED_SHAREDBUFFERS_H
#define QUERN_TRANSFORMS_PACKED_SHAREDBUFFERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace quern {

/// Returns the end of the shared buffers that the functions of `module` use, in bytes, a multiple of 64; 0: there are
/// none.
int64_t endOfSharedBuffers(mlir::ModuleOp module);

/// Replaces a kernel's shared buffers by views of one i8 argument after its tensors, which has the unit attribute
/// `quern.shared`: the memory that all kernels of an execution share. Shared memory that the kernel itself uses follows
/// at `end`. Sets the kernel's shared bytes.
void bindSharedBuffers(mlir::func::FuncOp kernel, int64_t end);

} // namespace quern

#endif // QUERN_TRANSFORMS_PACKED_SHAREDBUFFERS_H
