//===- SoftmaxTest.cpp - The oracle and the judge, manual results ---------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests values that can be computed with a pocket calculator, and the special rows that the semantics define.
//
//===----------------------------------------------------------------------===//
#include "Reference/Elements.h"
#include "Reference/Judge.h"
#include "Reference/TestData/TestData.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace quern;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

PrimitiveDesc softmax(Alg alg, std::vector<int64_t> dims, int axis, DataType type = DataType::F32) {
  SoftmaxDesc op;
  op.prop = PropKind::ForwardInference;
  op.alg = alg;
  op.src = op.dst = *TensorDesc::dense(dims, type);
  op.axis = axis;
  return {op, {}};
}

std::vector<double> forward(const PrimitiveDesc &desc, std::vector<float> x) {
  Result<std::vector<ReferenceOutput>> outputs = computeReference(desc, {{1, x.data()}});
  return outputs ? outputs->front().exact : std::vector<double>();
}

TEST(Reference, Forward) {
  std::vector<double> y = forward(softmax(Alg::SoftmaxAccurate, {1, 3}, 1), {0, std::log(2.0f), std::log(5.0f)});
  ASSERT_EQ(y.size(), 3u);
  EXPECT_NEAR(y[0], 0.125, 1e-7);
  EXPECT_NEAR(y[1], 0.25, 1e-7);
  EXPECT_NEAR(y[2], 0.625, 1e-7);
}

TEST(Reference, AxisAndLog) {
  // Columns (0, 0) and (1000, 1000): the result is 1/2 for each, however large the values are.
  for (double y : forward(softmax(Alg::SoftmaxLog, {2, 2}, 0), {0, 1000, 0, 1000}))
    EXPECT_DOUBLE_EQ(y, -std::log(2.0));
}

TEST(Reference, SpecialRows) {
  float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  for (Alg alg : {Alg::SoftmaxAccurate, Alg::SoftmaxLog, Alg::SoftmaxAccurateInfAsZero}) {
    PrimitiveDesc desc = softmax(alg, {1, 2}, 1);
    for (double y : forward(desc, {nan, 1}))
      EXPECT_TRUE(std::isnan(y));
    for (double y : forward(desc, {inf, 1}))
      EXPECT_TRUE(std::isnan(y));
    for (double y : forward(desc, {-inf, -inf}))
      EXPECT_TRUE(alg == Alg::SoftmaxAccurateInfAsZero ? y == 0 : std::isnan(y));
    std::vector<double> masked = forward(desc, {-inf, 3});
    EXPECT_EQ(masked[0], alg == Alg::SoftmaxLog ? -infinity : 0);
    EXPECT_EQ(masked[1], alg == Alg::SoftmaxLog ? 0 : 1);
  }
}

TEST(Reference, Backward) {
  SoftmaxDesc op;
  op.prop = PropKind::BackwardData;
  op.dst = op.diffSrc = op.diffDst = *TensorDesc::dense(std::vector<int64_t>{1, 2}, DataType::F64);
  op.axis = 1;
  std::vector<double> y = {0.25, 0.75}, dy = {2, 4};
  auto outputs = computeReference({op, {}}, {{17, y.data()}, {145, dy.data()}});
  ASSERT_TRUE(outputs);
  EXPECT_EQ(outputs->front().argument, 129);
  EXPECT_DOUBLE_EQ(outputs->front().exact[0], 0.25 * (2 - 3.5));
  EXPECT_DOUBLE_EQ(outputs->front().exact[1], 0.75 * (4 - 3.5));
  op.alg = Alg::SoftmaxLog;
  outputs = computeReference({op, {}}, {{17, y.data()}, {145, dy.data()}});
  ASSERT_TRUE(outputs);
  EXPECT_DOUBLE_EQ(outputs->front().exact[0], 2 - std::exp(0.25) * 6);
}

