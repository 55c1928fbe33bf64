//===- ReorderTest.cpp - Reorder's reference against manual results -------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests values that were computed by hand, including some for which another order of operations, a fused multiply-add
// or a reciprocal would give another result.
//
//===----------------------------------------------------------------------===//
#include "Reference/Elements.h"
#include "Reference/Judge.h"
#include "Reference/Reference.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

using namespace quern;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), notANumber = std::numeric_limits<float>::quiet_NaN();
constexpr int32_t src = 1, dst = 17, scalesOfSrc = 4097, scalesOfDst = 4113, zeroPointsOfSrc = 8193,
                  zeroPointsOfDst = 8209;

PrimitiveDesc parsed(std::string_view line) {
  Result<PrimitiveDesc> desc = PrimitiveDesc::parse(line);
  EXPECT_TRUE(desc) << desc.error().message;
  return desc ? *desc : PrimitiveDesc();
}

std::vector<ReferenceOutput> compute(std::string_view line, const ReferenceInputs &inputs) {
  Result<std::vector<ReferenceOutput>> outputs = computeReference(parsed(line), inputs);
  EXPECT_TRUE(outputs) << line << ": " << outputs.error().message;
  return outputs ? *outputs : std::vector<ReferenceOutput>(1);
}

using Values = std::vector<double>;

} // namespace

TEST(ReorderReference, CopiesBits) {
  std::vector<float> x = {std::bit_cast<float>(0x7fa00001), -0.0f, 1, 2, 3, infinity};
  ReferenceOutput out = compute("reorder src=f32:2x3:ab dst=f32:2x3:ba", {{src, x.data()}})[0];
  EXPECT_EQ(out.criterion, Criterion::Bits);
  EXPECT_EQ(out.bits, (std::vector<uint64_t>{0x7fa00001, 0x80000000, 0x3f800000, 0x40000000, 0x40400000, 0x7f800000}));
}

TEST(ReorderReference, ConvertsNumbers) {
  std::vector<float> x = {2.5f, 3.5f, -300, 1e10f, notANumber, -infinity};
  EXPECT_EQ(compute("reorder src=f32:6:a dst=s8:6:a", {{src, x.data()}})[0].exact, (Values{2, 4, -128, 127, 0, -128}));
  EXPECT_EQ(compute("reorder src=f32:6:a dst=u8:6:a", {{src, x.data()}})[0].exact, (Values{2, 4, 0, 255, 0, 0}));
  EXPECT_EQ(compute("reorder src=f32:6:a dst=s32:6:a", {{src, x.data()}})[0].exact,
            (Values{2, 4, -300, 2147483520, 0, -0x1p31}));
  std::vector<double> wide = {1e10, 0x1p31 - 1.4};
  EXPECT_EQ(compute("reorder src=f64:2:a dst=s32:2:a", {{src, wide.data()}})[0].exact,
            (Values{2147483647, 2147483647}));
  // Integers are not converted to f32, which would round them.
  std::vector<int32_t> whole = {16777217, -16777217};
  EXPECT_EQ(compute("reorder src=s32:2:a dst=s8:2:a", {{src, whole.data()}})[0].exact, (Values{127, -128}));
  EXPECT_EQ(compute("reorder src=s32:2:a dst=f32:2:a", {{src, whole.data()}})[0].exact, (Values{16777216, -16777216}));
  EXPECT_EQ(compute("reorder src=s32:2:a dst=f64:2:a", {{src, whole.data()}})[0].exact, (Values{16777217, -16777217}));
}

