//===- Memory.cpp - Allocations --------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// With ZE_OPENCL_GUARD device memory lies in pages of its own, ends at a page that is never accessible, begins poisoned, and is closed to
// the host unless a queue is at work.
//
//===----------------------------------------------------------------------===//
#include "Driver.h"

#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <mutex>

namespace zocl {
namespace {

constexpr size_t pageBytes = 4096;
constexpr int poison = 0xCD;

struct Allocation : Counted {
  char *base = nullptr;
  size_t size = 0;
  ze_memory_type_t type{};
  Device *device = nullptr;
  Context *context = nullptr;
  char *pages = nullptr; ///< where they are guarded
  size_t pagesSize = 0;
};

// Never destroyed: the thread of a queue that the application forgot may use them at exit.
std::mutex &mutex = *new std::mutex;
std::map<char *, Allocation> &allocations = *new std::map<char *, Allocation>;
unsigned queuesAtWork = 0;

/// The caller holds the mutex.
const Allocation *find(const void *pointer) {
  auto *p = static_cast<char *>(const_cast<void *>(pointer));
  auto next = allocations.upper_bound(p);
  if (next == allocations.begin())
    return nullptr;
  const Allocation &before = std::prev(next)->second;
  return p < before.base + before.size ? &before : nullptr;
}

void protectAll(int mode) {
  if (!settings().isGuarding)
    return;
  for (auto &entry : allocations)
    if (entry.second.pages)
      mprotect(entry.second.pages, entry.second.pagesSize, mode);
}

ze_result_t mapGuarded(Allocation &made, size_t alignment) {
  made.pagesSize = (made.size + pageBytes - 1) / pageBytes * pageBytes;
  void *pages = mmap(nullptr, made.pagesSize + pageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  made.pages = static_cast<char *>(pages);
  std::memset(made.pages, poison, made.pagesSize);
  made.base = made.pages + (made.pagesSize - made.size) / alignment * alignment;
  mprotect(made.pages, made.pagesSize + pageBytes, PROT_NONE);
  if (queuesAtWork)
    mprotect(made.pages, made.pagesSize, PROT_READ | PROT_WRITE);
  return ZE_RESULT_SUCCESS;
}

ze_result_t allocate(Context *context, Device *device, ze_memory_type_t type, size_t size, size_t alignment, void **out) {
  if (!size || size > devices()[0]->info<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE))
    return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  if (alignment & (alignment - 1))
    return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
  alignment = std::max<size_t>(alignment, 64);
  std::lock_guard lock(mutex);
  Allocation made;
  made.size = size, made.type = type, made.device = device, made.context = context;
  if (settings().isGuarding && type == ZE_MEMORY_TYPE_DEVICE && alignment <= pageBytes) {
    if (ze_result_t failed = mapGuarded(made, alignment))
      return failed;
  } else {
    cl_int error = CL_SUCCESS;
    const auto wanted = static_cast<cl_uint>(alignment);
    void *pointer = type == ZE_MEMORY_TYPE_HOST     ? cl.clHostMemAllocINTEL(context->id, nullptr, size, wanted, &error)
                    : type == ZE_MEMORY_TYPE_DEVICE ? cl.clDeviceMemAllocINTEL(context->id, device->id, nullptr, size, wanted, &error)
                                                    : cl.clSharedMemAllocINTEL(context->id, device->id, nullptr, size, wanted, &error);
    if (!pointer)
      return error ? translate(error) : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    std::memset(pointer, poison, size); // fresh memory is zero more often than a program may hope
    made.base = static_cast<char *>(pointer);
  }
  *out = made.base;
  allocations[made.base] = made;
  return ZE_RESULT_SUCCESS;
}

ze_result_t allocShared(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *, const ze_host_mem_alloc_desc_t *, size_t size,
                        size_t alignment, ze_device_handle_t device, void **out) {
  Device *placed = device ? as<Device>(device) : devices()[0];
  return allocate(as<Context>(context), placed, ZE_MEMORY_TYPE_SHARED, size, alignment, out);
}
ze_result_t allocDevice(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *, size_t size, size_t alignment,
                        ze_device_handle_t device, void **out) {
  return allocate(as<Context>(context), as<Device>(device), ZE_MEMORY_TYPE_DEVICE, size, alignment, out);
}
ze_result_t allocHost(ze_context_handle_t context, const ze_host_mem_alloc_desc_t *, size_t size, size_t alignment, void **out) {
  return allocate(as<Context>(context), nullptr, ZE_MEMORY_TYPE_HOST, size, alignment, out);
}

ze_result_t freeMemory(ze_context_handle_t context, void *pointer) {
  Allocation freed;
  {
    std::lock_guard lock(mutex);
    auto it = allocations.find(static_cast<char *>(pointer));
    if (it == allocations.end() || it->second.context != as<Context>(context))
      return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    freed = it->second;
    allocations.erase(it);
  }
  if (!freed.pages)
    return translate(cl.clMemFreeINTEL(freed.context->id, pointer));
  munmap(freed.pages, freed.pagesSize + pageBytes);
  return ZE_RESULT_SUCCESS;
}

ze_result_t getProperties(ze_context_handle_t, const void *pointer, ze_memory_allocation_properties_t *out, ze_device_handle_t *device) {
  *out = {.stype = out->stype, .pNext = out->pNext, .type = ZE_MEMORY_TYPE_UNKNOWN};
  if (device)
    *device = nullptr;
  std::lock_guard lock(mutex);
  if (const Allocation *found = find(pointer)) {
    out->type = found->type;
    if (device)
      give(found->device, device);
  }
  return ZE_RESULT_SUCCESS;
}

} // namespace

bool isAllocated(const void *pointer) {
  std::lock_guard lock(mutex);
  return find(pointer);
}

DeviceAccess::DeviceAccess() {
  std::lock_guard lock(mutex);
  if (!queuesAtWork++)
    protectAll(PROT_READ | PROT_WRITE);
}
DeviceAccess::~DeviceAccess() {
  std::lock_guard lock(mutex);
  if (!--queuesAtWork)
    protectAll(PROT_NONE);
}

void fill(ze_mem_dditable_t &table) {
  table.pfnAllocShared = mayFail<allocShared>;
  table.pfnAllocDevice = mayFail<allocDevice>;
  table.pfnAllocHost = mayFail<allocHost>;
  table.pfnFree = freeMemory;
  table.pfnGetAllocProperties = mayFail<getProperties>;
}

} // namespace zocl
