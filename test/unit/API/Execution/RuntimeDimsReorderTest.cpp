//===- RuntimeDimsReorderTest.cpp - One reorder for every size ------------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests reorders with open dims, strides and offsets, with the real compiler: one compilation serves all sizes and
// strides, which may differ between source and destination; open sizes combined with known ones, and vectors of scales
// whose length is an open dim.
//
//===----------------------------------------------------------------------===//
#include "API/Execution/ReorderSupport.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace quern {
namespace {

using dt = memory::data_type;
using test::bufferSize;
using test::pattern;
using test::wrongElements;

constexpr int64_t open = QUERN_RUNTIME_DIM_VAL;
constexpr auto same = [](auto value) { return value; };

class RuntimeDimsReorderTest : public testing::Test {
protected:
  engine device{engine::kind::cpu, 0};
  stream order{device};
  test::TemporaryDirectory directory;
  test::ScopedCaches caches{directory.path};

  reorder make(const memory::desc &src, const memory::desc &dst, const primitive_attr &attr = {}) {
    return reorder(reorder::primitive_desc(device, src, device, dst, attr));
  }
  memory::desc openStrides(size_t rank, dt type) {
    return memory::desc(memory::dims(rank, open), type, memory::dims(rank, open));
  }
  /// Executes once and returns the number of wrong elements, including gaps.
  template <typename To = float> size_t wrong(const reorder &kernel, const memory::desc &src, const memory::desc &dst) {
    std::vector<float> from = pattern<float>(bufferSize<float>(src));
    std::vector<To> to(bufferSize<To>(dst), To(126));
    kernel.execute(order, memory(src, device, from.data()), memory(dst, device, to.data()));
    return wrongElements(src, from.data(), dst, to.data(), same) + test::othersThan(dst, to, To(126));
  }
  std::string refusal(const reorder &kernel, const std::unordered_map<int, memory> &arguments) {
    EXPECT_EQ(test::statusOf([&] { kernel.execute(order, arguments); }), quern_invalid_arguments);
    return quern_get_last_error_message();
  }
};

TEST_F(RuntimeDimsReorderTest, OneCompilationServesEverySizeAndOrder) {
  const uint64_t before = test::statistics().compilations;
  const reorder kernel = make(openStrides(3, dt::f32), openStrides(3, dt::f32));
  const char *tags[] = {"abc", "acb", "bac", "bca", "cab", "cba"};
  for (const memory::dims &dims :
       {memory::dims{1, 1, 1}, {2, 3, 5}, {17, 1, 16}, {1, 33, 40}, {64, 3, 31}, {5, 7, 129}})
    for (const char *from : tags)
      for (const char *to : tags)
        EXPECT_EQ(wrong(kernel, memory::desc(dims, dt::f32, from), memory::desc(dims, dt::f32, to)), 0u)
            << from << " to " << to << " of " << dims[0] << "x" << dims[1] << "x" << dims[2];
  EXPECT_EQ(test::statistics().compilations, before + 1);
}

TEST_F(RuntimeDimsReorderTest, StridesMayLeaveGapsAndBroadcast) {
  const reorder kernel = make(openStrides(2, dt::f32), openStrides(2, dt::s8));
  memory::desc gaps({9, 50}, dt::f32, memory::dims{160, 3}), column({9, 50}, dt::f32, memory::dims{1, 0});
  EXPECT_EQ(wrong<int8_t>(kernel, gaps, memory::desc({9, 50}, dt::s8, memory::dims{2, 20})), 0u);
  EXPECT_EQ(wrong<int8_t>(kernel, column, memory::desc({9, 50}, dt::s8, "ab")), 0u);
  std::vector<float> from(1000);
  std::vector<int8_t> to(1000);
  memory::desc broadcast({9, 50}, dt::s8, memory::dims{0, 1});
  EXPECT_NE(refusal(kernel, {{QUERN_ARG_SRC, memory(gaps, device, from.data())},
                             {QUERN_ARG_DST, memory(broadcast, device, to.data())}})
                .find("dst has stride 0 over a dim greater than 1; only a source may broadcast (reorder C15)"),
            std::string::npos);
}

TEST_F(RuntimeDimsReorderTest, OffsetsMayBeOpen) {
  const primitive_desc desc(device, "reorder src=f32:?x?:s?x?:off? dst=f32:?x?:s?x?:off?");
  const reorder kernel = make(desc.src_desc(), desc.dst_desc());
  memory::desc whole({20, 30}, dt::f32, "ab"), other({30, 20}, dt::f32, "ba");
  EXPECT_EQ(wrong(kernel, whole.submemory_desc({5, 17}, {3, 11}), other.submemory_desc({5, 17}, {25, 1})), 0u);
  EXPECT_EQ(wrong(kernel, whole.permute_axes({1, 0}).submemory_desc({17, 5}, {13, 0}),
                  other.submemory_desc({17, 5}, {0, 15})),
            0u);
}

TEST_F(RuntimeDimsReorderTest, KnownSizesBesideOpenOnes) {
  const reorder rows = make(memory::desc({open, 24}, dt::f32, "ab"), memory::desc({open, 24}, dt::f32, "ba"));
  const reorder toBlocked =
      make(memory::desc({33, 20}, dt::f32, memory::dims{open, open}), memory::desc({33, 20}, dt::f32, "Ab16a"));
  const reorder fromBlocked =
      make(memory::desc({33, 20}, dt::f32, "aB8b"), memory::desc({33, 20}, dt::f32, memory::dims{open, 1}));
  for (int64_t count : {1, 2, 15, 16, 17, 100})
    EXPECT_EQ(wrong(rows, memory::desc({count, 24}, dt::f32, "ab"), memory::desc({count, 24}, dt::f32, "ba")), 0u)
        << count;
  for (const memory::dims &strides : {memory::dims{20, 1}, {1, 33}, {2, 70}}) {
    memory::desc plain({33, 20}, dt::f32, strides), blocked({33, 20}, dt::f32, "Ab16a");
    std::vector<float> from = pattern<float>(bufferSize<float>(plain)), to(bufferSize<float>(blocked), 126.0f);
    toBlocked.execute(order, memory(plain, device, from.data()), memory(blocked, device, to.data()));
    EXPECT_EQ(wrongElements(plain, from.data(), blocked, to.data(), same) + test::othersThan(blocked, to, 0.0f), 0u);
  }
  EXPECT_EQ(
      wrong(fromBlocked, memory::desc({33, 20}, dt::f32, "aB8b"), memory::desc({33, 20}, dt::f32, memory::dims{23, 1})),
      0u);
  EXPECT_EQ(
      test::statusOf([&] { make(memory::desc({open, 20}, dt::f32, "ab"), memory::desc({33, 20}, dt::f32, "ab")); }),
      quern_invalid_arguments);
}

TEST_F(RuntimeDimsReorderTest, AVectorOfScalesIsAsLongAsItsDims) {
  primitive_attr attr;
  attr.set_scales_mask(QUERN_ARG_SRC, 1);
  attr.set_scales_mask(QUERN_ARG_DST, 3);
  memory::desc openRows({open, 5}, dt::f32, "ab");
  const reorder kernel = make(openRows, memory::desc({open, 5}, dt::f32, "ba"), attr);
  for (int64_t rows : {1, 7, 100}) {
    memory::desc src({rows, 5}, dt::f32, "ab"), dst({rows, 5}, dt::f32, "ba"), srcScales({rows}, dt::f32, "a"),
        dstScales({rows * 5}, dt::f32, "a");
    const auto count = static_cast<size_t>(rows);
    std::vector<float> from(count * 5, 6.0f), to(count * 5), multiply(count), divide(count * 5);
    for (size_t i = 0; i < count; ++i)
      multiply[i] = static_cast<float>(i + 1);
    for (size_t i = 0; i < count * 5; ++i)
      divide[i] = static_cast<float>(1 << i % 7);
    std::unordered_map<int, memory> arguments = {
        {QUERN_ARG_SRC, memory(src, device, from.data())},
        {QUERN_ARG_DST, memory(dst, device, to.data())},
        {QUERN_ARG_ATTR_SCALES | QUERN_ARG_SRC, memory(srcScales, device, multiply.data())},
        {QUERN_ARG_ATTR_SCALES | QUERN_ARG_DST, memory(dstScales, device, divide.data())}};
    kernel.execute(order, arguments);
    for (size_t row = 0; row < count; ++row)
      for (size_t column = 0; column < 5; ++column)
        ASSERT_EQ(to[column * count + row], 6.0f * multiply[row] / divide[row * 5 + column]);
    arguments[QUERN_ARG_ATTR_SCALES | QUERN_ARG_DST] = memory(srcScales, device, multiply.data());
    if (rows > 1)
      EXPECT_NE(refusal(kernel, arguments)
                    .find("scales.dst has " + std::to_string(rows) + " values; dst needs " + std::to_string(rows * 5) +
                          " (reorder C15)"),
                std::string::npos);
  }
}

TEST_F(RuntimeDimsReorderTest, ScalesAlongSeveralOpenDims) {
  primitive_attr attr;
  attr.set_scales_mask(QUERN_ARG_SRC, 6);
  attr.set_scales_mask(QUERN_ARG_DST, 7);
  attr.set_zero_points_mask(QUERN_ARG_DST, 5);
  const reorder kernel =
      make(memory::desc({open, open, open}, dt::f32, "abc"), memory::desc({open, open, open}, dt::s32, "cab"), attr);
  for (const auto &[a, b, c] : {std::tuple(2, 3, 5), {1, 40, 7}, {3, 1, 33}, {4, 9, 1}, {17, 16, 64}}) {
    const auto number = [](int64_t count) { return memory::desc({count}, dt::f32, "a"); };
    const memory::desc src({a, b, c}, dt::f32, "abc"), dst({a, b, c}, dt::s32, "cab"), points({a * c}, dt::s32, "a");
    std::vector<float> from(static_cast<size_t>(a * b * c)), multiply(static_cast<size_t>(b * c)), divide(from.size());
    std::vector<int32_t> to(from.size()), shift(static_cast<size_t>(a * c));
    for (size_t i = 0; i < from.size(); ++i) {
      from[i] = static_cast<float>(i % 91) * 64 - 2048;
      divide[i] = static_cast<float>(1 << i % 5);
    }
    for (size_t i = 0; i < multiply.size(); ++i)
      multiply[i] = static_cast<float>(i % 23 + 1);
    for (size_t i = 0; i < shift.size(); ++i)
      shift[i] = static_cast<int32_t>(i * 1000);
    std::unordered_map<int, memory> arguments = {
        {QUERN_ARG_SRC, memory(src, device, from.data())},
        {QUERN_ARG_DST, memory(dst, device, to.data())},
        {QUERN_ARG_ATTR_SCALES | QUERN_ARG_SRC, memory(number(b * c), device, multiply.data())},
        {QUERN_ARG_ATTR_SCALES | QUERN_ARG_DST, memory(number(a * b * c), device, divide.data())},
        {QUERN_ARG_ATTR_ZERO_POINTS | QUERN_ARG_DST, memory(points, device, shift.data())}};
    kernel.execute(order, arguments);
    for (int i = 0; i < a; ++i)
      for (int j = 0; j < b; ++j)
        for (int k = 0; k < c; ++k) {
          const auto at = static_cast<size_t>((i * b + j) * c + k);
          ASSERT_EQ(to[static_cast<size_t>((k * a + i) * b + j)],
                    static_cast<int32_t>(from[at] * multiply[static_cast<size_t>(j * c + k)] / divide[at]) +
                        shift[static_cast<size_t>(i * c + k)])
              << a << "x" << b << "x" << c << " at " << i << ", " << j << ", " << k;
        }
    // Vectors may have the dims that they apply to, or other dims if they are dense and row-major.
    const std::vector<int32_t> ofVectors = std::exchange(to, std::vector<int32_t>(to.size()));
    arguments[QUERN_ARG_DST] = memory(dst, device, to.data());
    arguments[QUERN_ARG_ATTR_SCALES | QUERN_ARG_SRC] =
        memory(memory::desc({b, c}, dt::f32, "ab"), device, multiply.data());
    arguments[QUERN_ARG_ATTR_SCALES | QUERN_ARG_DST] =
        memory(memory::desc({a, b, c}, dt::f32, "abc"), device, divide.data());
    arguments[QUERN_ARG_ATTR_ZERO_POINTS | QUERN_ARG_DST] =
        memory(memory::desc({c, 1, 1, a}, dt::s32, "abcd"), device, shift.data());
    kernel.execute(order, arguments);
    EXPECT_EQ(to, ofVectors);
    if (b > 1 && c > 1) {
      arguments[QUERN_ARG_ATTR_SCALES | QUERN_ARG_SRC] =
          memory(memory::desc({b, c}, dt::f32, "ba"), device, multiply.data());
      EXPECT_NE(refusal(kernel, arguments).find("scales.src is of rank 2; the primitive takes 1"), std::string::npos);
    }
    arguments[QUERN_ARG_ATTR_SCALES | QUERN_ARG_SRC] = memory(number(b * c + 1), device, multiply.data());
    const std::string expected =
        "scales.src has " + std::to_string(b * c + 1) + " values; src needs " + std::to_string(b * c);
    EXPECT_NE(refusal(kernel, arguments).find(expected), std::string::npos);
  }
}

TEST_F(RuntimeDimsReorderTest, AcceptsOnlyExactOverlap) {
  const reorder kernel = make(openStrides(2, dt::f32), openStrides(2, dt::s32));
  memory::desc src({70, 11}, dt::f32, memory::dims{12, 1}), dst({70, 11}, dt::s32, memory::dims{12, 1});
  const std::vector<float> before = pattern<float>(bufferSize<float>(src));
  std::vector<float> buffer = before;
  kernel.execute(order, memory(src, device, buffer.data()), memory(dst, device, buffer.data()));
  EXPECT_EQ(wrongElements(src, before.data(), dst, reinterpret_cast<const int32_t *>(buffer.data()), same), 0u);
  memory::desc shorter({70, 11}, dt::s32, memory::dims{11, 1});
  EXPECT_NE(refusal(kernel, {{QUERN_ARG_SRC, memory(src, device, buffer.data())},
                             {QUERN_ARG_DST, memory(shorter, device, buffer.data())}})
                .find("(reorder C14)"),
            std::string::npos);
}

TEST_F(RuntimeDimsReorderTest, SizesThatDoNotFitAreRefused) {
  const reorder kernel = make(memory::desc({open, 9}, dt::f32, "ab"), memory::desc({open, 9}, dt::f32, "ab"));
  const auto given = [&](const memory::desc &src, const memory::desc &dst) {
    static std::vector<float> from(100), to(100);
    return std::unordered_map<int, memory>{{QUERN_ARG_SRC, memory(src, device, from.data())},
                                           {QUERN_ARG_DST, memory(dst, device, to.data())}};
  };
  memory::desc four({4, 9}, dt::f32, "ab"), three({3, 9}, dt::f32, "ab"), eight({4, 8}, dt::f32, "ab"),
      turned({4, 9}, dt::f32, "ba");
  EXPECT_NE(refusal(kernel, given(four, three)).find("dim 0 of dst is 3, of src 4"), std::string::npos);
  EXPECT_NE(refusal(kernel, given(eight, eight)).find("dim 1 of src is 8; the primitive takes 9 (reorder C15)"),
            std::string::npos);
  EXPECT_NE(refusal(kernel, given(four, turned)).find("stride 0 of dst is 1; the primitive takes 9"),
            std::string::npos);
  kernel.execute(order, given(four, four));
}

TEST_F(RuntimeDimsReorderTest, DiskCacheRoundTrip) {
  const memory::desc src = openStrides(2, dt::f32), dst = openStrides(2, dt::f32);
  EXPECT_EQ(make(src, dst).info().origin, quern_origin_compiled);
  test::ScopedCaches::emptyMemory();
  const reorder kernel = make(src, dst);
  EXPECT_EQ(kernel.info().origin, quern_origin_disk);
  EXPECT_EQ(wrong(kernel, memory::desc({30, 40}, dt::f32, "ab"), memory::desc({30, 40}, dt::f32, "ba")), 0u);
}

TEST_F(RuntimeDimsReorderTest, ThreadsDoNotChangeABit) {
  const int saved = get_num_threads();
  const reorder kernel = make(openStrides(2, dt::f32), openStrides(2, dt::f32));
  memory::desc src({700, 1001}, dt::f32, "ab"), dst({700, 1001}, dt::f32, "ba");
  for (int threads : {1, 2, 5}) {
    set_num_threads(threads);
    EXPECT_EQ(wrong(kernel, src, dst), 0u) << threads;
  }
  set_num_threads(saved);
}

} // namespace
} // namespace quern
