//===- Forms.h - Preparing functions for bufferization --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PLUGIN_FORMS_H
#define QUERN_PLUGIN_FORMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace quern::plugin {

/// Rewrites operations that bufferization would make less useful. Softmax, which has no body, is decomposed. A constant
/// tensor with equal elements, which would become a global, becomes a number in the bodies that read it; for other
/// users it becomes a fill. Fails if a rewrite fails.
mlir::LogicalResult prepareForMemrefs(mlir::func::FuncOp function);

} // namespace quern::plugin

#endif // QUERN_PLUGIN_FORMS_H
