//===- DirectTranslation.h - Kernels of the LLVM dialect as LLVM IR -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_DIRECTTRANSLATION_H
#define QUERN_TARGETS_DIRECTTRANSLATION_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

#include <memory>

namespace quern {

/// Translates a module of kernels without debug information as mlir::translateModuleToLLVMIR() does. That one builds a
/// dictionary of the attributes of every operation, twice, to look for those of other dialects and for debug
/// information; this one executes a fourth of its instructions. Null if the module has anything that kernels seldom
/// have: attributes, linkage, metadata or operations that are not known here.
std::unique_ptr<llvm::Module> translateKernels(mlir::ModuleOp module, llvm::LLVMContext &context);

} // namespace quern

#endif // QUERN_TARGETS_DIRECTTRANSLATION_H
