//===- FrameBuffers.h - Limiting the stack that a kernel uses -------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Recipes allocate small buffers in the frame of the kernel. The caller's threads may have as little as 64 KiB of
// stack, so large buffers are placed in the kernel's scratch memory.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_BUILD_FRAMEBUFFERS_H
#define QUERN_SCHEDULE_BUILD_FRAMEBUFFERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace quern {

/// Replaces the `memref.alloca` ops of `kernel` by views of its scratch memory if they take more than 4 KiB together.
/// Adds the scratch argument, and its bytes to the KernelAttr. The kernel must not have scratch memory yet.
void limitFrame(mlir::func::FuncOp kernel);

} // namespace quern

#endif // QUERN_SCHEDULE_BUILD_FRAMEBUFFERS_H
