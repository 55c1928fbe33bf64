//===- TextFormTest.cpp - The one-line form of problems -------------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the meaning of lines, their canonical form, the column of the caret in errors, and every example of the
// documentation.
//
//===----------------------------------------------------------------------===//
#include "Desc/Text/TextForm.h"
#include "Desc/PrimitiveDesc.h"
#include "Desc/Text/TextReader.h"

#include <bit>
#include <cfenv>
#include <fstream>
#include <gtest/gtest.h>

using namespace quern;

namespace {

PrimitiveDesc parsed(std::string_view line) {
  Result<PrimitiveDesc> desc = PrimitiveDesc::parse(line);
  EXPECT_TRUE(desc) << desc.error().message;
  return desc ? *desc : PrimitiveDesc();
}

void expectCanonical(std::string_view line, std::string_view canonical) {
  EXPECT_EQ(parsed(line).text(), canonical) << line;
}

struct BadLine {
  std::string_view line;
  size_t column; ///< column of the caret
  std::string_view fragment;
};

void expectError(const BadLine &bad) {
  Result<PrimitiveDesc> desc = PrimitiveDesc::parse(bad.line);
  ASSERT_FALSE(desc) << bad.line;
  EXPECT_EQ(desc.error().status, Status::InvalidArguments);
  const std::string &message = desc.error().message;
  size_t first = message.find('\n'), second = message.find('\n', first + 1);
  ASSERT_NE(second, std::string::npos) << message;
  EXPECT_EQ(message.substr(first + 1, second - first - 1), bad.line);
  EXPECT_EQ(message.substr(second + 1), std::string(bad.column, ' ') + "^") << message;
  EXPECT_NE(message.substr(0, first).find(bad.fragment), std::string::npos) << message;
}

} // namespace

TEST(TextForm, ParsesASoftmax) {
  std::string_view line =
      "softmax fwd_i alg=log src=f32:8x128x1024:abc dst=bf16:8x128x1024:abc axis=2 attr.fpmath=bf16";
  PrimitiveDesc desc = parsed(line);
  ASSERT_EQ(desc.kind(), PrimitiveKind::Softmax);
  const auto &softmax = std::get<SoftmaxDesc>(desc.op);
  EXPECT_EQ(softmax.prop, PropKind::ForwardInference);
  EXPECT_EQ(softmax.alg, Alg::SoftmaxLog);
  EXPECT_EQ(softmax.axis, 2);
  EXPECT_EQ(softmax.src, *TensorDesc::fromTag(std::vector<int64_t>{8, 128, 1024}, DataType::F32, "abc"));
  EXPECT_EQ(softmax.dst.dataType, DataType::BF16);
  EXPECT_TRUE(softmax.diffSrc.isZero() && softmax.diffDst.isZero());
  EXPECT_EQ(desc.attr.fpmathMode, FpmathMode::BF16);
  EXPECT_EQ(desc.text(), line);
}

TEST(TextForm, OtherSpellingsAreNormalized) {
  expectCanonical("  softmax\tfwd_t  alg=softmax_log axis=0 \r\n", "softmax fwd_t alg=log");
  expectCanonical("softmax prop=bwd_d alg=accurate", "softmax bwd_d");
  expectCanonical("rnn fwd_i cell=vanilla_lstm activation=eltwise_tanh", "rnn fwd_i cell=lstm activation=tanh");
  expectCanonical("rnn fwd_i cell=lbr_gru activation=undef", "rnn fwd_i cell=lbr_gru");
  expectCanonical("softmax src=f32:2x3x4x5:nhwc", "softmax src=f32:2x3x4x5:acdb");
  expectCanonical("softmax src=f32:2x3:s3x1", "softmax src=f32:2x3:ab");
  expectCanonical("softmax src=f32:2x17:s32x16:blk16b", "softmax src=f32:2x17:aB16b");
  expectCanonical("softmax src=f32:2x17:s32x16:blk16b:pad2x32:at0x0:off0", "softmax src=f32:2x17:aB16b");
  expectCanonical("softmax attr.deterministic=1 attr.fpmath_int=0", "softmax attr.deterministic=true");
  expectCanonical("reorder src_engine=cpu attr.scales=1,17(mask=2)", "reorder attr.scales=src,dst(mask=2)");
  expectCanonical("reorder attr.scales=32785", "reorder attr.scales=post0.dst");
  expectCanonical("concat attr.scales=1024,2047,2048,srcs.7", "concat attr.scales=srcs.0,srcs.7,srcs.1023,2048");
  expectCanonical("eltwise fwd_i alg=eltwise_relu alpha=0", "eltwise fwd_i alg=relu");
  expectCanonical("binary alg=binary_select", "binary alg=select");
  expectCanonical("sum srcs=f32:2:a,none,f32:2:s1 scales=1,-2", "sum scales=1,-2 srcs=f32:2:a,none,f32:2:a");
  expectCanonical("softmax attr.rnn.data_shift=1e2 attr.rnn.data_scale=0.50",
                  "softmax attr.rnn.data_scale=0.5 attr.rnn.data_shift=100");
}

