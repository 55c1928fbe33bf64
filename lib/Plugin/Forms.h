//===- Forms.h - Preparing functions for bufferization --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PLUGIN_FORMS_H
#define QUERN_PLUGIN_FORMS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace quern::plugin {

/// Rewrites operations that would be less useful on memrefs: softmax has no body there, and a constant tensor with
/// equal elements would become a global of the host's module. Such a constant becomes a number in the bodies that read
/// it, or a fill.
mlir::LogicalResult prepareForMemrefs(mlir::func::FuncOp function);

} // namespace quern::plugin

#endif // QUERN_PLUGIN_FORMS_H
