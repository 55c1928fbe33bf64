//===- KernelLowering.h - What the targets' lowerings share ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The attributes by which a kernel says what it is, and steps on the way of a scheduled function to one of the LLVM dialect with bare
// pointers for its buffers.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TARGETS_KERNELLOWERING_H
#define QUERN_TARGETS_KERNELLOWERING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/DialectConversion.h"

#include <memory>
#include <utility>
#include <vector>

namespace mlir {
class LLVMTypeConverter;
}

namespace quern {

/// Attributes that a kernel carries from `schedule` on. `quern.factors` = [size, divisor, size, divisor, …] multiplies the space by
/// ceil(sizes[size] / divisor) for each pair. `quern.arguments` is written by `lower`: the arguments' names and memref types, which the
/// LLVM dialect no longer has. On a device the space counts groups of `quern.group_size` work-items, in sub-groups of
/// `quern.sub_group_size` if the kernel counts on these; `lower` writes how many bytes of memory a group has, `quern.group_bytes`.
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
                                     nsPerIteration = "quern.ns_per_iteration", arguments = "quern.arguments", calls = "quern.calls",
                                     beside = "quern.beside", problem = "quern.problem", groupSize = "quern.group_size",
                                     subGroupSize = "quern.sub_group_size", groupBytes = "quern.group_bytes";
/// On modules. `quern.size_count`: how many runtime sizes an execution has, which a device's kernels all take; without it, as many as the
/// kernels ask for.
inline constexpr llvm::StringLiteral program = "quern.program", regions = "quern.regions", maxima = "quern.maxima",
                                     sizeCount = "quern.size_count";
/// On arguments: a tensor's name; scratch of one call, scratch common to all calls of an execution, runtime sizes.
inline constexpr llvm::StringLiteral arg = "quern.arg", scratch = "quern.scratch", shared = "quern.shared", sizes = "quern.sizes";
} // namespace kernel_attr

/// Every dialect that IR of any stage uses, with the interfaces that translation to LLVM IR needs.
void registerAllStageDialects(mlir::DialectRegistry &registry);

/// {name, type} of an argument of a kernel, for quern.arguments.
mlir::Attribute describeArgument(mlir::func::FuncOp function, unsigned argument);
/// Those attributes of a kernel that outlive lowering.
llvm::SmallVector<mlir::NamedAttribute> keptAttributes(mlir::func::FuncOp function);

/// The conversion to bare pointers wants static extents, which nothing reads: a flat buffer of unknown extent gets one. Annotations that
/// the LLVM dialect does not carry are dropped.
void prepareForBarePointers(mlir::func::FuncOp function);

/// Reads of a memref descriptor's fields become the fields: nothing builds descriptors but the prologue, and every access would otherwise
/// take its own apart again.
void forwardDescriptorFields(mlir::LLVM::LLVMFuncOp function);

/// Sums that served as indices alone, before an access took their constants.
void eraseUnusedSums(mlir::LLVM::LLVMFuncOp function);

/// Takes the kernels' own attributes away while it lives: they mean something to Quern alone, and translation must not see them.
class HideQuernAttributes {
public:
  explicit HideQuernAttributes(mlir::ModuleOp module);
  ~HideQuernAttributes();

private:
  std::vector<std::pair<mlir::Operation *, mlir::NamedAttribute>> hidden;
};

/// The conversion of kernels to the LLVM dialect in one context, reusable for any number of modules of that context, one at a time.
class KernelConversion {
public:
  /// `addOwn` adds a target's own patterns and conversions of types to those that all targets have.
  KernelConversion(mlir::MLIRContext &context, llvm::function_ref<void(mlir::LLVMTypeConverter &, mlir::RewritePatternSet &)> addOwn);
  ~KernelConversion();

  mlir::LogicalResult run(mlir::ModuleOp module) const;

private:
  std::unique_ptr<mlir::LLVMTypeConverter> types;
  mlir::FrozenRewritePatternSet patterns;
  std::unique_ptr<mlir::ConversionTarget> legal;
};

} // namespace quern

#endif // QUERN_TARGETS_KERNELLOWERING_H
