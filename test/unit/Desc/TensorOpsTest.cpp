//===- TensorOpsTest.cpp - Sub-tensors, reshapes, permutations ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests that a view has exactly the elements that the original has at the corresponding indices.
//
//===----------------------------------------------------------------------===//
#include "Desc/Tensor/TensorDesc.h"

#include <gtest/gtest.h>
#include <vector>

using namespace quern;

namespace {

using Dims = std::vector<int64_t>;

TensorDesc tagged(const Dims &dims, std::string_view tag) {
  Result<TensorDesc> desc = TensorDesc::fromTag(dims, DataType::F32, tag);
  EXPECT_TRUE(desc) << tag << ": " << desc.error().message;
  return *desc;
}

TensorDesc strided(const Dims &dims, const Dims &strides) {
  Result<TensorDesc> desc = TensorDesc::fromStrides(dims, DataType::F32, strides);
  EXPECT_TRUE(desc) << desc.error().message;
  return *desc;
}

/// Returns the offsets of all elements in row-major order of the logical index.
Dims offsetsOf(const TensorDesc &desc) {
  Dims all;
  Dims index(static_cast<size_t>(desc.ndims), 0);
  for (int64_t i = 0; i < desc.elements(); ++i) {
    int64_t rest = i;
    for (int d = desc.ndims - 1; d >= 0; --d) {
      index[static_cast<size_t>(d)] = rest % desc.dims[d];
      rest /= desc.dims[d];
    }
    all.push_back(desc.offsetOf(index));
  }
  return all;
}

void expectReshape(const TensorDesc &from, const Dims &dims, std::string_view tag = {}) {
  Result<TensorDesc> to = from.reshape(dims);
  ASSERT_TRUE(to) << to.error().message;
  EXPECT_TRUE(to->validate());
  EXPECT_EQ(Dims(to->dims, to->dims + to->ndims), dims);
  EXPECT_EQ(offsetsOf(*to), offsetsOf(from));
  if (!tag.empty()) {
    EXPECT_EQ(to->tag(), tag);
  }
}

template <typename T> void expectFailure(const Result<T> &result, Status status, std::string_view fragment) {
  ASSERT_FALSE(result) << fragment;
  EXPECT_EQ(result.error().status, status);
  EXPECT_NE(result.error().message.find(fragment), std::string::npos) << result.error().message;
}

} // namespace

TEST(Submemory, MovesOnlyTheOffset) {
  for (const char *tag : {"abc", "cab", "aBc4b", "ABc2a4b2a"}) {
    TensorDesc parent = tagged({8, 14, 3}, tag);
    const Dims offsets = {4, 8, 1};
    for (const Dims &dims : {Dims{4, 4, 2}, Dims{4, 6, 1}, Dims{4, 2, 2}, Dims{0, 4, 1}}) {
      Result<TensorDesc> sub = parent.submemory(dims, offsets);
      ASSERT_TRUE(sub) << tag << ": " << sub.error().message;
      EXPECT_TRUE(sub->validate());
      EXPECT_LE(sub->bytes(), parent.bytes());
      Dims expected;
      for (int64_t a = 0; a < dims[0]; ++a)
        for (int64_t b = 0; b < dims[1]; ++b)
          for (int64_t c = 0; c < dims[2]; ++c)
            expected.push_back(parent.offsetOf(Dims{a + offsets[0], b + offsets[1], c + offsets[2]}));
      EXPECT_EQ(offsetsOf(*sub), expected) << tag;
    }
  }
}

TEST(Submemory, KeepsThePaddingAtTheRightBorder) {
  TensorDesc parent = tagged({2, 20}, "aB16b");
  EXPECT_EQ(parent.submemory(Dims{2, 4}, Dims{0, 16})->paddedDims[1], 16);
  EXPECT_EQ(parent.submemory(Dims{2, 16}, Dims{0, 0})->paddedDims[1], 16);
  TensorDesc again = *parent.submemory(Dims{1, 20}, Dims{1, 0});
  EXPECT_EQ(again.offset0, parent.strides[0]);
}

TEST(Submemory, DoesNotIncludeTheRestOfABlock) {
  TensorDesc part = *tagged({2, 20}, "aB16b").submemory(Dims{2, 10}, Dims{0, 0});
  EXPECT_EQ(part.paddedDims[1], 10);
  EXPECT_FALSE(part.hasPadding());
  part.paddedDims[1] = 12;
  expectFailure(part.validate(), Status::InvalidArguments, "padded dim 1 is 12");
  part.paddedDims[1] = 10;
  part.extras.flags = ExtraS8S8;
  expectFailure(part.validate(), Status::InvalidArguments, "padded dim 1 is 10");
}

TEST(Submemory, RefusesWhatBlocksCannotExpress) {
  TensorDesc parent = tagged({4, 40}, "aB16b");
  expectFailure(parent.submemory(Dims{4, 16}, Dims{0, 8}), Status::Unimplemented,
                "offset 8 of dim 1 is not a multiple of its block 16");
  expectFailure(parent.submemory(Dims{4, 18}, Dims{0, 0}), Status::Unimplemented, "size 18 of dim 1");
  expectFailure(parent.submemory(Dims{5, 16}, Dims{0, 0}), Status::InvalidArguments, "leaves dim 0 of size 4");
  expectFailure(parent.submemory(Dims{1, 16}, Dims{4, 0}), Status::InvalidArguments, "leaves dim 0");
  expectFailure(parent.submemory(Dims{1, 16}, Dims{-1, 0}), Status::InvalidArguments, "leaves dim 0");
  expectFailure(parent.submemory(Dims{INT64_MAX, 16}, Dims{1, 0}), Status::InvalidArguments, "leaves dim 0");
  expectFailure(parent.submemory(Dims{1}, Dims{0, 0}), Status::InvalidArguments, "1 dims and 2 offsets");
  expectFailure(tagged({4, 4}, "any").submemory(Dims{1, 1}, Dims{0, 0}), Status::Unimplemented, "without a layout");
  expectFailure(tagged({runtimeDim, 4}, "ab").submemory(Dims{1, 1}, Dims{0, 0}), Status::Unimplemented, "runtime dims");
  TensorDesc compensated = tagged({4, 4}, "ab");
  compensated.extras.flags = ExtraS8S8;
  expectFailure(compensated.submemory(Dims{1, 1}, Dims{0, 0}), Status::Unimplemented, "compensation");
}

