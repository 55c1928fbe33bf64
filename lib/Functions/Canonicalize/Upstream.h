//===- Upstream.h - Upstream patterns and passes for reading --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Creating the patterns and passes takes as long as running them on a small function, so they are created once per
// context.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_FUNCTIONS_UPSTREAM_H
#define QUERN_FUNCTIONS_UPSTREAM_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace quern::functions {

/// Patterns and passes for one context, which has the dialects of callers' modules. Not thread-safe.
struct Upstream {
  explicit Upstream(mlir::MLIRContext &context);

  /// Rewrites padding and concatenation as insertions, and folds casts and sizes of known tensors.
  mlir::FrozenRewritePatternSet insertParts;
  /// Removes loops of one index and dims of size 1.
  mlir::FrozenRewritePatternSet dropUnitDims;
  /// Fuses elementwise operations if the second is the only reader of the first.
  mlir::FrozenRewritePatternSet fuseElementwise;
  /// Bufferizes tensors. This and the next pass manager do not verify; the caller does.
  mlir::PassManager bufferize;
  /// Makes operations on narrower floats compute in f32 and round the result, because targets compute in f32 and f64.
  /// Then simplifies.
  mlir::PassManager simplify;
};

} // namespace quern::functions

#endif // QUERN_FUNCTIONS_UPSTREAM_H