TEST(Reference, DenormalProductsAreMeasuredAsTheLeastNormalOne) {
  SoftmaxDesc op;
  op.prop = PropKind::BackwardData;
  op.dst = op.diffSrc = op.diffDst = *TensorDesc::dense(std::vector<int64_t>{1, 3}, DataType::F32);
  op.axis = 1;
  // Each product is rounded to a multiple of the smallest denormal, so the error of their sum exceeds one such unit.
  std::vector<float> y = {0.5f, 0.25f, 0.25f}, dy = {3e-45f, 7e-45f, -4e-45f};
  auto outputs = computeReference({op, {}}, {{17, y.data()}, {145, dy.data()}});
  ASSERT_TRUE(outputs);
  EXPECT_NEAR(outputs->front().magnitude[0], 0.5 * 3 * 0x1p-126, 1e-44);
}

TEST(Reference, RefusesMissingInputs) {
  auto missing = computeReference(softmax(Alg::SoftmaxAccurate, {1, 2}, 1), {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().status, Status::InvalidArguments);
  EXPECT_NE(missing.error().message.find("src"), std::string::npos);
}

TEST(Elements, FollowLayouts) {
  std::vector<int64_t> dims = {2, 3}, strides = {1, 4};
  TensorDesc desc = *TensorDesc::fromStrides(dims, DataType::S8, strides);
  desc.offset0 = 1;
  std::vector<char> bytes(static_cast<size_t>(desc.bytes()), 'x');
  std::vector<double> values = {1, 2, 3, -4, -200, 2.5};
  scatter(desc, bytes.data(), values);
  EXPECT_EQ(std::string(bytes.begin(), bytes.begin() + 11), std::string("x\x01\xfcxx\x02\x80xx\x03\x02", 11));
  EXPECT_EQ(gather(desc, bytes.data()), (std::vector<double>{1, 2, 3, -4, -128, 2}));
}

Verdict judgeOne(DataType type, double exact, double magnitude, double got, DataKind data,
                 Alg alg = Alg::SoftmaxAccurate) {
  PrimitiveDesc desc = softmax(alg, {1}, 0, type);
  ReferenceOutput expected{17, std::get<SoftmaxDesc>(desc.op).dst, {exact}, {magnitude}};
  char buffer[8];
  storeElement(type, buffer, 0, got);
  return judge(desc, expected, buffer, data);
}

TEST(Judge, WideOutputs) {
  double eps = 0x1p-23;
  EXPECT_TRUE(judgeOne(DataType::F32, 0.5, 0, 0.5 + 4 * eps, DataKind::Designed).isRight);
  EXPECT_FALSE(judgeOne(DataType::F32, 0.5, 0, 0.5 + 6 * eps, DataKind::Designed).isRight);
  EXPECT_TRUE(judgeOne(DataType::F32, 0.5, 1, 0.5 + 6 * eps, DataKind::Dense).isRight);
  EXPECT_TRUE(judgeOne(DataType::F32, -0.5, 0, -0.5 + 24 * eps, DataKind::Designed, Alg::SoftmaxLog).isRight);
  EXPECT_TRUE(judgeOne(DataType::F32, 1e-9, 0, 1e-7, DataKind::Designed).isRight); // the limit is absolute below 1e-5
  EXPECT_FALSE(judgeOne(DataType::F64, 0.5, 0, 0.5 + eps, DataKind::Designed).isRight);
  Verdict half = judgeOne(DataType::F32, 1, 0, 1 + 5 * eps, DataKind::Designed);
  EXPECT_DOUBLE_EQ(half.worst, 0.5);
  EXPECT_DOUBLE_EQ(half.maxAbsError, 5 * eps);
}

TEST(Judge, AcceptsBothNeighborsNearAMidpoint) {
  double midpoint = 1 + 0x1p-8, nearby = midpoint + 1e-7, distant = midpoint + 1e-3;
  for (DataKind data : {DataKind::Dense, DataKind::Designed}) {
    EXPECT_TRUE(judgeOne(DataType::BF16, nearby, 1, 1, data).isRight);
    EXPECT_TRUE(judgeOne(DataType::BF16, nearby, 1, 1 + 0x1p-7, data).isRight);
    EXPECT_FALSE(judgeOne(DataType::BF16, distant, 1, 1, data).isRight);
    EXPECT_FALSE(judgeOne(DataType::BF16, nearby, 1, 1 + 0x1p-6, data).isRight);
  }
}

TEST(Judge, SpecialValues) {
  double nan = std::nan("");
  EXPECT_TRUE(judgeOne(DataType::F32, nan, 0, nan, DataKind::Dense).isRight);
  EXPECT_FALSE(judgeOne(DataType::F32, nan, 0, 0, DataKind::Dense).isRight);
  EXPECT_FALSE(judgeOne(DataType::F32, 1, 1, nan, DataKind::Dense).isRight);
  EXPECT_TRUE(judgeOne(DataType::F32, -infinity, 0, -infinity, DataKind::Dense).isRight);
  EXPECT_FALSE(judgeOne(DataType::BF16, 1, 1, infinity, DataKind::Dense).isRight);
  EXPECT_TRUE(judgeOne(DataType::F16, -1e9, 1, -infinity, DataKind::Designed).isRight);
  EXPECT_NE(judgeOne(DataType::F32, nan, 0, 0, DataKind::Dense)
                .describe(*TensorDesc::dense(std::vector<int64_t>{1}, DataType::F32))
                .find("1 of 1 elements are wrong"),
            std::string::npos);
}

/// NaN is right only if the exact value, or one within the threshold of it, rounds to more than 448.
TEST(Judge, AcceptsNanForOverflowOfF8E4M3) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity(), near = 464 - 1e-5;
  EXPECT_TRUE(judgeOne(DataType::F8E4M3, 465, 1, nan, DataKind::Dense).isRight);
  EXPECT_TRUE(judgeOne(DataType::F8E4M3, -infinity, 1, nan, DataKind::Dense).isRight);
  EXPECT_FALSE(judgeOne(DataType::F8E4M3, -infinity, 1, -448, DataKind::Dense).isRight);
  EXPECT_FALSE(judgeOne(DataType::F8E4M3, 465, 1, 448, DataKind::Dense).isRight);
  EXPECT_FALSE(judgeOne(DataType::F8E4M3, 463, 1, nan, DataKind::Dense).isRight);
  EXPECT_TRUE(judgeOne(DataType::F8E4M3, near, 464, nan, DataKind::Dense).isRight);
  EXPECT_TRUE(judgeOne(DataType::F8E4M3, near, 464, 448, DataKind::Dense).isRight);
  EXPECT_FALSE(judgeOne(DataType::F8E4M3, near, 464, -448, DataKind::Dense).isRight);
}

TEST(TestData, DependsOnSeedAndNotOnLayout) {
  std::vector<int64_t> dims = {3, 5};
  TensorDesc rows = *TensorDesc::dense(dims, DataType::F32), columns = *TensorDesc::fromTag(dims, DataType::F32, "ba");
  PrimitiveDesc desc = softmax(Alg::SoftmaxAccurate, dims, 1);
  for (FillKind kind : {FillKind::Dense, FillKind::Designed, FillKind::Special}) {
    float a[15], b[15], c[15];
    fillInput(desc, 1, rows, kind, 7, a);
    fillInput(desc, 1, columns, kind, 7, b);
    fillInput(desc, 1, rows, kind, 8, c);
    std::vector<double> first = gather(rows, a), second = gather(columns, b);
    for (size_t i = 0; i < first.size(); ++i)
      EXPECT_TRUE(first[i] == second[i] || (std::isnan(first[i]) && std::isnan(second[i])));
    EXPECT_NE(first, gather(rows, c));
    EXPECT_EQ(fillFromName(nameOf(kind)), kind);
  }
}

} // namespace
