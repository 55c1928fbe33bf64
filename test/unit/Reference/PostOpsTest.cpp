//===- PostOpsTest.cpp - Scales and post-ops of the references -----------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests formulas with known values, and intervals by their property: the image of an interval contains the function
// value of every point in it.
//
//===----------------------------------------------------------------------===//
#include "Reference/Attributes/PostOps.h"
#include "Primitives/Arguments.h"
#include "Primitives/Registry.h"
#include "Reference/Elements.h"
#include "Reference/Judge.h"
#include "Reference/TestData/TestData.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace quern;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(),
                 notANumber = std::numeric_limits<double>::quiet_NaN();

PrimitiveDesc parsed(std::string_view line) {
  Result<PrimitiveDesc> desc = PrimitiveDesc::parse(line);
  EXPECT_TRUE(desc) << desc.error().message;
  return desc ? *desc : PrimitiveDesc();
}

/// The reference result of a verified line on seeded inputs, with the inputs.
struct Computed {
  VerifiedProblem problem;
  std::map<int32_t, std::vector<char>> buffers;
  std::vector<double> given(int32_t argument) const {
    for (const ArgumentInfo &info : problem.arguments)
      if (info.index == argument)
        return gather(info.desc, buffers.at(argument).data());
    return {};
  }
  ReferenceOutput output;
};

Computed compute(std::string_view line, FillKind kind = FillKind::Dense) {
  Result<VerifiedProblem> problem = verify(parsed(line), Target());
  EXPECT_TRUE(problem) << line << ": " << problem.error().message;
  Computed computed{*problem, {}, {}};
  ReferenceInputs inputs;
  for (const ArgumentInfo &info : computed.problem.arguments) {
    if (info.isOutput)
      continue;
    std::vector<char> &buffer = computed.buffers[info.index];
    buffer.resize(static_cast<size_t>(info.desc.bytes()));
    fillInput(computed.problem.desc, info.index, info.desc, kind, 1, buffer.data());
    inputs[info.index] = buffer.data();
  }
  Result<std::vector<ReferenceOutput>> outputs = computeReference(computed.problem.desc, inputs);
  EXPECT_TRUE(outputs) << line << ": " << outputs.error().message;
  if (outputs)
    computed.output = outputs->front();
  return computed;
}

bool contains(const Interval &interval, long double value) {
  return std::isnan(value) ? interval.mayBeNan : interval.low <= value && value <= interval.high;
}

} // namespace

