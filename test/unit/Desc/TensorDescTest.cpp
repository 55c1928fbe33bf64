//===- TensorDescTest.cpp - Layouts, sizes and offsets of tensors ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests offsets against a traversal of the buffer that follows the letters of the tag, and refused descriptors with a
// table of reasons.
//
//===----------------------------------------------------------------------===//
#include "Desc/Tensor/TensorDesc.h"
#include "Desc/Text/TextForm.h"

#include <gtest/gtest.h>
#include <numeric>
#include <vector>

using namespace quern;

namespace {

using Dims = std::vector<int64_t>;

TensorDesc tagged(const Dims &dims, std::string_view tag, DataType type = DataType::F32) {
  Result<TensorDesc> desc = TensorDesc::fromTag(dims, type, tag);
  EXPECT_TRUE(desc) << tag << ": " << desc.error().message;
  return desc ? *desc : TensorDesc();
}

TensorDesc strided(const Dims &dims, const Dims &strides, DataType type = DataType::F32) {
  Result<TensorDesc> desc = TensorDesc::fromStrides(dims, type, strides);
  EXPECT_TRUE(desc) << desc.error().message;
  return desc ? *desc : TensorDesc();
}

Dims stridesOf(const TensorDesc &desc) { return {desc.strides, desc.strides + desc.ndims}; }

/// Traverses the buffer of a tag in the order of its letters and expects that each logical index, including padding, is
/// at that offset.
void expectOffsetsOfTag(const Dims &dims, const std::string &tag) {
  TensorDesc desc = tagged(dims, tag);
  struct Loop {
    int dim;
    int64_t extent, weight; ///< weight: increment of the index per step
  };
  std::vector<Loop> loops;
  size_t at = 0;
  std::vector<int64_t> block(dims.size(), 1);
  for (; at < tag.size() && std::isalpha(tag[at]); ++at)
    loops.push_back({std::tolower(tag[at]) - 'a', 0, 0});
  size_t outer = loops.size();
  while (at < tag.size()) {
    size_t length = 0;
    int64_t size = std::stoll(tag.substr(at), &length);
    loops.push_back({tag[at + length] - 'a', size, 0});
    block[loops.back().dim] *= size;
    at += length + 1;
  }
  Dims weight(dims.size(), 1);
  for (size_t i = loops.size(); i-- > 0;) {
    Loop &loop = loops[i];
    if (i < outer)
      loop.extent = (dims[loop.dim] + block[loop.dim] - 1) / block[loop.dim];
    loop.weight = weight[loop.dim];
    weight[loop.dim] *= loop.extent;
  }
  int64_t total = 1;
  for (const Loop &loop : loops)
    total *= loop.extent;
  ASSERT_EQ(desc.paddedElements(), total) << tag;
  ASSERT_EQ(desc.bytes(), total * 4) << tag;
  for (int64_t position = 0; position < total; ++position) {
    int64_t rest = position;
    Dims index(dims.size(), 0);
    for (size_t i = loops.size(); i-- > 0;) {
      index[loops[i].dim] += rest % loops[i].extent * loops[i].weight;
      rest /= loops[i].extent;
    }
    ASSERT_EQ(desc.offsetOf(index), position) << tag;
  }
}

} // namespace

TEST(TensorDesc, TheZeroDescriptorIsAbsent) {
  TensorDesc zero;
  EXPECT_TRUE(zero.isZero());
  EXPECT_TRUE(zero.validate());
  EXPECT_EQ(zero.bytes(), 0);
  EXPECT_EQ(zero.elements(), 0);
  EXPECT_EQ(zero.tag(), "");
  Result<TensorDesc> none = TensorDesc::dense({}, DataType::F32);
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, zero);
}

TEST(TensorDesc, DenseIsRowMajor) {
  Result<TensorDesc> desc = TensorDesc::dense(Dims{2, 3, 4}, DataType::BF16);
  ASSERT_TRUE(desc);
  EXPECT_EQ(stridesOf(*desc), (Dims{12, 4, 1}));
  EXPECT_EQ(desc->bytes(), 48);
  EXPECT_EQ(desc->tag(), "abc");
  EXPECT_FALSE(desc->hasPadding() || desc->hasBroadcast() || desc->hasZeroDim() || desc->hasRuntimeDims());
}

