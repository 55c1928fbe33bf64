//===- Scratch.cpp - Scratch memory that each thread keeps ----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One buffer for each thread, which only grows; see the header.
//
//===----------------------------------------------------------------------===//
#include "Cpu/Scratch.h"

#include <cstdlib>

namespace quern {
namespace {

constexpr size_t keptBytes = 8u << 20;

struct Buffer {
  void *memory = nullptr;
  size_t bytes = 0;
  ~Buffer() { std::free(memory); }
  void release() {
    std::free(memory);
    memory = nullptr;
    bytes = 0;
  }
};

thread_local Buffer buffer;

size_t roundUp(size_t bytes) { return (bytes + scratchAlignment - 1) / scratchAlignment * scratchAlignment; }

} // namespace

void *threadScratch(size_t bytes) {
  if (bytes <= buffer.bytes)
    return buffer.memory;
  buffer.release();
  if (bytes > SIZE_MAX / 2)
    return nullptr;
  buffer.memory = std::aligned_alloc(scratchAlignment, roundUp(bytes));
  buffer.bytes = buffer.memory ? roundUp(bytes) : 0;
  return buffer.memory;
}

void trimThreadScratch() {
  if (buffer.bytes > keptBytes)
    buffer.release();
}

int64_t scratchpadBytes(int64_t bytesPerThread, int threads) {
  if (bytesPerThread <= 0)
    return 0;
  int64_t total;
  if (bytesPerThread > INT64_MAX - static_cast<int64_t>(scratchAlignment) ||
      __builtin_mul_overflow(static_cast<int64_t>(roundUp(bytesPerThread)), static_cast<int64_t>(threads), &total) ||
      __builtin_add_overflow(total, static_cast<int64_t>(scratchAlignment), &total))
    return INT64_MAX;
  return total; // one alignment more than the slots: the caller's buffer may start anywhere
}

void *scratchpadSlot(void *scratchpad, int64_t bytesPerThread, int slot) {
  const uintptr_t start = roundUp(reinterpret_cast<uintptr_t>(scratchpad));
  return reinterpret_cast<void *>(start + roundUp(bytesPerThread) * slot);
}

} // namespace quern
