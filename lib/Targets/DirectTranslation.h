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

/// Translates a module of kernels without debug information like mlir::translateModuleToLLVMIR(). That function builds
/// a dictionary of the attributes of every operation, twice, to find those of other dialects and debug information;
/// this one executes a quarter of its instructions. Returns null if the module has attributes, linkage, metadata or
/// operations that are not supported here, which is rare in kernels.
std::unique_ptr<llvm::Module> translateKernels(mlir::ModuleOp module, llvm::LLVMContext &context);

} // namespace quern

#endif // QUERN_TARGETS_DIRECTTRANSLATION_H
