//===- Scratch.h - Scratch memory that each thread keeps -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// In library mode a kernel's scratch comes from a buffer of the thread that runs it, and what the threads of one
// execution share from a buffer of the thread that started it, so that one primitive may run on many threads at once
// without a lock or an allocation per call.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_RUNTIME_LAUNCH_SCRATCH_H
#define QUERN_RUNTIME_LAUNCH_SCRATCH_H

#include <cstddef>
#include <cstdint>

namespace quern {

inline constexpr size_t scratchAlignment = 64;

/// At least `bytes` of uninitialised memory aligned to scratchAlignment, or null if there is none. Valid
/// until the thread's next call. A buffer of up to 8 MiB is kept for the next kernel on this thread and
/// freed when the thread ends.
void *threadScratch(size_t bytes);
/// Frees what is larger than is kept.
void trimThreadScratch();

/// Memory for the threads of one execution in common, kept by this thread for its next one up to 64 MiB. An execution
/// that starts within another on this thread (an embedder's pool may do that while it waits) gets memory of its own.
class SharedScratch {
public:
  /// Nothing is allocated for 0 bytes.
  explicit SharedScratch(size_t wanted) {
    if (wanted) // most kernels need none: no call, and no look at what the thread keeps
      take(wanted);
  }
  ~SharedScratch() {
    if (memory)
      giveBack();
  }
  SharedScratch(const SharedScratch &) = delete;
  SharedScratch &operator=(const SharedScratch &) = delete;
  /// Aligned to scratchAlignment and uninitialised; null if there is no memory, or for 0 bytes.
  void *data() const { return memory; }

private:
  void take(size_t wanted);
  void giveBack();

  void *memory = nullptr;
  size_t bytes = 0;
};

/// What kernels use besides their buffers, in bytes.
struct ScratchNeeds {
  int64_t perThread = 0;
  int64_t shared = 0; ///< by the threads of one execution
  bool any() const { return perThread > 0 || shared > 0; }
};

/// Bytes of a scratchpad that serves `threads` threads wherever it starts: 0 if none is needed, INT64_MAX beyond int64.
int64_t scratchpadBytes(const ScratchNeeds &needs, int threads);
/// The part of a scratchpad that all threads share: its aligned start.
void *scratchpadShared(void *scratchpad);
/// The part of a scratchpad that thread slot `slot` uses.
void *scratchpadSlot(void *scratchpad, const ScratchNeeds &needs, int slot);

/// What one thread of an execution uses: its part of the caller's scratchpad, or the thread's own buffer.
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
  /// Null if none is needed.
  void *data() const { return memory; }
  /// False if there is no memory for it.
  bool isThere() const { return memory || !isNeeded; }

private:
  bool isOwn, isNeeded;
  void *memory = nullptr;
};

} // namespace quern

#endif // QUERN_RUNTIME_LAUNCH_SCRATCH_H