TEST(PostOpsReference, EltwiseByKnownValues) {
  struct Known {
    Alg alg;
    float alpha, beta;
    double x, value;
  };
  const Known all[] = {
      {Alg::EltwiseRelu, 0.5f, 0, -2, -1},
      {Alg::EltwiseRelu, 0.5f, 0, 3, 3},
      {Alg::EltwiseReluDst, 0.5f, 0, -2, -1},
      {Alg::EltwiseTanh, 0, 0, 0.5, 0.46211715726000975},
      {Alg::EltwiseElu, 2, 0, -1, -1.2642411176571153},
      {Alg::EltwiseSquare, 0, 0, -3, 9},
      {Alg::EltwiseAbs, 0, 0, -3, 3},
      {Alg::EltwiseSqrt, 0, 0, 16, 4},
      {Alg::EltwiseSqrt, 0, 0, -1, notANumber},
      {Alg::EltwiseLinear, 2, 3, 5, 13},
      {Alg::EltwiseSoftRelu, 1, 0, 0, 0.6931471805599453},
      {Alg::EltwiseSoftRelu, 2, 0, 1000, 1000},
      {Alg::EltwiseSoftRelu, -1, 0, 1, -0.31326168751822286},
      {Alg::EltwiseHardsigmoid, 0.5f, 0.25f, 1, 0.75},
      {Alg::EltwiseHardsigmoid, 0.5f, 0.25f, -9, 0},
      {Alg::EltwiseLogistic, 0, 0, 1, 0.7310585786300049},
      {Alg::EltwiseExp, 0, 0, 1, 2.718281828459045},
      {Alg::EltwiseGeluTanh, 0, 0, 1, 0.8411919906082768},
      {Alg::EltwiseGeluErf, 0, 0, 1, 0.8413447460685429},
      {Alg::EltwiseSwish, 2, 0, 1, 0.8807970779778823},
      {Alg::EltwiseLog, 0, 0, 0, -infinity},
      {Alg::EltwiseClip, -1, 2, 5, 2},
      {Alg::EltwiseClipV2, -1, 2, -5, -1},
      {Alg::EltwisePow, 3, 2, -2, 12},
      {Alg::EltwisePow, 3, 0.5f, -2, notANumber},
      {Alg::EltwiseRound, 0, 0, 2.5, 2},
      {Alg::EltwiseMish, 0, 0, 1, 0.8650983882673103},
      {Alg::EltwiseHardswish, 0.5f, 0.25f, 1, 0.75},
  };
  for (const Known &one : all) {
    long double value = eltwise(one.alg, one.alpha, one.beta, one.x);
    if (std::isnan(one.value))
      EXPECT_TRUE(std::isnan(value)) << nameOf(one.alg);
    else if (std::isinf(one.value))
      EXPECT_EQ(value, one.value) << nameOf(one.alg);
    else
      EXPECT_NEAR(static_cast<double>(value), one.value, 1e-15 * std::max(1.0, std::fabs(one.value)))
          << nameOf(one.alg);
  }
}

TEST(PostOpsReference, TheImageOfAnIntervalHoldsEveryValue) {
  std::mt19937_64 random(1);
  auto uniform = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
  std::vector<Alg> algorithms;
  for (int alg = static_cast<int>(Alg::EltwiseRelu); alg <= static_cast<int>(Alg::EltwiseHardswish); ++alg)
    algorithms.push_back(static_cast<Alg>(alg));
  for (int round = 0; round < 200; ++round) {
    double center = uniform(-4, 4), width = std::pow(10, uniform(-7, 0.5));
    Interval x = Interval::around(center, width);
    for (Alg alg : algorithms) {
      float alpha = static_cast<float>(uniform(-2, 2)), beta = static_cast<float>(static_cast<int>(uniform(-3, 3)));
      if (alg == Alg::EltwiseClip || alg == Alg::EltwiseClipV2)
        beta = alpha + 1;
      Interval image = eltwiseRange(alg, alpha, beta, x);
      for (int sample = 0; sample < 50; ++sample) {
        double point = uniform(center - width, center + width);
        Interval hull = image;
        hull.low -= 1e-12L * std::fabs(hull.low), hull.high += 1e-12L * std::fabs(hull.high); // extrema are rounded
        EXPECT_TRUE(contains(hull, eltwise(alg, alpha, beta, point)))
            << nameOf(alg) << " alpha " << alpha << " beta " << beta << " at " << point << " of " << center << " +- "
            << width;
      }
    }
    for (int alg = static_cast<int>(Alg::BinaryAdd); alg < static_cast<int>(Alg::BinarySelect); ++alg) {
      Interval y = Interval::around(uniform(-4, 4), round % 2 ? 0 : 1e-3);
      Interval image = binaryRange(static_cast<Alg>(alg), x, y);
      for (int sample = 0; sample < 50; ++sample) {
        long double point = uniform(center - width, center + width), operand = sample % 2 ? y.low : y.high;
        EXPECT_TRUE(contains(image, binary(static_cast<Alg>(alg), point, operand))) << nameOf(static_cast<Alg>(alg));
      }
    }
  }
}

