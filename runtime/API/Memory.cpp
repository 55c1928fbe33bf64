//===- Memory.cpp - Memory descriptors and memory -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// quern_memory.h.
//
//===----------------------------------------------------------------------===//
#include "API/Guard.h"
#include "API/Handles.h"
#include "Desc/TextForm.h"

#include <cstring>

using namespace quern;
using namespace quern::api;

namespace {

Result<std::span<const int64_t>> dimsFrom(const char *name, int ndims, const int64_t *dims) {
  if (ndims < 0 || ndims > maxDims)
    return invalidArguments("ndims is ", ndims, "; it must be 0 to ", maxDims);
  if (ndims > 0 && !dims)
    return invalidArguments(name, " is null");
  return std::span<const int64_t>(dims, static_cast<size_t>(ndims));
}

/// Makes a handle of a successful result.
Result<void> give(Result<TensorDesc> desc, quern_memory_desc_t *handle) {
  if (!desc)
    return desc.takeError();
  wrap(new TensorDesc(*desc), handle);
  return {};
}

template <typename T, typename Value> Result<void> answer(void *result, Value value) {
  *static_cast<T *>(result) = static_cast<T>(value);
  return {};
}

Result<void> queryDesc(const TensorDesc &desc, quern_query_t what, void *result) {
  const bool isBlocked = desc.isBlockedFormat();
  const auto dims = [&](const int64_t *values) { return answer<const int64_t *>(result, values); };
  switch (what) {
  case quern_query_ndims_s32: return answer<int>(result, desc.ndims);
  case quern_query_dims: return dims(desc.dims);
  case quern_query_data_type: return answer<quern_data_type_t>(result, static_cast<int>(desc.dataType));
  case quern_query_submemory_offset_s64: return answer<int64_t>(result, desc.offset0);
  case quern_query_padded_dims: return dims(desc.paddedDims);
  case quern_query_padded_offsets: return dims(desc.paddedOffsets);
  case quern_query_format_kind: return answer<quern_format_kind_t>(result, static_cast<int>(desc.formatKind));
  case quern_query_num_handles_s32: return answer<int>(result, desc.isZero() ? 0 : 1);
  default: break;
  }
  if (!isBlocked && (what == quern_query_strides || what == quern_query_inner_nblks_s32 || what == quern_query_inner_blks ||
                     what == quern_query_inner_idxs))
    return invalidArguments("the memory descriptor has no strides: it is not of the blocked format kind");
  switch (what) {
  case quern_query_strides: return dims(desc.strides);
  case quern_query_inner_nblks_s32: return answer<int>(result, desc.innerBlockCount);
  case quern_query_inner_blks: return dims(desc.innerBlocks);
  case quern_query_inner_idxs: return dims(desc.innerIndices);
  default: return unimplemented("query ", static_cast<int>(what), " does not concern memory descriptors");
  }
}

Result<void> requireHostScalar(const Memory &memory) {
  return memory.desc.isHostScalar() ? Result<void>() : Result<void>(invalidArguments("the memory is not a host scalar"));
}

Result<void> refuseHostScalar(const TensorDesc &desc, const char *what) {
  return desc.isHostScalar() ? Result<void>(invalidArguments("a host scalar ", what)) : Result<void>();
}

Result<void> setHandle(Memory &memory, void *handle) {
  if (handle == QUERN_MEMORY_ALLOCATE)
    return memory.allocate();
  memory.setHandle(handle);
  return {};
}

Result<void> createMemory(quern_memory_t *memory, const_quern_memory_desc_t desc, quern_engine_t engine, void *handle) {
  if (unwrap(desc)->isAny())
    return invalidArguments("memory needs a layout, not `any`: ask the primitive descriptor for its descriptor");
  if (Result<void> ok = refuseHostScalar(*unwrap(desc), "is made by quern_memory_create_host_scalar()"); !ok)
    return ok;
  if (unwrap(desc)->hasRuntimeDims())
    return invalidArguments("memory cannot be made of a descriptor with runtime dims, strides or offset; it is ", textOf(*unwrap(desc)));
  auto created = std::make_unique<Memory>(unwrap(engine), *unwrap(desc));
  if (Result<void> set = setHandle(*created, handle); !set)
    return set;
  wrap(created.release(), memory);
  return {};
}

} // namespace

extern "C" {

// --- Memory descriptors ------------------------------------------------------------------------------------------------------------------

quern_status_t quern_memory_desc_create_with_strides(quern_memory_desc_t *desc, int ndims, const quern_dims_t dims, quern_data_type_t type,
                                                     const quern_dims_t strides) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory_desc", desc);
    *desc = nullptr;
    Result<std::span<const int64_t>> shape = dimsFrom("dims", ndims, dims);
    if (!shape)
      return shape.takeError();
    if (ndims == 0)
      return give(TensorDesc(), desc);
    Result<DataType> element = checkedEnum<DataType>("data type", type);
    if (!element)
      return element.takeError();
    return give(strides ? TensorDesc::fromStrides(*shape, *element, {strides, shape->size()}) : TensorDesc::dense(*shape, *element), desc);
  });
}

