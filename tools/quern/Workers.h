//===- Workers.h - Jobs in several processes ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A job that terminates its process does not affect other jobs.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TOOLS_WORKERS_H
#define QUERN_TOOLS_WORKERS_H

#include "Support/Error.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace quern {

struct FailedJob {
  size_t job;
  Error error;
};

/// Runs jobs 0 to count - 1 in `processes` children of this process, and calls `advance` in this process for each
/// finished job. Jobs must write their results to files. Returns the failed jobs in ascending order. Fails with
/// `runtime_error` if no process can be started. This process must have no threads.
Result<std::vector<FailedJob>> runInProcesses(size_t count, size_t processes,
                                              const std::function<Result<void>(size_t)> &run,
                                              const std::function<void()> &advance);

} // namespace quern

#endif // QUERN_TOOLS_WORKERS_H
