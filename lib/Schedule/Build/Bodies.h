//===- Bodies.h - Bodies of linalg ops that become vector code -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Checks, cost estimate and cloning of the bodies of linalg ops, for all recipes.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_SCHEDULE_BUILD_BODIES_H
#define QUERN_SCHEDULE_BUILD_BODIES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"

#include <string>

namespace quern {

inline int64_t bytesOf(mlir::Type element) { return element.getIntOrFloatBitWidth() / 8; }

/// Succeeds if all operations are constants or elementwise (with `takesIndices`, also loop indices), and floats
/// narrower than 32 bits are only converted or selected. Otherwise fails with a reason in `whyNot`.
mlir::LogicalResult checkBody(mlir::Block &body, std::string &whyNot, bool takesIndices = false);

/// Returns the approximate number of vector operations of a body. A transcendental function or a conversion of narrow
/// floats counts as several.
int64_t opsOf(mlir::linalg::LinalgOp op);

/// Clones a body. `map` maps the arguments and loop indices that it reads. `captured` maps outer values and constants;
/// `adapt`, if given, sets the vector type of each clone. Returns the clones of the yielded values or, if given, of the
/// values `wanted` of the body; an operation whose only use is the yield is then cloned only if it is wanted.
llvm::SmallVector<mlir::Value> cloneBody(mlir::OpBuilder &builder, mlir::Block &body, mlir::IRMapping &map,
                                         llvm::function_ref<mlir::Value(mlir::Value)> captured,
                                         llvm::function_ref<void(mlir::Operation *)> adapt = nullptr,
                                         mlir::ValueRange wanted = {});

} // namespace quern

#endif // QUERN_SCHEDULE_BUILD_BODIES_H
