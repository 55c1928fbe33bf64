//===- MemoryDesc.cpp - Memory descriptors --------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Implements the memory descriptors of quern_memory.h.
//
//===----------------------------------------------------------------------===//
#include "API/Guard.h"
#include "API/Handles.h"
#include "Desc/Tensor/SparseTensor.h"

#include <cstring>
#include <initializer_list>

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

/// Stores a copy of a successful result in `handle`.
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
  case quern_query_ndims_s32:
    return answer<int>(result, desc.ndims);
  case quern_query_dims:
    return dims(desc.dims);
  case quern_query_data_type:
    return answer<quern_data_type_t>(result, static_cast<int>(desc.dataType));
  case quern_query_submemory_offset_s64:
    return answer<int64_t>(result, desc.offset0);
  case quern_query_padded_dims:
    return dims(desc.paddedDims);
  case quern_query_padded_offsets:
    return dims(desc.paddedOffsets);
  case quern_query_format_kind:
    return answer<quern_format_kind_t>(result, static_cast<int>(desc.formatKind));
  default:
    break;
  }
  if (!isBlocked && (what == quern_query_strides || what == quern_query_inner_nblks_s32 ||
                     what == quern_query_inner_blks || what == quern_query_inner_idxs))
    return invalidArguments("the memory descriptor has no strides: it is not of the blocked format kind");
  switch (what) {
  case quern_query_strides:
    return dims(desc.strides);
  case quern_query_inner_nblks_s32:
    return answer<int>(result, desc.innerBlockCount);
  case quern_query_inner_blks:
    return dims(desc.innerBlocks);
  case quern_query_inner_idxs:
    return dims(desc.innerIndices);
  default:
    return unimplemented("query ", static_cast<int>(what), " does not apply to memory descriptors");
  }
}

Result<void> queryBuffer(const TensorDesc &desc, quern_query_t what, int buffer, void *result) {
  if (buffer != 0 && (what != quern_query_data_type || buffer < 0 || buffer >= bufferCount(desc)))
    return invalidArguments(
        "index is ", buffer, "; query ", static_cast<int>(what), " of this memory descriptor takes ",
        what == quern_query_data_type && bufferCount(desc) > 1 ? concat("0 to ", bufferCount(desc) - 1) : "0");
  if ((what == quern_query_sparse_encoding || what == quern_query_nnz_s64) && !desc.isSparse())
    return invalidArguments("the memory descriptor is not of a sparse tensor");
  switch (what) {
  case quern_query_data_type:
    return answer<quern_data_type_t>(result, static_cast<int>(typeOfBuffer(desc, buffer)));
  case quern_query_num_handles_s32:
    return answer<int>(result, bufferCount(desc));
  case quern_query_sparse_encoding:
    return answer<quern_sparse_encoding_t>(result, static_cast<int>(sparseLayoutOf(desc).encoding));
  case quern_query_nnz_s64:
    return answer<int64_t>(result, sparseLayoutOf(desc).nonzeros);
  default:
    return queryDesc(desc, what, result);
  }
}

/// Creates the descriptor of a sparse tensor. `types` are the index types of the encoding.
Result<void> createSparse(quern_memory_desc_t *desc, int ndims, const int64_t *dims, quern_data_type_t type,
                          SparseEncoding encoding, int64_t nonzeros, std::initializer_list<quern_data_type_t> types) {
  QUERN_REQUIRE("memory_desc", desc);
  *desc = nullptr;
  QUERN_ASSIGN_OR_RETURN(std::span<const int64_t> shape, dimsFrom("dims", ndims, dims));
  if (ndims == 0)
    return give(TensorDesc(), desc);
  QUERN_ASSIGN_OR_RETURN(DataType element, checkedEnum<DataType>("data type", type));
  SparseLayout layout{encoding, 0, nonzeros};
  for (DataType *next = layout.indexTypes; quern_data_type_t index : types) {
    QUERN_ASSIGN_OR_RETURN(DataType known, checkedEnum<DataType>("index type", index));
    *next++ = known;
  }
  return give(sparseTensor(shape, element, layout), desc);
}

} // namespace

extern "C" {

quern_status_t quern_memory_desc_create_with_strides(quern_memory_desc_t *desc, int ndims, const quern_dims_t dims,
                                                     quern_data_type_t type, const quern_dims_t strides) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory_desc", desc);
    *desc = nullptr;
    QUERN_ASSIGN_OR_RETURN(std::span<const int64_t> shape, dimsFrom("dims", ndims, dims));
    if (ndims == 0)
      return give(TensorDesc(), desc);
    QUERN_ASSIGN_OR_RETURN(DataType element, checkedEnum<DataType>("data type", type));
    return give(strides ? TensorDesc::fromStrides(shape, element, {strides, shape.size()})
                        : TensorDesc::dense(shape, element),
                desc);
  });
}

