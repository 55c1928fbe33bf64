//===- TagsTest.cpp - Layouts by letters and by alias ---------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests every alias of the specification's memory-format page, examples of oneDNN's blocked aliases, and invalid tags.
//
//===----------------------------------------------------------------------===//
#include "Desc/Tensor/TensorDesc.h"

#include <gtest/gtest.h>
#include <vector>

using namespace quern;

namespace {

/// Returns distinct sizes, none of them a multiple of a block, so that no two orders coincide.
std::vector<int64_t> dimsOfRank(size_t rank) {
  const std::vector<int64_t> sizes = {3, 5, 7, 2, 9, 11, 2, 3, 2, 3, 2, 3};
  return {sizes.begin(), sizes.begin() + static_cast<long>(rank)};
}

size_t rankOfTag(std::string_view tag) {
  size_t rank = 0;
  while (rank < tag.size() && std::isalpha(tag[rank]))
    ++rank;
  return rank;
}

Result<TensorDesc> make(std::string_view tag) {
  return TensorDesc::fromTag(dimsOfRank(rankOfTag(tag)), DataType::F32, tag);
}

} // namespace

TEST(Tags, EveryPlainTagRoundTrips) {
  for (std::string_view tag :
       {"a",     "ab",    "ba",    "abc",    "acb",    "bac",    "bca",          "cba",          "abcd",  "abdc",
        "acdb",  "bacd",  "bcda",  "cdba",   "dcab",   "abcde",  "abdec",        "acbde",        "acdeb", "bacde",
        "bcdea", "cdeba", "decab", "abcdef", "acbdef", "defcab", "abcdefghijkl", "lkjihgfedcba", "cab",   "efabdc"}) {
    Result<TensorDesc> desc = make(tag);
    ASSERT_TRUE(desc) << tag << ": " << desc.error().message;
    EXPECT_EQ(desc->tag(), tag);
    EXPECT_EQ(desc->bytes(), desc->elements() * 4);
  }
}

TEST(Tags, EveryBlockedTagRoundTrips) {
  for (std::string_view tag :
       {"aB16b", "aBcd16b", "aBcd8b", "ABcd4b16a4b", "ABcd16b16a2b", "BAcd16a16b", "aBCde16c16b", "ABc8a4b", "Abcd32a",
        "aCBdef16c16b", "AB48a16b", "cdeBa4b", "BcdA16a32b4a", "defcbA16a"}) {
    // More than one block in each dim: with a single block, orders would coincide.
    const std::vector<int64_t> sizes = {71, 67, 73, 3, 5, 7};
    Result<TensorDesc> desc = TensorDesc::fromTag({sizes.data(), rankOfTag(tag)}, DataType::F32, tag);
    ASSERT_TRUE(desc) << tag << ": " << desc.error().message;
    EXPECT_EQ(desc->tag(), tag);
    EXPECT_TRUE(desc->hasPadding()) << tag;
    EXPECT_FALSE(desc->isPlain());
  }
}