TEST(ReorderReference, EachOperationRounds) {
  // 41 / 41 = 1; multiplication by the rounded reciprocal gives the next smaller float.
  std::vector<float> x = {41};
  ReferenceOutput divided =
      compute("reorder src=f32:1:a dst=f32:1:a attr.scales=dst", {{src, x.data()}, {scalesOfDst, x.data()}})[0];
  EXPECT_EQ(divided.exact[0], 1);
  EXPECT_NE(41 * (1.0f / 41), 1);
  // (1 + 2^-12)^2 - 1: the product is rounded, so its last bit is lost; a fused multiply-add would keep it.
  std::vector<float> y = {1 + 0x1p-12f}, minusOne = {-1};
  ReferenceOutput sum = compute("reorder src=f32:1:a dst=f32:1:a attr.scales=src attr.post_ops=sum",
                                {{src, y.data()}, {dst, minusOne.data()}, {scalesOfSrc, y.data()}})[0];
  EXPECT_EQ(sum.criterion, Criterion::Value);
  EXPECT_EQ(sum.exact[0], 0x1p-11);
}

TEST(ReorderReference, EachIndexHasItsOwnParameters) {
  std::vector<uint8_t> x = {10, 20, 30, 40, 50, 60};
  std::vector<float> scales = {1, 10}, dstScales = {1, 2, 4};
  std::vector<int32_t> zeroPoints = {10, 20, 30};
  std::vector<int8_t> shift = {1, -1};
  ReferenceInputs inputs = {{src, x.data()},
                            {scalesOfSrc, scales.data()},
                            {scalesOfDst, dstScales.data()},
                            {zeroPointsOfSrc, zeroPoints.data()},
                            {zeroPointsOfDst, shift.data()}};
  EXPECT_EQ(compute("reorder src=u8:2x3:ab dst=s32:2x3:ba attr.scales=src(mask=1),dst(mask=2) "
                    "attr.zero_points=src(mask=2,type=s32),dst(mask=1,type=s8)",
                    inputs)[0]
                .exact,
            (Values{1, 1, 1, 299, 149, 74})); // (40 - 10) * 10 / 1 - 1, (50 - 20) * 10 / 2 - 1, (60 - 30) * 10 / 4 - 1
}

TEST(ReorderReference, ElementsOfAGroupShareTheirScale) {
  std::vector<int8_t> x(12, 1);
  std::vector<float> scales = {1, 2, 3, 4};
  EXPECT_EQ(compute("reorder src=s8:4x3:ab dst=f32:4x3:ab attr.scales=src(mask=1,groups=1x1)",
                    {{src, x.data()}, {scalesOfSrc, scales.data()}})[0]
                .exact,
            (Values{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}));
  x.resize(16, 1);
  EXPECT_EQ(compute("reorder src=s8:4x4:ab dst=f32:4x4:ab attr.scales=src(mask=3,groups=2x2)",
                    {{src, x.data()}, {scalesOfSrc, scales.data()}})[0]
                .exact,
            (Values{1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4}));
}

TEST(ReorderReference, SumReadsTheOldValue) {
  std::vector<float> x = {1, 2}, scale = {2};
  std::vector<uint8_t> old = {4, 255}; // as s8: 4, -1
  EXPECT_EQ(compute("reorder src=f32:2:a dst=u8:2:a attr.post_ops=sum(scale=3,zero_point=2)",
                    {{src, x.data()}, {dst, old.data()}})[0]
                .exact,
            (Values{7, 255}));
  EXPECT_EQ(compute("reorder src=f32:2:a dst=u8:2:a attr.post_ops=sum(scale=3,zero_point=-2,type=s8) attr.scales=dst",
                    {{src, x.data()}, {dst, old.data()}, {scalesOfDst, scale.data()}})[0]
                .exact,
            (Values{10, 2})); // (1 + 3 * 6) / 2 = 9.5, (2 + 3 * 1) / 2 = 2.5, ties to even
}

