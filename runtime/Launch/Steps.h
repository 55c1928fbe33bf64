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

/// The first place of chunk `chunk` of `chunks`: contiguous, the remainder goes to the first chunks, one each.
inline int64_t chunkStart(int64_t total, int64_t chunks, int64_t chunk) {
  return total / chunks * chunk + std::min<int64_t>(total % chunks, chunk);
}

/// A step with its function, null on a device.
struct KernelStep : LaunchStep {
  quern_kernel_fn function = nullptr;
};

/// The steps of an artifact whose entries have been loaded as `functions`. Fails where one names no entry.
Result<std::vector<KernelStep>> stepsOf(const Artifact &artifact, std::span<void *const> functions);

/// The iterations of a step with runtime sizes; -1 if they are beyond int64.
inline int64_t iterationsOf(const LaunchStep &step, const int64_t *sizes) {
  CheckedInt iterations(step.iterations);
  for (const SizeFactor &factor : step.factors)
    iterations *= ceilDivide(sizes[factor.sizeIndex], factor.divisor);
  return iterations.overflowed() ? -1 : iterations.value();
}

/// Generated code has no type marks before its functions, which one sanitizer would look for.
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
inline void invoke(const KernelStep &step, const quern_kernel_args_t &arguments, int64_t begin, int64_t end) {
  step.function(&arguments, begin, end);
}

/// What a step of a plain program gets, in `named` (maxStepBuffers) unless that is what the arguments are.
inline void *const *plainBuffersOf(const LaunchStep &step, void *const *buffers, void **named) {
  if (step.buffers.empty())
    return buffers;
  for (size_t i = 0; i < step.buffers.size(); ++i)
    named[i] = static_cast<char *>(buffers[step.buffers[i].buffer]) + *step.buffers[i].byteOffset.constant();
  return named;
}

} // namespace quern

#endif // QUERN_RUNTIME_LAUNCH_STEPS_H
