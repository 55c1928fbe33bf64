//===- OverlapTest.cpp - Detecting overlap of two tensors -----------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests against the list of all bytes of a tensor, for layouts that are small enough to list them.
//
//===----------------------------------------------------------------------===//
#include "Engine/Overlap.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace quern {
namespace {

TensorDesc tagged(std::vector<int64_t> dims, DataType type, const char *tag) {
  return *TensorDesc::fromTag(dims, type, tag);
}

TensorDesc part(const TensorDesc &whole, std::vector<int64_t> dims, std::vector<int64_t> offsets) {
  return *whole.submemory(dims, offsets);
}

/// Returns the offsets of all bytes of elements and padding.
std::set<int64_t> bytesOf(const TensorDesc &desc) {
  std::set<int64_t> bytes;
  std::vector<int64_t> index(static_cast<size_t>(desc.ndims));
  for (int64_t element = 0; element < desc.paddedElements(); ++element) {
    int64_t left = element;
    for (int d = desc.ndims - 1; d >= 0; --d) {
      index[static_cast<size_t>(d)] = left % desc.paddedDims[d];
      left /= desc.paddedDims[d];
    }
    const int64_t bits = bitsOf(desc.dataType), first = desc.offsetOf(index) * bits;
    for (int64_t bit = first; bit < first + bits; bit += 4)
      bytes.insert(bit / 8);
  }
  return bytes;
}

char buffer[1];

bool shareAt(const TensorDesc &a, const TensorDesc &b, int64_t distance) {
  return shareBytes({a, buffer}, {b, reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(buffer) +
                                                              static_cast<uintptr_t>(distance))});
}

bool listsMeet(const std::set<int64_t> &a, const std::set<int64_t> &b, int64_t distance) {
  return std::any_of(b.begin(), b.end(), [&](int64_t byte) { return a.contains(byte + distance); });
}

class RandomLayouts {
public:
  TensorDesc next() {
    switch (upTo(3)) {
    case 0:
      return tagged({1 + upTo(3), 1 + upTo(9), 1 + upTo(3)}, type(), upTo(1) ? "aBc4b" : "BcA2a4b");
    case 1: {
      const TensorDesc whole = tagged({2 + upTo(4), 2 + upTo(4)}, type(), upTo(1) ? "ab" : "ba");
      const int64_t rows = 1 + upTo(whole.dims[0] - 1), columns = 1 + upTo(whole.dims[1] - 1);
      return part(whole, {rows, columns}, {upTo(whole.dims[0] - rows), upTo(whole.dims[1] - columns)});
    }
    default:
      return strided();
    }
  }
  int64_t upTo(int64_t max) { return std::uniform_int_distribution<int64_t>(0, max)(random); }

private:
  DataType type() {
    constexpr DataType types[] = {DataType::S8, DataType::F16, DataType::F32, DataType::F64};
    return types[upTo(3)];
  }
  TensorDesc strided() {
    std::vector<int64_t> dims, strides;
    int64_t stride = 1 + upTo(3);
    for (int64_t rank = 1 + upTo(3); rank > 0; --rank) {
      const int64_t dim = 1 + upTo(3);
      const bool broadcasts = upTo(7) == 0;
      dims.push_back(dim);
      strides.push_back(broadcasts ? 0 : stride);
      stride = broadcasts ? stride : stride * dim + upTo(3);
    }
    return *TensorDesc::fromStrides(dims, type(), strides);
  }
  std::mt19937 random{4711};
};

TEST(Overlap, AgreesWithAListOfAllBytes) {
  RandomLayouts random;
  int shared = 0, disjoint = 0;
  for (int i = 0; i < 3000; ++i) {
    const TensorDesc a = random.next(), b = random.next();
    const std::set<int64_t> bytesA = bytesOf(a), bytesB = bytesOf(b);
    for (int j = 0; j < 8; ++j) {
      const int64_t distance = random.upTo(a.bytes() + b.bytes()) - b.bytes();
      const bool expected = listsMeet(bytesA, bytesB, distance);
      ASSERT_EQ(shareAt(a, b, distance), expected) << "pair " << i << ", " << distance << " bytes apart";
      ASSERT_EQ(shareAt(b, a, -distance), expected) << "pair " << i << ", " << distance << " bytes apart";
      (expected ? shared : disjoint) += 1;
    }
  }
  EXPECT_GT(shared, 1000);
  EXPECT_GT(disjoint, 1000);
}

