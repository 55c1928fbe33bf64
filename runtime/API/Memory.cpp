//===- Memory.cpp - Memory ------------------------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Implements the memory objects of quern_memory.h.
//
//===----------------------------------------------------------------------===//
#include "API/Guard.h"
#include "API/Handles.h"
#include "Desc/Text/TextForm.h"

#include <cstring>
#include <memory>
#include <vector>

using namespace quern;
using namespace quern::api;

namespace {

Result<void> requireHostScalar(const Memory &memory) {
  return memory.desc.isHostScalar() ? Result<void>()
                                    : Result<void>(invalidArguments("the memory is not a host scalar"));
}

/// Removes const: mapping stores a copy in the object, although the C API declares the object as not modified.
Memory *writable(const_quern_memory_t memory) { return const_cast<Memory *>(unwrap(memory)); }

Result<void> checkBuffer(const Memory &memory, int index) {
  if (!memory.hasBuffer(index))
    return invalidArguments("index is ", index, "; the memory has ", bufferCount(memory.desc), " buffers");
  return {};
}

/// Creates a memory object with `handles` as its first buffers; the others stay unset.
Result<void> createMemory(quern_memory_t *memory, const_quern_memory_desc_t desc, quern_engine_t engine,
                          std::span<void *const> handles) {
  const TensorDesc &tensor = *unwrap(desc);
  if (tensor.isAny() || (tensor.isSparse() && sparseLayoutOf(tensor).encoding == SparseEncoding::Packed))
    return invalidArguments("memory needs a layout, not `", tensor.isAny() ? "any" : "packed",
                            "`: use the memory descriptor of the primitive descriptor");
  QUERN_RETURN_IF_ERROR(refuseHostScalar(tensor, "is created by quern_memory_create_host_scalar()"));
  if (tensor.hasRuntimeDims())
    return invalidArguments("memory cannot be created from a descriptor with runtime dims, strides or offset; it is ",
                            textOf(tensor));
  auto created = std::make_unique<Memory>(unwrap(engine), tensor);
  for (int index = 0; void *handle : handles) {
    if (Result<void> done =
            handle == QUERN_MEMORY_ALLOCATE ? created->allocate(index) : created->setBuffer(index, handle);
        !done)
      return done;
    ++index;
  }
  wrap(created.release(), memory);
  return {};
}

} // namespace

extern "C" {

quern_status_t quern_memory_create(quern_memory_t *memory, const_quern_memory_desc_t desc, quern_engine_t engine,
                                   void *handle) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory", memory);
    *memory = nullptr;
    QUERN_REQUIRE("memory_desc", desc, "engine", engine);
    const std::vector<void *> all(handle == QUERN_MEMORY_ALLOCATE ? static_cast<size_t>(bufferCount(*unwrap(desc))) : 1,
                                  handle);
    return createMemory(memory, desc, engine, all);
  });
}

quern_status_t quern_memory_create_v2(quern_memory_t *memory, const_quern_memory_desc_t desc, quern_engine_t engine,
                                      int nhandles, void **handles) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory", memory);
    *memory = nullptr;
    QUERN_REQUIRE("memory_desc", desc, "engine", engine);
    const int wanted = bufferCount(*unwrap(desc));
    if (nhandles != wanted && (wanted > 1 || nhandles != 1))
      return invalidArguments("nhandles is ", nhandles, "; the descriptor has ", wanted, " buffers");
    if (nhandles > 0 && !handles)
      return invalidArguments("handles is null");
    return createMemory(memory, desc, engine, {handles, static_cast<size_t>(nhandles)});
  });
}

quern_status_t quern_memory_create_host_scalar(quern_memory_t *memory, const_quern_memory_desc_t desc,
                                               void *value) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory", memory);
    *memory = nullptr;
    QUERN_REQUIRE("memory_desc", desc, "scalar_ptr", value);
    auto created = std::make_unique<Memory>(nullptr, *unwrap(desc));
    QUERN_RETURN_IF_ERROR(requireHostScalar(*created));
    created->setScalar(value);
    wrap(created.release(), memory);
    return {};
  });
}

