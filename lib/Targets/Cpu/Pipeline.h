//===- Pipeline.h - Scheduled kernels to the LLVM dialect -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The `lower` stage: verify, expand narrow floats and math for the target's level, one full conversion to the LLVM dialect, and the kernel
// ABI around it. No pass manager: the patterns are built once per context, and a conversion is one walk.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_CPU_PIPELINE_H
#define QUERN_TARGETS_CPU_PIPELINE_H

#include "Desc/Target.h"
#include "Transforms/Transforms.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/DialectConversion.h"

#include <memory>

namespace mlir {
class LLVMTypeConverter;
}

namespace quern {

/// Attributes that a kernel carries from `schedule` on. `quern.factors` = [size, divisor, size, divisor, …] multiplies the space by
/// ceil(sizes[size] / divisor) for each pair. `quern.arguments` is written by `lower`: the arguments' names and memref types, which the
/// LLVM dialect no longer has.
/// `quern.calls` = [["srcs.0", 0, "dst", 0], ["srcs.1", 0, "dst", 256], …], on problems and on their kernels: called once for each, with
/// the named arguments' buffers from that byte on for its own; the calls are independent. Without it a kernel is called once, its
/// arguments being those of their names. `quern.beside`: independent of the problem or kernel before it, too.
///
/// A module may say in `quern.program` when its problems are called, instead; nothing else calls them then. It lists calls and loops:
///   {call = @cell, buffers = [["src", affine_map<(d0)[s0] -> (d0 * s0 * 4)>], …]}
///   {loop = affine_map<()[s0] -> (s0 - 1)>, body = [calls and loops]}
/// Buffers are one for each argument of the problem: a tensor argument of the primitive or a region, from a byte on. `beside` on a call
/// says that it is independent of the call before it. Dims are the indices of the loops around, from the outermost; symbol i is entry i of
/// quern_kernel_args::sizes. `quern.regions` = {name = map to bytes} is memory that the calls of an execution share, aligned to 64, and
/// `quern.maxima` = [["lengths", map to a limit, map to a count, map to a stride], …] adds sizes behind those that are given: the greatest
/// of so many s32 elements of an argument, in [0, limit]. Kernels say with `quern.problem` which problem they are of.
namespace kernel_attr {
inline constexpr llvm::StringLiteral space = "quern.space", factors = "quern.factors", plan = "quern.plan",
                                     scratchBytes = "quern.scratch_bytes", sharedBytes = "quern.shared_bytes",
                                     nsPerIteration = "quern.ns_per_iteration", arguments = "quern.arguments",
                                     calls = "quern.calls", beside = "quern.beside", problem = "quern.problem";
/// On modules.
inline constexpr llvm::StringLiteral program = "quern.program", regions = "quern.regions", maxima = "quern.maxima";
/// On arguments: a tensor's name; scratch of one call, scratch common to all calls of an execution, runtime sizes.
inline constexpr llvm::StringLiteral arg = "quern.arg", scratch = "quern.scratch", shared = "quern.shared", sizes = "quern.sizes";
} // namespace kernel_attr

VectorIsa vectorIsaFor(const Target &target);
/// The math expansions that pay on this target.
MathOptions mathOptionsFor(const Target &target);

/// Every dialect that IR of any stage uses, with the interfaces that translation to LLVM IR needs.
void registerAllStageDialects(mlir::DialectRegistry &registry);

/// Expands what no instruction of the target does, in every kernel of the module. Idempotent.
mlir::LogicalResult expandForTarget(mlir::ModuleOp module, const Target &target);

/// The conversion of one context, reusable for any number of modules of that context, one at a time.
class CpuLowering {
public:
  explicit CpuLowering(mlir::MLIRContext &context);
  ~CpuLowering();

  /// Turns each kernel of `module` (a func.func with `quern.space`) into an llvm.func of the kernel ABI. Diagnoses what cannot be lowered.
  mlir::LogicalResult run(mlir::ModuleOp module, const Target &target, bool verifyIr);

private:
  std::unique_ptr<mlir::LLVMTypeConverter> types;
  mlir::FrozenRewritePatternSet patterns;
  std::unique_ptr<mlir::ConversionTarget> legal;
};

} // namespace quern

#endif // QUERN_TARGETS_CPU_PIPELINE_H