TEST(ReorderReference, PostOpsMakeAnInterval) {
  std::vector<float> x = {-3, 5}, scale = {2}, factor = {10};
  std::vector<int8_t> old = {1, 1};
  ReferenceOutput out = compute("reorder src=f32:2:a dst=s8:2:a attr.scales=src,dst attr.post_ops="
                                "eltwise(alg=relu),sum(scale=4),binary(alg=mul,src1=f32:1:a)",
                                {{src, x.data()},
                                 {dst, old.data()},
                                 {scalesOfSrc, scale.data()},
                                 {scalesOfDst, scale.data()},
                                 {98306, factor.data()}})[0];
  EXPECT_EQ(out.beforeAttributes, (Values{-6, 10}));
  EXPECT_EQ(out.exact, (Values{20, 70})); // (0 + 4) * 10 / 2, (10 + 4) * 10 / 2
  Interval possible = out.range(1, Interval::around(10));
  EXPECT_LE(possible.low, 70);
  EXPECT_GE(possible.low, 69);
  EXPECT_GE(possible.high, 70);
  EXPECT_LE(possible.high, 71);
}

TEST(ReorderReference, AppendsSumsAfterTheElements) {
  // 3 output channels in blocks of 2, 2 input channels: q = {100, -128, 127, 1, -2, 0}.
  std::vector<float> x = {100, -200, 200, 1, -2, 0};
  std::vector<ReferenceOutput> outputs =
      compute("reorder src=f32:3x2:ab dst=s8:3x2:Ab2a:s8s8@1:asymmetric@2", {{src, x.data()}});
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_EQ(outputs[0].exact, (Values{100, -128, 127, 1, -2, 0}));
  EXPECT_EQ(outputs[1].exact, (Values{128 * 28, -128 * 128, 128 * 2, 0}));
  EXPECT_EQ(outputs[1].desc.dataType, DataType::S32);
  EXPECT_EQ(outputs[1].desc.offset0, 2); // 8 bytes of elements precede it
  EXPECT_EQ(outputs[2].exact, (Values{-225, 127}));
  EXPECT_EQ(outputs[2].desc.offset0, 6);
  std::vector<int8_t> packed = {100, -128, 127, 1};
  outputs = compute("reorder src=s8:1x1x2x1x2:abcde dst=s8:1x1x2x1x2:abdec:rnn_u8s8@27", {{src, packed.data()}});
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0].criterion, Criterion::Bits);
  EXPECT_EQ(outputs[1].exact, (Values{227, -127}));
  EXPECT_EQ(outputs[1].desc.dataType, DataType::F32);
}

TEST(ReorderReference, ScaleAdjustMultiplies) {
  std::vector<float> x = {5, -7}, scale = {3};
  EXPECT_EQ(compute("reorder src=f32:2:a dst=s8:2:a:scale_adjust@0.5 attr.scales=src",
                    {{src, x.data()}, {scalesOfSrc, scale.data()}})[0]
                .exact,
            (Values{8, -10})); // 7.5 and -10.5, ties to even
}

TEST(ReorderReference, RnnParametersGoToTheirTensor) {
  const std::string attributes =
      " attr.rnn.data_scale=10 attr.rnn.data_shift=3 attr.rnn.weights_mask=16 attr.rnn.weights_scales=2,4 "
      "attr.rnn.projection_scales=8";
  std::vector<float> x = {1, 2};
  EXPECT_EQ(compute("reorder src=f32:1x1x2:abc dst=u8:1x1x2:abc" + attributes, {{src, x.data()}})[0].exact,
            (Values{13, 23}));
  EXPECT_EQ(compute("reorder src=f32:1x1x1x2:abcd dst=s8:1x1x1x2:abcd" + attributes, {{src, x.data()}})[0].exact,
            (Values{13, 23}));
  EXPECT_EQ(compute("reorder src=f32:1x1x1x1x2:abcde dst=s8:1x1x1x1x2:abcde" + attributes, {{src, x.data()}})[0].exact,
            (Values{2, 8}));
  EXPECT_EQ(
      compute("reorder src=f32:1x1x1x2:abcd dst=s8:1x1x1x2:abcd:rnn_s8s8" + attributes, {{src, x.data()}})[0].exact,
      (Values{8, 16}));
}

