//===- Overlap.cpp - Detecting overlapping tensors ------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The distance between two elements is a sum of strides with bounded coefficients. The search chooses coefficients in
// decreasing order of strides. The remaining distance must be within the range of the smaller strides, which usually
// leaves one or two coefficients to try. Distances are in half bytes.
//
//===----------------------------------------------------------------------===//
#include "Engine/Overlap.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace quern {
namespace {

/// The range of the coefficients of one stride.
struct Axis {
  int64_t stride = 0, least = 0, most = 0;
};

int64_t halfBytesOf(DataType type) { return bitsOf(type) / 4; }

bool hasCompensation(const TensorDesc &desc) { return (desc.extras.flags & ~uint64_t(ExtraScaleAdjust)) != 0; }

int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0); }
int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b > 0); }

/// Searches for a distance d with lowest < d < highest.
class DistanceSearch {
public:
  /// Adds the axes of a tensor. `sign` is 1 for the tensor at the end of a distance, -1 for the tensor at its start.
  void add(const TensorDesc &desc, int sign) {
    int64_t blocks[maxDims], inner = 1;
    desc.blockSizes(blocks);
    for (int d = 0; d < desc.ndims; ++d) {
      inner *= blocks[d];
      addAxis(desc.strides[d], ceilDiv(desc.paddedDims[d], blocks[d]), desc.dataType, sign);
    }
    addAxis(1, inner, desc.dataType, sign);
  }

  bool find(int64_t start, int64_t lowest, int64_t highest) {
    low = lowest;
    high = highest;
    std::sort(axes, axes + count, [](const Axis &a, const Axis &b) { return a.stride > b.stride; });
    for (int i = count - 1; i >= 0; --i) {
      reachLow[i] = reachLow[i + 1] + axes[i].stride * axes[i].least;
      reachHigh[i] = reachHigh[i + 1] + axes[i].stride * axes[i].most;
    }
    return search(start, 0);
  }

private:
  static constexpr int maxAxes = 2 * (maxDims + 1);
  /// Number of choices after which find() returns true, which is the safe result.
  static constexpr int maxSteps = 100000;

  void addAxis(int64_t elements, int64_t extent, DataType type, int sign) {
    if (elements == 0 || extent <= 1) // the stride of a dim of size 1 is irrelevant
      return;
    const int64_t stride = elements * halfBytesOf(type);
    Axis *axis = std::find_if(axes, axes + count, [&](const Axis &other) { return other.stride == stride; });
    if (axis == axes + count)
      axes[count++].stride = stride;
    (sign > 0 ? axis->most : axis->least) += sign * (extent - 1);
  }

  bool search(int64_t distance, int i) {
    if (distance + reachLow[i] >= high || distance + reachHigh[i] <= low)
      return false;
    if (i == count || ++steps > maxSteps)
      return true;
    const Axis &axis = axes[i];
    const int64_t first = std::max(axis.least, ceilDiv(low + 1 - reachHigh[i + 1] - distance, axis.stride));
    const int64_t last = std::min(axis.most, floorDiv(high - 1 - reachLow[i + 1] - distance, axis.stride));
    for (int64_t c = first; c <= last; ++c)
      if (search(distance + c * axis.stride, i + 1))
        return true;
    return false;
  }

  Axis axes[maxAxes];
  int count = 0, steps = 0;
  int64_t low = 0, high = 0;
  int64_t reachLow[maxAxes + 1] = {}, reachHigh[maxAxes + 1] = {}; ///< range of the sums of the axes from i on
};

} // namespace

int64_t firstByteOf(const TensorDesc &desc) {
  const int64_t halves = halfBytesOf(desc.dataType); // half bytes of one element, and bytes of two
  return desc.offset0 == runtimeDim ? 0 : desc.offset0 / 2 * halves + desc.offset0 % 2 * halves / 2;
}

bool isWithoutGaps(const TensorDesc &desc) {
  if (!desc.isBlockedFormat() || desc.hasRuntimeDims() || desc.extras.flags)
    return false;
  int64_t blocks[maxDims], reach = 1; // elements that are nested inside the next dim
  desc.blockSizes(blocks);
  for (int d = 0; d < desc.ndims; ++d)
    reach *= blocks[d];
  std::array<int, maxDims> order{};
  std::iota(order.begin(), order.begin() + desc.ndims, 0);
  std::sort(order.begin(), order.begin() + desc.ndims, [&](int a, int b) { return desc.strides[a] < desc.strides[b]; });
  for (int i = 0; i < desc.ndims; ++i) {
    const int d = order[static_cast<size_t>(i)];
    const int64_t count = ceilDiv(desc.paddedDims[d], blocks[d]);
    if (count > 1 && desc.strides[d] != reach)
      return false;
    reach *= count;
  }
  return reach > 0 && reach * bitsOf(desc.dataType) / 8 == desc.bytes() - firstByteOf(desc);
}

bool areInPlace(const PlacedTensor &a, const PlacedTensor &b) {
  return a.data == b.data && bitsOf(a.desc.dataType) == bitsOf(b.desc.dataType) && a.desc.sameStorage(b.desc);
}

bool mayBeInPlace(const TensorDesc &a, const TensorDesc &b) {
  if (!a.hasRuntimeDims() && !b.hasRuntimeDims())
    return a.sameStorage(b);
  const auto mayBeEqual = [](int64_t x, int64_t y) { return x == y || x == runtimeDim || y == runtimeDim; };
  return a.ndims == b.ndims && std::equal(a.dims, a.dims + a.ndims, b.dims) &&
         std::equal(a.strides, a.strides + a.ndims, b.strides, mayBeEqual) && mayBeEqual(a.offset0, b.offset0);
}

bool shareBytes(const PlacedTensor &a, const PlacedTensor &b) {
  const auto startA = reinterpret_cast<uintptr_t>(a.data), startB = reinterpret_cast<uintptr_t>(b.data);
  const int64_t bytesA = a.desc.bytes(), bytesB = b.desc.bytes();
  constexpr int64_t beyondMemory = int64_t(1) << 56;
  if (bytesA == 0 || bytesB == 0)
    return false;
  if (bytesA >= beyondMemory || bytesB >= beyondMemory || hasCompensation(a.desc) || hasCompensation(b.desc))
    return startA < startB + static_cast<uintptr_t>(bytesB) && startB < startA + static_cast<uintptr_t>(bytesA);
  const auto between = static_cast<int64_t>(startB - startA);
  if (between + firstByteOf(b.desc) >= bytesA || firstByteOf(a.desc) >= between + bytesB)
    return false;
  DistanceSearch search;
  search.add(a.desc, -1);
  search.add(b.desc, 1);
  const int64_t sizeA = halfBytesOf(a.desc.dataType), sizeB = halfBytesOf(b.desc.dataType);
  const int64_t start = 2 * between + b.desc.offset0 * sizeB - a.desc.offset0 * sizeA;
  return search.find(start, -std::max<int64_t>(sizeB, 2), std::max<int64_t>(sizeA, 2));
}

} // namespace quern