quern_status_t quern_memory_desc_create_with_csr_encoding(quern_memory_desc_t *desc, int ndims, const quern_dims_t dims,
                                                          quern_data_type_t type, quern_dim_t nnz,
                                                          quern_data_type_t indices,
                                                          quern_data_type_t pointers) noexcept {
  return guarded([&] { return createSparse(desc, ndims, dims, type, SparseEncoding::Csr, nnz, {indices, pointers}); });
}

quern_status_t quern_memory_desc_create_with_coo_encoding(quern_memory_desc_t *desc, int ndims, const quern_dims_t dims,
                                                          quern_data_type_t type, quern_dim_t nnz,
                                                          quern_data_type_t indices) noexcept {
  return guarded([&] { return createSparse(desc, ndims, dims, type, SparseEncoding::Coo, nnz, {indices}); });
}

quern_status_t quern_memory_desc_create_with_packed_encoding(quern_memory_desc_t *desc, int ndims,
                                                             const quern_dims_t dims, quern_data_type_t type,
                                                             quern_dim_t nnz) noexcept {
  return guarded([&] { return createSparse(desc, ndims, dims, type, SparseEncoding::Packed, nnz, {}); });
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
    QUERN_ASSIGN_OR_RETURN(std::span<const int64_t> shape, dimsFrom("dims", ndims, dims));
    if (ndims == 0)
      return give(TensorDesc(), desc);
    Result<DataType> element = checkedEnum<DataType>("data type", type);
    return element ? give(TensorDesc::fromTag(shape, *element, tag), desc) : Result<void>(element.takeError());
  });
}

quern_status_t quern_memory_desc_set_data_type(quern_memory_desc_t desc, quern_data_type_t type) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory_desc", desc);
    QUERN_ASSIGN_OR_RETURN(DataType element, checkedEnum<DataType>("data type", type));
    TensorDesc changed = *unwrap(desc);
    changed.dataType = element;
    QUERN_RETURN_IF_ERROR(changed.validate());
    *unwrap(desc) = changed;
    return {};
  });
}

quern_status_t quern_memory_desc_create_submemory(quern_memory_desc_t *desc, const_quern_memory_desc_t parent,
                                                  const quern_dims_t dims, const quern_dims_t offsets) noexcept {
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
    QUERN_RETURN_IF_ERROR(refuseHostScalar(*unwrap(in), "cannot be reshaped"));
    Result<std::span<const int64_t>> shape = dimsFrom("dims", ndims, dims);
    return shape ? give(unwrap(in)->reshape(*shape), out) : Result<void>(shape.takeError());
  });
}

quern_status_t quern_memory_desc_permute_axes(quern_memory_desc_t *out, const_quern_memory_desc_t in,
                                              const int *permutation) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("out_memory_desc", out);
    *out = nullptr;
    QUERN_REQUIRE("in_memory_desc", in, "permutation", permutation);
    QUERN_RETURN_IF_ERROR(refuseHostScalar(*unwrap(in), "has no axes to permute"));
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
    if (copy.isSparse() && copy.ndims > 0 && copy.ndims <= maxDims)
      return give(sparseTensor(copy.shape(), copy.dataType, sparseLayoutOf(copy)), desc);
    QUERN_RETURN_IF_ERROR(copy.validate());
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

quern_status_t quern_memory_desc_destroy(quern_memory_desc_t desc) noexcept { return destroy(unwrap(desc)); }

quern_status_t quern_memory_desc_query(const_quern_memory_desc_t desc, quern_query_t what, void *result) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory_desc", desc, "result", result);
    return queryDesc(*unwrap(desc), what, result);
  });
}

quern_status_t quern_memory_desc_query_v2(const_quern_memory_desc_t desc, quern_query_t what, int index,
                                          void *result) noexcept {
  return guarded([&]() -> Result<void> {
    QUERN_REQUIRE("memory_desc", desc, "result", result);
    return queryBuffer(*unwrap(desc), what, index, result);
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

size_t quern_memory_desc_get_size_v2(const_quern_memory_desc_t desc, int index) noexcept {
  return desc && index >= 0 && index < bufferCount(*unwrap(desc))
             ? static_cast<size_t>(bytesOfBuffer(*unwrap(desc), index))
             : 0;
}

size_t quern_data_type_size(quern_data_type_t type) noexcept {
  return static_cast<size_t>((bitsOf(fromC<DataType>(type)) + 7) / 8);
}

} // extern "C"