TEST(PermuteAxes, RenamesTheDims) {
  for (const char *tag : {"abc", "bca", "aBc16b", "ABc4b2a2b"}) {
    TensorDesc in = tagged({3, 5, 4}, tag);
    const std::vector<int> permutation = {2, 0, 1};
    Result<TensorDesc> out = in.permuteAxes(permutation);
    ASSERT_TRUE(out) << out.error().message;
    EXPECT_TRUE(out->validate());
    EXPECT_EQ(Dims(out->dims, out->dims + 3), (Dims{5, 4, 3}));
    for (int64_t a = 0; a < 3; ++a)
      for (int64_t b = 0; b < 5; ++b)
        for (int64_t c = 0; c < 4; ++c)
          ASSERT_EQ(out->offsetOf(Dims{b, c, a}), in.offsetOf(Dims{a, b, c})) << tag;
  }
  EXPECT_EQ(tagged({3, 5}, "ab").permuteAxes(std::vector<int>{1, 0})->tag(), "ba");
}

TEST(PermuteAxes, RefusesOtherThanPermutations) {
  TensorDesc in = tagged({3, 5}, "ab");
  expectFailure(in.permuteAxes(std::vector<int>{0, 0}), Status::InvalidArguments, "axis 0");
  expectFailure(in.permuteAxes(std::vector<int>{0, 2}), Status::InvalidArguments, "axis 2");
  expectFailure(in.permuteAxes(std::vector<int>{0, -1}), Status::InvalidArguments, "axis -1");
  expectFailure(in.permuteAxes(std::vector<int>{0}), Status::InvalidArguments, "1 axes");
  expectFailure(TensorDesc().permuteAxes(std::vector<int>{}), Status::InvalidArguments, "rank 0");
  expectFailure(tagged({runtimeDim, 5}, "ab").permuteAxes(std::vector<int>{1, 0}), Status::InvalidArguments,
                "runtime dims");
}

TEST(Reshape, SplitsAndMergesDenseGroups) {
  expectReshape(tagged({6, 4}, "ab"), {24}, "a");
  expectReshape(tagged({24}, "a"), {2, 3, 4}, "abc");
  expectReshape(tagged({6, 4}, "ab"), {2, 3, 4}, "abc");
  expectReshape(tagged({6, 4}, "ab"), {1, 6, 1, 4, 1}, "abcde");
  expectReshape(tagged({1, 6, 1, 4}, "abcd"), {6, 4}, "ab");
  expectReshape(tagged({1, 1}, "ab"), {1}, "a");
  expectReshape(tagged({6, 4}, "ba"), {2, 3, 4});
  expectReshape(strided({6, 4}, {10, 2}), {3, 2, 2, 2});
  expectReshape(tagged({2, 20, 6}, "aBc16b"), {2, 20, 2, 3});
  expectReshape(tagged({2, 20, 6}, "aBc16b"), {2, 1, 20, 6});
  expectReshape(tagged({12, 20}, "aB16b"), {3, 4, 20});
  expectReshape(tagged({3, 0, 2}, "abc"), {0, 7});
  TensorDesc sub = *tagged({6, 4}, "ab").submemory(Dims{2, 4}, Dims{3, 0});
  expectReshape(sub, {8});
  EXPECT_EQ(tagged({6, 4}, "any").reshape(Dims{24})->tag(), "any");
}

TEST(Reshape, RefusesOtherShapes) {
  expectFailure(tagged({6, 4}, "ab").reshape(Dims{5, 5}), Status::InvalidArguments, "24 elements are needed");
  expectFailure(tagged({6, 4}, "ba").reshape(Dims{24}), Status::InvalidArguments, "not dense");
  expectFailure(strided({6, 4}, {10, 1}).reshape(Dims{24}), Status::InvalidArguments, "not dense");
  expectFailure(tagged({2, 32}, "aB16b").reshape(Dims{64}), Status::InvalidArguments, "blocked");
  expectFailure(tagged({2, 32}, "aB16b").reshape(Dims{2, 2, 16}), Status::InvalidArguments, "blocked");
  expectFailure(tagged({1, 2}, "Ab16a").reshape(Dims{2}), Status::InvalidArguments, "");
  expectFailure(tagged({6, 4}, "ab").reshape(Dims{}), Status::InvalidArguments, "rank 0");
  expectFailure(tagged({6, 4}, "ab").reshape(Dims{-6, -4}), Status::InvalidArguments, "dim 0 is -6");
  expectFailure(tagged({6, 4}, "ab").reshape(Dims{INT64_MAX, 8}), Status::InvalidArguments, "cannot become");
  expectFailure(tagged({6, runtimeDim}, "ab").reshape(Dims{24}), Status::InvalidArguments, "runtime dims");
  expectFailure(tagged({6, 4}, "ab").reshape(Dims{24, runtimeDim}), Status::InvalidArguments, "cannot become");
  expectFailure(TensorDesc().reshape(Dims{1}), Status::InvalidArguments, "absent");
}