TEST(Tags, EveryAliasIsItsLetters) {
  const std::pair<std::string_view, std::string_view> aliases[] = {
      {"x", "a"},
      {"nc", "ab"},
      {"cn", "ba"},
      {"tn", "ab"},
      {"nt", "ba"},
      {"ncw", "abc"},
      {"nwc", "acb"},
      {"nchw", "abcd"},
      {"nhwc", "acdb"},
      {"chwn", "bcda"},
      {"ncdhw", "abcde"},
      {"ndhwc", "acdeb"},
      {"oi", "ab"},
      {"io", "ba"},
      {"oiw", "abc"},
      {"owi", "acb"},
      {"wio", "cba"},
      {"iwo", "bca"},
      {"oihw", "abcd"},
      {"hwio", "cdba"},
      {"ohwi", "acdb"},
      {"ihwo", "bcda"},
      {"iohw", "bacd"},
      {"oidhw", "abcde"},
      {"dhwio", "cdeba"},
      {"odhwi", "acdeb"},
      {"iodhw", "bacde"},
      {"idhwo", "bcdea"},
      {"goiw", "abcd"},
      {"wigo", "dcab"},
      {"goihw", "abcde"},
      {"hwigo", "decab"},
      {"giohw", "acbde"},
      {"goidhw", "abcdef"},
      {"giodhw", "acbdef"},
      {"dhwigo", "defcab"},
      {"tnc", "abc"},
      {"ntc", "bac"},
      {"ldnc", "abcd"},
      {"ldigo", "abcde"},
      {"ldgoi", "abdec"},
      {"ldio", "abcd"},
      {"ldoi", "abdc"},
      {"ldgo", "abcd"},
      {"gohwi", "abdec"},
      {"hwoi", "cdab"},
      {"gdhwio", "adefcb"},
      {"woi", "cab"},
      {"nChw16c", "aBcd16b"},
      {"nCdhw8c", "aBcde8b"},
      {"NCw16n16c", "ABc16a16b"},
      {"OIhw16i16o", "ABcd16b16a"},
      {"OIhw4i16o4i", "ABcd4b16a4b"},
      {"IOw4o4i", "BAc4a4b"},
      {"gOIhw16i16o", "aBCde16c16b"},
      {"gIOw16o16i", "aCBd16b16c"},
      {"gIhwO16o32i4o", "aCdeB16b32c4b"},
      {"ldOi32o", "abDc32d"},
      {"ldgOi32o", "abdEc32e"},
      {"ldgOI32o4i", "abdEC32e4c"},
      {"dhwioG16g", "defcbA16a"},
      {"IdhwO16o32i4o", "BcdeA16a32b4a"},
      {"dhwIo4i", "cdeBa4b"},
  };
  for (auto [alias, letters] : aliases) {
    Result<TensorDesc> byAlias = make(alias), byLetters = make(letters);
    ASSERT_TRUE(byAlias) << alias << ": " << byAlias.error().message;
    ASSERT_TRUE(byLetters) << letters << ": " << byLetters.error().message;
    EXPECT_EQ(*byAlias, *byLetters) << alias << " is " << byAlias->tag() << ", not " << letters;
  }
}

TEST(Tags, AnyHasNoLayout) {
  Result<TensorDesc> desc = TensorDesc::fromTag(std::vector<int64_t>{3, 4}, DataType::F32, "any");
  ASSERT_TRUE(desc);
  EXPECT_TRUE(desc->isAny());
  EXPECT_EQ(desc->tag(), "any");
  EXPECT_EQ(desc->bytes(), 0);
  EXPECT_FALSE(TensorDesc::fromTag(std::vector<int64_t>{3, runtimeDim}, DataType::F32, "any"));
}

TEST(Tags, LayoutsWithoutATagHaveNone) {
  for (auto strides : {std::vector<int64_t>{8, 1}, {0, 1}, {2, 20}}) {
    Result<TensorDesc> desc = TensorDesc::fromStrides(std::vector<int64_t>{3, 4}, DataType::F32, strides);
    ASSERT_TRUE(desc);
    EXPECT_EQ(desc->tag(), "");
  }
}

TEST(Tags, InvalidTagsAreRefused) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "rank 0"},
      {"ab", "is of rank 2, the tensor of rank 3"},
      {"abd", "'d' is not a dim"},
      {"aab", "occurs twice"},
      {"abm", "'m' is not a dim"},
      {"aBc", "has a capital letter but no block"},
      {"abc16b", "no capital letter"},
      {"aBc0b", "a size from 1"},
      {"aBc16", "a size"},
      {"aBc99999999999b", "a size"},
      {"aBc16B", "no capital letter"},
      {"aBc-16b", "a size"},
      {"nch", "is not a dim"},
      {"undef", "rank 5"},
      {"aBc16b ", "a size"},
      {"aBc4b4b4b4b4b4b4b4b4b4b4b4b4b", "more than 12"},
      {"aBc2147483647b2147483647b2147483647b", "elements"},
  };
  for (auto [tag, fragment] : cases) {
    Result<TensorDesc> desc = TensorDesc::fromTag(dimsOfRank(3), DataType::F32, tag);
    ASSERT_FALSE(desc) << tag;
    EXPECT_EQ(desc.error().status, Status::InvalidArguments);
    EXPECT_NE(desc.error().message.find(fragment), std::string::npos) << tag << ": " << desc.error().message;
  }
}
