//===- Bodies.h - Bodies of linalg ops that become vector code ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// What all recipes ask of a body before they clone it on vectors, and what it costs there.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RECIPES_BODIES_H
#define QUERN_RECIPES_BODIES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <string>

namespace quern {

inline int64_t bytesOf(mlir::Type element) { return element.getIntOrFloatBitWidth() / 8; }

/// Elementwise operations only, and arithmetic in types that vector registers compute in; otherwise a reason.
mlir::LogicalResult checkBody(mlir::Block &body, std::string &whyNot);

/// The vector operations that a body becomes, about: transcendental functions and conversions of narrow floats are sequences.
int64_t opsOf(mlir::linalg::LinalgOp op);

} // namespace quern

#endif // QUERN_RECIPES_BODIES_H
