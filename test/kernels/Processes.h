//===- Processes.h - Work that several processes share --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Work is split between processes and not threads, because the back end for devices serves one thread at a time.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_KERNELS_PROCESSES_H
#define QUERN_KERNELS_PROCESSES_H

#include "Support/Error.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace quern {

/// Returns the lines of `make` for 0 to `count` - 1. Each process takes the next number when it has finished one. Must
/// be called before this process starts threads. Returns `internal` if a process crashed, and `runtime_error` if one
/// could not be started.
Result<std::vector<std::string>> inProcesses(size_t count, int64_t processes,
                                             const std::function<std::string(size_t)> &make);

} // namespace quern

#endif // QUERN_KERNELS_PROCESSES_H
