//===- FlatAccess.h - Loads and stores of flat buffers --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_CPU_FLATACCESS_H
#define QUERN_TARGETS_CPU_FLATACCESS_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace quern {

/// Replaces masks of stores by constants if they can be computed from constants. The functions below need these, and
/// operations of the LLVM dialect no longer fold.
void foldMasksOfStores(mlir::func::FuncOp function);

/// Converts a kernel whose memrefs all have rank 1 and no layout to an llvm.func with a pointer for each; OneToOne has
/// already converted its own operations. Returns false, with nothing changed, if the kernel has results, other memrefs,
/// operations with regions or references to symbols. The remaining operations do not use memrefs.
bool lowerFlatBuffers(mlir::func::FuncOp function);

/// Adds patterns for vector loads and stores, masked or not, and for scalar loads. They lower accesses to memrefs of
/// rank 1 without layout, the only ones that recipes create, with indices that are already LLVM integers. MLIR's
/// lowering derives the alignment from affine maps again at every access.
void populateFlatAccessPatterns(const mlir::LLVMTypeConverter &types, mlir::RewritePatternSet &patterns);

} // namespace quern

#endif // QUERN_TARGETS_CPU_FLATACCESS_H
