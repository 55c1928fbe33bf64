//===- Processes.h - From the start of a process to its first result ------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Times from before a program is started to its first result, the end of `main` not included.
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

/// What the processes compute first.
inline constexpr const char *firstProblem = "softmax fwd_i alg=accurate src=f32:256x1000:ab dst=f32:256x1000:ab axis=1";

inline double elapsedNs(const std::function<void()> &action) {
  auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

struct ProcessStarts {
  Samples uncached, onDisk, families, nothing; ///< in ns
  /// Private memory of a process that runs the kernel of a family beyond one that has its own from the disk, in KiB:
  /// the pages of packs are those of the page cache, which all processes share.
  Samples familiesKib;
};

/// `cacheFolder` has the first problem's kernel, and the packs of families are built. Throws std::runtime_error, also
/// if a compiler was in memory when the first result of a family was there.
ProcessStarts measureProcessStarts(const std::string &cacheFolder, int cpu);

/// The child processes: the first computes a small softmax, the second nothing.
int serveFirstResult();
int serveNothing();

} // namespace quern::bench

#endif // QUERN_BENCH_PROCESSES_H