TEST(TensorDesc, OffsetsFollowTheLettersOfTheTag) {
  expectOffsetsOfTag({3, 4, 5}, "abc");
  expectOffsetsOfTag({3, 4, 5}, "cab");
  expectOffsetsOfTag({2, 17, 3, 2}, "aBcd16b");
  expectOffsetsOfTag({5, 9, 2, 3}, "ABcd4b16a4b");
  expectOffsetsOfTag({9, 5}, "BA16a16b4a");
  expectOffsetsOfTag({7, 3, 5}, "aCB3c2b2c");
  expectOffsetsOfTag({1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2}, "lkjihgfedcba");
}

TEST(TensorDesc, SizesCountPaddingGapsOffsetsAndCompensation) {
  EXPECT_EQ(tagged({2, 17}, "aB16b").bytes(), 2 * 32 * 4);
  EXPECT_EQ(strided({2, 3}, {8, 1}).bytes(), 16 * 4); // the last row includes its gap
  EXPECT_EQ(strided({1, 3}, {8, 1}).bytes(), 3 * 4);
  EXPECT_EQ(strided({4, 3}, {0, 1}).bytes(), 3 * 4);
  TensorDesc offset = strided({2, 3}, {8, 1});
  offset.offset0 = 100;
  EXPECT_EQ(offset.bytes(), (100 + 8 + 3) * 4);
  EXPECT_EQ(tagged({3, 5}, "ab", DataType::S4).bytes(), 8);
  TensorDesc weights = tagged({17, 3, 1, 1}, "ABcd16a4b", DataType::S8);
  ASSERT_EQ(weights.bytes(), 32 * 4);
  weights.extras.flags = ExtraS8S8 | ExtraAsymmetricSource | ExtraScaleAdjust;
  weights.extras.compensationMask = 1;
  weights.extras.asymmetricCompensationMask = 1;
  EXPECT_EQ(weights.bytes(), 32 * 4 + 2 * 32 * 4);
  TensorDesc odd = strided({3, 1}, {1, 1}, DataType::S8);
  odd.extras.flags = ExtraRnnU8S8;
  odd.extras.compensationMask = 2;
  EXPECT_EQ(odd.bytes(), 4 + 4); // compensation starts at a multiple of 4
}

TEST(TensorDesc, ZeroDimsAreLegalAndEmpty) {
  for (std::string_view tag : {"abc", "cab", "aBc16b"}) {
    TensorDesc desc = tagged({3, 0, 5}, tag);
    EXPECT_TRUE(desc.hasZeroDim());
    EXPECT_EQ(desc.bytes(), 0);
    EXPECT_EQ(desc.elements(), 0);
    EXPECT_EQ(desc.tag(), tag);
  }
}

TEST(TensorDesc, RuntimeDimsAreNotKnown) {
  TensorDesc desc = tagged({runtimeDim, 5, 6}, "abc");
  EXPECT_TRUE(desc.hasRuntimeDims());
  EXPECT_EQ(desc.bytes(), runtimeDim);
  EXPECT_EQ(desc.elements(), runtimeDim);
  EXPECT_EQ(stridesOf(desc), (Dims{30, 6, 1}));
  EXPECT_EQ(stridesOf(tagged({4, runtimeDim, 6}, "abc")), (Dims{runtimeDim, 6, 1}));
  EXPECT_EQ(tagged({4, runtimeDim, 6}, "abc").tag(), "abc");
  EXPECT_EQ(tagged({8, runtimeDim, runtimeDim}, "abc").tag(), "abc") << "unknown strides do not determine the order";
}

TEST(TensorDesc, FloatsOfTheExtrasCompareByBits) {
  TensorDesc a = tagged({4, 4}, "ab", DataType::S8), b = a;
  a.extras.flags = b.extras.flags = ExtraScaleAdjust;
  a.extras.scaleAdjust = 0.0f;
  b.extras.scaleAdjust = -0.0f;
  EXPECT_FALSE(a == b);
  a.extras.scaleAdjust = b.extras.scaleAdjust = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(a == b);
}

TEST(TensorDesc, EntriesBeyondTheRankAreIgnored) {
  TensorDesc a = tagged({4, 4}, "ab"), b = a;
  b.dims[5] = 9;
  b.strides[11] = 3;
  b.pad0 = 1;
  EXPECT_EQ(a, b);
  ByteWriter bytesOfA, bytesOfB;
  a.write(bytesOfA);
  b.write(bytesOfB);
  EXPECT_EQ(bytesOfA.bytes, bytesOfB.bytes);
}

