//===- FlatAccess.h - Vectors to and from flat buffers --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_CPU_FLATACCESS_H
#define QUERN_TARGETS_CPU_FLATACCESS_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace quern {

/// Writes masks of stores that follow from constants as constants, for the patterns below: once operations are LLVM's
/// they no longer fold.
void foldMasksOfStores(mlir::func::FuncOp function);

/// Makes an llvm.func of a kernel whose memrefs are all of rank 1 without layout, with a pointer for each; what
/// OneToOne knows is converted already. False, with nothing changed, if the kernel has other memrefs, or control flow
/// other than that of blocks. What is left is without memrefs.
bool lowerFlatBuffers(mlir::func::FuncOp function);

/// Lowers loads and stores of vectors, masked or not, on memrefs of rank 1 without layout, which is all that recipes
/// write, with indices that are LLVM's integers. Upstream's lowering finds the alignment by way of affine maps, at
/// every access anew.
void populateFlatAccessPatterns(const mlir::LLVMTypeConverter &types, mlir::RewritePatternSet &patterns);

} // namespace quern

#endif // QUERN_TARGETS_CPU_FLATACCESS_H
