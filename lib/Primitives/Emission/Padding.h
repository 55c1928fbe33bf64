//===- Padding.h - Zeroing the padding of destinations --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A kernel that writes a padded tensor must leave zeros in the padding. The padding is split into boxes, strided views
// of the buffer, and each is written by a separate function after the problem's, so that a recipe schedules it as an
// elementwise op. If a problem is a single elementwise op and may overwrite the whole buffer, it fills the destination
// first instead, and a recipe fuses the fill with the stores.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_PADDING_H
#define QUERN_PRIMITIVES_EMISSION_PADDING_H

#include "Primitives/Emission/Function.h"

namespace quern::emission {

/// Returns views of a static blocked-format tensor's buffer that cover each element of its padding exactly once, and no
/// other element. Empty if there is no padding. Dims of size 1 are dropped from a view.
llvm::SmallVector<mlir::MemRefType> paddingBoxes(const TensorDesc &desc, mlir::MLIRContext *context);

/// Appends `@<name>_padding0`, …: one function for each box of each output's padding. It has all arguments of the
/// problem, but the memref of that output is the box.
void emitPadding(mlir::ModuleOp module, const VerifiedProblem &problem, llvm::StringRef name);

/// Returns true if the only output is filled with zeros before its elements are written. If old elements are read, or
/// if an input may use the output's memory, only the padding may be written, after the elements.
bool fillsPadding(const VerifiedProblem &problem);

/// Like argumentTypes(), but the memref of the output includes its padding if fillsPadding().
llvm::SmallVector<mlir::Type> argumentTypesToFill(const VerifiedProblem &problem, mlir::MLIRContext *context);

/// Returns the output of a function of argumentTypesToFill() as an operand in `space`, and emits the fill if
/// fillsPadding().
Operand filledOutput(FunctionEmitter &function, int32_t index, llvm::ArrayRef<int64_t> space);

} // namespace quern::emission

#endif // QUERN_PRIMITIVES_EMISSION_PADDING_H
