//===- RuntimeSizes.h - Sizes known only at execution ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A problem may leave dims, strides and offsets of tensors open. The memories of an execution determine them. Its
// kernel reads them from one list, quern_kernel_args::sizes. For each argument, the list has in this order: the runtime
// dims, the runtime strides, the runtime offset, and the number of blocks of each runtime dim that has inner blocks.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_ENGINE_RUNTIMESIZES_H
#define QUERN_RUNTIME_ENGINE_RUNTIMESIZES_H

#include "Primitives/Registry.h"

#include <span>

namespace quern {

/// Maximum number of sizes of one problem: dims, strides and offset of two tensors and of two operands for each of 32
/// post-ops.
inline constexpr size_t maxRuntimeSizes = (2 + 2 * maxPostOps) * (2 * maxDims + 1);

/// Checks that `given` is `declared` with every runtime value filled in, and that an output does not broadcast; then
/// writes those values to `sizes`. The message starts with the name of the argument and describes the difference.
Result<void> takeRuntimeSizes(const ArgumentInfo &declared, const TensorDesc &given, std::span<int64_t> sizes);

/// The variant of takeRuntimeSizes() for argument `i`, which has a grid (ArgumentInfo::grid). The grid of scales and
/// zero points follows from the tensor that they belong to; any other grid follows from `given`, the arguments up to
/// `i` (VerifiedProblem::gridAt).
Result<void> takeGridSizes(const VerifiedProblem &problem, size_t i, std::span<const TensorDesc *const> given,
                           std::span<int64_t> sizes);

/// Checks that the tensors of an execution agree: an open dim must equal that dim of the first argument if their ranks
/// are equal. Skips vectors of scales and zero points. `given` has the order of `arguments`.
Result<void> checkSharedDims(const VerifiedProblem &problem, std::span<const TensorDesc *const> given);

/// Checks that vectors of scales and zero points along a runtime dim have the length that their tensor requires.
Result<void> checkVectors(const VerifiedProblem &problem, std::span<const TensorDesc *const> given);

} // namespace quern

#endif // QUERN_RUNTIME_ENGINE_RUNTIMESIZES_H
