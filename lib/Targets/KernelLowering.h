//===- KernelLowering.h - What the targets' lowerings share ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Steps on the way of a scheduled function to one of the LLVM dialect with bare pointers for its buffers.
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

/// Every dialect that IR of any stage uses, with the interfaces that translation to LLVM IR needs.
void registerAllStageDialects(mlir::DialectRegistry &registry);

/// An argument of a kernel that is a tensor.
ArgumentAttr describeArgument(mlir::func::FuncOp function, unsigned argument);

/// The conversion to bare pointers wants static extents, which nothing reads: a flat buffer of unknown extent gets one.
/// Annotations that the LLVM dialect does not carry are dropped.
void prepareForBarePointers(mlir::func::FuncOp function);

/// Reads of a memref descriptor's fields become the fields: nothing builds descriptors but the prologue, and every
/// access would otherwise take its own apart again.
void forwardDescriptorFields(mlir::LLVM::LLVMFuncOp function);

/// Sums that served as indices alone, before an access took their constants.
void eraseUnusedSums(mlir::LLVM::LLVMFuncOp function);

/// The conversion of kernels to the LLVM dialect in one context, reusable for any number of modules of
/// that context, one at a time.
class KernelConversion {
public:
  /// `addOwn` adds a target's own patterns and conversions of types to those that all targets have.
  KernelConversion(mlir::MLIRContext &context,
                   llvm::function_ref<void(mlir::LLVMTypeConverter &, mlir::RewritePatternSet &)> addOwn);
  ~KernelConversion();

  mlir::LogicalResult run(mlir::ModuleOp module) const;

private:
  std::unique_ptr<mlir::LLVMTypeConverter> types;
  mlir::FrozenRewritePatternSet patterns;
  std::unique_ptr<mlir::ConversionTarget> legal;
};

} // namespace quern

#endif // QUERN_TARGETS_KERNELLOWERING_H
