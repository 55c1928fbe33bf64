//===- Processes.h - Work that several processes share --------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Processes rather than threads, since the back end for devices serves one thread at a time.
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

/// The lines that `make` gives for 0 to `count` - 1, by their numbers. Each process takes the next number when it is
/// done with one. Must be called before this process starts threads. `internal`: a process crashed; `runtime_error`: it
/// could not be started.
Result<std::vector<std::string>> inProcesses(size_t count, int64_t processes,
                                             const std::function<std::string(size_t)> &make);

} // namespace quern

#endif // QUERN_KERNELS_PROCESSES_H
