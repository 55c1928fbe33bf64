//===- FamilyTest.cpp - Families of problems ------------------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the family of problems of many shapes and ranks: its line and the sizes that it is called with.
//
//===----------------------------------------------------------------------===//
#include "Family/Family.h"

#include <gtest/gtest.h>

namespace quern {
namespace {

std::optional<Family> familyOfLine(const std::string &line) {
  const Target target = *Target::parse("avx2");
  Result<PrimitiveDesc> desc = PrimitiveDesc::parse(line);
  Result<VerifiedProblem> problem = desc ? verify(*desc, target) : Result<VerifiedProblem>(desc.takeError());
  if (!problem) {
    ADD_FAILURE() << problem.error().message;
    return std::nullopt;
  }
  return familyOf(*problem, target);
}

std::string textOf(const std::optional<Family> &family) { return family ? family->problem.desc.text() : "none"; }

TEST(Family, DenseRowsShareAFamily) {
  const auto expectRows = [](const std::string &line, int64_t outer, int64_t inner) {
    const std::optional<Family> family = familyOfLine(line);
    ASSERT_TRUE(family) << line;
    EXPECT_EQ(textOf(family), textOf(familyOfLine("softmax fwd_i src=f32:4x50:ab dst=f32:4x50:ab axis=1"))) << line;
    EXPECT_EQ(family->sizes, (std::vector<int64_t>{outer, inner, inner, 0, outer, inner, inner, 0})) << line;
  };
  expectRows("softmax fwd_i src=f32:1024x1000:ab dst=f32:1024x1000:ab axis=1", 1024, 1000);
  expectRows("softmax fwd_i src=f32:8x12x384x384:abcd dst=f32:8x12x384x384:abcd axis=3", 8 * 12 * 384, 384);
  expectRows("softmax fwd_i src=f32:8x3x1x17:abcd dst=f32:8x3x1x17:abcd axis=3", 24, 17);
  expectRows("softmax fwd_i src=f32:17x33:ba dst=f32:17x33:ba axis=0", 33, 17);
  expectRows("softmax fwd_i src=f32:90:a dst=f32:90:a axis=0", 1, 90);
}

TEST(Family, ProductsAreTheFunctions) {
  const std::optional<Family> family =
      familyOfLine("gemm src=f32:20x30:s32x1 weights=f32:30x40:ba dst=f32:20x40:ab alpha=true");
  EXPECT_EQ(textOf(family), "gemm src=f32:?x?:ab weights=f32:?x?:ba dst=f32:?x?:ab alpha=true");
  ASSERT_TRUE(family);
  EXPECT_EQ(family->sizes, (std::vector<int64_t>{20, 30, 32, 30, 40, 30, 20, 40, 40}));
  for (const char *line : {"gemm src=f32:20x30:s64x2 weights=f32:30x40:ab dst=f32:20x40:ab",
                           "gemm src=f32:20x30:ab weights=f32:30x40:ab dst=f32:20x40:ba",
                           "gemm src=f32:20x30:ab:off4 weights=f32:30x40:ab dst=f32:20x40:ab"})
    EXPECT_EQ(textOf(familyOfLine(line)), "none") << line;
}

TEST(Family, StridedAxesHaveAnotherFamily) {
  const std::string strided = textOf(familyOfLine("softmax fwd_i src=f32:3x4x5:abc dst=f32:3x4x5:abc axis=1"));
  EXPECT_NE(strided, "none");
  EXPECT_NE(strided, textOf(familyOfLine("softmax fwd_i src=f32:4x50:ab dst=f32:4x50:ab axis=1")));
  for (const char *line :
       {"softmax fwd_i src=f32:2x21x512x512:abcd dst=f32:2x21x512x512:abcd axis=1",
        "softmax fwd_i src=f32:10x7:ab dst=f32:10x7:ab axis=0", "softmax fwd_i src=f32:10x7:ba dst=f32:10x7:ba axis=1"})
    EXPECT_EQ(textOf(familyOfLine(line)), strided) << line;
}

TEST(Family, LayoutsOfTensorsMergeTogether) {
  const std::string copy = textOf(familyOfLine("reorder src=f32:7:a dst=bf16:7:a"));
  EXPECT_EQ(textOf(familyOfLine("reorder src=f32:2x3x4:cab dst=bf16:2x3x4:cab")), copy);
  const std::string transposed = textOf(familyOfLine("reorder src=f32:80x90:ab dst=f32:80x90:ba"));
  EXPECT_NE(transposed, copy);
  EXPECT_EQ(textOf(familyOfLine("reorder src=f32:80x3x9:abc dst=f32:80x3x9:bca")), transposed);
  EXPECT_EQ(textOf(familyOfLine("reorder src=f32:2x64x7x7:abcd dst=f32:2x64x7x7:acdb")),
            textOf(familyOfLine("reorder src=f32:2x30x40:abc dst=f32:2x30x40:acb")));
  const std::optional<Family> strided = familyOfLine("reorder src=f32:4x5:ab dst=f32:4x5:s10x2");
  ASSERT_TRUE(strided);
  EXPECT_EQ(strided->problem.desc.text().find(":ab"), std::string::npos);
}

TEST(Family, BlocksBecomeDims) {
  const std::string transposed = textOf(familyOfLine("reorder src=f32:20x30x40:acb dst=f32:20x30x40:abc"));
  const std::optional<Family> blocked = familyOfLine("reorder src=f32:2x64x7x7:abcd dst=f32:2x64x7x7:aBcd16b");
  ASSERT_TRUE(blocked);
  EXPECT_EQ(textOf(blocked), transposed);
  // Dims: a with the outer part of b, c with d, and the blocks of b.
  EXPECT_EQ(blocked->sizes, (std::vector<int64_t>{8, 49, 16, 784, 49, 0, 8, 49, 16, 784, 16, 0}));
  for (const char *line :
       {"reorder src=f32:2x64x7x7:aBcd16b dst=f32:2x64x7x7:abcd", "reorder src=f32:64x30:ab dst=f32:64x30:Ab16a"})
    EXPECT_EQ(textOf(familyOfLine(line)), transposed) << line;
  // The same blocks in both tensors are ordinary memory; blocks of different sizes split the dim at both.
  EXPECT_EQ(textOf(familyOfLine("eltwise fwd_i alg=relu src=f32:2x64x7x7:aBcd16b dst=f32:2x64x7x7:aBcd16b")),
            textOf(familyOfLine("eltwise fwd_i alg=relu src=f32:7:a dst=f32:7:a")));
  EXPECT_EQ(textOf(familyOfLine("reorder src=f32:2x64x7x7:aBcd16b dst=f32:2x64x7x7:aBcd8b")),
            textOf(familyOfLine("reorder src=f32:8x2x49x8:acbd dst=f32:8x2x49x8:abcd")));
  EXPECT_EQ(textOf(familyOfLine("reorder src=f32:32x32x3x3:abcd dst=f32:32x32x3x3:ABcd4b16a")),
            textOf(familyOfLine("reorder src=f32:2x16x8x4x9:abcde dst=f32:2x16x8x4x9:acedb")));
  // Blocks are allowed in dims around the axis of a softmax, but not along it.
  EXPECT_EQ(textOf(familyOfLine("softmax fwd_i src=f32:2x64x7x9:aBcd16b dst=f32:2x64x7x9:aBcd16b axis=3")),
            textOf(familyOfLine("softmax fwd_i src=f32:3x4x5:abc dst=f32:3x4x5:abc axis=1")));
  for (const char *line : {"softmax fwd_i src=f32:2x64x7x9:aBcd16b dst=f32:2x64x7x9:aBcd16b axis=1",
                           "reorder src=f32:2x48x7x7:aBcd16b dst=f32:2x48x7x7:aBcd24b"})
    EXPECT_EQ(textOf(familyOfLine(line)), "none") << line;
}

TEST(Family, ShortRowsAndPackedLanesKeepTheirSize) {
  const std::string rows = textOf(familyOfLine("softmax fwd_i src=f32:100x10:ab dst=f32:100x10:ab axis=1"));
  EXPECT_NE(rows.find("src=f32:?x10"), std::string::npos) << rows;
  EXPECT_EQ(textOf(familyOfLine("softmax fwd_i src=f32:4x5x10:abc dst=f32:4x5x10:abc axis=2")), rows);
  EXPECT_NE(textOf(familyOfLine("softmax fwd_i src=f32:100x11:ab dst=f32:100x11:ab axis=1")), rows);
  const std::string pixels = textOf(familyOfLine("reorder src=f32:2x3x50:abc dst=f32:2x3x50:acb"));
  EXPECT_NE(pixels.find("x3"), std::string::npos) << pixels;
  EXPECT_EQ(textOf(familyOfLine("reorder src=f32:8x3x22x24:abcd dst=f32:8x3x22x24:acdb")), pixels);
  EXPECT_EQ(textOf(familyOfLine("reorder src=f32:3x528:ab dst=f32:3x528:ba")), pixels)
      << "a single image without a batch dim";
  EXPECT_NE(textOf(familyOfLine("reorder src=f32:2x4x50:abc dst=f32:2x4x50:acb")), pixels);
  EXPECT_NE(textOf(familyOfLine("reorder src=f32:2x50x3:abc dst=f32:2x50x3:acb")), pixels)
      << "from channels last to channels first";
  EXPECT_EQ(textOf(familyOfLine("reorder src=f32:2x3x50:abc dst=f32:2x3x50:s200x1x4")).find("x3"), std::string::npos)
      << "dst has gaps";
}

TEST(Family, BroadcastDimsStayOne) {
  const std::string rowsOf = textOf(familyOfLine("binary alg=add src=f32:8x9:ab src1=f32:1x9:ab dst=f32:8x9:ab"));
  EXPECT_EQ(textOf(familyOfLine("binary alg=add src=f32:2x4x9:abc src1=f32:1x1x9:abc dst=f32:2x4x9:abc")), rowsOf);
  EXPECT_NE(textOf(familyOfLine("binary alg=add src=f32:8x9:ab src1=f32:8x1:ab dst=f32:8x9:ab")), rowsOf);
  EXPECT_NE(rowsOf, "none");
}

TEST(Family, SourcesFollowOneAnotherWithinRows) {
  const std::optional<Family> rows = familyOfLine("concat axis=1 srcs=f32:8x5:ab,f32:8x7:ab dst=f32:8x12:ab");
  EXPECT_EQ(textOf(rows), "concat axis=1 srcs=f32:?x?:ab:off?,f32:?x?:ab:off? dst=f32:?x?:ab:off?");
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->sizes, (std::vector<int64_t>{8, 5, 5, 0, 8, 7, 7, 0, 8, 12, 12, 0}));
  // An axis absorbs the dims inside it; if it is the outermost dim, there is one row.
  const std::optional<Family> channels =
      familyOfLine("concat axis=1 srcs=f32:2x3x5x5:abcd,f32:2x1x5x5:abcd dst=f32:2x4x5x5:abcd");
  EXPECT_EQ(textOf(channels), textOf(rows));
  ASSERT_TRUE(channels);
  EXPECT_EQ(channels->sizes, (std::vector<int64_t>{2, 75, 75, 0, 2, 25, 25, 0, 2, 100, 100, 0}));
  for (const char *line : {"concat srcs=f32:3x5:ab,f32:1x5:ab dst=f32:4x5:ab",
                           "concat axis=1 srcs=f32:2x3x5x5:acdb,f32:2x1x5x5:acdb dst=f32:2x4x5x5:acdb",
                           "concat axis=1 srcs=f32:2x32x5x5:aBcd16b,f32:2x16x5x5:aBcd16b dst=f32:2x48x5x5:aBcd16b",
                           "concat axis=2 srcs=f32:2x3x4x5:abcd,f32:2x3x1x5:abcd dst=f32:2x3x5x5:s300x100x5x1:off7"})
    EXPECT_EQ(textOf(familyOfLine(line)), textOf(rows)) << line;
  EXPECT_NE(textOf(familyOfLine("concat srcs=f32:3x5:ab,f32:1x5:ab dst=bf16:4x5:ab")), textOf(rows));
  EXPECT_NE(textOf(familyOfLine("concat srcs=f32:3x5:ab,f32:2x5:ba dst=f32:5x5:ab")), textOf(rows));
  // Dims are sorted by the strides of dst, and blocks of a single tensor count as a dim.
  EXPECT_EQ(textOf(familyOfLine("concat axis=1 srcs=f32:2x3x9:abc,f32:2x3x9:abc dst=f32:2x6x9:acb")),
            textOf(familyOfLine("concat axis=2 srcs=f32:2x9x3:acb,f32:2x9x3:acb dst=f32:2x9x6:abc")));
  EXPECT_NE(textOf(familyOfLine("concat axis=1 srcs=f32:2x32x9:abc,f32:2x16x9:aBc16b dst=f32:2x48x9:aBc16b")), "none");
  for (const char *line : {"concat axis=1 srcs=f32:2x3x9:abc,f32:2x8x9:aBc8b dst=f32:2x11x9:aBc8b", // starts mid-block
                           "concat axis=1 srcs=f32:2x3:ab,f32:2x0:ab dst=f32:2x3:ab"})
    EXPECT_EQ(textOf(familyOfLine(line)), "none") << line;
}

TEST(Family, DimsThatScalesDistinguishAreKept) {
  const auto family = [](const std::string &shape, const char *tag, int mask, const char *what = "scales") {
    return textOf(familyOfLine(concat("reorder src=f32:", shape, ":", tag, " dst=s8:", shape, ":", tag, " attr.", what,
                                      "=dst(mask=", mask, ")")));
  };
  const std::string columns = family("8x9", "ab", 2), channels = family("4x8x9", "abc", 2);
  EXPECT_NE(columns.find("mask=2"), std::string::npos) << columns;
  EXPECT_EQ(family("2x4x9", "abc", 4), columns);
  EXPECT_EQ(family("2x9x2x2", "acdb", 2), columns);
  EXPECT_EQ(family("2x9x2x2", "abcd", 2), channels);
  EXPECT_EQ(family("8x9", "ab", 1), channels) << "scales per row are like scales per channel of one image";
  EXPECT_NE(family("8x9", "ab", 2, "zero_points"), columns);
  EXPECT_EQ(family("8x9", "ab", 3), "none");
  EXPECT_EQ(family("2x64x7x7", "aBcd16b", 2), "none") << "the blocks split the dim of the scales";
}

TEST(Family, RnnFamiliesOpenTheDimsThatTheWeightsAllow) {
  const auto line = [](int steps, int sequences, int width, const char *weights, const char *type = "f32") {
    const auto tensor = [&](const auto &...shape) { return concat("=", type, ":", shape...); };
    return concat("rnn fwd_i cell=lstm direction=left2right src_layer", tensor(steps, "x", sequences, "x", width),
                  ":abc weights_layer", tensor("1x1x", width, "x4x", width, ":", weights), " weights_iter",
                  tensor("1x1x", width, "x4x", width, ":", weights), " bias=f32:1x1x4x", width, ":abcd dst_layer",
                  tensor(steps, "x", sequences, "x", width), ":abc");
  };
  const std::optional<Family> packed = familyOfLine(line(7, 8, 16, "any")),
                              plain = familyOfLine(line(7, 8, 64, "abcde"));
  ASSERT_TRUE(packed && plain);
  EXPECT_EQ(textOf(packed), textOf(familyOfLine(line(50, 64, 16, "any"))));
  EXPECT_NE(textOf(packed), textOf(familyOfLine(line(50, 64, 32, "any"))));
  // Weights with the same panels share a family, in both types.
  for (const char *type : {"f32", "bf16"}) {
    const std::string wide = textOf(familyOfLine(line(7, 8, 64, "any", type)));
    EXPECT_NE(wide.find(":1x1x?x4x?:abdE"), std::string::npos) << wide;
    EXPECT_EQ(textOf(familyOfLine(line(50, 64, 100, "any", type))), wide);
    EXPECT_NE(textOf(familyOfLine(line(7, 8, 64, "abcde", type))), wide);
  }
  EXPECT_EQ(textOf(plain), textOf(familyOfLine(line(50, 64, 80, "abcde"))));
  EXPECT_NE(textOf(plain).find("weights_iter=f32:1x1x?x4x?:"), std::string::npos) << textOf(plain);
  EXPECT_EQ(textOf(familyOfLine(line(7, 8, 64, "abdec"))).find("4x?"), std::string::npos)
      << "output channels are not contiguous";
  EXPECT_EQ(textOf(familyOfLine(line(7, 8, 64, "abcde", "f16"))).find("4x?"), std::string::npos) << "other types";
  EXPECT_EQ(textOf(familyOfLine(line(7, 3, 64, "abcde"))).find("4x?"), std::string::npos) << "few sequences";
  EXPECT_EQ(textOf(familyOfLine(line(7, 8, 63, "abcde"))).find("4x?"), std::string::npos) << "few channels";
  EXPECT_EQ(textOf(familyOfLine(line(7, 8, 100, "abcde"))).find("4x?"), std::string::npos)
      << "too many channels outside of whole tiles";
  EXPECT_EQ(textOf(familyOfLine(line(7, 2, 64, "any"))).find("4x?"), std::string::npos) << "little work";
  EXPECT_NE(textOf(familyOfLine(line(7, 1, 256, "any"))).find("4x?"), std::string::npos);
}

TEST(Family, UnsupportedProblemsHaveNoFamily) {
  for (const char *line : {
           // blocks with padding
           "reorder src=f32:17x33:ab dst=f32:17x33:aB16b",
           // a scale for each group of indices
           "reorder src=f32:4x8:ab dst=s8:4x8:ab attr.scales=dst(mask=3,groups=1x4)",
           "reorder src=f16:5x1x11x3x2:abcde dst=s8:5x1x11x3x2:s1960x280x20x5x1 attr.rnn.weights_mask=24 "
           "attr.rnn.weights_scales=25,1,23,21,40,43",
           "reorder src=f32:4x8x16:abc dst=u8:4x8x16:s256x32x1 attr.rnn.data_scale=25",
           // a caller-owned scratchpad
           "softmax fwd_i src=f32:4x5:ab dst=f32:4x5:ab axis=1 attr.scratchpad=user",
           // already open
           "softmax fwd_i src=f32:?x5:ab dst=f32:?x5:ab axis=1",
           // pairs and fours whose elements are strided in the source, with vectors along neither dim
           "reorder src=f32:32x32x3x3:abcd dst=f32:32x32x3x3:ABcd4b16a4b",
           "reorder src=f32:32x32x3x3:abcd dst=bf16:32x32x3x3:ABcd8b16a2b",
           // empty
           "softmax fwd_i src=f32:0x5:ab dst=f32:0x5:ab axis=1",
           // a post-op with a tensor
           "eltwise fwd_i alg=relu src=f32:4x5:ab dst=f32:4x5:ab attr.post_ops=binary(alg=add,src1=f32:4x5:ab)",
       })
    EXPECT_EQ(textOf(familyOfLine(line)), "none") << line;
}

} // namespace
} // namespace quern
