//===- ProgramModel.h - Launch programs of C++ kernels --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Programs whose result depends on the order of their steps and on every offset, and two ways to run one: the
// runtime's, and a walk that evaluates every polynomial where it is met.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_RUNTIME_LAUNCH_PROGRAMMODEL_H
#define QUERN_TEST_RUNTIME_LAUNCH_PROGRAMMODEL_H

#include "Cpu/Team.h"
#include "Launch/Steps.h"

#include <cstdint>
#include <random>
#include <vector>

namespace quern::test {

inline constexpr int64_t rowElements = 48;                         ///< a kernel's iterations
inline constexpr int64_t rowBytes = rowElements * sizeof(int64_t); ///< int64_t elements

/// c[i] = mix(a[47 - i], b[i], c[i]) over one row of each.
void mixRows(const quern_kernel_args_t *args, int64_t begin, int64_t end);
/// The same by way of scratch, which must be there.
void mixThroughScratch(const quern_kernel_args_t *args, int64_t begin, int64_t end);

/// A program on `arguments` tensors of `rows` rows, with regions, for these sizes.
struct ProgramModel {
  Artifact artifact; ///< without code
  std::vector<int64_t> sizes;

  using Memory = std::vector<std::vector<int64_t>>; ///< of each argument
  Memory start() const;
  /// As the artifact says.
  Memory walk() const;
  /// As the runtime does, which must succeed.
  Memory run(const ExecutionContext &context) const;
  Result<Memory> tryRun(const ExecutionContext &context) const;
};

/// Loops within loops around steps that read rows and write others, from the front or from the back; sizes in
/// bounds and offsets if `isOpen`.
ProgramModel randomProgram(std::mt19937_64 &random, bool isOpen);

} // namespace quern::test

#endif // QUERN_TEST_RUNTIME_LAUNCH_PROGRAMMODEL_H
