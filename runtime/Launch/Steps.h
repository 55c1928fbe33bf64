//===- Steps.h - Iterations of launch steps ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_LAUNCH_STEPS_H
#define QUERN_RUNTIME_LAUNCH_STEPS_H

#include "Support/CheckedMath.h"

#include "quern/quern_ext.h"

#include <algorithm>
#include <span>

namespace quern {

inline constexpr int maxThreadCount = 4096;

/// The first place of chunk `chunk` of `chunks`: contiguous, the remainder goes to the first chunks, one each.
inline int64_t chunkStart(int64_t total, int64_t chunks, int64_t chunk) {
  return total / chunks * chunk + std::min<int64_t>(total % chunks, chunk);
}

/// The iterations of a step with runtime sizes; -1 if they are beyond int64.
inline int64_t iterationsOf(const quern_entry_step_t &step, const int64_t *sizes) {
  CheckedInt iterations(step.iterations);
  for (const quern_entry_factor_t &factor : std::span(step.factors, static_cast<size_t>(step.factor_count)))
    iterations *= ceilDivide(sizes[factor.size_index], factor.divisor);
  return iterations.overflowed() ? -1 : iterations.value();
}

/// Generated code has no type marks before its functions, which one sanitizer would look for.
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
inline void invoke(const quern_entry_step_t &step, const quern_kernel_args_t &arguments, int64_t begin, int64_t end) {
  step.function(&arguments, begin, end);
}

} // namespace quern

#endif // QUERN_RUNTIME_LAUNCH_STEPS_H
