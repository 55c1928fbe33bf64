//===- SparseTensor.h - Layouts of sparse tensors -------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A sparse tensor has several buffers, its values first. CSR adds the column of each value and the start of each row;
// COO adds the index of each value along each dim. The contents of a packed tensor are defined by the primitive that
// packs it. A TensorDesc stores a SparseLayout in place of a blocked tensor's strides.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_DESC_TENSOR_SPARSETENSOR_H
#define QUERN_DESC_TENSOR_SPARSETENSOR_H

#include "Desc/Tensor/TensorDesc.h"

namespace quern {

struct SparseLayout {
  SparseEncoding encoding = SparseEncoding::Undef;
  int32_t pad0 = 0;
  int64_t nonzeros = 0; ///< may be runtimeDim
  /// Types of the indices and of the row pointers of CSR.
  DataType indexTypes[2] = {};
};

/// Creates a sparse tensor; the zero descriptor for rank 0. Fails with `invalid_arguments` if dims, types or the number
/// of values are invalid, and with `unimplemented` for CSR or COO with more than two dims.
Result<TensorDesc> sparseTensor(std::span<const int64_t> dims, DataType type, const SparseLayout &layout);
/// Returns the layout of a sparse tensor.
SparseLayout sparseLayoutOf(const TensorDesc &desc);

/// Returns the number of buffers of a memory with this descriptor: 0 for the zero descriptor, 1 for a dense tensor.
int bufferCount(const TensorDesc &desc);
/// Returns the element type of a buffer: `dataType` for the values in buffer 0, otherwise an index type.
DataType typeOfBuffer(const TensorDesc &desc, int buffer);
/// Like TensorDesc::bytes(), which is the size of buffer 0. The size is unknown for packed tensors, for which this
/// returns 0.
int64_t bytesOfBuffer(const TensorDesc &desc, int buffer);

} // namespace quern

#endif // QUERN_DESC_TENSOR_SPARSETENSOR_H
