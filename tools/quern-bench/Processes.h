//===- Processes.h - Time from process start to first result --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A time is from before a program is started until it prints its first result; the end of the process is not included.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_BENCH_PROCESSES_H
#define QUERN_BENCH_PROCESSES_H

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace quern::bench {

using Samples = std::vector<double>;

/// The first problem that the processes compute.
inline constexpr const char *firstProblem = "softmax fwd_i alg=accurate src=f32:256x1000:ab dst=f32:256x1000:ab axis=1";

inline double elapsedNs(const std::function<void()> &action) {
  auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

struct ProcessStarts {
  Samples uncached, onDisk, families, nothing; ///< in ns
  /// Additional private memory, in KiB, of a process that runs a family's kernel, compared with one that has its
  /// specialized kernel from the disk. Pages of packs are in the page cache, which all processes share.
  Samples familiesKib;
};

/// Measures the time from the start of a process to its first result. `cacheFolder` must have the first problem's
/// kernel, and the packs of families must be built. Throws std::runtime_error, also if a compiler was loaded at the
/// time of the first result of a family.
ProcessStarts measureProcessStarts(const std::string &cacheFolder, int cpu);

/// Entry points of the child processes: the first computes a small softmax, the second does nothing.
int serveFirstResult();
int serveNothing();

} // namespace quern::bench

#endif // QUERN_BENCH_PROCESSES_H
