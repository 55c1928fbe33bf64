//===- Dropout.h - Emission of dropout masks and their application --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The dropout attribute takes two steps: a separate function, called before the problem's, draws the mask into scratch
// that the steps of an execution share, and the op that stores the result reads it there. The caller's mask is a copy
// of it.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_ATTRIBUTES_DROPOUT_H
#define QUERN_PRIMITIVES_EMISSION_ATTRIBUTES_DROPOUT_H

#include "Primitives/Emission/Function.h"

namespace quern::emission {

/// Index of the scratch mask among the arguments of withDropoutMask().
inline constexpr int32_t keptMask = -1;

/// Returns the problem with one more argument: the mask in scratch, dense and row-major.
VerifiedProblem withDropoutMask(const VerifiedProblem &problem);

/// Appends the function that draws the scratch mask of `problem`, a result of withDropoutMask(): 1 for each kept
/// element of dst, else 0, from the random number at the element's row-major position. If the caller requests a mask,
/// also appends a function that copies it.
void emitDropoutMask(mlir::ModuleOp module, const VerifiedProblem &problem);

/// Builds a program that calls the module's functions in order, with the mask in scratch.
void emitDropoutProgram(mlir::ModuleOp module, const VerifiedProblem &problem);

/// Applies the mask in the op that stores the result.
class DropoutStep {
public:
  /// Creates a step without dropout.
  DropoutStep() = default;
  /// Creates the step for the problem that `function` builds; it does nothing if the problem has no dropout. The factor
  /// is computed at the builder's insertion point, and the mask is appended to `inputs`.
  DropoutStep(FunctionEmitter &function, llvm::ArrayRef<int64_t> space, mlir::FloatType compute,
              llvm::SmallVectorImpl<Operand> &inputs);

  /// Returns `value · 1 / (1 - p)` if the element is kept, else 0; without dropout, `value`. `elements` are the
  /// elements of all `inputs`.
  mlir::Value apply(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::ValueRange elements) const;

private:
  int mask = -1; ///< position in `inputs`; -1: no dropout
  mlir::Value factor;
};

} // namespace quern::emission

#endif // QUERN_PRIMITIVES_EMISSION_ATTRIBUTES_DROPOUT_H
