//===- FirstCompilation.cpp - Memory for LLVM's global state --------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// When libquern-compiler is loaded and compiles for the first time, LLVM and MLIR create global state: registries,
// options, function-local statics. That must not be interrupted: a constructor that throws leaves the library half
// initialized, and locks stay locked. Until a kernel has been compiled and linked, an allocation for which malloc() has
// no memory is therefore served from a mapping, and fails only if that is exhausted. Later failures abandon the objects
// under construction (Targets/FatalErrors.h).
//
// The linker redirects the calls of LLVM, MLIR and the compiler to the functions below (--wrap), which requires their
// static archives.
//
//===----------------------------------------------------------------------===//
#include "Targets/FatalErrors.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <malloc.h>
#include <new>
#include <sys/mman.h>

namespace {

bool isSettled() {
  return quern::hasCompiled.load(std::memory_order_relaxed) && quern::hasLinked.load(std::memory_order_relaxed);
}

/// Memory that is mapped at the first failure and never unmapped or reused, because global state is permanent.
class Reserve {
public:
  /// Returns zeroed memory, or null.
  void *take(size_t bytes, size_t alignment = alignof(std::max_align_t)) {
    if (isSettled() || bytes > mapped || alignment > mapped)
      return nullptr;
    char *const start = region();
    if (!start)
      return nullptr;
    // The size is stored before the block, for realloc().
    const size_t padded = header + alignment + (bytes + header - 1) / header * header;
    const size_t at = used.fetch_add(padded, std::memory_order_relaxed);
    if (at > mapped - padded)
      return nullptr;
    const auto from = reinterpret_cast<uintptr_t>(start + at + header);
    auto *block = reinterpret_cast<char *>((from + alignment - 1) / alignment * alignment);
    std::memcpy(block - header, &bytes, sizeof(bytes));
    return block;
  }
  bool owns(const void *block) const {
    const char *const start = base.load(std::memory_order_acquire);
    return start && block >= start && block < start + mapped;
  }
  static size_t sizeOf(const void *block) {
    size_t bytes = 0;
    std::memcpy(&bytes, static_cast<const char *>(block) - header, sizeof(bytes));
    return bytes;
  }

private:
  static constexpr size_t mapped = 256u << 20, header = 16;

  char *region() {
    char *start = base.load(std::memory_order_acquire);
    if (start)
      return start;
    void *mapping = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED)
      return nullptr;
    if (base.compare_exchange_strong(start, static_cast<char *>(mapping)))
      return static_cast<char *>(mapping);
    munmap(mapping, mapped); // another thread was first
    return start;
  }

  std::atomic<char *> base{nullptr};
  std::atomic<size_t> used{0};
};

constinit Reserve reserve;

/// Allocates memory for malloc(), whose result MLIR does not check. Throws std::bad_alloc.
void *takeOrThrow(size_t bytes) {
  void *const block = reserve.take(bytes);
  if (!block)
    llvm::report_bad_alloc_error("out of memory");
  return block;
}

} // namespace

