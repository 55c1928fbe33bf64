//===- Timing.h - Minimum and median of repeated runs ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Wall time of single executions. The caller has executed once before, so page faults of first accesses are not
// measured.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOLS_TIMING_H
#define QUERN_TOOLS_TIMING_H

#include <algorithm>
#include <chrono>
#include <vector>

namespace quern {

struct Timing {
  double minNs = 0, medianNs = 0;
  int64_t runs = 0;
  double gbPerS(int64_t bytes) const { return perNs(bytes); }
  /// Returns a number per nanosecond of the fastest run, that is, in units of 10^9 per second.
  double perNs(int64_t number) const { return minNs > 0 ? static_cast<double>(number) / minNs : 0; }
};

/// Calls `run` (which returns a Result<void>) `minRuns` times, then continues until `seconds` have passed. Executions
/// shorter than 20 us are timed in batches, to make the cost of reading the clock negligible.
template <typename Run> auto measure(Run run, int64_t minRuns, double seconds, Timing &timing) -> decltype(run()) {
  using Clock = std::chrono::steady_clock;
  auto nsSince = [](Clock::time_point start) {
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  };
  std::vector<double> times;
  int64_t batch = 1;
  Clock::time_point begin = Clock::now();
  while (static_cast<int64_t>(times.size()) < minRuns || nsSince(begin) < seconds * 1e9) {
    Clock::time_point start = Clock::now();
    for (int64_t i = 0; i < batch; ++i)
      if (auto done = run(); !done)
        return done;
    double ns = nsSince(start);
    if (ns < 20e3 && batch < 1024 && times.empty())
      batch *= 2;
    else
      times.push_back(ns / static_cast<double>(batch));
  }
  std::sort(times.begin(), times.end());
  timing.runs = static_cast<int64_t>(times.size()) * batch;
  timing.minNs = times.empty() ? 0 : times.front();
  timing.medianNs = times.empty() ? 0 : times[times.size() / 2];
  return decltype(run())();
}

} // namespace quern

#endif // QUERN_TOOLS_TIMING_H