TEST(ReorderReference, RefusesMissingInputs) {
  std::vector<float> x = {1};
  for (std::string_view line :
       {"reorder src=f32:1:a dst=s8:1:a attr.scales=src", "reorder src=f32:1:a dst=s8:1:a attr.post_ops=sum"}) {
    auto missing = computeReference(parsed(line), {{src, x.data()}});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().status, Status::InvalidArguments);
  }
}

TEST(ReorderJudge, AcceptsOnlyTheExactResult) {
  std::vector<float> x = {1, notANumber}, next = {std::nextafter(1.0f, 2.0f), notANumber}, other = {1, -notANumber};
  PrimitiveDesc copy = parsed("reorder src=f32:2:a dst=f32:2:a"),
                scaled = parsed("reorder src=f32:2:a dst=f32:2:a attr.scales=src");
  std::vector<float> one = {1};
  ReferenceOutput ofCopy = computeReference(copy, {{src, x.data()}})->front();
  ReferenceOutput ofScaled = computeReference(scaled, {{src, x.data()}, {scalesOfSrc, one.data()}})->front();
  EXPECT_TRUE(judge(copy, ofCopy, x.data(), DataKind::Dense).isRight);
  EXPECT_FALSE(judge(copy, ofCopy, next.data(), DataKind::Dense).isRight);
  EXPECT_FALSE(judge(copy, ofCopy, other.data(), DataKind::Dense).isRight)
      << "the bits of a copied NaN must not change";
  EXPECT_TRUE(judge(scaled, ofScaled, x.data(), DataKind::Dense).isRight);
  EXPECT_TRUE(judge(scaled, ofScaled, other.data(), DataKind::Dense).isRight) << "a computed NaN may have any bits";
  Verdict verdict = judge(scaled, ofScaled, next.data(), DataKind::Dense);
  EXPECT_EQ(verdict.wrong, 1);
  EXPECT_EQ(verdict.threshold, 0);
  EXPECT_EQ(verdict.describe(ofScaled.desc).substr(0, 16), "not exact at [0]");
}

TEST(ReorderJudge, AcceptsTheConversionOfNan) {
  // exp(inf) * sigmoid(-inf) is inf * 0 in floating-point arithmetic, but its limit is 0.
  PrimitiveDesc desc =
      parsed("reorder src=f32:2:a dst=f4_e2m1:2:a attr.post_ops=eltwise(alg=exp),eltwise(alg=swish,alpha=-0.25)");
  std::vector<float> x = {infinity, infinity};
  ReferenceOutput expected = computeReference(desc, {{src, x.data()}})->front();
  uint8_t zeros = 0x00, limits = 0xf7, minusOnes = 0xaa; // the limits: 6 and -6
  EXPECT_TRUE(judge(desc, expected, &zeros, DataKind::Dense).isRight);
  EXPECT_TRUE(judge(desc, expected, &limits, DataKind::Dense).isRight);
  EXPECT_FALSE(judge(desc, expected, &minusOnes, DataKind::Dense).isRight);

  // log(-1) can only be NaN.
  desc = parsed("reorder src=f32:2:a dst=f4_e2m1:2:a attr.post_ops=eltwise(alg=log)");
  x = {-1, -1};
  expected = computeReference(desc, {{src, x.data()}})->front();
  EXPECT_FALSE(judge(desc, expected, &zeros, DataKind::Dense).isRight);
  EXPECT_TRUE(judge(desc, expected, &limits, DataKind::Dense).isRight);

  // In e8m0, an infinity can only become NaN.
  x = {infinity, -infinity};
  desc = parsed("reorder src=f32:2:a dst=e8m0:2:a attr.post_ops=eltwise(alg=linear,alpha=1)");
  expected = computeReference(desc, {{src, x.data()}})->front();
  std::vector<uint8_t> nans = {0xff, 0xff}, ones = {127, 127};
  EXPECT_TRUE(judge(desc, expected, nans.data(), DataKind::Dense).isRight);
  EXPECT_FALSE(judge(desc, expected, ones.data(), DataKind::Dense).isRight);
}
