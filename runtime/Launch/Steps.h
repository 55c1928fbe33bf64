//===- Steps.h - Iterations of launch steps ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_LAUNCH_STEPS_H
#define QUERN_RUNTIME_LAUNCH_STEPS_H

#include "Artifact/Artifact.h"
#include "Support/CheckedMath.h"

#include "quern/kernel_abi.h"

#include <algorithm>
#include <span>

namespace quern {

inline constexpr int maxThreadCount = 4096;

/// Returns the start of chunk `chunk` if `total` iterations are split into `chunks` contiguous chunks. The first
/// (`total` modulo `chunks`) of them have one more iteration.
inline int64_t chunkStart(int64_t total, int64_t chunks, int64_t chunk) {
  return total / chunks * chunk + std::min<int64_t>(total % chunks, chunk);
}

/// A step with its function, null on a device.
struct KernelStep : LaunchStep {
  quern_kernel_fn function = nullptr;
};

/// Returns the steps of an artifact whose entries have been loaded as `functions`. Fails if a step's entry does not
/// exist or its number of iterations is negative.
Result<std::vector<KernelStep>> stepsOf(const Artifact &artifact, std::span<void *const> functions);

/// Returns the iterations of a step with runtime sizes; -1 if they overflow int64.
inline int64_t iterationsOf(const LaunchStep &step, const int64_t *sizes) {
  CheckedInt iterations(step.iterations);
  for (const SizeFactor &factor : step.factors)
    iterations *= ceilDivide(sizes[factor.sizeIndex], factor.divisor);
  return iterations.overflowed() ? -1 : iterations.value();
}

/// Generated code has no type information before its functions, which -fsanitize=function would check.
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
inline void invoke(const KernelStep &step, const quern_kernel_args_t &arguments, int64_t begin, int64_t end) {
  step.function(&arguments, begin, end);
}

/// Returns the buffers for a step of a plain program: those of the arguments, or `named` (maxStepBuffers), which it
/// fills.
inline void *const *plainBuffersOf(const LaunchStep &step, void *const *buffers, void **named) {
  if (step.buffers.empty())
    return buffers;
  for (size_t i = 0; i < step.buffers.size(); ++i)
    named[i] = static_cast<char *>(buffers[step.buffers[i].buffer]) + *step.buffers[i].byteOffset.constant();
  return named;
}

} // namespace quern

#endif // QUERN_RUNTIME_LAUNCH_STEPS_H
