//===- Padding.h - Zeros in the padding of destinations -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Whoever writes a padded tensor leaves its padding zero. The padding is cut into boxes, strided views of the buffer, and each is written
// by a function of its own after the problem's, so that a recipe schedules it as it would any other elementwise op.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_PRIMITIVES_EMISSION_PADDING_H
#define QUERN_PRIMITIVES_EMISSION_PADDING_H

#include "Primitives/Registry.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace quern::emission {

/// Views of a static blocked-format tensor's buffer that together hold its padding, each place of it once, and no element. Empty if it has
/// no padding. Dims of size 1 are left out of a view.
llvm::SmallVector<mlir::MemRefType> paddingBoxes(const TensorDesc &desc, mlir::MLIRContext *context);

/// Appends `@<name>_padding0`, … : for each box of each output's padding one function with all of the problem's arguments, where the memref
/// of that output is the box.
void emitPadding(mlir::ModuleOp module, const VerifiedProblem &problem, llvm::StringRef name);

} // namespace quern::emission

#endif // QUERN_PRIMITIVES_EMISSION_PADDING_H