quern_status_t quern_memory_get_host_scalar_value(const_quern_memory_t memory, void *value) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory", memory, "value", value);
    QUERN_RETURN_IF_ERROR(requireHostScalar(*unwrap(memory)));
    std::memcpy(value, unwrap(memory)->data, static_cast<size_t>(unwrap(memory)->bytes));
    return {};
  });
}

quern_status_t quern_memory_set_host_scalar_value(quern_memory_t memory, const void *value) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory", memory, "value", value);
    QUERN_RETURN_IF_ERROR(requireHostScalar(*unwrap(memory)));
    unwrap(memory)->setScalar(value);
    return {};
  });
}

quern_status_t quern_memory_get_memory_desc(const_quern_memory_t memory, const_quern_memory_desc_t *desc) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory", memory, "memory_desc", desc);
    wrap(&unwrap(memory)->desc, desc);
    return {};
  });
}

quern_status_t quern_memory_get_engine(const_quern_memory_t memory, quern_engine_t *engine) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory", memory, "engine", engine);
    wrap(unwrap(memory)->engine.get(), engine);
    return {};
  });
}

quern_status_t quern_memory_map_data_v2(const_quern_memory_t memory, void **mapped, int index) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory", memory, "mapped_ptr", mapped);
    QUERN_RETURN_IF_ERROR(checkBuffer(*unwrap(memory), index));
    QUERN_ASSIGN_OR_RETURN(void *found, writable(memory)->map(index));
    *mapped = found;
    return {};
  });
}

quern_status_t quern_memory_map_data(const_quern_memory_t memory, void **mapped) noexcept {
  return quern_memory_map_data_v2(memory, mapped, 0);
}

quern_status_t quern_memory_unmap_data_v2(const_quern_memory_t memory, void *mapped, int index) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory", memory);
    QUERN_RETURN_IF_ERROR(checkBuffer(*unwrap(memory), index));
    return writable(memory)->unmap(index, mapped);
  });
}

quern_status_t quern_memory_unmap_data(const_quern_memory_t memory, void *mapped) noexcept {
  return quern_memory_unmap_data_v2(memory, mapped, 0);
}

quern_status_t quern_memory_get_data_handle_v2(const_quern_memory_t memory, void **handle, int index) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory", memory, "handle", handle);
    QUERN_RETURN_IF_ERROR(refuseHostScalar(unwrap(memory)->desc, "has no handle"));
    QUERN_RETURN_IF_ERROR(checkBuffer(*unwrap(memory), index));
    *handle = unwrap(memory)->buffer(index);
    return {};
  });
}

quern_status_t quern_memory_get_data_handle(const_quern_memory_t memory, void **handle) noexcept {
  return quern_memory_get_data_handle_v2(memory, handle, 0);
}

quern_status_t quern_memory_set_data_handle_v2(quern_memory_t memory, void *handle, int index) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory", memory);
    if (handle == QUERN_MEMORY_ALLOCATE)
      return invalidArguments("the handle is QUERN_MEMORY_ALLOCATE, which is for creation only");
    QUERN_RETURN_IF_ERROR(refuseHostScalar(unwrap(memory)->desc, "has no handle"));
    QUERN_RETURN_IF_ERROR(checkBuffer(*unwrap(memory), index));
    return unwrap(memory)->setBuffer(index, handle);
  });
}

quern_status_t quern_memory_set_data_handle(quern_memory_t memory, void *handle) noexcept {
  return quern_memory_set_data_handle_v2(memory, handle, 0);
}

quern_status_t quern_memory_destroy(quern_memory_t memory) noexcept { return destroy(unwrap(memory)); }

} // extern "C"
