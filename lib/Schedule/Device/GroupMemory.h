//===- GroupMemory.h - Memory that the work-items of a group share -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_DEVICE_GROUPMEMORY_H
#define QUERN_SCHEDULE_DEVICE_GROUPMEMORY_H

#include "Schedule/Build/Kernel.h"

namespace quern {

/// Returns the storage type of elements in group memory: integers replace narrow floats, because every device has them.
mlir::Type groupMemoryType(mlir::Type element);

/// Returns the number of bytes of group memory after another allocation; `bytes` are those before it. Allocations are
/// aligned to 16 bytes.
int64_t addGroupMemory(int64_t bytes, int64_t elements, mlir::Type element);

/// Creates a variable of a kernel's groups, `@<kernel>_shared<number>`, before the kernel, and returns its memref at
/// the insertion point of `builder`. Its initial value is undefined.
mlir::Value groupMemory(mlir::OpBuilder &builder, KernelFunction &kernel, int64_t elements, mlir::Type element,
                        int64_t number);

} // namespace quern

#endif // QUERN_SCHEDULE_DEVICE_GROUPMEMORY_H
