//===- Pipeline.h - A device's kernels to the LLVM dialect ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The `lower` stage of SPIR-V targets. What comes in is a func.func with `quern.kernel` that has a group size: scf,
// memref, arith, math, vector, and of the gpu dialect indices (block_id x, thread_id x, lane_id, subgroup_id),
// barriers, shuffles and reductions. Memory that a group shares is a memref.global in #gpu.address_space<workgroup>.
// What goes out is an OpenCL kernel: (a pointer for each tensor, [one to shared scratch], [each runtime size by
// value]).
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_SPIRV_PIPELINE_H
#define QUERN_TARGETS_SPIRV_PIPELINE_H

#include "Desc/Target.h"
#include "Targets/KernelLowering.h"

#include "mlir/IR/BuiltinOps.h"

namespace quern {

/// OpenCL's address spaces.
enum class DeviceSpace : int64_t { Private = 0, Global = 1, Constant = 2, Group = 3 };

/// Replaces what no instruction of a device does: functions of the math dialect, narrow floats, maxima that NaN goes
/// through. Takes the licences off float operations, so that no consumer of the code has any.
mlir::LogicalResult expandForDevice(mlir::ModuleOp module, const Target &target);

/// The conversion of one context, reusable for any number of modules of that context, one at a time.
class SpirvLowering {
public:
  explicit SpirvLowering(mlir::MLIRContext &context);

  /// Turns each kernel of `module` into an llvm.func. Diagnoses what cannot be lowered.
  mlir::LogicalResult run(mlir::ModuleOp module, const Target &target, bool verifyIr);

private:
  KernelConversion conversion;
};

} // namespace quern

#endif // QUERN_TARGETS_SPIRV_PIPELINE_H
