//===- Layout.cpp - Order of dims and dense strides -----------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Sizes are computed in CheckedInt. A descriptor whose sizes overflow int64 is refused when it is created or validated,
// so queries of a valid descriptor cannot overflow.
//
//===----------------------------------------------------------------------===//
#include "Desc/Tensor/Layout.h"

#include <numeric>

namespace quern::layout {

void outerExtents(const TensorDesc &desc, int64_t (&extents)[maxDims]) {
  int64_t blocks[maxDims];
  desc.blockSizes(blocks);
  for (int d = 0; d < rankOf(desc); ++d)
    extents[d] = desc.paddedDims[d] == runtimeDim ? runtimeDim : ceilDivide(desc.paddedDims[d], blocks[d]);
}

CheckedInt innerElements(const TensorDesc &desc) {
  CheckedInt product = 1;
  for (int b = 0; b < blockCountOf(desc); ++b)
    product *= desc.innerBlocks[b];
  return product;
}

void orderOfDims(const TensorDesc &desc, int (&outermostFirst)[maxDims]) {
  int64_t extents[maxDims];
  outerExtents(desc, extents);
  // A runtime value counts as larger than any other; dims of 0 and 1 are equivalent.
  auto rank = [](int64_t value, int64_t minimum) { return value == runtimeDim ? INT64_MAX : std::max(value, minimum); };
  int *end = outermostFirst + rankOf(desc);
  std::iota(outermostFirst, end, 0);
  std::sort(outermostFirst, end, [&](int a, int b) {
    int64_t strideA = rank(desc.strides[a], 0), strideB = rank(desc.strides[b], 0);
    if (strideA != strideB)
      return strideA > strideB;
    if (strideA == INT64_MAX) // both unknown: row-major
      return a < b;
    int64_t extentA = rank(extents[a], 1), extentB = rank(extents[b], 1);
    return extentA != extentB ? extentA > extentB : a < b;
  });
}

Result<TensorDesc> startBlocked(std::span<const int64_t> dims, DataType type) {
  if (dims.size() > static_cast<size_t>(maxDims))
    return invalidArguments("a tensor has at most ", maxDims, " dims; ", dims.size(), " are given");
  TensorDesc desc;
  desc.ndims = static_cast<int32_t>(dims.size());
  desc.dataType = type;
  desc.formatKind = FormatKind::Blocked;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] < 0 && dims[d] != runtimeDim)
      return invalidArguments("dim ", d, " is ", dims[d], "; it must be at least 0");
    desc.dims[d] = desc.paddedDims[d] = dims[d];
  }
  return desc;
}

Result<void> setDense(TensorDesc &desc, std::span<const int> outermostFirst) {
  int64_t blocks[maxDims];
  desc.blockSizes(blocks);
  CheckedInt stride = innerElements(desc);
  bool isRuntime = false;
  for (size_t i = outermostFirst.size(); i-- > 0;) {
    int d = outermostFirst[i];
    desc.strides[d] = isRuntime ? runtimeDim : stride.value();
    if (desc.dims[d] == runtimeDim) {
      desc.paddedDims[d] = runtimeDim;
      isRuntime = true;
      continue;
    }
    CheckedInt padded = roundUp(desc.dims[d], blocks[d]);
    desc.paddedDims[d] = padded.value();
    // A zero dim counts as 1 in the strides of the others, so that the layout still has a tag.
    stride *= padded.overflowed() ? padded : CheckedInt(std::max<int64_t>(padded.value() / blocks[d], 1));
    if (stride.overflowed())
      return invalidArguments("dims ", textOfDims(desc.shape()), " have more than ", INT64_MAX, " elements");
  }
  return {};
}

CheckedInt footprint(const TensorDesc &desc) {
  int64_t extents[maxDims];
  outerExtents(desc, extents);
  CheckedInt last = innerElements(desc) + CheckedInt(desc.offset0 == runtimeDim ? 0 : desc.offset0);
  CheckedInt rows = 1; // as in oneDNN, the last row includes its gap
  for (int d = 0; d < rankOf(desc); ++d) {
    if (extents[d] <= 1 || desc.strides[d] == runtimeDim)
      continue;
    CheckedInt row = CheckedInt(extents[d]) * CheckedInt(desc.strides[d]);
    rows = row.overflowed() || row.value() > rows.value() ? row : rows;
    last += CheckedInt(extents[d] - 1) * CheckedInt(desc.strides[d]);
    if (row.overflowed() || last.overflowed())
      return row + last;
  }
  return last.overflowed() || last.value() > rows.value() ? last : rows;
}

CheckedInt bytesOfElements(CheckedInt elements, DataType type) {
  int64_t bits = bitsOf(type);
  if (bits >= 8 || elements.overflowed())
    return elements * CheckedInt(bits / 8);
  return bits == 4 ? elements.value() / 2 + elements.value() % 2 : 0;
}

CheckedInt compensationBytes(const TensorDesc &desc) {
  auto product = [&](int32_t mask) {
    CheckedInt count = 1;
    for (int d = 0; d < rankOf(desc); ++d)
      if (mask & (1 << d))
        count *= desc.paddedDims[d] == runtimeDim ? 1 : desc.paddedDims[d];
    return count * CheckedInt(4);
  };
  CheckedInt bytes = 0;
  if (desc.extras.flags & ExtraS8S8)
    bytes += product(desc.extras.compensationMask);
  // rnn_s8s8 appends nothing, because signed RNN activations have no shift to compensate.
  if (desc.extras.flags & ExtraRnnU8S8)
    bytes += product(desc.extras.compensationMask);
  if (desc.extras.flags & ExtraAsymmetricSource)
    bytes += product(desc.extras.asymmetricCompensationMask);
  return bytes;
}

std::string textOfDims(std::span<const int64_t> dims) {
  std::string text;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (d > 0)
      text += 'x';
    text += dims[d] == runtimeDim ? "?" : std::to_string(dims[d]);
  }
  return text;
}

} // namespace quern::layout
