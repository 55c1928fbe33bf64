//===- Scratch.h - Scratch memory that each thread keeps ------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In library mode, a kernel's scratch comes from a buffer of the thread that runs it, and the scratch that the threads
// of one execution share from a buffer of the thread that started it. Therefore any number of threads may run one
// primitive without locks or allocations.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_LAUNCH_SCRATCH_H
#define QUERN_RUNTIME_LAUNCH_SCRATCH_H

#include <cstddef>
#include <cstdint>

namespace quern {

inline constexpr size_t scratchAlignment = 64;

/// Returns at least `bytes` of uninitialized memory aligned to scratchAlignment, or null if there is no memory. Valid
/// until the thread's next call. A buffer of up to 8 MiB is kept for later kernels on this thread and freed when the
/// thread ends.
void *threadScratch(size_t bytes);
/// Frees the thread's buffer if it exceeds the size that is kept.
void trimThreadScratch();

/// Memory that the threads of one execution share. Up to 64 MiB are kept by this thread for its next execution. An
/// execution that starts inside another on this thread (as an embedder's pool may do while it waits) gets separate
/// memory.
class SharedScratch {
public:
  /// Allocates nothing for 0 bytes.
  explicit SharedScratch(size_t wanted) {
    if (wanted) // most kernels need none: no call, and no access to thread-local storage
      take(wanted);
  }
  ~SharedScratch() {
    if (memory)
      giveBack();
  }
  SharedScratch(const SharedScratch &) = delete;
  SharedScratch &operator=(const SharedScratch &) = delete;
  /// Returns uninitialized memory, aligned to scratchAlignment; null if there is no memory, or for 0 bytes.
  void *data() const { return memory; }

private:
  void take(size_t wanted);
  void giveBack();

  void *memory = nullptr;
  size_t bytes = 0;
};

/// Scratch of kernels, in bytes.
struct ScratchNeeds {
  int64_t perThread = 0;
  int64_t shared = 0; ///< shared by the threads of one execution
  bool any() const { return perThread > 0 || shared > 0; }
};

/// Returns the bytes of a scratchpad with any alignment for `threads` threads; 0 if none is needed, INT64_MAX on
/// overflow.
int64_t scratchpadBytes(const ScratchNeeds &needs, int threads);
/// Returns the part of a scratchpad that all threads share: its aligned start.
void *scratchpadShared(void *scratchpad);
/// Returns the part of a scratchpad for thread slot `slot`.
void *scratchpadSlot(void *scratchpad, const ScratchNeeds &needs, int slot);

/// The scratch of one thread of an execution: its part of the caller's scratchpad, or the thread's own buffer.
class SlotScratch {
public:
  SlotScratch(void *scratchpad, const ScratchNeeds &needs, int slot)
      : isOwn(!scratchpad && needs.perThread > 0), isNeeded(needs.perThread > 0) {
    if (isNeeded)
      memory =
          scratchpad ? scratchpadSlot(scratchpad, needs, slot) : threadScratch(static_cast<size_t>(needs.perThread));
  }
  ~SlotScratch() {
    if (isOwn)
      trimThreadScratch();
  }
  SlotScratch(const SlotScratch &) = delete;
  SlotScratch &operator=(const SlotScratch &) = delete;
  /// Returns the memory; null if none is needed.
  void *data() const { return memory; }
  /// Returns true if the memory was allocated or none is needed.
  bool isThere() const { return memory || !isNeeded; }

private:
  bool isOwn, isNeeded;
  void *memory = nullptr;
};

} // namespace quern

#endif // QUERN_RUNTIME_LAUNCH_SCRATCH_H
