//===- KernelLowering.h - Steps that the targets' lowerings share ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Steps from a scheduled function to a function of the LLVM dialect with bare pointers for its buffers.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_KERNELLOWERING_H
#define QUERN_TARGETS_KERNELLOWERING_H

#include "IR/QuernDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/DialectConversion.h"

#include <memory>

namespace mlir {
class LLVMTypeConverter;
}

namespace quern {

/// Registers every dialect that IR of any stage uses, with the interfaces for translation to LLVM IR.
void registerAllStageDialects(mlir::DialectRegistry &registry);

/// Describes a tensor argument of a kernel.
ArgumentAttr describeArgument(mlir::func::FuncOp function, unsigned argument);

/// Sets a static extent for flat buffers of unknown extent: the conversion to bare pointers requires one, although no
/// code reads it. Removes the attributes of all arguments.
void prepareForBarePointers(mlir::func::FuncOp function);

/// Replaces reads of a memref descriptor's fields by the fields: only the prologue builds descriptors, and every access
/// would otherwise extract its own.
void forwardDescriptorFields(mlir::LLVM::LLVMFuncOp function);

/// Erases unused integer additions, which computed indices until the accesses encoded the constant addends.
void eraseUnusedSums(mlir::LLVM::LLVMFuncOp function);

/// The conversion of kernels to the LLVM dialect for one context, reusable for any number of its modules, one at a
/// time.
class KernelConversion {
public:
  /// `addTargetPatterns` adds a target's patterns and type conversions to the common ones.
  KernelConversion(mlir::MLIRContext &context,
                   llvm::function_ref<void(mlir::LLVMTypeConverter &, mlir::RewritePatternSet &)> addTargetPatterns);
  ~KernelConversion();

  mlir::LogicalResult run(mlir::ModuleOp module) const;

private:
  std::unique_ptr<mlir::LLVMTypeConverter> types;
  mlir::FrozenRewritePatternSet patterns;
  std::unique_ptr<mlir::ConversionTarget> legal;
};

} // namespace quern

#endif // QUERN_TARGETS_KERNELLOWERING_H
