//===- SparseTensor.h - What sparse tensors have instead of strides -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A sparse tensor has several buffers, its values first: CSR the column of each value and where each row
// begins, COO the index of each value along each dim. What a packed one holds is the business of the primitive
// that packs it. A TensorDesc describes one like any other tensor but for these fields, which lie where a
// blocked tensor has its strides.
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
  /// Of the indices, and of the pointers of CSR.
  DataType indexTypes[2] = {};
};

/// The zero descriptor of rank 0. invalid_arguments: dims, types or the number of values are none; `unimplemented`: CSR
/// and COO of more than two dims.
Result<TensorDesc> sparseTensor(std::span<const int64_t> dims, DataType type, const SparseLayout &layout);
/// Of a sparse tensor.
SparseLayout sparseLayoutOf(const TensorDesc &desc);

/// The buffers of a memory with this descriptor: 0 of the zero descriptor, 1 of every tensor that is not sparse.
int bufferCount(const TensorDesc &desc);
/// What one of them holds; Undef of packed ones.
DataType typeOfBuffer(const TensorDesc &desc, int buffer);
/// As TensorDesc::bytes(), which is that of buffer 0; those of packed ones are not known and 0.
int64_t bytesOfBuffer(const TensorDesc &desc, int buffer);

} // namespace quern

#endif // QUERN_DESC_TENSOR_SPARSETENSOR_H
