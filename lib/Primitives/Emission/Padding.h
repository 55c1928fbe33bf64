//===- Padding.h - Zeros in the padding of destinations -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Whoever writes a padded tensor leaves its padding zero. The padding is cut into boxes, strided views of the buffer,
// and each is written by a function of its own after the problem's, so that a recipe schedules it as it would any other
// elementwise op. A problem that is a single elementwise op fills its whole destination in front instead, where it may:
// a recipe then makes the two one.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_PADDING_H
#define QUERN_PRIMITIVES_EMISSION_PADDING_H

#include "Primitives/Emission/Function.h"

namespace quern::emission {

/// Views of a static blocked-format tensor's buffer that together hold its padding, each place of it once, and no
/// element. Empty if it has no padding. Dims of size 1 are left out of a view.
llvm::SmallVector<mlir::MemRefType> paddingBoxes(const TensorDesc &desc, mlir::MLIRContext *context);

/// Appends `@<name>_padding0`, … : for each box of each output's padding one function with all of the problem's
/// arguments, where the memref of that output is the box.
void emitPadding(mlir::ModuleOp module, const VerifiedProblem &problem, llvm::StringRef name);

/// Whether the only output is to be filled with zeros before its elements are written. Where old elements are read, or
/// where an input may be the output, only the padding may be written, and afterwards.
bool fillsPadding(const VerifiedProblem &problem);

/// argumentTypes(), but the output has its padding where fillsPadding().
llvm::SmallVector<mlir::Type> argumentTypesToFill(const VerifiedProblem &problem, mlir::MLIRContext *context);

/// The output of a function of argumentTypesToFill() in `space`, after the fill if there is to be one.
Operand filledOutput(FunctionEmitter &function, int32_t index, llvm::ArrayRef<int64_t> space);

} // namespace quern::emission

#endif // QUERN_PRIMITIVES_EMISSION_PADDING_H
