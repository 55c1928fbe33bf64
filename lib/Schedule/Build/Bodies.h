//===- Bodies.h - Bodies of linalg ops that become vector code -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What all recipes ask of a body before they clone it, what it costs, and the clone.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_BUILD_BODIES_H
#define QUERN_SCHEDULE_BUILD_BODIES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

#include <string>

namespace quern {

inline int64_t bytesOf(mlir::Type element) { return element.getIntOrFloatBitWidth() / 8; }

/// Elementwise operations only, with `takesIndices` also indices of loops, and arithmetic in types that vector
/// registers compute in; otherwise a reason.
mlir::LogicalResult checkBody(mlir::Block &body, std::string &whyNot, bool takesIndices = false);

/// The vector operations that a body becomes, about: transcendental functions and conversions of
/// narrow floats are sequences.
int64_t opsOf(mlir::linalg::LinalgOp op);

/// Clones a body, whose arguments and indices of loops `map` has as far as they are read. `captured` stands for values
/// from outside and for constants; `adapt`, if given, is called for each clone, to give it the type of a vector. What
/// the body yields, or the values in it that are wanted in its place: then what is only yielded is left out.
llvm::SmallVector<mlir::Value> cloneBody(mlir::OpBuilder &builder, mlir::Block &body, mlir::IRMapping &map,
                                         llvm::function_ref<mlir::Value(mlir::Value)> captured,
                                         llvm::function_ref<void(mlir::Operation *)> adapt = nullptr,
                                         mlir::ValueRange wanted = {});

} // namespace quern

#endif // QUERN_SCHEDULE_BUILD_BODIES_H
