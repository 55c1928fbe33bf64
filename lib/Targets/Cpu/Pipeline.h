//===- Pipeline.h - Lowering of kernels to the LLVM dialect ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The `lower` stage: verifies, expands narrow floats and math for the target's level, converts loops to blocks,
// replaces operations by those of the LLVM dialect and buffers by their pointers, and adds the kernel ABI. The
// remaining operations (few kernels have any) are converted by patterns, which are built once per context. No pass
// manager is used.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_CPU_PIPELINE_H
#define QUERN_TARGETS_CPU_PIPELINE_H

#include "Desc/Target.h"
#include "Targets/KernelLowering.h"
#include "Targets/OneToOne.h"

#include "mlir/IR/BuiltinOps.h"

namespace quern {

/// Expands operations for which the target has no instruction, in every kernel of the module. Idempotent.
mlir::LogicalResult expandForTarget(mlir::ModuleOp module, const Target &target);

/// The conversion for one context, reusable for any number of its modules, one at a time.
class CpuLowering {
public:
  explicit CpuLowering(mlir::MLIRContext &context);

  /// Converts each kernel of `module` (a func.func with `quern.kernel`) to an llvm.func of the kernel ABI. Diagnoses
  /// operations that cannot be lowered.
  mlir::LogicalResult run(mlir::ModuleOp module, const Target &target, bool verifyIr);

private:
  OneToOne oneToOne;
  KernelConversion conversion;
};

} // namespace quern

#endif // QUERN_TARGETS_CPU_PIPELINE_H
