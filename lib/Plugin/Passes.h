//===- Passes.h - The passes of the MLIR plugin --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_PLUGIN_PASSES_H
#define QUERN_PLUGIN_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>

namespace quern::plugin {

/// Marks a function that quern-outline has created: quern-to-llvm replaces its body by a call of libquern.
inline constexpr llvm::StringLiteral outlinedAttr = "quern.outlined";

/// Marks such a function if it may be lowered loop by loop.
inline constexpr llvm::StringLiteral allowNaiveAttr = "quern.allow_naive";

/// quern-outline: moves runs of linalg operations on tensors that Quern supports into private functions and calls
/// those.
std::unique_ptr<mlir::Pass> createOutlinePass();
/// quern-to-llvm: after bufferization, replaces the bodies of such functions by calls of quern_mlir_call().
std::unique_ptr<mlir::Pass> createToLlvmPass();

} // namespace quern::plugin

#endif // QUERN_PLUGIN_PASSES_H