TEST(TextForm, TensorsRoundTrip) {
  for (std::string_view text :
       {"f32:8:a", "u8:2x3:s8x1", "f16:?x16:ab", "bf16:4x?:s5x1:off?", "f64:3x4:s0x1",
        "s8:16x17x3x3:ABcd4b16a4b:s8s8@1:scale_adjust@0.5", "s8:17x3:s48x16:blk4b4b:pad17x32:at0x1:off7",
        "s8:1x1x24x4x31:abdEc32e:rnn_u8s8@27", "s8:9x5:ab:s8s8:asymmetric@1", "s4:3x5:ba",
        "f32:1x1x1x1x1x1x1x1x1x1x1x2:abcdefghijkl", "f32:0x4:ab", "f32:5x6:any", "boolean:3:a", "f8_e4m3:3:a",
        "s8:4x4:ab:rnn_u8s8@2:rnn_s8s8"}) {
    Result<TensorDesc> desc = parseTensor(text);
    ASSERT_TRUE(desc) << desc.error().message;
    EXPECT_EQ(textOf(*desc), text);
  }
  EXPECT_EQ(textOf(TensorDesc()), "none");
  EXPECT_TRUE(parseTensor("none")->isZero());
  expectCanonical("softmax src=none", "softmax");
  EXPECT_FALSE(parseTensor("f32:8:a junk"));
}

TEST(TextForm, FloatsRoundTripBitByBit) {
  for (uint32_t bits : {0u, 0x80000000u, 1u, 0x7f7fffffu, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00000u,
                        0x7f800001u, 0x3dcccccdu}) {
    std::string text;
    appendFloat(text, std::bit_cast<float>(bits));
    TextReader in(text);
    float value = 5;
    ASSERT_TRUE(in.readFloat(value, "value")) << text;
    EXPECT_EQ(std::bit_cast<uint32_t>(value), bits) << text;
    EXPECT_TRUE(in.atEnd()) << text;
  }
}

