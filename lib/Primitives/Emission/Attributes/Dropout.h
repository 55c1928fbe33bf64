//===- Dropout.h - Random masks, and results that keep what they say ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The attribute dropout is two steps: a function of its own in front of the problem's draws the mask, into memory that
// the steps of an execution share, and the op that stores the result reads it there. The caller's mask is a copy.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_ATTRIBUTES_DROPOUT_H
#define QUERN_PRIMITIVES_EMISSION_ATTRIBUTES_DROPOUT_H

#include "Primitives/Emission/Function.h"

namespace quern::emission {

/// The index of the mask in scratch among the arguments of withDropoutMask().
inline constexpr int32_t keptMask = -1;

/// The problem with one argument more: the mask in scratch, dense and row-major.
VerifiedProblem withDropoutMask(const VerifiedProblem &problem);

/// Appends the function that writes that mask of `problem`, which withDropoutMask() has made: 1 for each element
/// of dst that is kept, else 0, by the random number at the element's row-major position; and one that copies it
/// where the caller takes a mask.
void emitDropoutMask(mlir::ModuleOp module, const VerifiedProblem &problem);

/// Makes a program of the module's functions, in their order, with the mask in scratch.
void emitDropoutProgram(mlir::ModuleOp module, const VerifiedProblem &problem);

/// What the op that stores does with the mask.
class DropoutStep {
public:
  /// Absent.
  DropoutStep() = default;
  /// Of the problem that `function` builds; absent if it has none. The factor is computed where the function's builder
  /// stands, the mask appended to `inputs`.
  DropoutStep(FunctionEmitter &function, llvm::ArrayRef<int64_t> space, mlir::FloatType compute,
              llvm::SmallVectorImpl<Operand> &inputs);

  /// `value · 1 / (1 - p)` where the element is kept, else 0; the value itself if absent. `elements`
  /// are those of all `inputs`.
  mlir::Value apply(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value, mlir::ValueRange elements) const;

private:
  int mask = -1; ///< in `inputs`
  mlir::Value factor;
};

} // namespace quern::emission

#endif // QUERN_PRIMITIVES_EMISSION_ATTRIBUTES_DROPOUT_H