extern "C" {
int __real___cxa_guard_acquire(void *guard);
void __real___cxa_guard_release(void *guard);

// Guards of function-local statics.
int __wrap___cxa_guard_acquire(void *guard) {
  const int begins = __real___cxa_guard_acquire(guard);
  quern::BegunStatics &begun = quern::begunStatics;
  if (begins && begun.count < quern::BegunStatics::maxCount)
    begun.guards[begun.count++] = guard;
  return begins;
}
void __wrap___cxa_guard_release(void *guard) {
  quern::BegunStatics &begun = quern::begunStatics;
  if (begun.count > 0 && begun.guards[begun.count - 1] == guard)
    --begun.count;
  __real___cxa_guard_release(guard);
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t bytes);
int __real_posix_memalign(void **block, size_t alignment, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void __real_free(void *block);
void *__real__Znwm(size_t bytes);
void *__real__ZnwmSt11align_val_t(size_t bytes, std::align_val_t alignment);
void *__real__ZnwmRKSt9nothrow_t(size_t bytes, const std::nothrow_t &);
void *__real__ZnwmSt11align_val_tRKSt9nothrow_t(size_t bytes, std::align_val_t alignment, const std::nothrow_t &);
void __real__ZdlPv(void *block);
void __real__ZdlPvSt11align_val_t(void *block, std::align_val_t alignment);

// malloc() and related functions.
void *__wrap_malloc(size_t bytes) {
  void *const block = __real_malloc(bytes);
  return block ? block : takeOrThrow(bytes);
}
void *__wrap_calloc(size_t count, size_t size) {
  void *const block = __real_calloc(count, size);
  size_t bytes = 0;
  return block || __builtin_mul_overflow(count, size, &bytes) ? block : takeOrThrow(bytes);
}
void __wrap_free(void *block) {
  if (!reserve.owns(block))
    __real_free(block);
}
void *__wrap_realloc(void *block, size_t bytes) {
  const bool isReserved = reserve.owns(block);
  void *const grown = isReserved ? __wrap_malloc(bytes) : __real_realloc(block, bytes);
  if (!isReserved && (grown || bytes == 0))
    return grown;
  void *const moved = isReserved ? grown : takeOrThrow(bytes);
  if (!moved || !block)
    return moved;
  std::memcpy(moved, block, std::min(bytes, isReserved ? Reserve::sizeOf(block) : malloc_usable_size(block)));
  __wrap_free(block);
  return moved;
}
int __wrap_posix_memalign(void **block, size_t alignment, size_t bytes) {
  const int failed = __real_posix_memalign(block, alignment, bytes);
  void *const reserved = failed == ENOMEM ? reserve.take(bytes, alignment) : nullptr;
  *block = reserved ? reserved : *block;
  return reserved ? 0 : failed;
}
void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
  void *const block = __real_aligned_alloc(alignment, bytes);
  return block ? block : reserve.take(bytes, alignment);
}

// operator new; its array forms do the same.
void *__wrap__ZnwmRKSt9nothrow_t(size_t bytes, const std::nothrow_t &none) {
  void *const block = __real__ZnwmRKSt9nothrow_t(bytes, none);
  return block ? block : reserve.take(bytes);
}
void *__wrap__Znwm(size_t bytes) {
  if (isSettled())
    return __real__Znwm(bytes);
  void *const block = __wrap__ZnwmRKSt9nothrow_t(bytes, std::nothrow);
  return block ? block : __real__Znwm(bytes);
}
void *__wrap__Znam(size_t bytes) { return __wrap__Znwm(bytes); }
void *__wrap__ZnamRKSt9nothrow_t(size_t bytes, const std::nothrow_t &none) {
  return __wrap__ZnwmRKSt9nothrow_t(bytes, none);
}
void *__wrap__ZnwmSt11align_val_tRKSt9nothrow_t(size_t bytes, std::align_val_t alignment, const std::nothrow_t &none) {
  void *const block = __real__ZnwmSt11align_val_tRKSt9nothrow_t(bytes, alignment, none);
  return block ? block : reserve.take(bytes, static_cast<size_t>(alignment));
}
void *__wrap__ZnwmSt11align_val_t(size_t bytes, std::align_val_t alignment) {
  void *const block = __wrap__ZnwmSt11align_val_tRKSt9nothrow_t(bytes, alignment, std::nothrow);
  return block ? block : __real__ZnwmSt11align_val_t(bytes, alignment);
}
void *__wrap__ZnamSt11align_val_t(size_t bytes, std::align_val_t alignment) {
  return __wrap__ZnwmSt11align_val_t(bytes, alignment);
}

// operator delete.
void __wrap__ZdlPv(void *block) {
  if (!reserve.owns(block))
    __real__ZdlPv(block);
}
void __wrap__ZdlPvm(void *block, size_t) { __wrap__ZdlPv(block); }
void __wrap__ZdaPv(void *block) { __wrap__ZdlPv(block); }
void __wrap__ZdaPvm(void *block, size_t) { __wrap__ZdlPv(block); }
void __wrap__ZdlPvRKSt9nothrow_t(void *block, const std::nothrow_t &) { __wrap__ZdlPv(block); }
void __wrap__ZdaPvRKSt9nothrow_t(void *block, const std::nothrow_t &) { __wrap__ZdlPv(block); }
void __wrap__ZdlPvSt11align_val_t(void *block, std::align_val_t alignment) {
  if (!reserve.owns(block))
    __real__ZdlPvSt11align_val_t(block, alignment);
}
void __wrap__ZdlPvmSt11align_val_t(void *block, size_t, std::align_val_t alignment) {
  __wrap__ZdlPvSt11align_val_t(block, alignment);
}
void __wrap__ZdaPvSt11align_val_t(void *block, std::align_val_t alignment) {
  __wrap__ZdlPvSt11align_val_t(block, alignment);
}
void __wrap__ZdaPvmSt11align_val_t(void *block, size_t, std::align_val_t alignment) {
  __wrap__ZdlPvSt11align_val_t(block, alignment);
}
}