TEST(TextForm, ErrorsPointAtThePlace) {
  const BadLine lines[] = {
      {"", 0, "the line is empty; it starts with one of softmax, reorder, rnn, eltwise, binary, sum, concat, gemm"},
      {"softmin fwd_i", 0,
       "primitive is 'softmin'; known are softmax, reorder, rnn, eltwise, binary, sum, concat, gemm"},
      {"undef", 0, "primitive is 'undef'; known are softmax"},
      {"softmax=3", 7, "'=3' follows the name of the primitive"},
      {"softmax forward", 8, "'forward' is neither field=value nor a propagation kind (fwd_t, fwd_i"},
      {"softmax fwd_i fwd_t", 14, "a second propagation kind is given"},
      {"reorder fwd_i", 8, "reorder has no propagation kind; 'fwd_i' is given"},
      {"sum fwd_t", 4, "sum has no propagation kind; 'fwd_t' is given"},
      {"eltwise fwd_i alg=add", 18, "alg is 'add'; known are relu, tanh, elu"},
      {"binary alg=relu", 11, "alg is 'relu'; known are add, mul"},
      {"concat srcs=f32:2:a,", 20, "'' is not a data type"},
      {"concat srcs=none:2", 16, "':2' does not belong to the value of 'srcs'"},
      {"concat srcs=f32:2:a,f33:2:a", 20, "'f33' is not a data type"},
      {"sum attr.scales=srcs.1024", 16, "'srcs.1024' is not an argument"},
      {"sum attr.scales=srcs.01", 16, "'srcs.01' is not an argument"},
      {"sum attr.scales=srcs.", 16, "'srcs.' is not an argument"},
      {"sum attr.scales=srcs.-1", 16, "'srcs.-1' is not an argument"},
      {"softmax axle=1", 8, "softmax has no field 'axle'; known are prop, alg, src, dst, diff_src, diff_dst, axis"},
      {"softmax axis=1 axis=2", 15, "field 'axis' is given twice"},
      {"softmax axis=x", 13, "axis must be a whole number, not 'x'"},
      {"softmax axis=", 13, "axis must be a whole number, not ''"},
      {"softmax axis=99999999999", 13, "axis is out of range: between -2147483648 and 2147483647"},
      {"softmax axis=1,2", 14, "',2' does not belong to the value of 'axis'"},
      {"softmax alg=logarithm", 12, "alg is 'logarithm'; known are accurate, log, accurate_inf_as_zero"},
      {"rnn cell=transformer", 9, "known are rnn, lstm, gru, lbr_gru, augru, lbr_augru"},
      {"rnn direction=up", 14, "direction is 'up'; known are left2right"},
      {"softmax src=f31:8:a", 12, "'f31' is not a data type; known are f16, bf16, f32"},
      {"softmax src=undef:8:a", 12, "'undef' is not a data type"},
      {"softmax src=f32", 15, "a tensor must have the form type:dims:layout"},
      {"softmax src=f32:8x", 18, "dims must be whole numbers of at least 0 or '?'"},
      {"softmax src=f32:-8:a", 16, "not '-8:a'"},
      {"softmax src=f32:8", 17, "a layout is missing"},
      {"softmax src=f32:8:", 18, "a layout is missing"},
      {"softmax src=f32:8x9:abc", 20, "tag 'abc' is of rank 3, the tensor of rank 2"},
      {"softmax src=f32:8x9:s1", 21, "1 strides are given for 2 dims"},
      {"softmax src=f32:8x9:s3x1", 12, "stride 3 of dim 0 is less than 9: elements would overlap"},
      {"softmax src=f32:8x9:ab:pad16x9", 23, "'pad' requires explicit strides"},
      {"softmax src=f32:8x9:s9x1:off1:off2", 30, "'off' is given twice"},
      {"softmax src=f32:8x9:s9x1:off-1", 28, "offset must be a whole number of at least 0"},
      {"softmax src=f32:8x9:s9x1:blk16c", 30,
       "a block must be a size from 1 to 2147483647 and a letter from 'a' to 'b'"},
      {"softmax src=f32:8x9:ab:compressed", 23, "'compressed' is not a known suffix of a tensor"},
      {"softmax src=s8:8x9:ab:scale_adjust", 34, "scale_adjust needs a value"},
      {"softmax src=s8:8x9:ab:s8s8@9", 12, "compensation mask is 9"},
      {"softmax src=s8:8x9:ab:s8s8@1:rnn_u8s8@2", 38, "compensation mask is 1; it cannot also be 2 here"},
      {"softmax src=f32:1x1x1x1x1x1x1x1x1x1x1x1x1:abc", 40, "a tensor has at most 12 dims"},
      {"softmax src=f32:4000000000x4000000000:ab", 38, "have more than 9223372036854775807 elements"},
      {"softmax src=f32:9x9999999999999999999:ab", 18, "dims is out of range"},
      {"softmax attr.fpmath=f8", 20, "fpmath is 'f8'; known are strict, bf16, f16, any, tf32"},
      {"softmax attr.speed=1", 8, "softmax has no field 'attr.speed'; known are attr.scratchpad"},
      {"softmax attr.rnn=1", 8, "softmax has no field 'attr.rnn'"},
      {"softmax attr.deterministic=yes", 27, "deterministic is 'yes'; it must be true or false"},
      {"softmax attr.scales=foo", 20, "'foo' is not an argument"},
      {"softmax attr.scales=src,src", 24, "argument src is given twice"},
      {"softmax attr.scales=post32.src", 20, "from post0 to post31"},
      {"softmax attr.scales=src(mask=1", 30, "')' is missing"},
      {"softmax attr.scales=src(mask)", 24, "'mask' is not field=value"},
      {"softmax attr.scales=src(mask=1,mask=2)", 31, "field 'mask' is given twice"},
      {"softmax attr.scales=src(mask=4096)", 8, "scales mask is 4096; between 0 and 4095 is possible"},
      {"softmax attr.scales=src(groups=4)", 8, "1 group sizes; 0 or 2 are possible"},
      {"softmax attr.scales=src(groups=0x4)", 8, "a group of size 0; it must be at least 1"},
      {"softmax attr.scales=src(color=4)", 24, "this item has no field 'color'; known are mask, type, groups"},
      {"softmax attr.post_ops=conv", 22, "post-op is 'conv'; known are eltwise, binary, sum, prelu"},
      {"softmax attr.post_ops=eltwise", 22, "post-op eltwise has algorithm 'undef'"},
      {"softmax attr.post_ops=eltwise(alg=add)", 22, "post-op eltwise has algorithm 'binary_add'"},
      {"softmax attr.post_ops=binary(alg=add)", 22, "post-op binary needs src1"},
      {"softmax attr.post_ops=sum(alpha=2)", 22, "post-op sum sets a field of another kind"},
      {"softmax attr.post_ops=sum(scale=big)", 32, "scale must be a number, not 'big)'"},
      {"softmax attr.post_ops=sum(scale=1e99)", 32, "out of the range of f32"},
      {"softmax attr.rnn.weights_scales=1,,2", 34, "scale must be a number, not ',2'"},
  };
  for (const BadLine &bad : lines)
    expectError(bad);
}

