//===- Objects.cpp - Engine, stream and memory ----------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Allocation of memory objects.
//
//===----------------------------------------------------------------------===//
#include "Objects.h"

namespace quern {

Result<void> Memory::allocate() {
  if (desc.isAny())
    return invalidArguments("memory cannot be allocated for layout `any`: ask the primitive descriptor for its descriptor");
  if (bytes == runtimeDim)
    return invalidArguments("memory cannot be allocated for a descriptor with runtime dimensions");
  if (bytes == 0)
    return {};
  constexpr size_t alignment = 64;
  const size_t rounded = (static_cast<size_t>(bytes) + alignment - 1) / alignment * alignment;
  owned = std::aligned_alloc(alignment, rounded);
  if (!owned)
    return Error{Status::OutOfMemory, concat("cannot allocate ", bytes, " bytes")};
  data = owned;
  return {};
}

} // namespace quern