quern_status_t quern_memory_desc_create_host_scalar(quern_memory_desc_t *desc, quern_data_type_t type) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory_desc", desc);
    *desc = nullptr;
    Result<DataType> element = checkedEnum<DataType>("data type", type);
    return element ? give(TensorDesc::hostScalar(*element), desc) : Result<void>(element.takeError());
  });
}

quern_status_t quern_memory_desc_create_with_string_tag(quern_memory_desc_t *desc, int ndims, const quern_dims_t dims,
                                                        quern_data_type_t type, const char *tag) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory_desc", desc);
    *desc = nullptr;
    QUERN_REQUIRE("tag", tag);
    Result<std::span<const int64_t>> shape = dimsFrom("dims", ndims, dims);
    if (!shape)
      return shape.takeError();
    if (ndims == 0)
      return give(TensorDesc(), desc);
    Result<DataType> element = checkedEnum<DataType>("data type", type);
    return element ? give(TensorDesc::fromTag(*shape, *element, tag), desc) : Result<void>(element.takeError());
  });
}

quern_status_t quern_memory_desc_set_data_type(quern_memory_desc_t desc, quern_data_type_t type) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory_desc", desc);
    Result<DataType> element = checkedEnum<DataType>("data type", type);
    if (!element)
      return element.takeError();
    TensorDesc changed = *unwrap(desc);
    changed.dataType = *element;
    if (Result<void> valid = changed.validate(); !valid)
      return valid;
    *unwrap(desc) = changed;
    return {};
  });
}

quern_status_t quern_memory_desc_create_submemory(quern_memory_desc_t *desc, const_quern_memory_desc_t parent, const quern_dims_t dims,
                                                  const quern_dims_t offsets) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory_desc", desc);
    *desc = nullptr;
    QUERN_REQUIRE("parent_memory_desc", parent, "dims", dims, "offsets", offsets);
    const size_t ndims = static_cast<size_t>(unwrap(parent)->ndims);
    return give(unwrap(parent)->submemory({dims, ndims}, {offsets, ndims}), desc);
  });
}

quern_status_t quern_memory_desc_reshape(quern_memory_desc_t *out, const_quern_memory_desc_t in, int ndims,
                                         const quern_dims_t dims) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("out_memory_desc", out);
    *out = nullptr;
    QUERN_REQUIRE("in_memory_desc", in);
    if (Result<void> ok = refuseHostScalar(*unwrap(in), "cannot be reshaped"); !ok)
      return ok;
    Result<std::span<const int64_t>> shape = dimsFrom("dims", ndims, dims);
    return shape ? give(unwrap(in)->reshape(*shape), out) : Result<void>(shape.takeError());
  });
}

quern_status_t quern_memory_desc_permute_axes(quern_memory_desc_t *out, const_quern_memory_desc_t in, const int *permutation) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("out_memory_desc", out);
    *out = nullptr;
    QUERN_REQUIRE("in_memory_desc", in, "permutation", permutation);
    if (Result<void> ok = refuseHostScalar(*unwrap(in), "has no axes to permute"); !ok)
      return ok;
    return give(unwrap(in)->permuteAxes({permutation, static_cast<size_t>(unwrap(in)->ndims)}), out);
  });
}

quern_status_t quern_memory_desc_create_with_blob(quern_memory_desc_t *desc, const uint8_t *blob) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory_desc", desc);
    *desc = nullptr;
    QUERN_REQUIRE("blob", blob);
    TensorDesc copy;
    std::memcpy(&copy, blob, sizeof(copy));
    if (copy.isHostScalar())
      return give(TensorDesc::hostScalar(copy.dataType), desc);
    if (Result<void> valid = copy.validate(); !valid)
      return valid;
    return give(copy, desc);
  });
}

quern_status_t quern_memory_desc_get_blob(uint8_t *blob, size_t *size, const_quern_memory_desc_t desc) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory_desc", desc);
    if (!blob && !size)
      return invalidArguments("blob and size are both null");
    if (blob && size && *size < sizeof(TensorDesc))
      return invalidArguments("there is room for ", *size, " bytes of blob; it has ", sizeof(TensorDesc));
    if (blob)
      std::memcpy(blob, unwrap(desc), sizeof(TensorDesc));
    if (size)
      *size = sizeof(TensorDesc);
    return {};
  });
}

quern_status_t quern_memory_desc_clone(quern_memory_desc_t *desc, const_quern_memory_desc_t existing) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory_desc", desc);
    *desc = nullptr;
    QUERN_REQUIRE("existing_memory_desc", existing);
    return give(*unwrap(existing), desc);
  });
}