TEST(Overlap, PartsOfOneMatrix) {
  const TensorDesc whole = tagged({1000, 1000}, DataType::F32, "ab");
  const TensorDesc left = part(whole, {1000, 500}, {0, 0}), right = part(whole, {1000, 500}, {0, 500});
  EXPECT_FALSE(shareAt(left, right, 0)) << "the rows alternate and do not overlap";
  EXPECT_TRUE(shareAt(left, right, -4));
  EXPECT_TRUE(shareAt(left, part(whole, {500, 500}, {499, 499}), 0));
  EXPECT_FALSE(shareAt(left, part(whole, {500, 500}, {500, 500}), 0));
  EXPECT_TRUE(shareAt(whole, *whole.permuteAxes(std::vector<int>{1, 0}), 0));
}

TEST(Overlap, ElementsOfFourBits) {
  const TensorDesc even = tagged({16}, DataType::S4, "a"), bytes = tagged({8}, DataType::U8, "a");
  EXPECT_TRUE(shareAt(even, bytes, 7));
  EXPECT_FALSE(shareAt(even, bytes, 8));
  EXPECT_FALSE(shareAt(part(even, {8}, {0}), part(even, {8}, {8}), 0));
  EXPECT_TRUE(shareAt(part(even, {7}, {0}), part(even, {7}, {7}), 0))
      << "the last element of one and the first element of the other are in the same byte";
}

TEST(Overlap, CompensationCounts) {
  TensorDesc weights = tagged({16, 16}, DataType::S8, "ab");
  weights.extras.flags = ExtraS8S8;
  weights.extras.compensationMask = 1;
  const TensorDesc other = tagged({4}, DataType::S32, "a");
  EXPECT_TRUE(shareAt(weights, other, 256));
  EXPECT_FALSE(shareAt(weights, other, 256 + 64));
  TensorDesc source = weights;
  source.extras = {};
  EXPECT_TRUE(areInPlace({weights, buffer}, {source, buffer}));
}

TEST(Overlap, InPlaceIsTheSameElementsAtTheSamePlaces) {
  const TensorDesc f32 = tagged({4, 6}, DataType::F32, "ab"), s32 = tagged({4, 6}, DataType::S32, "ab");
  EXPECT_TRUE(areInPlace({f32, buffer}, {s32, buffer}));
  EXPECT_FALSE(areInPlace({f32, buffer}, {tagged({4, 6}, DataType::F16, "ab"), buffer}));
  EXPECT_FALSE(areInPlace({f32, buffer}, {tagged({4, 6}, DataType::F32, "ba"), buffer}));
  EXPECT_FALSE(areInPlace({f32, buffer}, {f32, buffer + 1}));
}

TEST(Overlap, SizesBeyondMemoryAreNotComputed) {
  const TensorDesc vast = tagged({int64_t(1) << 30, int64_t(1) << 30}, DataType::U8, "ab");
  EXPECT_TRUE(shareAt(vast, tagged({1}, DataType::U8, "a"), 0));
  const std::vector<int64_t> dims = {1, 4}, strides = {INT64_MAX / 2, 1};
  EXPECT_FALSE(shareAt(*TensorDesc::fromStrides(dims, DataType::U8, strides), tagged({4}, DataType::U8, "a"), 4));
}

TEST(Overlap, EmptyTensorsHaveNoBytes) {
  const TensorDesc empty = tagged({0, 6}, DataType::F32, "ab"), f32 = tagged({4, 6}, DataType::F32, "ab");
  EXPECT_FALSE(shareAt(empty, f32, 0));
}

} // namespace
} // namespace quern