TEST(TextForm, NumbersOfPostOpsAreLimited) {
  std::string line = "softmax attr.post_ops=sum";
  for (size_t i = 1; i < maxPostOps; ++i)
    line += ",sum";
  EXPECT_EQ(parsed(line).attr.postOps.size(), maxPostOps);
  EXPECT_NE(PrimitiveDesc::parse(line + ",sum").error().message.find("more than 32 post-ops"), std::string::npos);
}

TEST(TextForm, NumbersOfSourcesAreLimited) {
  std::string line = "concat srcs=none";
  for (size_t i = 1; i < maxSources; ++i)
    line += ",none";
  PrimitiveDesc largest = parsed(line);
  auto &srcs = std::get<ConcatDesc>(largest.op).srcs;
  EXPECT_EQ(srcs.size(), maxSources);
  EXPECT_TRUE(PrimitiveDesc::fromBytes(largest.canonicalBytes()));
  EXPECT_NE(PrimitiveDesc::parse(line + ",none").error().message.find("more than 1024 tensors"), std::string::npos);
  srcs.emplace_back();
  EXPECT_NE(PrimitiveDesc::fromBytes(largest.canonicalBytes()).error().message.find("malformed at field 'srcs'"),
            std::string::npos);
}

TEST(TextForm, ALongLineIsShownAroundThePlace) {
  std::string line = "softmax attr.rnn.weights_scales=" + std::string(1000, '1') + " axis=q" + std::string(1000, ' ');
  std::string message = PrimitiveDesc::parse(line).error().message;
  EXPECT_LT(message.size(), 600u);
  message =
      PrimitiveDesc::parse("softmax" + std::string(1000, ' ') + "axis=q" + std::string(1000, ' ')).error().message;
  size_t caret = message.rfind('\n') + 1, shown = message.rfind('\n', caret - 2) + 1;
  EXPECT_EQ(message[shown + (message.size() - 1 - caret)], 'q') << message;
}

// Each line of a ```text block is a problem in canonical form.
TEST(TextForm, EveryExampleOfTheDocumentationHolds) {
  std::ifstream page(QUERN_SOURCE_DIR "/docs/text-form.md");
  ASSERT_TRUE(page);
  bool isExample = false;
  int count[std::variant_size_v<decltype(PrimitiveDesc::op)>] = {};
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("```")) {
      isExample = line == "```text";
      continue;
    }
    if (!isExample || line.empty())
      continue;
    Result<PrimitiveDesc> desc = PrimitiveDesc::parse(line);
    ASSERT_TRUE(desc) << desc.error().message;
    EXPECT_EQ(desc->text(), line);
    ++count[desc->op.index()];
  }
  for (int examples : count)
    EXPECT_GE(examples, 5);
}

// The caller's rounding mode affects neither parsing of decimals nor printing of floats.
TEST(TextForm, DecimalsInEveryRoundingMode) {
  const std::string line = "eltwise fwd_i alg=pow alpha=0.3 beta=16777217.1 src=f32:4:a dst=f32:4:a",
                    text = parsed(line).text();
  const int before = std::fegetround();
  for (int mode : {FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD, FE_TONEAREST}) {
    std::fesetround(mode);
    const PrimitiveDesc desc = parsed(line);
    EXPECT_EQ(std::fegetround(), mode);
    const auto &eltwise = std::get<EltwiseDesc>(desc.op);
    EXPECT_EQ(std::bit_cast<uint32_t>(eltwise.alpha), 0x3e99999au) << mode;
    EXPECT_EQ(std::bit_cast<uint32_t>(eltwise.beta), 0x4b800001u) << mode;
    EXPECT_EQ(desc.text(), text) << mode;
  }
  std::fesetround(before);
}
