//===- Objects.cpp - Engine, stream and memory ---------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The functions that differ between the CPU and devices.
//
//===----------------------------------------------------------------------===//
#include "Engine/Objects.h"

#include "Engine/Device.h"

#include <cstdlib>

namespace quern {

Engine::Engine(std::shared_ptr<Device> device)
    : kind(EngineKind::Gpu), target(device->target()), targetText(target.text()), device(std::move(device)) {}

const char *Engine::name() const { return device ? device->name().c_str() : "cpu"; }

Memory::~Memory() {
  for (int index = 0; index <= static_cast<int>(others.size()); ++index)
    release(index);
}

/// Frees the memory that the object owns for a buffer.
void Memory::release(int index) {
  void *&own = owned(index);
  if (engine.get() && engine->device)
    engine->device->free(own);
  else
    std::free(own);
  own = nullptr;
  std::free(mapped(index));
  mapped(index) = nullptr;
}

void Memory::replace(int index, void *handle, bool isReachable) {
  release(index);
  reachable(index) = isReachable;
  (index == 0 ? data : others[static_cast<size_t>(index) - 1].data) = handle;
}

Result<void> Memory::setBuffer(int index, void *handle) {
  const bool isOnDevice = engine.get() && engine->device;
  QUERN_ASSIGN_OR_RETURN(PointedMemory found, isOnDevice ? engine->device->find(handle) : findAnywhere(handle));
  if (handle && isOnDevice && found.kind == MemoryKind::Unknown)
    return invalidArguments(
        "the handle is not memory that ", engine->device->name(),
        " can use; it must be device, host or shared memory that Level Zero allocated in the engine's context");
  if (!isOnDevice && found.kind == MemoryKind::Device)
    return invalidArguments("the handle is memory of a Level Zero device, which a cpu engine cannot access");
  replace(index, handle, found.kind != MemoryKind::Device);
  if (index == 0)
    allocation = found.allocation;
  return {};
}

Result<void *> Memory::map(int index) {
  void *const own = buffer(index);
  if (!own || reachable(index))
    return own;
  void *&copy = mapped(index);
  if (copy)
    return invalidArguments("buffer ", index, " of the memory is already mapped");
  const auto size = static_cast<size_t>(bytesOf(index));
  if (!(copy = std::malloc(size)))
    return Error{Status::OutOfMemory, concat("cannot allocate ", size, " bytes to map the memory to")};
  Result<void> copied = engine->device->copy(copy, own, size);
  if (copied)
    return copy;
  std::free(copy);
  copy = nullptr;
  return copied.takeError();
}

Result<void> Memory::unmap(int index, const void *given) {
  void *&copy = mapped(index);
  if (given != (copy ? copy : buffer(index)))
    return invalidArguments("mapped_ptr is not the pointer that quern_memory_map_data() returned");
  if (!copy)
    return {};
  Result<void> copied = engine->device->copy(buffer(index), copy, static_cast<size_t>(bytesOf(index)));
  std::free(copy);
  copy = nullptr;
  return copied;
}

Result<void> Memory::allocate(int index) {
  if (desc.isAny())
    return invalidArguments(
        "memory cannot be allocated for layout `any`; query the primitive descriptor for the chosen layout");
  const int64_t needed = bytesOfBuffer(desc, index);
  if (needed == runtimeDim)
    return invalidArguments("memory cannot be allocated for a descriptor with runtime dimensions");
  replace(index, nullptr, true);
  if (needed == 0)
    return {};
  if (engine->device) {
    QUERN_ASSIGN_OR_RETURN(void *made, engine->device->allocate(needed));
    replace(index, made, false);
    owned(index) = made;
    if (index == 0)
      allocation = newAllocation();
    return {};
  }
  constexpr size_t alignment = 64;
  const size_t rounded = (static_cast<size_t>(needed) + alignment - 1) / alignment * alignment;
  void *made = std::aligned_alloc(alignment, rounded);
  if (!made)
    return Error{Status::OutOfMemory, concat("cannot allocate ", needed, " bytes")};
  replace(index, made, true);
  owned(index) = made;
  return {};
}

} // namespace quern
