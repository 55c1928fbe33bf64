//===- SourcesExecutionTest.cpp - Sums and concats through the API --------===//
// Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Tests the values of real kernels: the classes and the C functions, queries, the maximum number of sources, sums in
// place, open sizes, and refused executions.
//
//===----------------------------------------------------------------------===//
#include "API/Execution/ReorderSupport.h"

#include <gtest/gtest.h>

#include <cstring>

namespace quern {
namespace {

using dt = memory::data_type;
using test::bufferSize;
using test::pattern;

class SourcesExecution : public testing::Test {
protected:
  engine device{engine::kind::cpu, 0};
  stream order{device};

  std::string refusal(const std::function<void()> &body) {
    EXPECT_EQ(test::statusOf(body), quern_invalid_arguments);
    return quern_get_last_error_message();
  }
  /// Returns memories on these buffers and on `dst`.
  std::unordered_map<int, memory> arguments(const primitive_desc &desc, std::vector<std::vector<float>> &sources,
                                            std::vector<float> &dst) {
    std::unordered_map<int, memory> all = {{QUERN_ARG_DST, memory(desc.dst_desc(), device, dst.data())}};
    for (size_t i = 0; i < sources.size(); ++i)
      all.emplace(QUERN_ARG_MULTIPLE_SRC + static_cast<int>(i),
                  memory(desc.src_desc(static_cast<int>(i)), device, sources[i].data()));
    return all;
  }
};

TEST_F(SourcesExecution, QueriesNameEverySource) {
  const memory::desc plain({3, 5}, dt::f32, "ab"), turned({3, 5}, dt::bf16, "ba");
  const sum::primitive_desc added(device, {1, 2}, {plain, turned});
  EXPECT_EQ(added.get_kind(), primitive::kind::sum);
  EXPECT_EQ(added.src_desc(1), turned);
  EXPECT_EQ(added.dst_desc(), plain);
  EXPECT_EQ(added.query_md(quern_query_exec_arg_md, QUERN_ARG_MULTIPLE_SRC + 1), turned);
  EXPECT_EQ(quern_primitive_desc_query_s32(added.get(), quern_query_num_of_inputs_s32, 0), 2);
  EXPECT_EQ(quern_primitive_desc_query_s32(added.get(), quern_query_num_of_outputs_s32, 0), 1);
  EXPECT_TRUE(added.src_desc(2).is_zero());
  primitive_attr attr;
  attr.set_scales_mask(QUERN_ARG_MULTIPLE_SRC + 1, 0);
  const concat::primitive_desc joined(device, 1, {plain, turned}, attr);
  EXPECT_EQ(joined.get_kind(), primitive::kind::concat);
  EXPECT_EQ(joined.get_axis(), 1);
  EXPECT_EQ(joined.dst_desc(), memory::desc({3, 10}, dt::f32, "ab"));
  EXPECT_EQ(quern_primitive_desc_query_s32(joined.get(), quern_query_num_of_inputs_s32, 0), 2) << "without scales";
  EXPECT_EQ(joined.query_md(quern_query_exec_arg_md, QUERN_ARG_ATTR_SCALES | (QUERN_ARG_MULTIPLE_SRC + 1)).get_dims(),
            memory::dims{1});
}

TEST_F(SourcesExecution, NullsAndCountsAreChecked) {
  const memory::desc plain({3, 5}, dt::f32, "ab");
  const_quern_memory_desc_t descs[] = {plain.get(), nullptr};
  const float scales[] = {1, 1};
  quern_primitive_desc_t desc = nullptr;
  EXPECT_EQ(quern_sum_primitive_desc_create(nullptr, device.get(), nullptr, 1, scales, descs, nullptr),
            quern_invalid_arguments);
  EXPECT_EQ(quern_sum_primitive_desc_create(&desc, nullptr, nullptr, 1, scales, descs, nullptr),
            quern_invalid_arguments);
  EXPECT_EQ(quern_sum_primitive_desc_create(&desc, device.get(), nullptr, 1, nullptr, descs, nullptr),
            quern_invalid_arguments);
  EXPECT_EQ(quern_sum_primitive_desc_create(&desc, device.get(), nullptr, 1, scales, nullptr, nullptr),
            quern_invalid_arguments);
  EXPECT_EQ(quern_sum_primitive_desc_create(&desc, device.get(), nullptr, 2, scales, descs, nullptr),
            quern_invalid_arguments);
  EXPECT_EQ(quern_concat_primitive_desc_create(&desc, device.get(), nullptr, 2, 0, descs, nullptr),
            quern_invalid_arguments);
  EXPECT_EQ(quern_concat_primitive_desc_create(&desc, device.get(), nullptr, 0, 0, descs, nullptr),
            quern_invalid_arguments);
  EXPECT_EQ(quern_concat_primitive_desc_create(&desc, device.get(), nullptr, -1, 0, descs, nullptr),
            quern_invalid_arguments);
  EXPECT_EQ(quern_concat_primitive_desc_create(&desc, device.get(), nullptr, 1025, 0, descs, nullptr),
            quern_unimplemented);
  EXPECT_EQ(desc, nullptr);
  EXPECT_EQ(test::statusOf([&] { sum::primitive_desc(device, {1, 2}, {plain}); }), quern_invalid_arguments);
}

TEST_F(SourcesExecution, AcceptsTheMaximumNumberOfSources) {
  constexpr int count = 1024;
  const memory::desc part({3, 5}, dt::f32, "ab");
  const concat::primitive_desc joined(device, 1, std::vector<memory::desc>(count, part));
  const sum::primitive_desc added(device, std::vector<float>(count, 1.0f), std::vector<memory::desc>(count, part));
  std::vector<std::vector<float>> sources;
  for (int i = 0; i < count; ++i)
    sources.emplace_back(15, static_cast<float>(i));
  std::vector<float> whole(15 * count, -7.0f), total(15, -7.0f);
  const primitive concatenation(joined);
  std::vector<void *> buffers; // in the order of the launch
  for (int argument : concatenation.launch_arguments())
    buffers.push_back(argument == QUERN_ARG_DST
                          ? whole.data()
                          : sources[static_cast<size_t>(argument - QUERN_ARG_MULTIPLE_SRC)].data());
  int calls = 0;
  concatenation.visit_launch({buffers.data(), nullptr, nullptr}, [&](const quern_launch_call_t &call) {
    EXPECT_EQ(call.args.buffers[0], sources[static_cast<size_t>(calls)].data());
    EXPECT_EQ(call.args.buffers[1], whole.data() + 5 * calls);
    EXPECT_EQ(call.independent_of_previous, calls > 0);
    ++calls;
  });
  EXPECT_EQ(calls, count);
  int functions = 0;
  ASSERT_EQ(quern_primitive_get_launch_counts(concatenation.get(), nullptr, nullptr, &functions), quern_success);
  EXPECT_EQ(functions, 1);
  concatenation.execute(order, arguments(joined, sources, whole));
  for (int row = 0; row < 3; ++row)
    for (int i = 0; i < 5 * count; ++i)
      ASSERT_EQ(whole[static_cast<size_t>(row * 5 * count + i)], static_cast<float>(i / 5)) << row << ", " << i;
  primitive(added).execute(order, arguments(added, sources, total));
  EXPECT_EQ(total, std::vector<float>(15, count * (count - 1) / 2.0f));
}

TEST_F(SourcesExecution, ASumMayOverwriteAnySource) {
  const memory::desc desc({7, 19}, dt::f32, "aB8b");
  for (size_t sources : {1, 3, 16, 20})
    for (size_t place : {size_t(0), sources / 2, sources - 1}) {
      const sum::primitive_desc added(device, std::vector<float>(sources, 2.0f),
                                      std::vector<memory::desc>(sources, desc));
      std::vector<std::vector<float>> buffers(sources, pattern<float>(bufferSize<float>(desc)));
      const std::vector<float> before = buffers[0];
      primitive(added).execute(order, arguments(added, buffers, buffers[place]));
      const auto factor = static_cast<float>(2 * sources);
      EXPECT_EQ(
          test::wrongElements(desc, before.data(), desc, buffers[place].data(), [&](float x) { return factor * x; }),
          0u);
      EXPECT_EQ(test::othersThan(desc, buffers[place], 0.0f), 0u) << "padding";
      if (sources > 1)
        EXPECT_EQ(buffers[place ? 0 : 1], before);
    }
}

TEST_F(SourcesExecution, ArgumentsAreChecked) {
  const memory::desc part({4, 8}, dt::f32, "ab");
  const concat::primitive_desc joined(device, 0, {part, part});
  const sum::primitive_desc added(device, {1, 1}, {part, part});
  std::vector<std::vector<float>> sources(2, pattern<float>(64));
  std::vector<float> dst(64);
  std::unordered_map<int, memory> missing = {{QUERN_ARG_DST, memory(joined.dst_desc(), device, dst.data())},
                                             {QUERN_ARG_MULTIPLE_SRC, memory(part, device, sources[0].data())}};
  EXPECT_NE(
      refusal([&] { primitive(joined).execute(order, missing); }).find("argument 1025 (srcs.1) is missing (concat C9)"),
      std::string::npos);
  missing.at(QUERN_ARG_DST) = memory(part, device, dst.data());
  EXPECT_NE(refusal([&] { primitive(added).execute(order, missing); }).find("(srcs.1) is missing (sum C7)"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              primitive(joined).execute(order, arguments(joined, sources, sources[1]));
            }).find("dst overlaps srcs.1"),
            std::string::npos);
  EXPECT_NE(std::string(quern_get_last_error_message()).find("(concat C10)"), std::string::npos);
  auto shifted = arguments(added, sources, dst);
  shifted.at(QUERN_ARG_DST) = memory(part, device, sources[0].data() + 8);
  EXPECT_NE(refusal([&] { primitive(added).execute(order, shifted); }).find("(sum C8)"), std::string::npos);
  const memory::desc none({0, 8}, dt::f32, "ab");
  const concat::primitive_desc alone(device, 0, {none, part});
  std::vector<std::vector<float>> withEmpty = {{}, pattern<float>(32)};
  const std::vector<float> before = withEmpty[1];
  primitive(alone).execute(order, arguments(alone, withEmpty, withEmpty[1]));
  EXPECT_EQ(withEmpty[1], before) << "a source that covers all of dst may share its memory";
}

TEST_F(SourcesExecution, OpenSizesMustFit) {
  const primitive_desc added(device, "sum scales=1,2 srcs=f32:?x5:ab,f32:?x5:ab dst=f32:?x5:ab");
  const primitive_desc joined(device, "concat axis=1 srcs=f32:?x5:ab,f32:?x3:ab dst=f32:?x8:ab");
  const primitive sums(added), concats(joined);
  for (int64_t rows : {0, 1, 7, 1000}) {
    const memory::desc five({rows, 5}, dt::f32, "ab"), three({rows, 3}, dt::f32, "ab"), eight({rows, 8}, dt::f32, "ab");
    std::vector<float> a = pattern<float>(static_cast<size_t>(rows) * 5 + 1), b(a.size(), 3.0f),
                       c(static_cast<size_t>(rows) * 3 + 1, 4.0f);
    std::vector<float> total(a.size(), -7.0f), whole(static_cast<size_t>(rows) * 8 + 1, -7.0f);
    sums.execute(order, {{QUERN_ARG_MULTIPLE_SRC, memory(five, device, a.data())},
                         {QUERN_ARG_MULTIPLE_SRC + 1, memory(five, device, b.data())},
                         {QUERN_ARG_DST, memory(five, device, total.data())}});
    concats.execute(order, {{QUERN_ARG_MULTIPLE_SRC, memory(five, device, a.data())},
                            {QUERN_ARG_MULTIPLE_SRC + 1, memory(three, device, c.data())},
                            {QUERN_ARG_DST, memory(eight, device, whole.data())}});
    for (size_t i = 0; i + 1 < total.size(); ++i)
      ASSERT_EQ(total[i], a[i] + 6.0f) << rows << " rows, " << i;
    for (size_t i = 0; i + 1 < whole.size(); ++i)
      ASSERT_EQ(whole[i], i % 8 < 5 ? a[i / 8 * 5 + i % 8] : 4.0f) << rows << " rows, " << i;
    EXPECT_EQ(total.back(), -7.0f);
    EXPECT_EQ(whole.back(), -7.0f);
  }
  const primitive withEmpty(primitive_desc(device, "concat axis=1 srcs=f32:?x0:ab,f32:?x3:ab dst=f32:?x3:ab"));
  std::vector<float> three = pattern<float>(6), copied(6, -7.0f);
  withEmpty.execute(order,
                    {{QUERN_ARG_MULTIPLE_SRC, memory(memory::desc({2, 0}, dt::f32, "ab"), device, nullptr)},
                     {QUERN_ARG_MULTIPLE_SRC + 1, memory(memory::desc({2, 3}, dt::f32, "ab"), device, three.data())},
                     {QUERN_ARG_DST, memory(memory::desc({2, 3}, dt::f32, "ab"), device, copied.data())}});
  EXPECT_EQ(copied, three);
  std::vector<float> buffer(64);
  const memory small(memory::desc({2, 5}, dt::f32, "ab"), device, buffer.data()),
      large(memory::desc({3, 5}, dt::f32, "ab"), device);
  const memory eight(memory::desc({2, 8}, dt::f32, "ab"), device), other(memory::desc({3, 3}, dt::f32, "ab"), device);
  EXPECT_NE(refusal([&] {
              sums.execute(
                  order,
                  {{QUERN_ARG_MULTIPLE_SRC, small}, {QUERN_ARG_MULTIPLE_SRC + 1, large}, {QUERN_ARG_DST, small}});
            }).find("(sum C9)"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              concats.execute(
                  order,
                  {{QUERN_ARG_MULTIPLE_SRC, small}, {QUERN_ARG_MULTIPLE_SRC + 1, other}, {QUERN_ARG_DST, eight}});
            }).find("(concat C11)"),
            std::string::npos);
  const primitive along(primitive_desc(device, "concat axis=1 srcs=f32:?x?:ab,f32:?x?:ab dst=f32:?x?:ab"));
  EXPECT_NE(refusal([&] {
              along.execute(
                  order,
                  {{QUERN_ARG_MULTIPLE_SRC, small}, {QUERN_ARG_MULTIPLE_SRC + 1, small}, {QUERN_ARG_DST, eight}});
            }).find("dim 1 of dst is 8; it must be 10, the sum of the sources' dims (concat C11)"),
            std::string::npos);
}

} // namespace
} // namespace quern