TEST(PostOpsReference, NanAndJumps) {
  EXPECT_EQ(binaryRange(Alg::BinaryGe, Interval::around(1, 1e-6L), Interval::around(1)).low, 0);
  EXPECT_EQ(binaryRange(Alg::BinaryGe, Interval::around(1, 1e-6L), Interval::around(1)).high, 1);
  EXPECT_EQ(binaryRange(Alg::BinaryEq, Interval::around(2, 1e-6L), Interval::around(1)).high, 0);
  // A scaled operand may be an interval.
  EXPECT_EQ(binaryRange(Alg::BinaryNe, Interval::around(1), Interval::around(1, 1e-6L)).low, 0);
  EXPECT_EQ(binaryRange(Alg::BinaryEq, Interval::around(1), Interval::around(1, 1e-6L)).high, 1);
  // The result of a logarithm near 0 is an interval from -inf, which may be NaN; mish, gelu and swish approach 0 at
  // -inf.
  Interval belowSix{-std::numeric_limits<long double>::infinity(), -6, true};
  for (Alg alg : {Alg::EltwiseMish, Alg::EltwiseGeluErf, Alg::EltwiseGeluTanh, Alg::EltwiseSwish})
    EXPECT_EQ(eltwiseRange(alg, 1, 0, belowSix).high, 0) << nameOf(alg);
  EXPECT_TRUE(eltwiseRange(Alg::EltwiseLog, 0, 0, Interval::around(0, 1e-9L)).mayBeNan);
  EXPECT_TRUE(binaryRange(Alg::BinaryDiv, Interval::around(0), Interval::around(0)).mayBeNan);
  Interval none = Interval::around(notANumber);
  EXPECT_TRUE(none.isEmpty() && none.mayBeNan);
  EXPECT_TRUE(binaryRange(Alg::BinaryAdd, none, Interval::around(1)).isEmpty());
  EXPECT_TRUE(contains(binaryRange(Alg::BinaryMax, none, Interval::around(1)), 1));
  EXPECT_TRUE(contains(binaryRange(Alg::BinaryMax, none, Interval::around(1)), notANumber));
  EXPECT_FALSE(binaryRange(Alg::BinaryLt, none, Interval::around(1)).mayBeNan);
}

TEST(PostOpsReference, AppliesAChainInOrder) {
  // z = ((y * s + b) * 2 + 1 if c, else e) / d, with b by row, scaled and shifted, and c by column.
  Computed c = compute("softmax fwd_i src=f32:3x5:ab dst=f32:3x5:ab axis=1 attr.scales=src,dst,post0.src_1(mask=1) "
                       "attr.zero_points=post0.src_1(type=s32) attr.post_ops=binary(alg=add,src1=s8:3x1:ba),"
                       "eltwise(alg=linear,alpha=2,beta=1),binary(alg=select,src1=f32:1x1:ab,src2=u8:1x5:ab)");
  ASSERT_EQ(c.problem.arguments.size(), 9u);
  std::vector<double> scale = c.given(arg::scalesOf(arg::src)), dstScale = c.given(arg::scalesOf(arg::dst));
  std::vector<double> b = c.given(arg::ofPostOp(0, arg::src1)),
                      bScales = c.given(arg::scalesOf(arg::ofPostOp(0, arg::src1))),
                      bZero = c.given(arg::zeroPointsOf(arg::ofPostOp(0, arg::src1))),
                      e = c.given(arg::ofPostOp(2, arg::src1)), condition = c.given(arg::ofPostOp(2, arg::src2));
  ASSERT_EQ(bScales.size(), 3u);
  for (size_t i = 0; i < 15; ++i) {
    size_t row = i / 5;
    double expected = (c.output.beforeAttributes[i] * scale[0] + (b[row] - bZero[0]) * bScales[row]) * 2 + 1;
    expected = (condition[i % 5] != 0 ? expected : e[0]) / dstScale[0];
    EXPECT_NEAR(c.output.exact[i], expected, 1e-12);
    Interval range = c.output.range(static_cast<int64_t>(i), Interval::around(c.output.beforeAttributes[i], 1e-6));
    EXPECT_TRUE(contains(range, expected));
    EXPECT_LT(range.high - range.low, 1e-2);
  }
}

