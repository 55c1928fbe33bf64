//===- SharedBuffers.h - Memory between the problems of an execution ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What one problem of a module leaves for another is an argument of both with `quern.shared = <byte offset>`, a
// multiple of 64. Recipes see an argument like others.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TRANSFORMS_PACKED_SHAREDBUFFERS_H
#define QUERN_TRANSFORMS_PACKED_SHAREDBUFFERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace quern {

/// The end of the shared buffers that the functions of `module` name, in bytes, a multiple of 64; 0 if there are none.
int64_t endOfSharedBuffers(mlir::ModuleOp module);

/// Makes a kernel's shared buffers views of one argument of i8 behind its tensors, with the unit attribute
/// `quern.shared`: the memory that all kernels of an execution share. What the kernel shares with others besides comes
/// after `end`. Sets the kernel's bytes of it.
void bindSharedBuffers(mlir::func::FuncOp kernel, int64_t end);

} // namespace quern

#endif // QUERN_TRANSFORMS_PACKED_SHAREDBUFFERS_H
