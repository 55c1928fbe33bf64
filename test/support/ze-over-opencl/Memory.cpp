//===- Memory.cpp - Allocations --------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// With ZE_OPENCL_GUARD, device memory has separate pages, ends or starts at an inaccessible page, is poisoned at first,
// and is inaccessible to the host unless a queue is running.
//
//===----------------------------------------------------------------------===//
#include "Driver.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <span>

namespace zocl {
namespace {

constexpr size_t pageBytes = 4096, lineBytes = 64;
constexpr uint32_t guardAtEnd = 1;
constexpr int poison = 0xCD;

struct Allocation : Counted {
  Context *context = nullptr;
  Device *device = nullptr;
  ze_memory_type_t type{};
  size_t size = 0;
  uint64_t id = 0;
  char *base = nullptr;
  std::span<char> pages{}; ///< pages of guarded memory; there is a guard page before and after them
};

// Never destroyed, because the thread of a queue that the application did not destroy may use them at exit.
std::mutex &mutex = *new std::mutex;
std::map<char *, Allocation> &allocations = *new std::map<char *, Allocation>;
uint64_t lastId = 0, queuesAtWork = 0;

/// Returns the allocation that contains the address, or null. The caller holds the mutex.
const Allocation *find(const void *pointer) {
  auto *p = static_cast<char *>(const_cast<void *>(pointer));
  auto next = allocations.upper_bound(p);
  if (next == allocations.begin())
    return nullptr;
  const Allocation &before = std::prev(next)->second;
  return p < before.base + before.size ? &before : nullptr;
}

/// Makes guarded memory accessible when the first queue starts to run and inaccessible when the last one stops.
void addQueueAtWork(int change) {
  std::lock_guard lock(mutex);
  const bool wasOpen = queuesAtWork;
  queuesAtWork += change;
  const bool isOpen = queuesAtWork;
  if (settings.guard && isOpen != wasOpen)
    for (const auto &[base, allocation] : allocations)
      mprotect(allocation.pages.data(), allocation.pages.size(), isOpen ? PROT_READ | PROT_WRITE : PROT_NONE);
}

/// With guardAtEnd, memory ends at the guard page, even if the application requested an alignment of up to a cache
/// line: kernels accept memory with any alignment, and a gap would hide reads past its end.
ze_result_t allocateGuarded(Allocation &made, size_t alignment) {
  const size_t size = (made.size + pageBytes - 1) / pageBytes * pageBytes;
  void *all = mmap(nullptr, size + 2 * pageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED)
    return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  char *pages = static_cast<char *>(all) + pageBytes;
  made.pages = {pages, size};
  made.base = settings.guard == guardAtEnd ? pages + (size - made.size) / alignment * alignment : pages;
  std::memset(pages, poison, size);
  mprotect(all, size + 2 * pageBytes, PROT_NONE);
  if (queuesAtWork)
    mprotect(pages, size, PROT_READ | PROT_WRITE);
  return ZE_RESULT_SUCCESS;
}

ze_result_t allocateByOpenCl(Allocation &made, cl_uint alignment) {
  const cl_context context = made.context->id.get();
  const auto onDevice = made.type == ZE_MEMORY_TYPE_DEVICE ? cl.clDeviceMemAllocINTEL : cl.clSharedMemAllocINTEL;
  cl_int error = CL_SUCCESS;
  void *base = made.device ? onDevice(context, made.device->id, nullptr, made.size, alignment, &error)
                           : cl.clHostMemAllocINTEL(context, nullptr, made.size, alignment, &error);
  if (!base)
    return error ? translate(error) : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  // Poisoned, because fresh memory is often zero.
  made.base = static_cast<char *>(std::memset(base, poison, made.size));
  return ZE_RESULT_SUCCESS;
}

/// `device` is null for host memory, and for shared memory that no device owns.
ze_result_t allocate(ze_context_handle_t context, ze_device_handle_t device, ze_memory_type_t type, size_t size,
                     size_t alignment, void **out) {
  if (!size || size > devices()[0]->info<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE))
    return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  if (alignment & (alignment - 1))
    return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
  std::lock_guard lock(mutex);
  Allocation made{{}, as<Context>(context), as<Device>(device), type, size, ++lastId};
  const bool isGuarded = settings.guard && type == ZE_MEMORY_TYPE_DEVICE && alignment <= pageBytes;
  if (ze_result_t failed = isGuarded ? allocateGuarded(made, alignment > lineBytes ? alignment : 1)
                                     : allocateByOpenCl(made, static_cast<cl_uint>(std::max(alignment, lineBytes))))
    return failed;
  *out = made.base;
  allocations.emplace(made.base, made);
  return ZE_RESULT_SUCCESS;
}
ze_result_t allocShared(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *,
                        const ze_host_mem_alloc_desc_t *, size_t size, size_t alignment, ze_device_handle_t device,
                        void **out) {
  return allocate(context, device, ZE_MEMORY_TYPE_SHARED, size, alignment, out);
}
ze_result_t allocDevice(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *, size_t size, size_t alignment,
                        ze_device_handle_t device, void **out) {
  return allocate(context, device, ZE_MEMORY_TYPE_DEVICE, size, alignment, out);
}
ze_result_t allocHost(ze_context_handle_t context, const ze_host_mem_alloc_desc_t *, size_t size, size_t alignment,
                      void **out) {
  return allocate(context, nullptr, ZE_MEMORY_TYPE_HOST, size, alignment, out);
}

ze_result_t freeMemory(ze_context_handle_t context, void *pointer) {
  std::lock_guard lock(mutex);
  const auto it = allocations.find(static_cast<char *>(pointer));
  if (it == allocations.end() || it->second.context != as<Context>(context))
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  const Allocation freed = it->second;
  allocations.erase(it);
  if (freed.pages.empty())
    return translate(cl.clMemFreeINTEL(freed.context->id.get(), pointer));
  munmap(freed.pages.data() - pageBytes, freed.pages.size() + 2 * pageBytes);
  return ZE_RESULT_SUCCESS;
}

ze_result_t getProperties(ze_context_handle_t, const void *pointer, ze_memory_allocation_properties_t *out,
                          ze_device_handle_t *device) {
  std::lock_guard lock(mutex);
  const Allocation *found = find(pointer);
  *out = {.stype = out->stype,
          .pNext = out->pNext,
          .type = found ? found->type : ZE_MEMORY_TYPE_UNKNOWN,
          .id = found ? found->id : 0};
  if (device)
    give(found ? found->device : nullptr, device);
  return ZE_RESULT_SUCCESS;
}

} // namespace

uint64_t allocationAt(const void *pointer) {
  std::lock_guard lock(mutex);
  const Allocation *found = find(pointer);
  return found ? found->id : 0;
}

DeviceAccess::DeviceAccess() { addQueueAtWork(1); }
DeviceAccess::~DeviceAccess() { addQueueAtWork(-1); }

void addMemory(ze_dditable_t &tables) {
  tables.Mem.pfnAllocShared = mayFail<allocShared>;
  tables.Mem.pfnAllocDevice = mayFail<allocDevice>;
  tables.Mem.pfnAllocHost = mayFail<allocHost>;
  tables.Mem.pfnFree = freeMemory;
  tables.Mem.pfnGetAllocProperties = mayFail<getProperties>;
}

} // namespace zocl