TEST(PostOpsReference, TheJudgeFollowsTheChain) {
  // exp(80 y): a rounding error in the last digit of y changes many digits of the result.
  Computed c = compute("softmax fwd_i src=f32:4x16:ab dst=f32:4x16:ab axis=1 "
                       "attr.post_ops=eltwise(alg=linear,alpha=80),eltwise(alg=exp)");
  std::vector<float> got(64);
  for (size_t i = 0; i < 64; ++i)
    got[i] = std::exp(80 * (static_cast<float>(c.output.beforeAttributes[i]) * (1 + 4e-7f)));
  EXPECT_TRUE(judge(c.problem.desc, c.output, got.data(), DataKind::Dense).isRight);
  got[5] *= 1.01f;
  EXPECT_FALSE(judge(c.problem.desc, c.output, got.data(), DataKind::Dense).isRight);

  c = compute("softmax fwd_i src=f32:4x16:ab dst=s8:4x16:ab axis=1 attr.scales=dst");
  std::vector<int8_t> bytes(64);
  int largest = 0;
  for (size_t i = 0; i < 64; ++i) {
    bytes[i] = static_cast<int8_t>(roundTo(DataType::S8, c.output.exact[i]));
    largest = std::max<int>(largest, bytes[i]);
  }
  EXPECT_GT(largest, 20); // the scale uses a large part of the range of s8
  EXPECT_TRUE(judge(c.problem.desc, c.output, bytes.data(), DataKind::Dense).isRight);
  EXPECT_EQ(judge(c.problem.desc, c.output, bytes.data(), DataKind::Dense).maxAbsError, 0);
  bytes[0] = static_cast<int8_t>(bytes[0] + 1);
  EXPECT_FALSE(judge(c.problem.desc, c.output, bytes.data(), DataKind::Dense).isRight);
}

TEST(TestData, SuitsTypesAndRoles) {
  Computed c = compute("softmax bwd_d dst=f32:6x50:ab diff_dst=f32:6x50:ab diff_src=f32:6x50:ab axis=1");
  std::vector<double> y = c.given(arg::dst);
  for (size_t row = 0; row < 6; ++row) {
    double sum = 0;
    for (size_t i = 0; i < 50; ++i) {
      EXPECT_GT(y[row * 50 + i], 0);
      sum += y[row * 50 + i];
    }
    EXPECT_NEAR(sum, 1, 1e-5);
  }
  c = compute("softmax bwd_d alg=log dst=f32:6x50:ab diff_dst=f32:6x50:ab diff_src=f32:6x50:ab axis=1");
  for (double value : c.given(arg::dst))
    EXPECT_LT(value, 0);
  for (std::string_view type : {"s8", "u8"}) {
    std::string line = concat("softmax fwd_i src=", type, ":64x50:ab dst=f32:64x50:ab axis=1");
    std::vector<double> x = compute(line).given(arg::src);
    auto [low, high] = std::minmax_element(x.begin(), x.end());
    EXPECT_GT(*high - *low, 100) << type;
    x = compute(line, FillKind::Special).given(arg::src);
    EXPECT_EQ(*std::max_element(x.begin(), x.end()), type == "s8" ? 127 : 255);
  }
  c = compute("softmax fwd_i src=f32:8x9:ab dst=f32:8x9:ab attr.zero_points=post0.src_1(type=s32) "
              "attr.post_ops=binary(alg=div,src1=s8:8x9:ab),binary(alg=div,src1=bf16:8x9:ab)");
  double zeroPoint = c.given(arg::zeroPointsOf(arg::ofPostOp(0, arg::src1)))[0];
  for (double value : c.given(arg::ofPostOp(0, arg::src1)))
    EXPECT_NE(value, zeroPoint);
  for (double value : c.given(arg::ofPostOp(1, arg::src1)))
    EXPECT_NE(value, 0);
}
