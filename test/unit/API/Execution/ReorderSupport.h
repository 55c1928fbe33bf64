//===- ReorderSupport.h - Reorders of known values ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Addresses of a tensor's elements, computed only from queries of its descriptor, so tests need no second
// implementation of layouts.
//
//===----------------------------------------------------------------------===//
#ifndef QUERN_TEST_API_EXECUTION_REORDERSUPPORT_H
#define QUERN_TEST_API_EXECUTION_REORDERSUPPORT_H

#include "Runtime/TestSupport.h"

#include <algorithm>

namespace quern::test {

/// Computes offsets of a tensor's elements.
class Places {
public:
  explicit Places(const memory::desc &desc)
      : dims(desc.get_dims()), strides(desc.get_strides()), blocks(desc.get_inner_blks()),
        blocked(desc.get_inner_idxs()), offset(desc.get_submemory_offset()) {}

  int64_t count() const {
    int64_t product = 1;
    for (int64_t dim : dims)
      product *= dim;
    return product;
  }
  /// Returns the offset in elements from the start of the buffer; `element` counts the logical indices in row-major
  /// order.
  int64_t at(int64_t element) const {
    memory::dims index(dims.size());
    for (size_t d = dims.size(); d-- > 0; element /= dims[d])
      index[d] = element % dims[d];
    int64_t place = offset, weight = 1;
    for (size_t b = blocks.size(); b-- > 0; weight *= blocks[b]) {
      int64_t &split = index[static_cast<size_t>(blocked[b])];
      place += split % blocks[b] * weight;
      split /= blocks[b];
    }
    for (size_t d = 0; d < dims.size(); ++d)
      place += index[d] * strides[d];
    return place;
  }

private:
  memory::dims dims, strides, blocks, blocked;
  int64_t offset;
};

/// Returns the number of elements of `to` that differ from `expected` of the corresponding element of `from`.
template <typename From, typename To, typename Expected>
size_t wrongElements(const memory::desc &fromDesc, const From *from, const memory::desc &toDesc, const To *to,
                     Expected expected) {
  const Places source(fromDesc), destination(toDesc);
  size_t count = 0;
  for (int64_t i = 0; i < source.count(); ++i)
    count += to[destination.at(i)] != static_cast<To>(expected(from[source.at(i)]));
  return count;
}

/// Returns the number of positions outside the elements of a tensor whose value is not `value`.
template <typename T> size_t othersThan(const memory::desc &desc, std::vector<T> buffer, T value) {
  const Places places(desc);
  for (int64_t i = 0; i < places.count(); ++i)
    buffer[static_cast<size_t>(places.at(i))] = value;
  return buffer.size() - static_cast<size_t>(std::count(buffer.begin(), buffer.end(), value));
}

/// Returns a value for each position of a buffer: small integers of both signs.
template <typename T> std::vector<T> pattern(size_t size) {
  std::vector<T> values(size);
  for (size_t i = 0; i < size; ++i)
    values[i] = static_cast<T>(static_cast<int>(i * 7919 % 251) - 125);
  return values;
}

/// Returns the number of elements of a buffer of this descriptor, including gaps and padding.
template <typename T> size_t bufferSize(const memory::desc &desc) { return desc.get_size() / sizeof(T); }

} // namespace quern::test

#endif // QUERN_TEST_API_EXECUTION_REORDERSUPPORT_H