TEST(TensorDesc, DenseLikeKeepsTheOrderOfDims) {
  EXPECT_EQ(stridesOf(*strided({4, 6}, {1, 8}).denseLike(DataType::F16)), (Dims{1, 4}));
  EXPECT_EQ(*tagged({2, 17, 3}, "aBc16b").denseLike(DataType::F32), tagged({2, 17, 3}, "aBc16b"));
  TensorDesc broadcast = strided({4, 6}, {0, 1});
  EXPECT_FALSE(broadcast.denseLike(DataType::F32)->hasBroadcast());
  EXPECT_FALSE(tagged({4, 6}, "any").denseLike(DataType::F32));
}

//===----------------------------------------------------------------------===//
// Refused descriptors.
//===----------------------------------------------------------------------===//

TEST(TensorDesc, IllegalStridesAreRefusedWithTheValue) {
  struct Case {
    Dims dims, strides;
    std::string_view fragment;
  };
  constexpr int64_t large = INT64_MAX / 2;
  const Case cases[] = {
      {{2, -3}, {3, 1}, "dim 1 is -3"},
      {{2, 3}, {3}, "1 strides are given for 2 dims"},
      {{2, 3}, {3, -1}, "stride of dim 1 is -1"},
      {{2, 3}, {2, 1}, "stride 2 of dim 0 is less than 3"},
      {{2, 3}, {1, 1}, "elements would overlap"},
      {Dims(13, 1), Dims(13, 1), "at most 12 dims; 13 are given"},
      {{large, 3}, {3, 1}, "elements"},
      {{2, 5}, {large, large / 2}, "is less than 2^63"},
      {{2, 3}, {large, 1}, "needs more than 9223372036854775807 bytes"},
      {{0, large, 8}, {1, 1, 1}, "have more than 9223372036854775807 elements"},
  };
  for (const Case &one : cases) {
    Result<TensorDesc> desc = TensorDesc::fromStrides(one.dims, DataType::F32, one.strides);
    ASSERT_FALSE(desc) << one.fragment;
    EXPECT_EQ(desc.error().status, Status::InvalidArguments);
    EXPECT_NE(desc.error().message.find(one.fragment), std::string::npos) << desc.error().message;
  }
  EXPECT_FALSE(TensorDesc::dense(Dims{1}, DataType::Undef));
  EXPECT_FALSE(TensorDesc::dense(Dims{1}, static_cast<DataType>(77)));
}

TEST(TensorDesc, LegalStridesWithGapsOnesAndBroadcast) {
  strided({2, 3}, {100, 7});
  strided({1, 3}, {0, 1});
  strided({1, 3}, {2, 1}); // the stride of a dim of size 1 does not matter
  strided({5, 3}, {0, 1});
  strided({5, 3}, {0, 0});
  strided({2, runtimeDim}, {runtimeDim, 1});
  strided({0, 3}, {1, 1});
}

