//===- RuntimeSizes.h - Sizes that an execution brings -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A problem may leave dims, strides and offsets of tensors open. Its kernel reads them from one list,
// quern_kernel_args::sizes: for each argument in order its runtime dims in order, then its runtime strides, then its
// runtime offset, then of each runtime dim that has inner blocks how many there are. The memories of an execution say
// what they are.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CORE_RUNTIMESIZES_H
#define QUERN_RUNTIME_CORE_RUNTIMESIZES_H

#include "Primitives/Registry.h"

#include <span>

namespace quern {

/// Most sizes of one problem: dims, strides and offset of two tensors and two operands of each of 32 post-ops. They lie
/// on the stack of an execution, which writes only those that the problem has.
inline constexpr size_t maxRuntimeSizes = (2 + 2 * maxPostOps) * (2 * maxDims + 1);

/// Whether `given` is `declared` with every runtime value filled in, and writable if the argument is an output; then
/// writes those values to `sizes`. The message says what differs, beginning with the name of the argument.
Result<void> takeRuntimeSizes(const ArgumentInfo &declared, const TensorDesc &given, std::span<int64_t> sizes);

/// The same of an argument that has a grid, `i` of those given up to it: its sizes are those of the tensor that it
/// belongs to, or follow from all of them.
Result<void> takeGridSizes(const VerifiedProblem &problem, size_t i, std::span<const TensorDesc *const> given,
                           std::span<int64_t> sizes);

/// Whether the tensors of an execution agree: a dim that one of them leaves open is the dim of the first argument,
/// wherever the ranks are equal. `given` in the order of `arguments`.
Result<void> checkSharedDims(const VerifiedProblem &problem, std::span<const TensorDesc *const> given);

/// Whether vectors of scales and zero points that are along a runtime dim have the length that the tensor asks
/// for which they belong to.
Result<void> checkVectors(const VerifiedProblem &problem, std::span<const TensorDesc *const> given);

} // namespace quern

#endif // QUERN_RUNTIME_CORE_RUNTIMESIZES_H
