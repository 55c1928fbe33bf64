//===- SparseTensor.cpp - Layouts of sparse tensors -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Desc/Tensor/SparseTensor.h"

#include "Desc/Tensor/Layout.h"

#include <cstring>

namespace quern {
namespace {

constexpr int csrBuffers = 3, packedBuffers = 3;
static_assert(sizeof(SparseLayout) == 24 && offsetof(SparseLayout, nonzeros) == 8 &&
                  offsetof(SparseLayout, indexTypes) == 16,
              "as oneDNN has it");

/// Returns the number of entries of a buffer.
CheckedInt entriesOf(const TensorDesc &desc, const SparseLayout &layout, int buffer) {
  if (layout.encoding == SparseEncoding::Csr && buffer == csrBuffers - 1)
    return CheckedInt(desc.dims[0]) + CheckedInt(1);
  return layout.nonzeros;
}

bool isOpen(const TensorDesc &desc, const SparseLayout &layout) {
  return layout.nonzeros == runtimeDim ||
         std::find(desc.dims, desc.dims + desc.ndims, runtimeDim) != desc.dims + desc.ndims;
}

Result<void> checkLayout(const TensorDesc &desc, const SparseLayout &layout) {
  if (bitsOf(desc.dataType) == 0)
    return invalidArguments("data type ", static_cast<int32_t>(desc.dataType), " is not valid for a tensor");
  if (layout.nonzeros < 0 && layout.nonzeros != runtimeDim)
    return invalidArguments("the number of values is ", layout.nonzeros, "; it must be at least 0");
  if (layout.encoding == SparseEncoding::Packed)
    return {};
  if (desc.ndims > 2)
    return unimplemented("a sparse tensor in CSR or COO has ", desc.ndims, " dims; at most 2 are possible");
  for (int buffer = 1; buffer < bufferCount(desc); ++buffer) {
    const DataType type = typeOfBuffer(desc, buffer);
    if (bitsOf(type) == 0)
      return invalidArguments("index type ", static_cast<int32_t>(type), " is not valid");
  }
  for (int buffer = 0; buffer < bufferCount(desc) && !isOpen(desc, layout); ++buffer)
    if (layout::bytesOfElements(entriesOf(desc, layout, buffer), typeOfBuffer(desc, buffer)).overflowed())
      return invalidArguments(layout.nonzeros, " values need more than ", INT64_MAX, " bytes");
  return {};
}

} // namespace

Result<TensorDesc> sparseTensor(std::span<const int64_t> dims, DataType type, const SparseLayout &layout) {
  if (dims.empty())
    return TensorDesc();
  QUERN_ASSIGN_OR_RETURN(TensorDesc desc, layout::startBlocked(dims, type));
  std::copy(dims.begin(), dims.end(), desc.paddedDims);
  desc.formatKind = FormatKind::Sparse;
  std::memcpy(desc.strides, &layout, sizeof(layout));
  QUERN_RETURN_IF_ERROR(checkLayout(desc, layout));
  return desc;
}

SparseLayout sparseLayoutOf(const TensorDesc &desc) {
  SparseLayout layout;
  std::memcpy(static_cast<void *>(&layout), desc.strides, sizeof(layout));
  return layout;
}

int bufferCount(const TensorDesc &desc) {
  if (!desc.isSparse())
    return desc.isZero() ? 0 : 1;
  switch (sparseLayoutOf(desc).encoding) {
  case SparseEncoding::Csr:
    return csrBuffers;
  case SparseEncoding::Coo:
    return 1 + desc.ndims;
  default:
    return packedBuffers;
  }
}

DataType typeOfBuffer(const TensorDesc &desc, int buffer) {
  if (buffer == 0)
    return desc.dataType;
  const SparseLayout layout = sparseLayoutOf(desc);
  const bool isPointer = layout.encoding == SparseEncoding::Csr && buffer == csrBuffers - 1;
  return layout.indexTypes[isPointer ? 1 : 0];
}

int64_t bytesOfBuffer(const TensorDesc &desc, int buffer) {
  if (!desc.isSparse())
    return buffer == 0 ? desc.bytes() : 0;
  const SparseLayout layout = sparseLayoutOf(desc);
  if (layout.encoding == SparseEncoding::Packed)
    return 0;
  if (isOpen(desc, layout))
    return runtimeDim;
  return layout::bytesOfElements(entriesOf(desc, layout, buffer), typeOfBuffer(desc, buffer)).value();
}

} // namespace quern