TEST(TensorDesc, ValidateRefusesWhatABlobMayHold) {
  struct Case {
    std::string_view fragment;
    void (*damage)(TensorDesc &);
  };
  const Case cases[] = {
      {"has 13 dims", [](TensorDesc &d) { d.ndims = 13; }},
      {"has -1 dims", [](TensorDesc &d) { d.ndims = -1; }},
      {"data type 0", [](TensorDesc &d) { d.dataType = DataType::Undef; }},
      {"data type 99", [](TensorDesc &d) { d.dataType = static_cast<DataType>(99); }},
      {"format kind 0", [](TensorDesc &d) { d.formatKind = FormatKind::Undef; }},
      {"format kind 7", [](TensorDesc &d) { d.formatKind = static_cast<FormatKind>(7); }},
      {"dim 1 is -4", [](TensorDesc &d) { d.dims[1] = -4; }},
      {"13 inner blocks", [](TensorDesc &d) { d.innerBlockCount = 13; }},
      {"-2 inner blocks", [](TensorDesc &d) { d.innerBlockCount = -2; }},
      {"splits dim 9", [](TensorDesc &d) { d.innerIndices[0] = 9; }},
      {"splits dim -1", [](TensorDesc &d) { d.innerIndices[0] = -1; }},
      {"has size 0", [](TensorDesc &d) { d.innerBlocks[0] = 0; }},
      {"not a multiple of its block 16", [](TensorDesc &d) { d.paddedDims[1] = 33; }},
      {"dim and padded offset need 17 + 0", [](TensorDesc &d) { d.paddedDims[1] = 16; }},
      {"padded offset of dim 0 is -1", [](TensorDesc &d) { d.paddedOffsets[0] = -1; }},
      {"known only at execution", [](TensorDesc &d) { d.paddedDims[0] = runtimeDim; }},
      {"offset is -1", [](TensorDesc &d) { d.offset0 = -1; }},
      {"extra flags are 32", [](TensorDesc &d) { d.extras.flags = 32; }},
      {"compensation mask is 1 without its flag", [](TensorDesc &d) { d.extras.compensationMask = 1; }},
      {"compensation mask is 4", [](TensorDesc &d) { d.extras.flags = ExtraS8S8, d.extras.compensationMask = 4; }},
      {"asymmetric compensation mask is 1 without", [](TensorDesc &d) { d.extras.asymmetricCompensationMask = 1; }},
      {"scale adjust is 0.5 without", [](TensorDesc &d) { d.extras.scaleAdjust = 0.5f; }},
      {"needs more than", [](TensorDesc &d) { d.offset0 = INT64_MAX; }},
      {"`any` has no offset", [](TensorDesc &d) { d.formatKind = FormatKind::Any, d.offset0 = 1; }},
      {"`any` has no inner blocks", [](TensorDesc &d) { d.formatKind = FormatKind::Any; }},
      {"`any` needs known dims", [](TensorDesc &d) { d.formatKind = FormatKind::Any, d.dims[0] = runtimeDim; }},
  };
  for (const Case &one : cases) {
    TensorDesc desc = tagged({2, 17}, "aB16b");
    one.damage(desc);
    Result<void> valid = desc.validate();
    ASSERT_FALSE(valid) << one.fragment;
    EXPECT_EQ(valid.error().status, Status::InvalidArguments);
    EXPECT_NE(valid.error().message.find(one.fragment), std::string::npos) << valid.error().message;
    EXPECT_EQ(valid.error().message.find('\n'), std::string::npos);
  }
}

TEST(TensorDesc, BytesWithADimBelowZeroAreRefusedByItsValue) {
  for (int64_t dim : {INT64_C(-4), INT64_MIN + 8}) { // padding the second to a multiple of the block overflows
    ByteWriter out;
    tagged({2, 17}, "aB16b").write(out);
    const size_t secondDim = 1 + sizeof(DataType) + 2 + sizeof(int64_t);
    std::memcpy(out.bytes.data() + secondDim, &dim, sizeof(dim));
    ByteReader in(out.bytes);
    Result<TensorDesc> read = TensorDesc::read(in);
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().message.find("dim 1 is " + std::to_string(dim)), std::string::npos) << read.error().message;
  }
}

TEST(SameStorage, LooksAtThePlacesOfElements) {
  const TensorDesc row = tagged({1, 4}, "ab");
  for (const TensorDesc &other :
       {tagged({1, 4}, "ba"), strided({1, 4}, {77, 1}), tagged({4}, "a"), tagged({1, 1, 4, 1}, "dcba")})
    EXPECT_TRUE(row.sameStorage(other) && other.sameStorage(row)) << textOf(other);
  for (const TensorDesc &other :
       {tagged({1, 5}, "ab"), tagged({2, 2}, "ba"), strided({1, 4}, {8, 2}), strided({4, 4}, {0, 1})})
    EXPECT_FALSE(row.sameStorage(other) || other.sameStorage(row)) << textOf(other);
  EXPECT_TRUE(tagged({2, 3, 4}, "abc").sameStorage(tagged({6, 4}, "ab")));
  EXPECT_FALSE(tagged({2, 3, 4}, "acb").sameStorage(tagged({6, 4}, "ab")));
  EXPECT_FALSE(tagged({2, 3}, "ab").submemory(Dims{1, 3}, Dims{1, 0})->sameStorage(tagged({3}, "a")))
      << "the offsets differ";
  TensorDesc blocked = tagged({1, 20, 3}, "aBc16b"), moved = blocked;
  moved.strides[0] = 1000;
  EXPECT_TRUE(blocked.sameStorage(moved));
  moved.strides[1] = 1000;
  EXPECT_FALSE(blocked.sameStorage(moved));
  EXPECT_FALSE(blocked.sameStorage(tagged({20, 3}, "Ab16a"))) << "the dims of blocked layouts must be equal, too";
}
