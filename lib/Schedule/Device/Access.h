//===- Access.h - Memory as one work-item accesses it --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Vector accesses to contiguous elements by one work-item. Narrow elements are moved as 32-bit words, which all devices
// support, and are extracted and inserted by shifts.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_DEVICE_ACCESS_H
#define QUERN_SCHEDULE_DEVICE_ACCESS_H

#include "mlir/IR/Builders.h"

namespace quern {

constexpr int64_t deviceWordBytes = 4;

/// Returns true if a device can access `count` elements at once: more than one, and 1, 2, 4, 8 or 16 words, or elements
/// if these are wider than a word.
bool isDeviceVector(mlir::Type element, int64_t count);

/// Returns the required alignment of a vector of such elements, in bytes.
int64_t deviceAlignment(mlir::Type element);

/// Emits the condition that the memrefs start at whole words, which the alignment of narrow elements does not
/// guarantee, and that `bytes` are multiples of a word. Returns null if there is nothing to check.
mlir::Value areWordAligned(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::Value> memrefs,
                           llvm::ArrayRef<mlir::Value> bytes = {});

/// Loads `count` elements of `memref` from index `at` in one access, and returns each as a scalar.
llvm::SmallVector<mlir::Value> loadVector(mlir::OpBuilder &b, mlir::Location loc, mlir::Value memref, mlir::Value at,
                                          int64_t count);
void storeVector(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::Value> elements, mlir::Value memref,
                 mlir::Value at);

} // namespace quern

#endif // QUERN_SCHEDULE_DEVICE_ACCESS_H
