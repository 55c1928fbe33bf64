//===- Scratch.h - Scratch memory that each thread keeps ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In library mode a kernel's scratch comes from a buffer of the thread that runs it, so that one primitive may run on many threads at once
// without a lock or an allocation per call.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_CPU_SCRATCH_H
#define QUERN_RUNTIME_CPU_SCRATCH_H

#include <cstddef>
#include <cstdint>

namespace quern {

inline constexpr size_t scratchAlignment = 64;

/// At least `bytes` of uninitialised memory aligned to scratchAlignment, or null if there is none. Valid until the thread's next call. A
/// buffer of up to 8 MiB is kept for the next kernel on this thread and freed when the thread ends.
void *threadScratch(size_t bytes);
/// Frees what is larger than is kept.
void trimThreadScratch();

/// Bytes of a scratchpad that serves `threads` threads wherever it starts: 0 if none is needed, INT64_MAX beyond int64.
int64_t scratchpadBytes(int64_t bytesPerThread, int threads);
/// The part of a scratchpad that thread slot `slot` uses.
void *scratchpadSlot(void *scratchpad, int64_t bytesPerThread, int slot);

} // namespace quern

#endif // QUERN_RUNTIME_CPU_SCRATCH_H