quern_status_t quern_memory_desc_destroy(quern_memory_desc_t desc) noexcept {
  delete unwrap(desc);
  return quern_success;
}

quern_status_t quern_memory_desc_query(const_quern_memory_desc_t desc, quern_query_t what, void *result) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory_desc", desc, "result", result);
    return queryDesc(*unwrap(desc), what, result);
  });
}

int quern_memory_desc_equal(const_quern_memory_desc_t lhs, const_quern_memory_desc_t rhs) noexcept {
  if (lhs == rhs)
    return 1;
  if (!lhs || !rhs)
    return 0;
  const TensorDesc &a = *unwrap(lhs), &b = *unwrap(rhs);
  const bool hasExtras = (a.extras.flags | b.extras.flags) != 0;
  return a == b || (!hasExtras && a.dataType == b.dataType && a.sameShape(b) && a.sameStorage(b));
}

size_t quern_memory_desc_get_size(const_quern_memory_desc_t desc) noexcept {
  return desc ? static_cast<size_t>(unwrap(desc)->bytes()) : 0;
}

size_t quern_data_type_size(quern_data_type_t type) noexcept { return static_cast<size_t>((bitsOf(fromC<DataType>(type)) + 7) / 8); }

// --- Memory ------------------------------------------------------------------------------------------------------------------------------

quern_status_t quern_memory_create(quern_memory_t *memory, const_quern_memory_desc_t desc, quern_engine_t engine, void *handle) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory", memory);
    *memory = nullptr;
    QUERN_REQUIRE("memory_desc", desc, "engine", engine);
    return createMemory(memory, desc, engine, handle);
  });
}

quern_status_t quern_memory_create_v2(quern_memory_t *memory, const_quern_memory_desc_t desc, quern_engine_t engine, int nhandles,
                                      void **handles) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory", memory);
    *memory = nullptr;
    QUERN_REQUIRE("memory_desc", desc, "engine", engine);
    const int wanted = unwrap(desc)->isZero() ? 0 : 1;
    if (nhandles != wanted && nhandles != 1)
      return invalidArguments("nhandles is ", nhandles, "; the descriptor has ", wanted, " buffers");
    if (nhandles > 0 && !handles)
      return invalidArguments("handles is null");
    return createMemory(memory, desc, engine, nhandles > 0 ? handles[0] : nullptr);
  });
}

quern_status_t quern_memory_create_host_scalar(quern_memory_t *memory, const_quern_memory_desc_t desc, void *value) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory", memory);
    *memory = nullptr;
    QUERN_REQUIRE("memory_desc", desc, "scalar_ptr", value);
    auto created = std::make_unique<Memory>(nullptr, *unwrap(desc));
    if (Result<void> ok = requireHostScalar(*created); !ok)
      return ok;
    created->setScalar(value);
    wrap(created.release(), memory);
    return {};
  });
}

quern_status_t quern_memory_get_host_scalar_value(const_quern_memory_t memory, void *value) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory", memory, "value", value);
    if (Result<void> ok = requireHostScalar(*unwrap(memory)); !ok)
      return ok;
    std::memcpy(value, unwrap(memory)->data, static_cast<size_t>(unwrap(memory)->bytes));
    return {};
  });
}

quern_status_t quern_memory_set_host_scalar_value(quern_memory_t memory, const void *value) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory", memory, "value", value);
    if (Result<void> ok = requireHostScalar(*unwrap(memory)); !ok)
      return ok;
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

quern_status_t quern_memory_map_data(const_quern_memory_t memory, void **mapped) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory", memory, "mapped_ptr", mapped);
    *mapped = unwrap(memory)->data;
    return {};
  });
}

quern_status_t quern_memory_unmap_data(const_quern_memory_t memory, void *mapped) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory", memory);
    if (mapped != unwrap(memory)->data)
      return invalidArguments("mapped_ptr is not what quern_memory_map_data() gave");
    return {};
  });
}

quern_status_t quern_memory_get_data_handle(const_quern_memory_t memory, void **handle) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory", memory, "handle", handle);
    if (Result<void> ok = refuseHostScalar(unwrap(memory)->desc, "has no handle"); !ok)
      return ok;
    *handle = unwrap(memory)->data;
    return {};
  });
}

quern_status_t quern_memory_set_data_handle(quern_memory_t memory, void *handle) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory", memory);
    if (handle == QUERN_MEMORY_ALLOCATE)
      return invalidArguments("QUERN_MEMORY_ALLOCATE is for creation only");
    if (Result<void> ok = refuseHostScalar(unwrap(memory)->desc, "has no handle"); !ok)
      return ok;
    unwrap(memory)->setHandle(handle);
    return {};
  });
}

quern_status_t quern_memory_destroy(quern_memory_t memory) noexcept {
  delete unwrap(memory);
  return quern_success;
}

} // extern "C"
