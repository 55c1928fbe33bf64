//===- Access.h - Memory as one work-item accesses it --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Neighbouring elements that a work-item reads or writes at once. Narrow ones are moved as words of 32 bits, which all
// devices have, and taken out of them and put into them by shifts.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_DEVICE_ACCESS_H
#define QUERN_SCHEDULE_DEVICE_ACCESS_H

#include "mlir/IR/Builders.h"

namespace quern {

constexpr int64_t deviceWordBytes = 4;

/// Whether so many elements are a vector that a device accesses at once: a whole number of words, of
/// a length that SPIR-V has.
bool isDeviceVector(mlir::Type element, int64_t count);

/// What the address of a vector of such elements must be a multiple of, in bytes.
int64_t deviceAlignment(mlir::Type element);

/// Whether all these memrefs begin at whole words, which their elements alone need not, and these numbers of bytes are
/// of whole words, too. Null: they are no narrower than words.
mlir::Value areWordAligned(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::Value> memrefs,
                           llvm::ArrayRef<mlir::Value> bytes = {});

/// `count` neighbours of `memref` from index `at` on, read at once.
llvm::SmallVector<mlir::Value> loadVector(mlir::OpBuilder &b, mlir::Location loc, mlir::Value memref, mlir::Value at,
                                          int64_t count);
void storeVector(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::Value> elements, mlir::Value memref,
                 mlir::Value at);

/// Element `at` of a memref of rank 1, or the only one of one of rank 0.
mlir::Value loadElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value memref, mlir::Value at);
void storeElement(mlir::OpBuilder &b, mlir::Location loc, mlir::Value element, mlir::Value memref, mlir::Value at);

} // namespace quern

#endif // QUERN_SCHEDULE_DEVICE_ACCESS_H
