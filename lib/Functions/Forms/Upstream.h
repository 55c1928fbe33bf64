//===- Upstream.h - Patterns and passes that reading runs ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Making them takes as long as running them on a small function, so that a context has them once.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_FUNCTIONS_UPSTREAM_H
#define QUERN_FUNCTIONS_UPSTREAM_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace quern::functions {

/// Of one context, which has the dialects of callers' modules, and of one thread at a time.
struct Upstream {
  explicit Upstream(mlir::MLIRContext &context);

  /// Padding and joining as insertions, casts and sizes of what is known folded.
  mlir::FrozenRewritePatternSet insertParts;
  /// Loops of one index, and dims that no more than one is read of, go.
  mlir::FrozenRewritePatternSet dropUnitDims;
  /// Elementwise operations one after the other, the second the only one that reads the first, are one.
  mlir::FrozenRewritePatternSet fuseElementwise;
  /// Tensors on memrefs. These two verify nothing: who runs them does.
  mlir::PassManager bufferize;
  /// Targets compute in f32 and f64; a result in f32, rounded, is what an operation on narrower floats gives.
  mlir::PassManager simplify;
};

} // namespace quern::functions

#endif // QUERN_FUNCTIONS_UPSTREAM_H
