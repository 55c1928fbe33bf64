//===- Scratch.cpp - Scratch memory that each thread keeps ---------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Each thread keeps two buffers, up to a maximum size: one for the kernels that it runs, and one that the threads of
// its executions share. With QUERN_GUARD_SCRATCH=1, for tests, each kernel gets separate memory that ends at an
// inaccessible page.
//
//===----------------------------------------------------------------------===//
#include "Launch/Scratch.h"

#include "Support/PerThread.h"

#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <utility>

namespace quern {
namespace {

constexpr size_t keptBytes = 8u << 20, keptShared = 64u << 20;

const bool isGuarding = [] {
  const char *text = secure_getenv("QUERN_GUARD_SCRATCH");
  return text && *text == '1';
}();
constexpr size_t pageBytes = 4096;

size_t pagesFor(size_t bytes) { return (bytes + pageBytes - 1) / pageBytes * pageBytes; }

/// Allocates memory that ends at an inaccessible page. `bytes` must be a multiple of the alignment.
void *allocateGuarded(size_t bytes) {
  const size_t inside = pagesFor(bytes);
  void *pages = mmap(nullptr, inside + pageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages, inside, PROT_READ | PROT_WRITE) != 0)
    return nullptr;
  return std::memset(static_cast<char *>(pages) + inside - bytes, 0xff, bytes);
}

void release(void *memory, size_t bytes) {
  if (isGuarding && memory)
    munmap(static_cast<char *>(memory) + bytes - pagesFor(bytes), pagesFor(bytes) + pageBytes);
  else
    std::free(memory);
}

struct Buffer {
  void *memory = nullptr;
  size_t bytes = 0;
  ~Buffer() { quern::release(memory, bytes); }
  void release() {
    quern::release(memory, bytes);
    memory = nullptr;
    bytes = 0;
  }
  bool serves(size_t wanted) const { return wanted <= bytes && !isGuarding; }
};

struct Kept {
  Buffer own, shared;
};
PerThread<Kept> kept;

size_t roundUp(size_t bytes) { return (bytes + scratchAlignment - 1) / scratchAlignment * scratchAlignment; }

/// Rounds up the size of a part of a scratchpad; INT64_MAX on overflow.
int64_t roundedUp(int64_t bytes) {
  constexpr int64_t most = INT64_MAX - static_cast<int64_t>(scratchAlignment);
  return bytes <= 0 ? 0 : bytes > most ? INT64_MAX : static_cast<int64_t>(roundUp(static_cast<size_t>(bytes)));
}

/// Allocates a buffer. Large ones use huge pages, because buffers beyond the maximum size are not kept, and each
/// execution touches their pages again.
void *allocate(size_t bytes) {
  constexpr size_t hugePage = 2u << 20, least = 4 * hugePage;
  if (bytes > SIZE_MAX / 2)
    return nullptr;
  if (isGuarding)
    return allocateGuarded(roundUp(bytes));
  if (bytes < least)
    return std::aligned_alloc(scratchAlignment, roundUp(bytes));
  void *memory = std::aligned_alloc(hugePage, (bytes + hugePage - 1) / hugePage * hugePage);
  if (memory)
    madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

} // namespace

void *threadScratch(size_t bytes) {
  Kept *const thread = kept.get();
  if (!thread)
    return nullptr;
  Buffer &own = thread->own;
  if (own.serves(bytes))
    return own.memory;
  own.release();
  own.memory = allocate(bytes);
  own.bytes = own.memory ? roundUp(bytes) : 0;
  return own.memory;
}

void trimThreadScratch() {
  if (Kept *const thread = kept.get(); thread && thread->own.bytes > keptBytes)
    thread->own.release();
}

void SharedScratch::take(size_t wanted) {
  // The buffer is removed from the thread during the lifetime of this object.
  if (Kept *const thread = kept.get(); thread && thread->shared.serves(wanted)) {
    memory = std::exchange(thread->shared.memory, nullptr);
    bytes = std::exchange(thread->shared.bytes, 0);
    return;
  }
  memory = allocate(wanted);
  bytes = memory ? roundUp(wanted) : 0;
}

void SharedScratch::giveBack() {
  if (Kept *const thread = kept.get(); thread && bytes > thread->shared.bytes && bytes <= keptShared) {
    std::swap(memory, thread->shared.memory);
    std::swap(bytes, thread->shared.bytes);
  }
  release(memory, bytes);
}

int64_t scratchpadBytes(const ScratchNeeds &needs, int threads) {
  if (!needs.any())
    return 0;
  int64_t total;
  if (__builtin_mul_overflow(roundedUp(needs.perThread), static_cast<int64_t>(threads), &total) ||
      __builtin_add_overflow(total, roundedUp(needs.shared), &total) ||
      __builtin_add_overflow(total, static_cast<int64_t>(scratchAlignment), &total))
    return INT64_MAX;
  return total; // includes one extra alignment, because the caller's buffer may start anywhere
}

void *scratchpadShared(void *scratchpad) {
  return reinterpret_cast<void *>(roundUp(reinterpret_cast<uintptr_t>(scratchpad)));
}

void *scratchpadSlot(void *scratchpad, const ScratchNeeds &needs, int slot) {
  return static_cast<char *>(scratchpadShared(scratchpad)) + roundedUp(needs.shared) +
         roundedUp(needs.perThread) * slot;
}

} // namespace quern
