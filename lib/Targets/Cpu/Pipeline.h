//===- Pipeline.h - Scheduled kernels to the LLVM dialect -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The `lower` stage: verify, expand narrow floats and math for the target's level, make blocks of loops, replace each
// operation by that of the LLVM dialect and each buffer by its pointer, and put the kernel ABI around it. What is left
// (few kernels have any) takes a conversion by patterns, which are built once per context. No pass manager.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_CPU_PIPELINE_H
#define QUERN_TARGETS_CPU_PIPELINE_H

#include "Desc/Target.h"
#include "Targets/KernelLowering.h"
#include "Targets/OneToOne.h"

#include "mlir/IR/BuiltinOps.h"

namespace quern {

/// Expands what no instruction of the target does, in every kernel of the module. Idempotent.
mlir::LogicalResult expandForTarget(mlir::ModuleOp module, const Target &target);

/// The conversion of one context, reusable for any number of modules of that context, one at a time.
class CpuLowering {
public:
  explicit CpuLowering(mlir::MLIRContext &context);

  /// Turns each kernel of `module` (a func.func with `quern.kernel`) into an llvm.func of the kernel ABI.
  /// Diagnoses what cannot be lowered.
  mlir::LogicalResult run(mlir::ModuleOp module, const Target &target, bool verifyIr);

private:
  OneToOne oneToOne;
  KernelConversion conversion;
};

} // namespace quern

#endif // QUERN_TARGETS_CPU_PIPELINE_H
