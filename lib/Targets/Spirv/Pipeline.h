//===- Pipeline.h - Lowering of device kernels to LLVM --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The `lower` stage of SPIR-V targets. The input is a func.func with `quern.kernel` and a group size. Its operations
// are of scf, memref, arith, math and vector, or are indices (block_id x, thread_id x, lane_id, subgroup_id), barriers,
// shuffles and reductions of gpu. Group memory is a memref.global in #gpu.address_space<workgroup>. The output is an
// OpenCL kernel: (a pointer for each tensor, [one to shared scratch], [each runtime size by value]).
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

/// Expands operations for which devices have no instruction: math functions, narrow floats, maxima and minima that
/// propagate NaN. Removes the relaxations of float operations, so that drivers cannot use any.
mlir::LogicalResult expandForDevice(mlir::ModuleOp module, const Target &target);

/// The conversion for one context, reusable for any number of its modules, one at a time.
class SpirvLowering {
public:
  explicit SpirvLowering(mlir::MLIRContext &context);

  /// Converts each kernel of `module` to an llvm.func. Diagnoses operations that cannot be lowered.
  mlir::LogicalResult run(mlir::ModuleOp module, const Target &target, bool verifyIr);

private:
  KernelConversion conversion;
};

} // namespace quern

#endif // QUERN_TARGETS_SPIRV_PIPELINE_H
