//===- Objects.cpp - Engine, stream and memory ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Allocation of memory objects.
//
//===----------------------------------------------------------------------===//
#include "Objects.h"

#include <cstdlib>

namespace quern {

Memory::~Memory() {
  std::free(owned);
  for (Buffer &other : others)
    std::free(other.owned);
}

void Memory::setBuffer(int index, void *handle) {
  void *&place = index == 0 ? data : others[static_cast<size_t>(index) - 1].data;
  void *&own = index == 0 ? owned : others[static_cast<size_t>(index) - 1].owned;
  std::free(own);
  own = nullptr;
  place = handle;
}

Result<void> Memory::allocate(int index) {
  if (desc.isAny())
    return invalidArguments("memory cannot be allocated for layout `any`: ask the primitive descriptor for its descriptor");
  const int64_t needed = bytesOfBuffer(desc, index);
  if (needed == runtimeDim)
    return invalidArguments("memory cannot be allocated for a descriptor with runtime dimensions");
  setBuffer(index, nullptr);
  if (needed == 0)
    return {};
  constexpr size_t alignment = 64;
  const size_t rounded = (static_cast<size_t>(needed) + alignment - 1) / alignment * alignment;
  void *made = std::aligned_alloc(alignment, rounded);
  if (!made)
    return Error{Status::OutOfMemory, concat("cannot allocate ", needed, " bytes")};
  setBuffer(index, made);
  (index == 0 ? owned : others[static_cast<size_t>(index) - 1].owned) = made;
  return {};
}

} // namespace quern
