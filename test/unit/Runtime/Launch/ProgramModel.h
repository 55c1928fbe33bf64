//===- ProgramModel.h - Launch programs of C++ kernels --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Programs whose result depends on the order of their steps and on every offset, and two ways to run one: the runtime,
// and an interpreter that evaluates every polynomial at its use.
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

inline constexpr int64_t rowElements = 48;                         ///< elements of a row, and iterations of a kernel
inline constexpr int64_t rowBytes = rowElements * sizeof(int64_t); ///< bytes of a row of int64_t

/// Computes c[i] = mix(a[47 - i], b[i], c[i]) over one row of each.
void mixRows(const quern_kernel_args_t *args, int64_t begin, int64_t end);
/// Like mixRows(), but passes the values through scratch.
void mixThroughScratch(const quern_kernel_args_t *args, int64_t begin, int64_t end);

/// A program on `arguments` tensors of `rows` rows, with regions, and the sizes of an execution.
struct ProgramModel {
  Artifact artifact; ///< has no code
  std::vector<int64_t> sizes;

  using Memory = std::vector<std::vector<int64_t>>; ///< elements of each argument
  Memory start() const;
  /// Runs the artifact in the interpreter.
  Memory interpret() const;
  /// Runs the program in the runtime; it must succeed.
  Memory run(const ExecutionContext &context) const;
  Result<Memory> tryRun(const ExecutionContext &context) const;
};

/// Returns a program of nested loops around steps that read and write rows, forward or backward. If `isOpen`, trip
/// counts and offsets depend on sizes.
ProgramModel randomProgram(std::mt19937_64 &random, bool isOpen);

} // namespace quern::test

#endif // QUERN_TEST_RUNTIME_LAUNCH_PROGRAMMODEL_H
