//===- Pipeline.h - Scheduled kernels to the LLVM dialect -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The `lower` stage: verify, expand narrow floats and math for the target's level, one full conversion to
// the LLVM dialect, and the kernel ABI around it. No pass manager: the patterns are built once per context,
// and a conversion is one walk.
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
